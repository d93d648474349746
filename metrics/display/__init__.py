"""How numbers and matrices are shown to people, and what all plots share."""
