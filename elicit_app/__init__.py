"""The program that asks an expert which mistakes matter more."""

from importlib.metadata import version

__version__ = version("elicit")
