"""Measures of what is predicted with its uncertainty: likelihood, calibration, and the Meta Pattern Concern Score."""
