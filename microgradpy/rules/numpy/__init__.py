"""Rules for NumPy, filed by the chapters of its reference: what a function is listed under there, its rule is in here."""
