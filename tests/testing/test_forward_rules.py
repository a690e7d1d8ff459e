"""`test_frule` accepts right forward rules and says of wrong ones what is wrong with them, and where."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import microgradpy
from microgradpy import NoTangent, Tangent
from microgradpy.tangents.types import is_structural_zero
from microgradpy.testing import test_frule


def product(x, y):
    return x * y


def frule_with(pushforward, value=product):
    """A function that finds one forward rule, that of `product`."""

    def frule(f, *args, **kwargs):
        return value(*args), lambda df, *dxs: pushforward(*args, *dxs)

    return frule


def total(*terms):
    """The sum of the terms that are no zeros."""
    return sum(term for term in terms if not is_structural_zero(term))


def right(x, y, dx, dy):
    return total(dx * y, x * dy) + np.zeros(np.shape(x * y), np.result_type(x, y))


def changes(x, y, dx, dy):
    y_dot = right(x, y, dx, dy)
    x[0] = 9.0
    return y_dot


def warns(x, y, dx, dy):
    warnings.warn("from the rule", RuntimeWarning, stacklevel=2)
    return right(x, y, dx, dy)


def counting():
    calls = []
    return lambda *given: right(*given) * (1.0 if calls.append(1) or len(calls) == 1 else 2.0)


X, Y = np.array([1.0, 2.0, 3.0]), np.array([0.5, -1.0, 2.0])

WRONG = {
    "no rule": (lambda f, *args: None, "there is a rule"),
    "one thing": (lambda f, *args: f(*args), "the rule returns a value and a pushforward"),
    "value": (frule_with(right, lambda x, y: x * y * 1.001), "the value is that of the plain call: y"),
    "raises": (frule_with(lambda *_: 1 / 0), "the pushforward applies"),
    "warns": (frule_with(warns), "the pushforward does not warn"),
    "changes": (frule_with(changes), "the pushforward changes nothing: args[0]"),
    "other the second time": (frule_with(counting()), "the pushforward called again gives the same"),
    "sign": (frule_with(lambda x, y, dx, dy: total(dx * y, -x * dy)), "finite differences: tangent of y[0]"),
    "one entry": (frule_with(lambda *given: right(*given) * [1, 1, 1 + 1e-7]), "finite differences: tangent of y[2]"),
    "shape": (frule_with(lambda *given: np.sum(right(*given))), "a tangent has the shape of its value"),
    "complex": (frule_with(lambda *given: right(*given) * (1 + 0j)), "the tangent of what is real is real"),
    "precision": (frule_with(lambda *given: right(*given).astype(np.float32)), "the precision of the call"),
    "argument": (frule_with(lambda x, y, dx, dy: x), "the tangent shares no memory with the arguments"),
    "not additive": (frule_with(lambda *given: right(*given) + 1e-10), "the pushforward is additive in its tangents"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_rules(name):
    frule, message = WRONG[name]
    with pytest.raises(AssertionError) as failure:
        test_frule(product, X, Y, frule=frule)
    text = str(failure.value)
    assert f"test_frule({__name__}.product): " in text and message in text
    assert "\n    found     " in text and "\n    expected  " in text


def test_right_rules():
    test_frule(product, X, Y, frule=frule_with(right))
    test_frule(product, X, 2.0, frule=frule_with(right))
    test_frule(product, X.astype(np.float32), np.ones((), np.float32), frule=frule_with(right))
    test_frule(product, 2.0 + 1.0j, 3.0, frule=frule_with(right))
    test_frule(product, X, Y, tangents=(NoTangent(), np.ones(3), NoTangent()), frule=frule_with(right))
    with pytest.raises(ValueError, match="3, not 2"):
        test_frule(product, X, Y, tangents=(np.ones(3), np.ones(3)), frule=frule_with(right))


def test_rules_of_the_package():
    test_frule(np.hypot, np.ones(3), 2.0)
    test_frule(np.sin, np.array([1.0 + 2.0j, 0.5]))
    test_frule(np.stack, [X, X, Y])


def test_a_registered_rule():
    def twisted(x, y):
        return x * y

    register = microgradpy.frule.register(twisted)
    register(lambda x, y: (x * y, lambda df, dx, dy: 1.1 * right(x, y, dx, dy)))
    with pytest.raises(AssertionError, match="finite differences"):
        test_frule(twisted, X, Y)


def test_what_does_not_move_gets_no_tangent():
    seen = []

    def frule(f, x, k):
        return f(x, k), lambda df, dx, dk: seen.append((df, dk)) or (dx[k] if not is_structural_zero(dx) else 0.0)

    test_frule(lambda x, k: x[k], X, 1, frule=frule)
    assert seen and all(isinstance(part, NoTangent) for pair in seen for part in pair)


def test_structures_and_fields():
    class Scale:
        def __init__(self, k):
            self.k = k

        def __call__(self, x):
            return {"y": [self.k * x["x"]]}

    def frule(f, x):
        def pushforward(df, dx):
            own = df.k * x["x"] if isinstance(df, Tangent) else 0.0
            return {"y": [own + (f.k * dx["x"] if isinstance(dx, dict) else 0.0)]}

        return f(x), pushforward

    test_frule(Scale(3.0), {"x": 2.0}, frule=frule)
    with pytest.raises(AssertionError, match=r"tangent of y\['y'\]\[0\]"):
        test_frule(Scale(3.0), {"x": 2.0}, frule=lambda f, x: (f(x), lambda df, dx: {"y": [1.0]}))


def test_arguments_may_be_written():
    def double(x):
        x *= 2.0
        return np.sum(x)

    given = X.copy()
    test_frule(double, given, frule=lambda f, x: (f(x), lambda df, dx: 2.0 * np.sum(dx)))
    assert np.array_equal(given, X)
