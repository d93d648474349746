"""Published tables, figures and claims, recomputed by `elicit reproduce`."""
