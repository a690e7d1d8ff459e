"""NumPy's polynomials: the functions of arrays of coefficients, and the classes of `numpy.polynomial`."""
