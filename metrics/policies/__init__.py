"""Policies under an elicited metric: their costs, the uncertainty of these, and the recommendation."""
