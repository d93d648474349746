"""Pages of one file each; the larger ones have a room of their own."""
