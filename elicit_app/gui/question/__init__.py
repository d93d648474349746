"""The question page and the practice page, and what they are made of."""
