"""Cost-sensitive metrics for classifiers."""
