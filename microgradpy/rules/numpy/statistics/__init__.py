"""NumPy's statistics."""
