"""Published tables, figures and claims, computed anew: `elicit reproduce`."""
