"""Things that random programs share, write into and read: lists, arrays, views of arguments, dicts, objects, nests of these."""

from __future__ import annotations

import random
from dataclasses import dataclass

from tests.families.family import HEAD

HEAD_OF_THINGS = f"""import collections
import contextlib
import copy
import functools
import itertools
import operator
from dataclasses import dataclass, replace

{HEAD.rstrip()}


class Box:
    def __init__(self, a, b):
        self.a, self.b = a, b

    def bump(self, v):
        self.a, self.b = self.b * v, self.a + v


"""


@dataclass(frozen=True)
class Thing:
    """Something with two numbers in it. `{e}` stands for an expression that gives it, `{v}` for a number. `makers` make one,
    the first two a constant one; `writes` are statements; `read` is a number that depends on both numbers in it."""

    makers: tuple[str, ...]
    writes: tuple[str, ...]
    read: str


_OF_ITEMS = (
    "{e}[0] = {v}", "{e}[1] = {v}", "{e}[0] *= {v}", "{e}[1] += {v}", "{e}[0], {e}[1] = {e}[1], {v}", "{e}[:] = [{v}, {e}[0]]",
    "{e}[-1] -= {e}[0] * {v}", "{e}[1:] = [{v}]",
)  # fmt: skip
THINGS = {
    "list": Thing(
        ("[0.5, 1.5]", "[0.75] * 2", "[x, 0.5]", "list((0.25, 1.0))"),
        (*_OF_ITEMS, "{e}.reverse()", "{e}.append({e}.pop(0) * {v})"),
        "({e}[0] + 0.5) * ({e}[1] - 2.0)",
    ),
    "array": Thing(
        ("np.array([0.5, 1.5])", "np.ones(2)", "np.array([x, 0.5])", "np.full(2, 0.75)", "u[:2]", "u[2:]",
         "m[0, :2]", "m[:, 2]"),
        (*_OF_ITEMS, "{e}[:] *= {v}", "{e}.fill({v})", "np.multiply({e}, {v}, out={e})", "{e}[...] = {e}[::-1] * {v}"),
        "({e}[0] + 0.5) * ({e}[1] - 2.0)",
    ),
    "dict": Thing(
        ("{{'a': 0.5, 'b': 1.5}}", "dict(a=0.25, b=1.0)", "{{'a': x, 'b': 0.5}}"),
        ("{e}['a'] = {v}", "{e}['b'] *= {v}", "{e}.update(a={v})", "{e}['a'], {e}['b'] = {e}['b'], {v}",
         "{e}['b'] = {e}.pop('a') * {v}; {e}['a'] = 0.5", "{e}.setdefault('c', {v}); {e}['a'] += {e}.pop('c')"),
        "({e}['a'] + 0.5) * ({e}['b'] - 2.0)",
    ),
    "box": Thing(
        ("Box(0.5, 1.5)", "Box(b=0.25, a=1.0)", "Box(x, 0.5)"),
        ("{e}.a = {v}", "{e}.b *= {v}", "setattr({e}, 'a', {v})", "{e}.a, {e}.b = {e}.b, {v}", "{e}.bump({v})",
         "Box.bump({e}, {v})"),
        "({e}.a + 0.5) * ({e}.b - 2.0)",
    ),
    "nest": Thing(
        ("[[0.5], Box(1.5, 1.0)]", "[[1.0, 2.0], Box(0.25, 0.5)]", "[[x], Box(0.25, y)]"),
        ("{e}[0][0] = {v}", "{e}[1].a *= {v}", "{e}[1].bump({v})", "{e}[0][0] += {e}[1].a * {v}", "{e}[0] = [{v}]",
         "{e}[1] = Box({v}, {e}[1].b)"),
        "({e}[0][0] + 0.5) * ({e}[1].a - 2.0)",
    ),
}  # fmt: skip
IMMUTABLE = ("number", "pair")
"""Those of which another one is put into the place."""
THINGS_AND_NUMBERS = {
    **THINGS,
    "number": Thing(
        ("0.5", "1.25", "x * y", "math.sin(x)"), ("{e} = {v}", "{e} *= {v}", "{e} += {v}"), "({e} + 0.5) * ({e} - 2.0)"
    ),
    "pair": Thing(
        ("(0.5, 1.5)", "(1.25, 0.75)", "(x, x * y)", "(x, (y, 0.5))[:1] * 2"),
        ("{e} = ({v}, {e}[0])", "{e} = ({e}[1], {v})", "{e} = {e}[::-1]", "{e} = {e}[1:] + {e}[:1]"),
        "({e}[0] + 0.5) * ({e}[1] - 2.0)",
    ),
}
_NUMBERS = (
    "x", "y", "0.5 * x * y", "math.sin(x + y)", "u[1]", "items[2]", "d['p']", "m[1, 2]", "(x - 0.3)", "math.tanh(y) * x",
    "0.75",
)  # fmt: skip


def number(draw: random.Random) -> str:
    """A number that depends on the arguments, as a rule."""
    return draw.choice(_NUMBERS)


def made(draw: random.Random, kind: str) -> str:
    """Mostly something constant: that it depends on an argument is then only seen through the name by which it is written."""
    makers = THINGS_AND_NUMBERS[kind].makers
    return draw.choice(makers[:2] if draw.random() < 0.75 else makers).format()


def written(draw: random.Random, kind: str, e: str) -> str:
    """A statement that writes into what an expression gives."""
    return draw.choice(THINGS_AND_NUMBERS[kind].writes).format(e=e, v=number(draw))


def read(kind: str, e: str) -> str:
    """Bounded, whatever was written."""
    return f"math.sin({THINGS_AND_NUMBERS[kind].read.format(e=e)})"
