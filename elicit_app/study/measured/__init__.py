"""Measures of the sources, taken of files: what each needs, how it is computed and drawn."""
