"""The question that stands, what is asked before it, and what follows from an answer."""
