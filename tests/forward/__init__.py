"""Forward mode: tangents through programs and rules."""
