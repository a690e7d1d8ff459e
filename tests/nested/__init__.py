"""Differentiation inside of differentiated code."""
