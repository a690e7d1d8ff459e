"""What the arms of an `if` save is one value where it is much: the gradient stays what it is, and the text short."""

from __future__ import annotations

import linecache
import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from microgradpy import cache_clear, code_primal, gradient
from microgradpy.ad import saved_arms


def modes(x, mode):
    if mode == 0:
        a = x * math.sin(x)
        b = a * math.exp(a)
        y = b / (1.0 + a * b)
    elif mode == 1:
        a = math.exp(x) * x
        if a > 1.0:
            b = a * math.cos(a)
            y = b * b * a
        else:
            b = a * math.tanh(a)
            y = b * x
        y = y * math.sin(y)
    elif mode == 2:
        y = x * x * math.log(x + 2.0)
    else:
        a = math.sqrt(x + 1.0) * x
        y = a * a * math.exp(a)
    return y * x


def in_a_loop(x, n):
    y = x
    for i in range(n):
        if i % 3 == 0:
            a = y * math.sin(y)
            b = a * math.exp(-a)
            y = b * a + x
        elif i % 3 == 1:
            total = 0.0
            for k in range(i):
                total = total + y * math.cos(y * k) * total
            y = total * y + 0.5
        else:
            y = y * math.tanh(y)
    return y


def read_after(x, mode):
    if mode:
        a = x * math.sin(x)
        b = a * math.exp(a)
        c = b * a
    else:
        a = x * x
        b = a * math.cos(a)
        c = x
    return a * b * c * math.sin(b)


def twice(x, mode):
    on = mode == 1
    y = x
    if on:
        y = y * math.sin(y)
        y = y * math.exp(y)
    if on:
        y = y * math.cos(y)
        y = y * y * x
    return y


def leaves(x, mode):
    if mode == 0:
        a = x * math.sin(x)
        if a > 0.0:
            b = a * math.exp(a)
            return b * a
        y = a * math.cos(a)
    else:
        a = x * x
        y = a * math.exp(a) * a
        if y < 0.0:
            raise ValueError(y)
    return y * x


def leaves_a_loop(x, n):
    y = x
    for i in range(n):
        if i == 1:
            a = y * math.sin(y)
            b = a * math.exp(a)
            y = a * b
            if y > 3.0:
                break
        else:
            a = y * math.cos(y)
            y = a * a * x
            if i == 4:
                continue
        y = y * math.sin(y)
    return y


def attempts(x, mode):
    try:
        if mode == 0:
            a = x * math.sin(x)
            b = a * math.exp(a)
            y = a * b * math.sqrt(x - 2.0)
        else:
            a = x * x
            y = a * math.exp(a)
    except ValueError:
        y = x * math.exp(x)
    if mode == 1:
        try:
            a = y * math.sin(y)
            y = a * math.exp(a) * math.sqrt(x - 2.0)
        except ValueError:
            y = y * math.cos(y)
        y = y * math.sin(y) * y
    return y * x


def arrays(x, mode):
    if mode == 0:
        a = np.array([x, x * x])
        b = np.sin(a) * a
        b[0] = a[1] * x
        y = np.sum(b * np.exp(a))
    else:
        a = np.array([x, 1.0, x * x])
        y = np.sum(np.cos(a) * a) * np.max(a)
    return y * x


def collected(x, mode):
    out = []
    if mode == 0:
        for k in range(3):
            out.append(x * math.sin(x * k))
        y = out[0] * out[1] + out[2] * x
    else:
        out.append(x * math.exp(x))
        y = out[0] * out[0] * x
    return y * len(out)


class Cell:
    def __init__(self, v):
        self.v = v


held = Cell(0.0)


def writes(x, mode):
    held.v = x
    if mode == 0:
        held.v = held.v * math.sin(held.v)
        held.v *= x
        y = held.v * held.v
    else:
        held.v = held.v * math.exp(x) * x
        y = held.v * 2.0
    return y * held.v


CASES = [
    *[(modes, (x, mode)) for mode in range(4) for x in (0.3, 0.9)],
    *[(in_a_loop, (0.6, n)) for n in (0, 1, 5)],
    *[(f, (0.7, mode)) for f in (read_after, twice, leaves, attempts, arrays, collected, writes) for mode in (0, 1)],
    (leaves, (-0.7, 0)),
    *[(leaves_a_loop, (x, n)) for x in (0.7, 1.9) for n in (2, 6)],
]


@pytest.mark.parametrize("many", [2, 4])
@pytest.mark.parametrize(("f", "args"), CASES, ids=lambda value: getattr(value, "__name__", str(value)))
def test_gradients(monkeypatch: pytest.MonkeyPatch, f: Callable[..., Any], args: tuple[Any, ...], many: int) -> None:
    monkeypatch.setattr(saved_arms, "_MANY", many)
    cache_clear()
    x, *rest = args
    expected = (f(x + 1e-6, *rest) - f(x - 1e-6, *rest)) / 2e-6
    assert gradient(f, *args)[0] == pytest.approx(expected, rel=1e-5, abs=1e-7)
    if many == 2 and f in (modes, in_a_loop, read_after, arrays, collected):
        assert "branch" in code_primal(f, *args)
    cache_clear()


@pytest.mark.parametrize("number", [10, 20])
def test_the_text_grows_with_the_program(number: int) -> None:
    """Not with the square of the number of its branches, each of which set to None what all others saved."""
    lines = ["import math", "def chain(x, mode):", "    if mode == -1:", "        y = x"]
    for k in range(number):
        before = ["x", *(f"y{i}" for i in range(7))]
        lines += [f"    elif mode == {k}:", *(f"        y{i} = {y} * math.sin({y} + {k}.0)" for i, y in enumerate(before))]
        lines += ["        y = y7"]
    text, name = "\n".join([*lines, "    else:", "        y = x * x", "    return y"]), f"<chain of {number}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    namespace: dict[str, Any] = {}
    exec(compile(text, name, "exec"), namespace)
    empty = re.findall("= None$", code_primal(namespace["chain"], 0.5, 3), re.MULTILINE)
    assert len(empty) < 14 * number
