"""Gradients as native code: which programs, how they are lowered, printed and compiled, and what calls them."""
