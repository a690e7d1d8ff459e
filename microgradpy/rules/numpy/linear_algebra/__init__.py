"""NumPy's linear algebra: the products, and what `numpy.linalg` has."""
