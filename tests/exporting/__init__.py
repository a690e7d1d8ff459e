"""Exported modules."""
