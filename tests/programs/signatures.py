"""Programs whose decorators look at the arguments of a call: `inspect.signature(f).bind(...)`."""

from __future__ import annotations

import functools
import inspect

import numpy as np

from tests.programs.table import program


def power(a, b=2.0):
    return a * a * b


SIGNATURE = inspect.signature(power)


def bound(f):
    @functools.wraps(f)
    def wrapper(*args, **kwargs):
        found = inspect.signature(f).bind(*args, **kwargs)
        return f(*found.args, **found.kwargs)

    return wrapper


def looked_at(f):
    known = inspect.signature(f)

    @functools.wraps(f)
    def wrapper(*args, **kwargs):
        given = known.bind(*args, **kwargs)
        packed = [p.name for p in known.parameters.values() if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
        for name, value in given.arguments.items():
            if name not in packed and not isinstance(value, float | np.ndarray):
                raise TypeError(name)
        return f(*args, **kwargs)

    return wrapper


bound_power, looked_at_power = bound(power), looked_at(power)


@program(1.3, features="signature")
def calls_with_what_was_bound(x):
    return bound_power(x) * bound_power(x, x) + bound_power(b=x, a=x)


@program(np.array([1.3, 0.4]), features="signature")
def calls_what_was_looked_at(x):
    return np.sum(looked_at_power(x) * looked_at_power(x, b=x))


@program(1.3, [0.5, 2.0], features="signature")
def all_kinds_of_parameters(x, ys):
    def f(a, *args, k=1.0, **kw):
        return a

    given = inspect.signature(f).bind(x, *ys, k=x * x, z=ys[0], w=2.0)
    total = given.args[0] * given.args[1] * given.args[2] + given.kwargs["k"] * given.kwargs["z"]
    return total + given.arguments["args"][1] * given.arguments["kw"]["z"]


@program({"a": 1.2, "b": 0.3}, features="signature")
def binds_a_dict(table):
    given = SIGNATURE.bind(**table)
    return given.arguments["a"] * given.arguments["b"] * power(*given.args, **given.kwargs)


@program(1.3, features="signature")
def arguments_as_inspect_counts_them(x):
    def f(a, *rest, b=1, **named):
        return a

    found = inspect.getcallargs(f, x, x * x, x * x * x, q=x)
    return found["a"] * found["rest"][0] + found["rest"][1] * found["named"]["q"] * found["b"]
