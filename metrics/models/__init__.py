"""Models under an elicited metric: choice, thresholds, decisions and training."""
