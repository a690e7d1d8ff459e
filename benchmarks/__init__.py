"""Generated gradients against hand-written ones. `python -m benchmarks.run` prints the table."""
