"""Experts beside each other: where they disagree, and all of them pooled."""
