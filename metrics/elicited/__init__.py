"""The elicited metric: what it is, what it says in words, how it judges, and its file."""
