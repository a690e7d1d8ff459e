"""The tests: tables of cases, and the checks that run over them. Where SciPy is installed, its rules are tested too."""

from microgradpy.rules.scipy import load_all

load_all()
