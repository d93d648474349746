"""Pages that fit in one file each; larger ones have a package of their own."""
