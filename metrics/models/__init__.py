"""An elicited metric at work on models: choosing one, setting its threshold, deciding with it, training it."""
