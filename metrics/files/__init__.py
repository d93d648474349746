"""Files that are never half-written, and JSON as text."""
