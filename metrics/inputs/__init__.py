"""What callers pass in, read and checked: labels, probabilities, weights, matrices and numbers."""
