"""What all universal functions have: options and methods."""
