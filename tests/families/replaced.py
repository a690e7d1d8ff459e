"""Functions that are replaced for a while and put back, before and after the first call: value and derivative are those of what
is there when a call begins, and a pullback stays that of its call."""

from __future__ import annotations

import contextlib
import copy
import random
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import numpy as np
import scipy.special

from microgradpy import gradient, pullback
from tests.families.family import HEAD, USUAL_PARAMETERS, Family, Point, usual_point
from tests.families.judging import defect_at
from tests.program_writer import ProgramWriter

_OF_NUMBERS = {
    "math": ("sin", "cos", "tanh", "atan", "erf"),
    "np": ("sin", "cos", "tanh", "arctan"),
    "own": ("helper",),
    "Owner": ("shared",),
}
"""What may be replaced, by where it is; each takes a number."""
_NEW = {
    "math": ("bent", "math.asinh", "cosine", "waved", "own.helper"),
    "np": ("bent", "np.arcsinh", "np.cos", "spread"),
    "own": ("bent", "spread", "math.atan"),
    "Owner": ("staticmethod(bent)", "staticmethod(spread)", "staticmethod(waved)"),
}
_NORMS = ("squares", "np.mean", "first")
_HEAD = """import sys
import types
from math import cos as cosine

import scipy.special


def bent(t):
    return 0.3 * t * t + 0.1 * t


def spread(t):
    return np.exp(-t * t) + 0.2 * t


def waved(t):
    return math.sin(2.0 * t) + scipy.special.expit(t)


def squares(v):
    return 0.2 * np.sum(v * v)


def first(v):
    return v[0] * v[1]


own = types.ModuleType(__name__ + "_own")
own.helper = lambda t: 0.5 * t + np.sin(t)


class Owner:
    @staticmethod
    def shared(t):
        return t * math.tanh(t)

    def method(self, t):
        return self.shared(t) + own.helper(t)


owner = Owner()


"""


def _call(draw: random.Random) -> str:
    """A call of something that may be replaced, or of what calls it."""
    owner = draw.choice(list(_OF_NUMBERS))
    number = draw.choice(("x", "y", "s", "u[0]", "items[1]", "d['p']", "x * y"))
    choices = (
        f"{owner}.{draw.choice(_OF_NUMBERS[owner])}({number})",
        f"{owner}.{draw.choice(_OF_NUMBERS[owner])}({number})",
        f"np.sum(np.{draw.choice(_OF_NUMBERS['np'])}(u))",
        "np.linalg.norm(u)",
        f"owner.method({number})",
        f"cosine({number})",
        f"waved({number})",
        f"sum(map(math.sin, items)) * {number}",
        f"(lambda f: f({number}))(np.{draw.choice(_OF_NUMBERS['np'])})",
        f"sum([{owner}.{draw.choice(_OF_NUMBERS[owner])}(t) for t in items])",
        f"scipy.special.expit({number})",
    )
    return draw.choice(choices)


_CALLED_BY_NEW = {("math", "sin", "waved")}
"""What would call itself in its own place."""


def _replacement(draw: random.Random) -> str:
    match draw.randrange(6):
        case 0:
            return f"(np.linalg, 'norm', {draw.choice(_NORMS)})"
        case 1:
            return "(scipy.special, 'expit', bent)"
    owner = draw.choice(list(_OF_NUMBERS))
    name = draw.choice(_OF_NUMBERS[owner])
    new = draw.choice([new for new in _NEW[owner] if (owner, name, new) not in _CALLED_BY_NEW])
    return f"({owner}, {name!r}, {new})"


def write(writer: ProgramWriter) -> None:
    draw = writer.random
    states = ["[]", *(f"[{', '.join(_replacement(draw) for _ in range(draw.randint(1, 3)))}]" for _ in range(2))]
    order = [draw.choice(states) for _ in range(4)]
    writer.write(f"STATES = [{', '.join(order)}]")
    with writer.indented(f"def program({USUAL_PARAMETERS}):"):
        writer.write("s = x * y")
        writes = writer.chance(0.3)
        if writes:
            writer.write("out = [x]")
        for _ in range(draw.randint(2, 4)):
            statement = f"s = 0.4 * s + {_call(draw)}"
            match draw.randrange(4):
                case 0:
                    with writer.indented("for t in range(2):"):
                        writer.write(statement)
                case 1:
                    with writer.indented(f"if {draw.choice(('x > 0.0', 'y > x', 'len(items) > 2'))}:"):
                        writer.write(statement)
                case _:
                    writer.write(statement)
            if writes:
                writer.write("out.append(s * out[-1])")
        writer.write(f"return s + u[1] * m[0, 1] + d['q']{' + 0.1 * out[-1]' if writes else ''}")


@contextlib.contextmanager
def replaced(replacements: list[tuple[Any, str, Any]]) -> Iterator[None]:
    with contextlib.ExitStack() as stack:
        for owner, name, new in replacements:
            stack.enter_context(mock.patch.object(owner, name, new))
        yield


def judge(function: Callable[..., Any], point: Point) -> str | None:
    """What is wrong in one of the states, one after the other, or with a pullback that is called in another."""
    states = function.__globals__["STATES"]
    for number, state in enumerate(states):
        with replaced(state):
            defect = defect_at(function, copy.deepcopy(point))
            y, back = pullback(function, *copy.deepcopy(point))
            bars = repr(back(type(y)(1.0)))
        if defect is not None:
            return f"{defect} (in state {number})"
        with replaced(states[number - 1]):
            again = repr(back(type(y)(1.0)))
        if again != bars:
            return f"pullback of state {number} gives {again} in another for {bars}"
    return None if np.isfinite(float(y)) else f"value {y}"


gradient(scipy.special.expit, 0.5)  # what stands in a module in whose original state nobody saw it is refused

FAMILY = Family("replaced", write, refused=0.0, point=usual_point, judge=judge, head=HEAD + _HEAD)
