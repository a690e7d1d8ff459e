"""NumPy's array creation routines."""
