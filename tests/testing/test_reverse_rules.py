"""`test_rrule` accepts right rules and says of wrong ones what is wrong with them, and where."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from microgradpy import NoTangent, Tangent, Thunk, ZeroTangent, frule, not_implemented, rrule, thunk
from microgradpy.testing import central_fdm, test_rrule


def product(x, y):
    return x * y


def rule_of(x_bar=lambda x, y, d: d * y, y_bar=lambda x, y, d: d * x, value=product, bars=None):
    """A rule of `product` with one part replaced."""

    def product_rrule(x, y):
        def product_pullback(d):
            return bars(x, y, d) if bars else (NoTangent(), x_bar(x, y, d), y_bar(x, y, d))

        return value(x, y), product_pullback

    return product_rrule


def counting(first, later):
    """A cotangent that is another one each time that it is computed."""
    calls = []

    def x_bar(x, y, d):
        calls.append(1)
        return first(x, y, d) if len(calls) == 1 else later(x, y, d)

    return x_bar


def warned(result):
    warnings.warn("from the rule", RuntimeWarning, stacklevel=2)
    return result


def fails(x, y, d):
    raise KeyError("lost")


def writes_into(name):
    def x_bar(x, y, d):
        {"x": x, "d": d}[name][0] = 7.0
        return d * y

    return x_bar


X, Y = np.array([1.0, 2.0, 3.0]), np.array([0.5, -1.0, 2.0])

WRONG = {
    "value": (rule_of(value=lambda x, y: x * y + 1e-15), "the value is that of the plain call: y"),
    "type of the value": (rule_of(value=lambda x, y: list(x * y)), "the value is that of the plain call: y"),
    "dtype of the value": (rule_of(value=lambda x, y: (x * y).astype(np.float32)), "the value is that of the plain call: y"),
    "no rule": (lambda x, y: None, "there is a rule"),
    "one thing": (lambda x, y: x * y, "the rule returns a value and a pullback"),
    "raises": (rule_of(value=lambda x, y: fails(x, y, 1.0)), "the rule applies"),
    "warns": (rule_of(value=lambda x, y: warned(x * y)), "the rule warns of what the plain call warns of"),
    "pullback raises": (rule_of(fails), "the pullback applies"),
    "pullback warns": (rule_of(lambda x, y, d: warned(d * y)), "the pullback does not warn"),
    "list": (rule_of(bars=lambda x, y, d: [NoTangent(), d * y, d * x]), "the pullback returns a tuple"),
    "too many": (rule_of(bars=lambda x, y, d: (NoTangent(), d * y, d * x, d)), "one cotangent for the function and one per"),
    "sign": (rule_of(lambda x, y, d: -d * y), "finite differences: cotangent of args[0][0]"),
    "one entry": (rule_of(y_bar=lambda x, y, d: d * x * [1, 1, 1 + 1e-7]), "finite differences: cotangent of args[1][2]"),
    "missing": (rule_of(bars=lambda x, y, d: (NoTangent(), d * y)), "finite differences: cotangent of args[1][0]"),
    "zero": (rule_of(y_bar=lambda x, y, d: ZeroTangent()), "finite differences: cotangent of args[1][0]"),
    "own": (rule_of(bars=lambda x, y, d: (1.0, d * y, d * x)), "what cannot be perturbed has NoTangent(): cotangent of f"),
    "own zero": (
        rule_of(bars=lambda x, y, d: (ZeroTangent(), d * y, d * x)),
        "cannot be perturbed has NoTangent(): cotangent of f",
    ),
    "shape": (rule_of(lambda x, y, d: (d * y)[:, None]), "the cotangent fits: cotangent of args[0]"),
    "scalar": (rule_of(lambda x, y, d: np.sum(d * y)), "a cotangent has the shape of its argument: cotangent of args[0]"),
    "list for an array": (rule_of(lambda x, y, d: list(d * y)), None),
    "complex": (rule_of(lambda x, y, d: d * y * (1 + 0j)), "the cotangent of what is real is real: cotangent of args[0]"),
    "precision": (rule_of(lambda x, y, d: (d * y).astype(np.float32)), "the precision of the call: cotangent of args[0]"),
    "too precise": (
        rule_of(lambda x, y, d: np.multiply(d, y, dtype=np.float64)),
        None,
    ),
    "not linear": (rule_of(lambda x, y, d: d * y + 1e-10), "the pullback is linear: cotangent of args[0][0]"),
    "other the second time": (
        rule_of(counting(lambda x, y, d: d * y, lambda x, y, d: d * y * 2.0)),
        "called again gives the same",
    ),
    "thunk": (rule_of(lambda x, y, d: d * y if not isinstance(d, Thunk) else 2.0 * d * y), "a thunk gives the same"),
    "writes x": (rule_of(writes_into("x")), "the pullback changes nothing: args[0]"),
    "writes the seed": (rule_of(writes_into("d")), "the pullback changes nothing: the seed"),
    "seed": (rule_of(lambda x, y, d: d), "cotangents share no memory: cotangent of args[0]"),
    "argument": (rule_of(lambda x, y, d: y), "cotangents share no memory: cotangent of args[0]"),
    "each other": (
        rule_of(bars=lambda x, y, d: (NoTangent(), *[d * 1.0] * 2)),
        "cotangents share no memory: cotangent of args[1]",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_rules(name):
    rule, message = WRONG[name]
    if message is None:
        return test_rrule(product, X, Y, rule=rule)
    with pytest.raises(AssertionError) as failure:
        test_rrule(product, X, Y, rule=rule)
    text = str(failure.value)
    assert f"{__name__}.product): " in text and message in text
    assert "\n    found     " in text and "\n    expected  " in text


def test_right_rules():
    test_rrule(product, X, Y, rule=rule_of())
    test_rrule(product, X, Y, rule=rule_of(lambda x, y, d: thunk(lambda: d * y)))
    test_rrule(product, 2.0, 3.0 + 1.0j, rule=rule_of(lambda x, y, d: (d * np.conj(y)).real, lambda x, y, d: d * np.conj(x)))
    test_rrule(product, X, Y, output_tangent=np.array([1.0, 0.0, 0.0]), rule=rule_of())
    test_rrule(product, X, Y, fdm=central_fdm(7, 1, adapt=2), rtol=1e-11, atol=1e-11, rule=rule_of())


def test_a_conjugate_is_missed():
    with pytest.raises(AssertionError, match=r"cotangent of args\[1\]\.(real|imag)"):
        test_rrule(product, 2.0 + 1.0j, 3.0 + 1.0j, rule=rule_of(lambda x, y, d: d * np.conj(y), lambda x, y, d: d * x))


def test_what_nobody_worked_out_is_not_compared():
    test_rrule(product, X, Y, rule=rule_of(y_bar=lambda x, y, d: not_implemented("difficult")))


def test_the_seed_may_be_shared_where_that_is_declared():
    def total(x, y):
        return x + y

    def total_rrule(x, y):
        def total_pullback(d):
            return NoTangent(), d, d

        return x + y, total_pullback

    test_rrule(total, X, Y, rule=total_rrule, may_share_seed=True)
    with pytest.raises(AssertionError, match="may_share_seed=True"):
        test_rrule(total, X, Y, rule=total_rrule)
    test_rrule(np.add, X, 2.0, may_share_seed=True)
    with pytest.raises(AssertionError, match="memory of args"):
        test_rrule(total, X, Y, rule=lambda x, y: (x + y, lambda d: (NoTangent(), y, x)), may_share_seed=True)


def test_registered_rules():
    test_rrule(np.hypot, 3.0, 4.0)
    test_rrule(np.hypot, np.ones(3), 2.0)
    test_rrule(np.sum, np.ones((2, 3), np.float32), axis=1)
    test_rrule(np.take, X, [0, 2, 2])


def test_functions_without_rule_go_by_their_source():
    k = 3.0

    def f(params, x):
        y = params["W"] @ x + params["b"][0]
        return {"y": np.tanh(y) * k, "n": len(x)}

    test_rrule(f, {"W": np.eye(2) + 0.1, "b": [0.5, 1.0]}, np.array([1.0, 2.0]))
    test_rrule(lambda x, where, f, check: x * f, 3.0, where=1, f=2.0, check="a", frule=None)
    test_rrule(lambda x, rtol: x * rtol, 3.0, fkwargs={"rtol": 2.0})
    with pytest.raises(AssertionError, match="there is no rule"):
        test_rrule(np.emath.logn, 2, 3.0)


def test_functions_with_fields():
    class Scale:
        def __init__(self, k):
            self.k = k

        def __call__(self, x):
            return self.k * x

    def right(x):
        return 2.0 * x, lambda d: (Tangent(Scale, k=np.sum(d * x)), 2.0 * d)

    def wrong(x):
        return 2.0 * x, lambda d: (Tangent(Scale, k=2.0 * np.sum(d * x)), 2.0 * d)

    test_rrule(Scale(2.0), X)
    test_rrule(Scale(2.0), X, rule=right)
    with pytest.raises(AssertionError, match=r"finite differences: cotangent of f\.k"):
        test_rrule(Scale(2.0), X, rule=wrong)


def test_paths_lead_into_structures():
    def f(args):
        return args["W"][1] * args["W"][2]

    def f_rrule(args):
        w = args["W"]
        return f(args), lambda d: (NoTangent(), {"W": [None, d * w[2], 2.0 * d * w[1]]})

    with pytest.raises(AssertionError) as failure:
        test_rrule(f, {"W": [1.0, 2.0, 3.0]}, rule=f_rrule)
    assert "cotangent of args[0]['W'][2]" in str(failure.value)


def test_what_cannot_be_perturbed():
    def pick(x, k, name):
        return x[k]

    def right(x, k, name):
        return x[k], lambda d: (NoTangent(), np.eye(3)[k] * d, NoTangent(), NoTangent())

    def index(x, k, name):
        return x[k], lambda d: (NoTangent(), np.eye(3)[k] * d, 1.0, NoTangent())

    def text(x, k, name):
        return x[k], lambda d: (NoTangent(), np.eye(3)[k] * d, NoTangent(), 0.0)

    test_rrule(pick, X, 1, "b", rule=right)
    with pytest.raises(AssertionError, match=r"cotangent of args\[1\]\n.*\n.*NoTangent\(\): it cannot be perturbed"):
        test_rrule(pick, X, 1, "b", rule=index)
    with pytest.raises(AssertionError, match=r"what cannot be perturbed has NoTangent\(\): cotangent of args\[2\]"):
        test_rrule(pick, X, 1, "b", rule=text)


def test_effects_are_those_of_the_plain_call():
    def push(xs, x):
        xs.append(x)
        return x * 2.0

    def right(xs, x):
        return push(xs, x), lambda d: (NoTangent(), NoTangent(), 2.0 * d)

    def forgets(xs, x):
        return x * 2.0, lambda d: (NoTangent(), NoTangent(), 2.0 * d)

    given = [1.0]
    test_rrule(push, given, 3.0, rule=right)
    assert given == [1.0]
    with pytest.raises(AssertionError, match="the rule does to the arguments what the plain call does"):
        test_rrule(push, given, 3.0, rule=forgets)


def test_more_precision_than_the_call_has():
    rule = rule_of(lambda x, y, d: np.multiply(d, y, dtype=np.float64))
    test_rrule(product, X, Y, rule=rule)
    with pytest.raises(AssertionError, match=r"the precision of the call: cotangent of args\[0\]"):
        test_rrule(product, X, Y, rule=rule, same_precision=True)


def test_single_precision_is_tried():
    def square(x):
        return x * x

    def overflows(x):
        huge = (x * x.dtype.type(3e38)).astype(x.dtype)
        return square(x), lambda d: (NoTangent(), d * x * 2.0 * (huge / huge))

    with np.errstate(all="ignore"), pytest.raises(AssertionError, match="single precision stays finite"):
        test_rrule(square, np.array([2.0]), rule=overflows)


def test_large_arguments_are_compared_in_directions():
    x = np.linspace(0.1, 1.0, 400)

    def square(x):
        return x * x

    def wrong(x):
        factor = np.full(400, 2.0)
        factor[321] = 2.1
        return x * x, lambda d: (NoTangent(), d * x * factor)

    test_rrule(square, x, rule=lambda x: (x * x, lambda d: (NoTangent(), d * x * 2.0)))
    with pytest.raises(AssertionError, match=r"cotangent of args\[0\]\[321\]"):
        test_rrule(square, x, rule=wrong)


@pytest.mark.parametrize("x", [1e-6, 1e-3, 1.0, 1e6])
def test_steps_fit_small_and_large_arguments(x):
    test_rrule(np.log, x, rule=lambda x: (np.log(x), lambda d: (NoTangent(), d / x)))
    with pytest.raises(AssertionError, match=r"finite differences: cotangent of args\[0\]"):
        test_rrule(np.log, x, rule=lambda x: (np.log(x), lambda d: (NoTangent(), d / x * (1.0 + 1e-5))), atol=1e-12)


def fake_frule(factor):
    def frule(f, *args, **kwargs):
        x, y = args

        def pushforward(df, dx, dy):
            return factor * (dx * y) + x * dy

        return f(*args, **kwargs), pushforward

    return frule


def test_the_two_rules_are_transposed():
    test_rrule(product, X, Y, rule=rule_of(), frule=fake_frule(1.0))
    with pytest.raises(AssertionError, match="the forward and the reverse rule are transposed"):
        test_rrule(product, X, Y, rule=rule_of(), frule=fake_frule(1.0 + 1e-10))


def test_the_forward_rule_of_the_package_is_asked():
    def twisted(x, y):
        return x * y

    frule.register(twisted)(lambda x, y: (x * y, lambda df, dx, dy: 1.1 * dx * y + x * dy))
    rrule.register(twisted)(rule_of())
    with pytest.raises(AssertionError, match="the forward and the reverse rule are transposed"):
        test_rrule(twisted, X, Y)
    test_rrule(twisted, X, Y, frule=None)
