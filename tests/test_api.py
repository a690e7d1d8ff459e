"""What the public calls return: shapes, types, zeros, containers, keywords, seeds (rulings 2 to 6)."""

from __future__ import annotations

import functools
import math
from collections import namedtuple
from fractions import Fraction

import numpy as np
import pytest

import microgradpy
from microgradpy import (
    DifferentiationError,
    MissingRuleError,
    NoTangent,
    Tangent,
    ZeroTangent,
    cache_clear,
    cache_info,
    code_adjoint,
    code_ir,
    code_primal,
    code_pushforward,
    elementwise_grad,
    grad,
    gradient,
    jac,
    jacobian,
    pullback,
    pushforward,
    rrule,
    value_and_grad,
    value_and_gradient,
    vjp,
)
from tests.programs.objects import Affine, Chain, Dense, Point, Segment

Pair = namedtuple("Pair", "first second")


def cube(x):
    return x * x * x


# Shape of the answers


def test_pullback_gives_one_cotangent_for_the_function_and_one_per_argument():
    y, back = pullback(lambda a, b, c: a * b, 2.0, 3.0, 4.0)
    assert y == 6.0
    assert back(1.0) == (None, 3.0, 2.0, None)
    assert back(2.0) == (None, 6.0, 4.0, None)


def test_no_arguments():
    assert pullback(lambda: 3.0)[1](1.0) == (None,)
    assert gradient(lambda: 3.0) == ()


def test_back_without_a_seed_means_one():
    for x in (2.0, np.float64(2.0), np.float32(2.0), np.array(2.0)):
        _, back = pullback(cube, x)
        assert back()[1] == 12.0 == back(1.0)[1]


def test_gradient_drops_the_function():
    assert gradient(cube, 2.0) == (12.0,)
    assert value_and_gradient(cube, 2.0) == (8.0, (12.0,))


def test_has_aux():
    def f(x, y):
        return x * y, {"sum": x + y}

    assert value_and_gradient(f, 2.0, 3.0, has_aux=True) == ((6.0, {"sum": 5.0}), (3.0, 2.0))
    assert value_and_grad(f, has_aux=True)(2.0, 3.0) == ((6.0, {"sum": 5.0}), 3.0)
    assert value_and_grad(f, argnums=(1, 0), has_aux=True)(2.0, 3.0) == ((6.0, {"sum": 5.0}), (2.0, 3.0))


def test_argnums():
    def f(x, y, z):
        return x * y * y + z

    assert grad(f)(2.0, 3.0, 4.0) == 9.0
    assert grad(f, argnums=1)(2.0, 3.0, 4.0) == 12.0
    assert grad(f, argnums=-1)(2.0, 3.0, 4.0) == 1.0
    assert grad(f, argnums=(0,))(2.0, 3.0, 4.0) == (9.0,)
    assert grad(f, argnums=(2, 0))(2.0, 3.0, 4.0) == (1.0, 9.0)
    assert grad(f, (0, 1))(2.0, 3.0, 4.0) == (9.0, 12.0)
    assert value_and_grad(f, 1)(2.0, 3.0, 4.0) == (22.0, 12.0)
    with pytest.raises((IndexError, TypeError, ValueError)):
        grad(f, argnums=3)(2.0, 3.0, 4.0)


def test_argnums_by_name():
    def f(x, y=2.0, z=3.0, *, scale=1.0):
        return x * y * y * scale + z

    assert grad(f, argnums="y")(2.0, 3.0, 4.0) == 12.0
    assert grad(f, argnums="y")(2.0, y=3.0) == 12.0
    assert grad(f, argnums="y")(2.0, z=1.0, y=3.0, scale=2.0) == 24.0
    assert grad(f, argnums=("z", "x"))(2.0, 3.0, 4.0) == (1.0, 9.0)
    assert grad(f, argnums=("z", 0))(z=4.0, y=3.0, x=2.0) == (1.0, 9.0)
    assert value_and_grad(f, argnums=("x",))(x=2.0) == (11.0, (4.0,))
    assert jacobian(f, 2.0, y=3.0, argnums="y") == jac(f, "y")(2.0, 3.0) == 12.0
    assert code_adjoint(f, 2.0, 3.0, argnums="y") == code_adjoint(f, 2.0, 3.0, argnums=1)
    assert gradient(lambda a: grad(lambda x, k: k**2 * x, argnums="k")(3.0, a), 2.0) == (6.0,)
    with pytest.raises(TypeError, match=r"'yy', which is no argument of f .*; did you mean 'y'\?"):
        grad(f, argnums="yy")
    with pytest.raises(TypeError, match="'scale', which is no argument of f that can be given by position; it takes x, y, z"):
        grad(f, argnums="scale")


def test_argnums_by_name_of_methods_and_decorated_functions():
    class Decay:
        rate = 2.0

        def loss(self, x, y):
            return self.rate * x * y

    def logged(f):
        @functools.wraps(f)
        def called(*args, **kwargs):
            return f(*args, **kwargs)

        return called

    @logged
    def product(x, y):
        return x * y

    assert grad(Decay().loss, argnums="y")(3.0, 5.0) == 6.0
    assert grad(product, argnums="y")(3.0, y=5.0) == 3.0
    assert grad(functools.partial(product, 2.0), argnums=0)(5.0) == 2.0


def test_vjp_has_one_cotangent_for_each_argument():
    y, back = vjp(lambda x, y: x * y, np.array([1.0, 2.0]), 3.0)
    assert y.tolist() == [3.0, 6.0]
    x_bar, y_bar = back(np.array([1.0, 0.5]))
    assert x_bar.tolist() == [3.0, 1.5] and y_bar == 2.0
    assert vjp(cube, 2.0)[1]() == (12.0,)


def test_elementwise_grad_is_a_derivative_for_each_entry():
    x = np.array([0.5, 1.0, 2.0])
    np.testing.assert_allclose(elementwise_grad(np.tanh)(x), 1.0 - np.tanh(x) ** 2)
    np.testing.assert_allclose(elementwise_grad(lambda k, x: k * x**3, argnums=1)(2.0, x), 6.0 * x**2)
    np.testing.assert_allclose(elementwise_grad(lambda k, x: k * x**3, argnums="x")(2.0, x=x), 6.0 * x**2)
    assert elementwise_grad(cube)(2.0) == 12.0


def test_grad_computes_nothing_for_other_arguments():
    calls = []

    def counted(x):
        return x * 2.0

    @rrule.register(counted)
    def counted_rrule(x):
        def counted_pullback(y_bar):
            calls.append("pullback")
            return NoTangent(), 2.0 * y_bar

        calls.append("forward")
        return x * 2.0, counted_pullback

    def f(x, y):
        return x * counted(y)

    assert grad(f)(3.0, 4.0) == 8.0
    assert calls == []
    assert grad(f, argnums=1)(3.0, 4.0) == 6.0
    assert calls == ["forward", "pullback"]


def test_grad_gives_zeros_where_gradient_gives_none():
    def f(x, y, z):
        return x * x

    y, z = np.array([1.0, 2.0]), {"a": [1.0, 2], "b": "text"}
    assert gradient(f, 3.0, y, z)[1:] == (None, None)
    x_bar, y_bar, z_bar = grad(f, argnums=(0, 1, 2))(3.0, y, z)
    assert x_bar == 6.0
    assert np.array_equal(y_bar, np.zeros(2)) and y_bar.dtype == np.float64
    assert z_bar["a"] == [0.0, 0.0]
    assert z_bar.get("b") is None


def test_grad_fills_untouched_leaves_with_zeros():
    assert grad(lambda p: p[0] * 2.0)((1.0, 5.0)) == (2.0, 0.0)
    bar = grad(lambda d: d["a"] * 2.0)({"a": 1.0, "b": np.ones(2)})
    assert bar["a"] == 2.0 and np.array_equal(bar["b"], np.zeros(2))


def test_grad_keeps_the_name_of_the_function():
    assert "cube" in repr(grad(cube)) or grad(cube).__name__ == "cube" or "cube" in grad(cube).__name__


# None or zero


def test_none_for_an_argument_that_cannot_matter():
    def f(x, flag, name, nothing, callback, unused):
        return x * x if flag else x

    assert gradient(f, 3.0, True, "name", None, cube, 2.0) == (6.0, None, None, None, None, None)


def test_zero_for_a_branch_not_taken():
    def f(x, y):
        return x * x if x > 0.0 else y

    assert gradient(f, 3.0, 2.0) == (6.0, 0.0)
    assert gradient(f, 3.0, np.float64(2.0)) == (6.0, 0.0)
    _, y_bar = gradient(lambda x, y: x if x > 0 else np.sum(y), 3.0, np.ones(2))
    assert np.array_equal(y_bar, np.zeros(2))


def test_zero_trip_loops_give_zeros():
    def f(x, y):
        for _ in range(0):
            x = x * y
        return x

    assert gradient(f, 3.0, 2.0) == (1.0, 0.0)


def test_untouched_leaves_of_a_used_container_are_none():
    assert gradient(lambda p: p[1] * 2.0, (1.0, 2.0, 3.0)) == ((None, 2.0, None),)
    assert gradient(lambda p: p[1] * 2.0, [1.0, 2.0]) == ([None, 2.0],)
    (bar,) = gradient(lambda d: d["a"] * 2.0, {"a": 1.0, "b": 2.0})
    assert bar["a"] == 2.0 and bar.get("b") is None
    (bar,) = gradient(lambda x: x[1] * 2.0, np.array([1.0, 2.0]))
    assert np.array_equal(bar, [0.0, 2.0])


# Leaves


@pytest.mark.parametrize(
    "x",
    [2.0, np.float64(2.0), np.float32(2.0), np.float16(2.0), np.array(2.0), np.array(2.0, dtype=np.float32)],
    ids=lambda x: f"{type(x).__name__}-{getattr(x, 'dtype', '')}",
)
def test_the_type_of_the_gradient_is_that_of_the_argument(x):
    y, (x_bar,) = value_and_gradient(lambda x: x * x * 1.5, x)
    assert type(x_bar) is type(x) and getattr(x_bar, "dtype", None) == getattr(x, "dtype", None)
    assert x_bar == 6.0
    assert type(y) is type(x * x * 1.5)


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
def test_the_dtype_of_arrays_is_kept(dtype):
    x = np.array([1.0, 2.0, 3.0], dtype=dtype)
    (x_bar,) = gradient(lambda x: np.sum(x * x), x)
    assert x_bar.dtype == dtype and np.array_equal(x_bar, 2 * x)
    (x_bar,) = gradient(lambda x: np.sum(x * np.arange(3.0)), x)  # float64 in between
    assert x_bar.dtype == dtype


def test_whole_numbers_get_float_gradients():
    assert gradient(lambda n: n * n * 1.0, 3) == (6.0,)
    assert type(gradient(lambda n: n * n * 1.0, 3)[0]) is float
    (n_bar,) = gradient(lambda n: np.sum(n * n * 1.0), np.array([1, 2, 3]))
    assert n_bar.dtype == np.float64 and np.array_equal(n_bar, [2.0, 4.0, 6.0])
    assert gradient(lambda n, x: x * n, 3, 2.0) == (2.0, 3.0)


def test_whole_numbers_as_counts_carry_nothing():
    def f(x, n):
        for _ in range(n):
            x = x * 2.0
        return x

    assert gradient(f, 1.0, 3) == (8.0, None)


def test_truth_values_carry_nothing():
    assert gradient(lambda x, b: x * b, 3.0, True) == (1.0, None)
    assert gradient(lambda x, b: x * b, 3.0, np.True_)[1] is None
    assert gradient(lambda x, b: np.sum(x * b), np.ones(2), np.array([True, False]))[1] is None


def test_real_stays_real_through_complex():
    def f(x):
        z = complex(x, 1.0) * 1j
        return z.real * 2.0 + abs(z) ** 2

    (x_bar,) = gradient(f, 3.0)
    assert type(x_bar) is float
    assert x_bar == pytest.approx(6.0)
    (x_bar,) = gradient(lambda x: np.real(np.sum(x * (1.0 + 2.0j))), np.array([1.0, 2.0]))
    assert x_bar.dtype == np.float64 and np.array_equal(x_bar, [1.0, 1.0])


def test_complex_gradients_are_those_of_real_and_imaginary_part():
    assert gradient(lambda z: abs(z) ** 2, 1.0 + 2.0j)[0] == pytest.approx(2.0 + 4.0j)
    assert gradient(lambda z: (z * z).real, 1.0 + 2.0j)[0] == pytest.approx(2.0 - 4.0j)


def test_exact_numbers_are_none_if_unused_and_refused_if_used():
    half = Fraction(1, 2)
    assert gradient(lambda x, q: x * x, 3.0, half) == (6.0, None)
    assert gradient(lambda x, a: x * x, 3.0, np.array(["a"], dtype=object)) == (6.0, None)
    with pytest.raises(DifferentiationError, match="Fraction"):
        gradient(lambda x, q: x * q, 3.0, half)


# Containers and objects


def test_containers_come_back_as_themselves():
    (bar,) = gradient(lambda p: p.first * p.second, Pair(2.0, 3.0))
    assert type(bar) is Pair and bar == Pair(3.0, 2.0)
    (bar,) = gradient(lambda d: d["a"][0] * d["b"][1], {"a": [2.0], "b": (1.0, 3.0)})
    assert bar == {"a": [3.0], "b": (None, 2.0)}
    (bar,) = gradient(lambda v: np.sum(np.array(v)), [2.0, 3.0])
    assert bar == [1.0, 1.0] and type(bar) is list


def test_objects_give_tangents():
    (bar,) = gradient(lambda s: s.start.x * s.end.y, Segment(Point(1.0, 2.0), Point(3.0, 4.0)))
    assert isinstance(bar, Tangent) and bar.primal_type is Segment
    assert isinstance(bar.start, Tangent) and bar.start.primal_type is Point
    assert bar.start.x == 4.0 and bar.end.y == 1.0
    assert bar.start.y is None and bar.label is None
    assert bar["start"]["x"] == 4.0


def test_tangents_are_immutable_mappings_with_arithmetic():
    a, b = Tangent(Point, x=1.0), Tangent(Point, x=2.0, y=3.0)
    assert a.x == 1.0 and a["x"] == 1.0 and dict(b) == {"x": 2.0, "y": 3.0}
    assert (a + b).x == 3.0 and (a + b).y == 3.0
    assert a == Tangent(Point, x=1.0, y=0.0) and a != b
    assert a.primal_type is Point and "Point" in repr(a) and "x" in repr(a)
    with pytest.raises(AttributeError):
        a.x = 2.0
    with pytest.raises(TypeError):
        a["x"] = 2.0


def test_singletons():
    assert NoTangent() is NoTangent() and ZeroTangent() is ZeroTangent()
    assert NoTangent() != ZeroTangent()


def make_line(a, b):
    def line(x):
        return a * x + b

    return line


def test_closures_have_a_tangent_of_their_cells():
    _, back = pullback(make_line(2.0, 3.0), 4.0)
    df, x_bar = back(1.0)
    assert isinstance(df, Tangent)
    assert df.a == 4.0 and df.b == 1.0 and x_bar == 2.0


def test_a_closure_with_nothing_to_differentiate_still_has_a_tangent():
    _, back = pullback(make_line("a", "b"), 3)
    assert isinstance(back, object)
    name = "text"
    _, back = pullback(lambda x: x * len(name), 4.0)
    df, x_bar = back(1.0)
    assert isinstance(df, Tangent) and df.name is None and x_bar == 4.0


def test_bound_methods_and_callable_objects():
    p = Point(3.0, 4.0)
    df, s_bar = pullback(p.shifted_norm, 0.5)[1](1.0)
    assert s_bar == 2.0
    assert isinstance(df, Tangent) and df["__self__"].x == pytest.approx(1.2)
    df, x_bar = pullback(Affine(2.0, 3.0), 4.0)[1](1.0)
    assert (df.a, df.b, x_bar) == (4.0, 1.0, 2.0) and df.primal_type is Affine


def test_partial():
    def f(a, b, c=1.0):
        return a * b * c

    y, back = pullback(functools.partial(f, 2.0, c=3.0), 5.0)
    df, b_bar = back(1.0)
    assert y == 30.0 and b_bar == 6.0
    assert isinstance(df, Tangent)
    assert df.args == (15.0,) and df.keywords["c"] == 10.0
    assert gradient(functools.partial(f, 2.0), 5.0) == (2.0,)


def test_models_give_nested_tangents():
    model = Chain([Dense(np.ones((2, 3)), np.zeros(3)), Dense(np.ones((3, 1)), np.zeros(1))])
    x = np.array([[0.1, 0.2]])
    (bar,) = gradient(lambda m: np.sum(m(x)), model)
    assert isinstance(bar, Tangent) and isinstance(bar.layers, list)
    assert bar.layers[0].W.shape == (2, 3) and bar.layers[1].b.shape == (1,)
    assert bar.layers[0].activation is None


# Keywords


def test_keywords_are_constants_without_a_slot():
    def f(x, y=2.0, *, z=3.0):
        return x * y * z

    assert gradient(f, 1.0) == (6.0,)
    assert gradient(f, 1.0, 5.0) == (15.0, 3.0)
    assert gradient(f, 1.0, y=5.0, z=2.0) == (10.0,)
    assert value_and_gradient(f, 1.0, z=1.0) == (2.0, (2.0,))
    assert pullback(f, 1.0, z=1.0)[1](1.0) == (None, 2.0)
    assert grad(f)(1.0, z=1.0) == 2.0


def test_keywords_named_like_options_belong_to_the_function():
    def f(x, argnums=2.0, target=3.0, check=1.0):
        return x * argnums * target * check

    assert gradient(f, 1.0, argnums=5.0, target=2.0, check=3.0) == (30.0,)


def test_varargs_have_a_slot_each():
    def f(x, *rest, **options):
        return x * rest[0] * rest[1] * options["k"]

    assert gradient(f, 1.0, 2.0, 3.0, k=4.0) == (24.0, 12.0, 8.0)


def test_own_function_called_f():
    def g(f, x):
        return f * x

    assert gradient(g, 2.0, 3.0) == (3.0, 2.0)


# Seeds


def test_seeds_are_cast_to_the_type_of_the_value():
    y, back = pullback(lambda x: x * np.ones(2, dtype=np.float32), np.float32(2.0))
    assert y.dtype == np.float32
    (_, x_bar) = back(np.array([1, 2]))
    assert type(x_bar) is np.float32 and x_bar == 3.0
    (_, x_bar) = pullback(cube, 2.0)[1](1)
    assert type(x_bar) is float and x_bar == 12.0
    (_, x_bar) = pullback(cube, 2.0)[1](np.float32(1.0))
    assert type(x_bar) is float


def test_a_list_may_seed_an_array():
    _, back = pullback(lambda x: x * np.ones(2), 2.0)
    assert back(np.array([1.0, 2.0]))[1] == 3.0


def test_none_in_seeds_is_zero():
    _, back = pullback(lambda x, y: (x * y, x + y, {"k": y}), 2.0, 3.0)
    assert back((1.0, None, None))[1:] == (3.0, 2.0)
    assert back((None, 1.0, {"k": 2.0}))[1:] == (1.0, 3.0)
    zeros = back((None, None, None))[1:]
    assert all(zero is None or zero == 0.0 for zero in zeros)


def test_structured_outputs_take_structured_seeds():
    _, back = pullback(lambda x: [x, {"a": (x * x, "text")}], 3.0)
    assert back([1.0, {"a": (2.0, None)}])[1] == 13.0


def test_outputs_that_are_arguments():
    y, back = pullback(lambda x, y: x, 2.0, 3.0)
    assert back(5.0)[1] == 5.0
    x = np.array([1.0, 2.0])
    y, back = pullback(lambda x: x, x)
    assert y is x
    seed = np.array([3.0, 4.0])
    (_, x_bar) = back(seed)
    assert np.array_equal(x_bar, seed) and not np.shares_memory(x_bar, seed)


# Names

PUBLIC_NAMES = """
CompilerBug CotangentShapeError DifferentiationError MissingRuleError MutationError NoTangent NonScalarOutputError
SourceNotFoundError Tangent UnsupportedSyntaxError ZeroTangent cache_clear cache_info code_adjoint code_ir code_primal
grad gradient ignore_derivatives instrument primal pullback reverse_differentiate rrule stop_gradient value_and_grad
value_and_gradient
""".split()


def test_public_names():
    assert set(PUBLIC_NAMES) <= set(microgradpy.__all__)
    assert all(hasattr(microgradpy, name) for name in microgradpy.__all__)
    assert sorted(microgradpy.__all__) == list(microgradpy.__all__)


def decay(x, rate=0.5, *, steps=3):
    for _ in range(steps):
        x = x - rate * x
    return np.sum(x)


def test_code_with_example_arguments_is_what_the_call_runs():
    def nested(x, rate=0.5):
        return np.sum(x * rate)

    cache_clear()
    texts = [code_adjoint(function, np.ones(3)) for function in (decay, nested)]
    compiled = cache_info().misses
    for function in (decay, nested):
        gradient(function, np.ones(3))
    assert cache_info().misses == compiled
    # The defaults of a nested function are its fields.
    assert "rate_bar" not in texts[0] and "rate_bar" in texts[1]
    assert "rate_bar" in code_adjoint(decay)
    assert "rate_bar" in code_adjoint(decay, np.ones(3), argnums=(0, 1))


class Knot:
    def __init__(self, value):
        self.value = value
        self.other = self


def test_objects_that_hold_themselves():
    knot = Knot(0.5)
    (bar,) = gradient(lambda k: k.value * k.other.value * k.other.other.value, knot)
    assert (bar.value, bar.other.value, bar.other.other.value) == (0.25, 0.25, 0.25)


def test_returning_an_iterator_is_refused():
    with pytest.raises(MissingRuleError, match="an iterator"):
        pullback(lambda xs: map(math.sin, xs), [1.0, 2.0])


def test_a_pullback_shows_the_adjoint_that_it_runs():
    def f(x, y=1.0):
        return x * y

    class Model:
        weight = 3.0

        def __call__(self, x):
            return self.weight * x

    _, back = pullback(f, 2.0, 3.0)
    assert back.source == code_adjoint(back) == code_adjoint(f, 2.0, 3.0)
    assert code_primal(back) == code_primal(f, 2.0, 3.0)
    assert code_adjoint(pullback(f, 2.0)[1]) == code_adjoint(f, 2.0)
    assert code_adjoint(vjp(f, 2.0, 3.0)[1]) == back.source
    assert str(code_ir(back)) == str(code_ir(f))
    model = Model()
    assert pullback(model, 2.0)[1].source == code_adjoint(model, 2.0)
    assert code_pushforward(pushforward(f, 2.0)[1]) == code_pushforward(f, 2.0)
