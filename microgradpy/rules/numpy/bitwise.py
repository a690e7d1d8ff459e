"""Bit-wise operations: of integers, which carry no derivative."""

from __future__ import annotations

import numpy as np

from microgradpy.rules.registry import non_differentiable

non_differentiable(np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.bitwise_not, np.bitwise_count)
non_differentiable(np.left_shift, np.right_shift, np.packbits, np.unpackbits)
