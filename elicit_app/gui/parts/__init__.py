"""Parts of a page, made of elements: a scrolled page with its head, sections, bands, fields."""
