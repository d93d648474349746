"""The building blocks of pages. All of them follow the palette and the font automatically.

A widget that paints itself uses `painting` with `theme.tokens(self)`; a page derives from `page.Page`.
"""
