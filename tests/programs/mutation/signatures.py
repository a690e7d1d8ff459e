"""Decorators that look at the arguments of a call, fill in the defaults and put other values in their place."""

from __future__ import annotations

import contextlib
import functools
import inspect

import numpy as np

from tests.programs.mutation.table import V3, W3, K, program


def power(a, b=2.0):
    return a * a * b


SIGNATURE = inspect.signature(power)


def converting(f):
    known = inspect.signature(f)

    @functools.wraps(f)
    def wrapper(*args, **kwargs):
        given = known.bind(*args, **kwargs)
        given.apply_defaults()
        for name, value in given.arguments.items():
            if value is None:
                raise ValueError(name)
            if name == "a":
                given.arguments[name] = abs(value)
        return f(*given.args, **given.kwargs)

    return wrapper


class InvalidParameterError(ValueError):
    """What the next decorator raises."""


@contextlib.contextmanager
def config_context(**options):
    yield


def checked(constraints):
    def decorator(f):
        f.constraints = constraints

        @functools.wraps(f)
        def wrapper(*args, **kwargs):
            known = inspect.signature(f)
            given = known.bind(*args, **kwargs)
            given.apply_defaults()
            ignored = [p.name for p in known.parameters.values() if p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
            ignored += ["self", "cls"]
            found = {name: value for name, value in given.arguments.items() if name not in ignored}
            if any(isinstance(value, str) for value in found.values()):
                raise InvalidParameterError(f.__qualname__)
            try:
                with config_context(skip_parameter_validation=True):
                    return f(*args, **kwargs)
            except InvalidParameterError as error:
                raise InvalidParameterError(str(error)) from error

        return wrapper

    return decorator


converting_power = converting(power)


@checked({"squared": bool})
def squared_error(y, y_hat, *, weight=None, squared=True):
    error = np.mean((y - y_hat) ** 2)
    return error if squared else np.sqrt(error)


class Estimator:
    def __init__(self, w):
        self.w = w

    @checked({"X": "array"})
    def fit(self, X, y=None):
        self.w = self.w * np.sum(X)
        return self


@program(K, features="signature")
def defaults_are_applied(x):
    return converting_power(x) * converting_power(x, b=x) + converting_power(b=x, a=x * x)


@program(V3, W3, features="signature")
def checked_metric(y, y_hat):
    return squared_error(y, y_hat) * squared_error(y, y_hat * 2.0, squared=False)


@program(V3, K, features="signature")
def checked_method(X, w):
    return Estimator(w).fit(X).w * np.sum(X * X)


@program(K, np.array([0.5, 2.0]), features="signature")
def other_arguments_than_were_bound(x, ys):
    def f(a, *args, k=1.0, **kw):
        return a * args[0] * args[1] * k * kw["z"]

    given = inspect.signature(f).bind(x, *ys, k=x * x, z=ys[0], w=2.0)
    given.arguments["a"] = x * given.arguments["a"]
    given.arguments["kw"]["z"] = x * given.arguments["k"]
    first = f(*given.args, **given.kwargs)
    given.arguments["a"] = 1.0
    given.arguments["kw"] = {"z": x}
    return first * f(*given.args, **given.kwargs)


@program(K, features="signature")
def bound_by_parts(x):
    given = SIGNATURE.bind_partial(b=x)
    given.arguments["a"] = x * x
    given.apply_defaults()
    return power(*given.args, **given.kwargs) * given.arguments["a"]


@program(K, features="signature, loop")
def bound_in_a_loop(x):
    total = 0.0
    for i in range(3):
        given = SIGNATURE.bind(x, b=x * i)
        total = total + given.args[0] * given.arguments["b"]
        given.apply_defaults()
        total = total * given.kwargs.get("b", x) + given.args[1]
    return total


@program(V3, features="signature")
def bound_arrays_are_written(x):
    given = SIGNATURE.bind(x * 2.0, b=x)
    given.arguments["a"][0] = x[1] * x[1]
    given.args[0][1] = x[2]
    return np.sum(given.args[0] * given.args[1])


@program(K, features="signature, try")
def binding_fails(x):
    try:
        SIGNATURE.bind(x, x, x)
    except TypeError:
        y = x * x
    return y * converting_power(y)
