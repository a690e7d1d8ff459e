"""Every example of every rule through `test_rrule`: against the plain call and against finite differences."""

from __future__ import annotations

import types
from contextlib import nullcontext
from functools import partial
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from microgradpy import MissingRuleError, gradient, ignore_derivatives, infiltration, jvp, stop_gradient
from microgradpy.compiler import always_dispatch, always_track
from microgradpy.rules import nested, random_numbers
from microgradpy.rules.numpy import random, ufunc_options
from microgradpy.rules.registry import Example, find_attribute_rule, registered_attributes, rrule
from microgradpy.runtime import tangents
from microgradpy.testing import test_rrule as check_rule
from tests.checks import check_all
from tests.examples import BY_FUNCTION, EXAMPLES
from tests.ways import some

pytestmark = pytest.mark.filterwarnings("ignore:`lagrange` is deprecated")  # since SciPy 1.18
# Of what SciPy's solvers return some fields have a derivative: those are asked for, by functions around them.
FIELDS = {
    "quad": (lambda found: found[0],),
    "minimize": (lambda found: found.x, lambda found: found.fun),
    "minimize_scalar": (lambda found: found.x, lambda found: found.fun),
    "least_squares": (lambda found: found.x, lambda found: found.cost),
    "root": (lambda found: found.x,),
    "root_scalar": (lambda found: found.root,),
    "solve_ivp": (lambda found: found.y,),
    "odeint": (lambda found: found,),
}

# Cotangents are computed in single precision where the call is. Here they are not, because:
DOUBLE_PRECISION = {
    "the value is a number of Python": (
        "builtins.float",
        "ndarray.item",
        "microgradpy.tangents.arithmetic.unbroadcast",
        "microgradpy.tangents.linear.dot_left_bar",
        "microgradpy.tangents.linear.dot_right_bar",
        "microgradpy.rules.numpy.linear_algebra.products.inner_left_bar",
        "microgradpy.rules.numpy.linear_algebra.products.inner_right_bar",
    ),
    "SciPy's splines have their coefficients in double precision": (
        "scipy.interpolate.BSpline",
        "scipy.interpolate.CubicSpline",
        "scipy.interpolate.PPoly",
        "scipy.interpolate.make_interp_spline",
        "scipy.interpolate_hermite.Akima1DInterpolator",
        "scipy.interpolate_hermite.CubicHermiteSpline",
        "scipy.interpolate_hermite.PchipInterpolator",
        "scipy.interpolate_points.barycentric_interpolate",
        "scipy.interpolate_points.krogh_interpolate",
        "scipy.interpolate_points.lagrange",
        "scipy.interpolate_points.splev",
    ),
    "SciPy computes derivatives of Bessel functions in double precision": tuple(
        f"scipy.special.waves.{name}" for name in ("jvp", "yvp", "ivp", "kvp", "h1vp", "h2vp")
    ),
}


def is_single_precision(example: Example) -> bool:
    return not any(str(example).rpartition("-")[0] in names for names in DOUBLE_PRECISION.values())


def test_what_is_in_double_precision_has_examples() -> None:
    assert BY_FUNCTION.keys() >= {name for names in DOUBLE_PRECISION.values() for name in names}


def is_solver(example: Example) -> bool:
    return str(example).startswith("scipy.") and example.f.__name__ in FIELDS


@pytest.mark.parametrize("name", [name for name, (first, *_) in BY_FUNCTION.items() if not is_solver(first)])
def test_rule(name: str) -> None:
    first, *others = BY_FUNCTION[name]
    check_all((str(example), partial(check_example, example)) for example in (first, *some(others)))


def check_example(example: Example) -> None:
    # The rules of these two are not the derivatives of what they compute: that is what they are for.
    differences = example.f not in (stop_gradient, ignore_derivatives)
    # Whoever calls these rules copies what it keeps, so that they may hand on their seeds.
    # Forward rules have tests of their own, and to derive them all takes longer than everything here.
    options = {"may_share_seed": True, "differences": differences, "frule": None}
    options["same_precision"] = is_single_precision(example)
    for matrix in filter(sparse.issparse, example.args):
        _ = getattr(matrix, "has_canonical_format", None)  # a matrix of SciPy notes on itself what it has found out
    if isinstance(example.f, types.MethodType):
        # The numbers in SciPy's distributions are constants; so is what a variable of a module holds.
        METHOD[0] = example.f
        check_rule(of_a_method, *example.args, fkwargs=example.kwargs, rule=rule_of_a_method, **options)
    else:
        check_rule(example.f, *example.args, fkwargs=example.kwargs, **options)


METHOD: list[Any] = [None]


def of_a_method(*args: Any, **kwargs: Any) -> Any:
    return METHOD[0](*args, **kwargs)


def rule_of_a_method(*args: Any, **kwargs: Any) -> Any:
    return rrule(METHOD[0], *args, **kwargs)


@pytest.mark.parametrize("example", list(filter(is_solver, EXAMPLES)), ids=str)
def test_rule_of_a_solver(example: Example) -> None:
    f, given = example.f, {name: value for name, value in example.kwargs.items() if name == "args"}
    # Nothing is differentiated by tolerances: as a variable of the module they are constants.
    OPTIONS[0] = {name: value for name, value in example.kwargs.items() if name != "args"}
    for field in FIELDS[f.__name__]:

        def solved(*args: Any, field: Any = field) -> Any:
            return field(f(*args, **given, **OPTIONS[0]))

        check_rule(solved, *example.args, frule=None, may_share_seed=True, rtol=1e-4, atol=1e-6)


OPTIONS: list[dict[str, Any]] = [{}]


def test_every_rule_has_an_example() -> None:
    tried = {rrule.find_for(example.f, example.args, example.kwargs) for example in EXAMPLES}
    declared = [rule for f in rrule.registered() for rule in rrule.rules_of(f)]
    # A draw is another one each time: test_draws.py has those. The options of all ufuncs are one text. What infiltrate makes
    # is a function: test_infiltration.py. So is what differentiates inside of differentiated code: tests/nested.
    others = (random.__name__, random_numbers.__name__, ufunc_options.__name__, infiltration.__name__)
    others += (nested.__name__, tangents.__name__)
    ours = [rule for rule in declared if rule.__module__.startswith("microgradpy.") and rule.__module__ not in others]
    assert not [rule.__qualname__ for rule in ours if rule not in tried]


def test_every_attribute_rule_has_an_example() -> None:
    tried = {find_attribute_rule(type(example.args[0]), example.args[1]) for example in EXAMPLES if example.f is getattr}
    rules = {f"{cls.__name__}.{name}": find_attribute_rule(cls, name) for cls, name in registered_attributes()}
    ours = {name: rule for name, rule in rules.items() if rule is not None and rule.__module__.startswith("microgradpy.")}
    # This one gives no value: it refuses to be read, see below.
    assert [name for name, rule in ours.items() if rule not in tried] == ["broadcast.iters"]


@pytest.mark.parametrize("mode", [nullcontext, always_dispatch, always_track])
def test_the_iterators_of_a_broadcast_are_refused(mode: Any) -> None:
    def summed(x: Any) -> Any:
        return sum(np.broadcast(x, x * 2.0).iters[1])

    def one_item(x: Any) -> Any:
        return np.broadcast(x, x * 2.0).iters[0][1]

    x = np.array([0.5, 1.5])
    with mode():
        with pytest.raises(MissingRuleError, match=r"iterators of np\.broadcast"):
            gradient(summed, x)
        with pytest.raises(MissingRuleError, match=r"flatiter|iterators of np\.broadcast"):
            gradient(one_item, x)
        for f in (summed, one_item):
            with pytest.raises(MissingRuleError, match=r"iterators of np\.broadcast"):
                jvp(f, (x,), (x,))
