"""The elicited metric: its costs, its wording, its scores and decisions, and its file."""
