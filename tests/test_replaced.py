"""Functions that are replaced for a while, by mock.patch or by hand: each call means what is there when it begins, in value
and derivative."""

from __future__ import annotations

import builtins
import contextlib
import ctypes
import math
import operator
import subprocess
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import numpy as np
import pytest
import scipy.special

from microgradpy import MissingRuleError, MutationError, gradient, jvp, non_differentiable, pullback, rrule, value_and_gradient
from tests.ways import WAYS

own = types.ModuleType("tests.replaced_own")
own.helper = lambda x: x * x  # type: ignore[attr-defined]
sys.modules[own.__name__] = own


class Owner:
    def method(self, x):
        return x * x

    @staticmethod
    def static(x):
        return 3.0 * x


OWNER = Owner()


def cube(x):
    return x * x * x


def local_helper(x):
    return 2.0 * x


def uses_math(x):
    return math.sin(x) * 2.0


def uses_numpy(x):
    return np.sin(x) * 2.0


def uses_norm(x):
    return np.linalg.norm(np.array([x, 2.0 * x]))


def uses_special(x):
    return scipy.special.expit(x)


def uses_builtin(x):
    return abs(x) + 1.0


def uses_operator(x):
    return operator.neg(x)


def uses_own_module(x):
    return own.helper(x)


def uses_own_name(x):
    return local_helper(x)


def uses_method(x):
    return OWNER.method(x) + Owner.method(OWNER, x)


def uses_static(x):
    return Owner.static(x)


def uses_several(x):
    total = 0.0
    for _ in range(3):
        total = total + np.cos(x) * math.exp(x)
    return total


def uses_it_inside_of_a_comprehension(x):
    return sum([math.sin(x) for _ in range(2)])


def imports_it_itself(x):
    from math import sin

    from numpy import linalg as la

    return sin(x) + la.norm(np.array([x, 2.0 * x]))


def calls_what_uses_it(x):
    return uses_math(x) * uses_numpy(x)


def writes_and_uses_it(x):
    items = [x]
    items.append(math.sin(items[0]))
    return items[1]


def sum_of_squares(x):
    return np.sum(x * x)


def keeps_it_as_a_variable(x):
    module = np
    f = module.sin
    return f(x)


Replacement = tuple[Any, str, Callable[..., Any]]
PROGRAMS: list[tuple[Callable[..., Any], list[Replacement]]] = [
    (uses_math, [(math, "sin", cube)]),
    (uses_numpy, [(np, "sin", cube)]),
    (uses_numpy, [(np, "sin", np.exp)]),
    (uses_norm, [(np.linalg, "norm", sum_of_squares)]),
    (uses_special, [(scipy.special, "expit", cube)]),
    (uses_builtin, [(builtins, "abs", cube)]),
    (uses_operator, [(operator, "neg", cube)]),
    (uses_own_module, [(own, "helper", cube)]),
    (uses_own_name, [(sys.modules[__name__], "local_helper", cube)]),
    (uses_method, [(Owner, "method", lambda self, x: x * x * x)]),
    (uses_static, [(Owner, "static", staticmethod(cube))]),
    (uses_several, [(np, "cos", cube), (math, "exp", lambda x: 1.0 / x)]),
    (uses_it_inside_of_a_comprehension, [(math, "sin", cube)]),
    (imports_it_itself, [(math, "sin", cube), (np.linalg, "norm", sum_of_squares)]),
    (calls_what_uses_it, [(math, "sin", cube), (np, "sin", np.tanh)]),
    (writes_and_uses_it, [(math, "sin", cube)]),
    (keeps_it_as_a_variable, [(np, "sin", cube)]),
]
X = 0.7


@contextlib.contextmanager
def replaced(replacements: list[Replacement]) -> Iterator[None]:
    with contextlib.ExitStack() as stack:
        for owner, name, new in replacements:
            stack.enter_context(mock.patch.object(owner, name, new))
        yield


def fresh(f: Callable[..., Any]) -> Callable[..., Any]:
    """The same function, of which nothing has been compiled."""
    assert isinstance(f, types.FunctionType)
    return types.FunctionType(f.__code__.replace(), f.__globals__, f.__name__, f.__defaults__, f.__closure__)


def check(f: Callable[..., Any], way: str) -> None:
    """Value and derivatives are those of what is there now."""
    h = 1e-6
    expected, slope = f(X), (f(X + h) - f(X - h)) / (2 * h)
    with WAYS[way]():
        y, (dx,) = value_and_gradient(f, X)
        y_again, back = pullback(f, X)
        _, y_dot = jvp(f, (X,), (1.0,))
        seed = type(y)(1.0)
        bars = [back(seed)[1], back(seed)[1]]
    assert y == expected == y_again
    assert [dx, y_dot, *bars] == pytest.approx([slope] * 4, rel=1e-5)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("f", "replacements"), PROGRAMS, ids=lambda part: getattr(part, "__name__", ""))
@pytest.mark.parametrize("before", [False, True], ids=["after the first call", "before the first call"])
def test_each_call_means_what_is_there(f, replacements, way, before):
    f = fresh(f)
    if not before:
        check(f, way)
    with replaced(replacements):
        check(f, way)
        check(f, way)
    check(f, way)
    with replaced(replacements):
        check(f, way)


@pytest.mark.parametrize("way", WAYS)
def test_a_pullback_is_that_of_the_call(way):
    with WAYS[way]():
        _, plain = pullback(uses_several, X)
        with replaced([(np, "cos", cube), (np, "sin", cube), (math, "exp", cube)]):
            inside = plain(1.0)
            _, other = pullback(uses_several, X)
            expected = other(1.0)
        assert plain(1.0) == inside == pytest.approx((None, 3.0 * math.exp(X) * (math.cos(X) - math.sin(X))))
        assert other(1.0) == expected == pytest.approx((None, 3.0 * 6.0 * X**5))


REPLACED_IN_RULES = [
    (uses_numpy, np, "cos"),
    (uses_math, math, "cos"),
    (uses_norm, np, "sqrt"),
    (uses_norm, np, "conj"),
    (uses_several, np, "sin"),
    (uses_special, np, "exp"),
    (lambda x: np.sum(np.tanh(np.array([x, x]))), np, "full"),
    (lambda x: np.prod(np.array([x, 2.0])), np, "where"),
    (lambda x: np.max(np.array([x, 0.2])), np, "sum"),
]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("f", "module", "name"), REPLACED_IN_RULES)
def test_rules_mean_what_they_were_written_with(f, module, name, way):
    expected, calls = gradient(f, X), []

    def spy(*args: Any, **kwargs: Any) -> Any:
        calls.append(args)
        return np.nan

    with WAYS[way](), mock.patch.object(module, name, spy):
        assert gradient(f, X) == pytest.approx(expected)
    assert not calls


def test_a_rule_for_what_takes_its_place():
    def five_times(x):
        return ctypes.c_double(5.0 * x).value

    with mock.patch("math.sin", five_times):
        with pytest.raises(MissingRuleError, match="ctypes"):
            gradient(uses_math, X)

        @rrule.register(five_times)
        def five_times_rrule(x):
            def five_times_pullback(y_bar):
                return None, 5.0 * y_bar

            return 5.0 * x, five_times_pullback

        assert gradient(uses_math, X) == (10.0,)
    assert gradient(uses_math, X) == pytest.approx((2.0 * math.cos(X),))

    def nothing(x):
        return 1.0

    non_differentiable(nothing)
    with mock.patch("math.sin", nothing):
        assert value_and_gradient(uses_math, X) == (2.0, (None,))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(
    "stand_in", [mock.Mock(return_value=3.0), mock.Mock(side_effect=cube), mock.MagicMock(wraps=math.sin), mock.DEFAULT]
)
def test_a_stand_in_of_which_nothing_is_known_is_refused(stand_in, way):
    with WAYS[way](), mock.patch("math.sin", stand_in), pytest.raises(MissingRuleError, match=r"mock[\s\S]*uses_math"):
        gradient(uses_math, X)
    with WAYS[way]():
        assert gradient(uses_math, X) == pytest.approx((2.0 * math.cos(X),))


def test_a_stand_in_that_gets_constants_is_called():
    with mock.patch("math.sin", mock.Mock(return_value=3.0)) as stand_in:
        assert gradient(lambda x: math.sin(1.0) * x, X) == (3.0,)
    stand_in.assert_called_once_with(1.0)


# Replaced while a differentiated function runs

real_sin = math.sin


def patches(x):
    with mock.patch("math.sin", cube):
        return math.sin(x)


def patches_its_own_module(x):
    with mock.patch.object(own, "helper", cube):
        return own.helper(x)


def assigns(x):
    math.sin = cube
    y = math.sin(x)
    math.sin = real_sin
    return y


def assigns_by_setattr(x):
    name = "sin"
    setattr(math, name, cube)
    return math.sin(x)


def replace(f):
    math.sin = f


def calls_what_assigns(x):
    replace(cube)
    y = math.sin(x)
    replace(real_sin)
    return y


def writes_and_calls_what_assigns(x):
    items = [x]
    items.append(1.0)
    replace(cube)
    y = math.sin(items[0])
    replace(real_sin)
    return y


def starts_and_stops(x):
    patcher = mock.patch("math.sin", cube)
    patcher.start()
    y = math.sin(x)
    patcher.stop()
    return y


@pytest.mark.parametrize("mode", [lambda f: gradient(f, X), lambda f: jvp(f, (X,), (1.0,))], ids=["reverse", "forward"])
@pytest.mark.parametrize(
    "f",
    [
        patches,
        patches_its_own_module,
        assigns,
        assigns_by_setattr,
        calls_what_assigns,
        writes_and_calls_what_assigns,
        starts_and_stops,
    ],
)
def test_replacing_inside_is_refused(f, mode):
    try:
        with pytest.raises(MutationError, match=rf"replaced inside differentiated code[\s\S]*{f.__name__}"):
            mode(f)
    finally:
        mock.patch.stopall()
        replace(real_sin)


# What was replaced when the package was imported


def printed(program: str) -> str:
    """What a program prints in a process of its own."""
    return subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.strip()


FIRST = """
import math, numpy as np, microgradpy as mg, microgradpy.testing
from unittest import mock
import linecache
text = "def cube(x):\\n    return x * x * x\\ndef f(x):\\n    return math.sin(x) + np.sin(x)\\n"
linecache.cache["made.py"] = len(text), None, text.splitlines(True), "made.py"
exec(compile(text, "made.py", "exec"), globals())
"""


def test_the_package_may_be_used_first_while_something_is_replaced():
    program = FIRST.replace(", microgradpy.testing", "") + (
        'with mock.patch("math.sin", cube), mock.patch("numpy.sin", cube), mock.patch("numpy.cos", cube):\n'
        "    print(mg.gradient(f, 2.0))\n"
        "print(abs(mg.gradient(f, 2.0)[0] - 2 * math.cos(2.0)) < 1e-12)\n"
    )
    assert printed(program) == "(24.0,)\nTrue"


def test_what_was_replaced_before_the_package_was_imported_is_refused():
    program = (
        "import math, unittest.mock\n"
        "with unittest.mock.patch('math.sin', lambda x: x):\n"
        "    import microgradpy\n"
        "    try:\n"
        "        microgradpy.gradient\n"
        "    except microgradpy.errors.DifferentiationError as error:\n"
        "        print(str(error).splitlines()[0].partition(' is ')[0])\n"
    )
    assert printed(program) == "math.sin"
