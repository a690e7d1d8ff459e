"""Logic functions: truth carries no derivative."""

from __future__ import annotations

import numpy as np

from microgradpy.rules.registry import non_differentiable

non_differentiable(np.any, np.all)
non_differentiable(np.isnan, np.isinf, np.isfinite, np.isposinf, np.isneginf, np.iscomplex, np.isreal)
non_differentiable(np.isclose, np.allclose, np.array_equal, np.array_equiv, np.logical_and, np.logical_or)
non_differentiable(np.logical_not, np.logical_xor, np.less, np.less_equal, np.greater, np.greater_equal, np.equal)
non_differentiable(np.not_equal)
