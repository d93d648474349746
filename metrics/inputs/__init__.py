"""Validation of callers' arguments: labels, probabilities, weights, matrices and numbers."""
