"""What measures are built of: sums over cases that come in batches and are worked through in blocks."""
