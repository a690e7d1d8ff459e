"""The rules for scipy.interpolate, for the versions of SciPy whose splines hold their numbers in fields of their own. In newer
ones they are in objects behind these, of which the rules know nothing: there interpolation is refused."""

from __future__ import annotations

import importlib

import scipy

IS_KNOWN = tuple(map(int, scipy.__version__.split(".")[:2])) < (1, 18)
if IS_KNOWN:
    importlib.import_module("microgradpy.rules.scipy.interpolate")
