"""The command line: `python -m microgradpy COMMAND TARGET`."""
