"""What the pages are built of. Everything here follows palette and font by itself.

In a widget that paints itself use what `painting` has, with `theme.tokens(self)`; a page derives from `page.Page`.
"""
