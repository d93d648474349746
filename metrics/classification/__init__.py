"""Measures of decisions: confusion matrices, error rates, costs, and which decision costs least."""
