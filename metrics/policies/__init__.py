"""What one could do with models under an elicited metric, what each costs, and how sure that is."""
