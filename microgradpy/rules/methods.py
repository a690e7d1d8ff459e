"""The methods and attributes of arrays, and of NumPy's scalars where a sum or an item has become one.

A method has the rule of the function of the same name, written with the method call. Methods that write (`fill`, `sort`, `put`)
and attributes that give other access to the memory (`flat`, `base`, `data`, `ctypes`) have none, and are refused.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from microgradpy.rules.creation import made_of_bar
from microgradpy.rules.elementwise import imag_rrule, real_rrule
from microgradpy.rules.indexing import take_bar
from microgradpy.rules.linear import diagonal_bar
from microgradpy.rules.pairwise import ceiling_bar, clip_bar, floor_bar
from microgradpy.rules.reductions import cumprod_bar, cumsum_bar, extremum_bar, mean_bar, prod_bar, ptp_bar
from microgradpy.rules.registry import (
    attribute_rule,
    example,
    examples,
    mark_inert_attribute,
    non_differentiable,
    rrule,
)
