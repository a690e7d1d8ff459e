"""Corners of the language that once crashed in runs that write."""

from __future__ import annotations

import numpy as np

from tests.programs.corners import COPIED, SCALED
from tests.programs.mutation.table import program


class Counted:
    def __new__(cls, *args):
        made = super(Counted, cls).__new__(cls)
        made.count = 0.0
        return made

    def __init__(self, value):
        self.value = value


class Doubled(Counted):
    def __new__(cls, *args):
        made = super(Doubled, cls).__new__(cls, *args)
        made.twice = args[0] * 2
        return made


@program(1.5, features="super().__new__")
def made_by_the_class_above(x):
    p = Doubled(x)
    p.count += p.twice
    p.value = p.value * p.count
    return p.value + p.twice


@program(1.5, features="a subclass of ndarray with its own copy")
def arrays_with_their_own_copy(x):
    kept = []
    kept.append(x * SCALED.copy()[1])
    again = COPIED.copy()
    again[0] = 3.0
    kept.append(x * x * float(again[0]))
    return kept[0] * kept[1]


@program([0.5, 1.5], features="a list at two places of a call")
@program((0.5, 1.5), features="a tuple at two places of a call")
def joined_with_itself(values):
    kept = []
    kept.append(np.sum(np.stack([values, values]) * np.array([[1.0, 2.0], [3.0, 4.0]])))
    return kept[0] * values[0]
