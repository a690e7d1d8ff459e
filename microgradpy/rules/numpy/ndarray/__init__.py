"""The methods of arrays and of their scalars."""
