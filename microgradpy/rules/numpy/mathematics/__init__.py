"""NumPy's mathematical functions."""
