"""Measures of decisions and of probabilities: errors, costs, likelihood, calibration, relevance, and concern."""
