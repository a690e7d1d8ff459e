"""Second derivatives of every rule."""
