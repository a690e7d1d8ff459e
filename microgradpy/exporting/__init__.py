"""Writing the derivative of a function as a module of its own, which needs NumPy only."""
