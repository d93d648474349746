"""The question page, the practice page, and their parts."""
