"""Matrices with few entries from products with vectors: which columns go together, what was given wrongly, where entries are.

Nothing in here knows where the products come from: they are those of a `LinearMap`.
"""
