"""Objects as arguments, taken apart: what is relied on is looked at in each call, and gradients are what they are without."""

from __future__ import annotations

import gc
import sys
import types
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from microgradpy import (
    MissingRuleError,
    MutationError,
    cache_clear,
    cache_info,
    code_adjoint,
    entry,
    grad,
    gradient,
    jvp,
    pullback,
    rrule,
)
from microgradpy.cache import CACHE
from microgradpy.gradient_functions import PATIENCE
from microgradpy.patterns import Pattern
from microgradpy.tangents.types import NoTangent, Tangent
from tests import finite_differences as fd
from tests.programs import PROGRAMS, Program, given_models
from tests.programs.given_models import Chain, Dense, Module, array, identity
from tests.test_programs import same_cotangents

X = array(3, 2, seed=7)
GIVEN = [program for program in PROGRAMS if program.function.__module__ == given_models.__name__]
LEFT = {"numbered_layer"}
"""The programs whose arguments stay as they are."""
ZEROS = {"chosen_layer"}
"""Those with zeros for an object that was not chosen, where None is said of it otherwise."""


@pytest.fixture(autouse=True)
def nothing_compiled() -> Iterator[None]:
    cache_clear()
    yield
    cache_clear()


def loss(model: Any, x: Any) -> Any:
    return np.sum(model(x) ** 2)


def patterns() -> int:
    """How many units are called with parts of their arguments."""
    return sum(isinstance(unit.pattern, Pattern) for unit in CACHE.units.values())


def as_they_are(function: Callable[..., Any], *args: Any) -> Any:
    """The gradients of a function whose arguments are not taken apart."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(entry, "matched", lambda *_: None)
        return gradient(function, *args)


def check(function: Callable[..., Any], *args: Any) -> None:
    """Hold the gradients against those of arguments that are not taken apart, and against differences."""
    found = gradient(function, *args)
    expected = as_they_are(function, *args)
    for x, ours, theirs in zip(args, found, expected, strict=True):
        flat = fd.flatten_cotangent(x, ours)
        np.testing.assert_allclose(flat, fd.flatten_cotangent(x, theirs), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("program", GIVEN, ids=str)
def test_the_programs_of_the_table_are_taken_apart(program: Program) -> None:
    pullback(program.function, *program.args)
    assert (patterns() > 0) is (program.id not in LEFT)


@pytest.mark.parametrize("program", [program for program in GIVEN if program.id not in ZEROS], ids=str)
def test_the_gradients_have_the_form_that_they_have_otherwise(program: Program) -> None:
    y, back = pullback(program.function, *program.args)
    seed = fd.random_seed(y)
    found = back(seed)
    cache_clear()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(entry, "matched", lambda *_: None)
        expected = pullback(program.function, *program.args)[1](seed)
    assert _form(found) == _form(expected)


def _form(bar: Any) -> Any:
    if isinstance(bar, Tangent):
        return bar.primal_type, {name: _form(value) for name, value in bar.items()}
    if isinstance(bar, list | tuple):
        return type(bar), [_form(item) for item in bar]
    if isinstance(bar, dict):
        return {key: _form(value) for key, value in bar.items()}
    return type(bar), getattr(bar, "dtype", None), np.shape(bar) if bar is not None else None


# What is relied on


def small_model() -> Chain:
    return Chain(Dense(2, 2), Dense(2, 2, seed=1))


def another_layer(model: Chain) -> None:
    model.layers.append(Dense(2, 2, seed=2))


def a_layer_less(model: Chain) -> None:
    del model.layers[0]


def another_activation(model: Chain) -> None:
    model.layers[0].activation = np.sin


def a_function_for_an_activation(model: Chain) -> None:
    model.layers[1].activation = identity


def a_closure_for_an_activation(model: Chain) -> None:
    slope = np.array([0.5, 2.0])
    model.layers[1].activation = lambda x: x * slope


def no_bias(model: Chain) -> None:
    model.layers[0].b = None


def a_number_for_a_bias(model: Chain) -> None:
    model.layers[0].b = 0.25


def a_larger_layer(model: Chain) -> None:
    model.layers[:] = [Dense(2, 5), Dense(5, 2)]


class Wide(Dense):
    def forward(self, x: Any) -> Any:
        return super().forward(x) * 3.0


def a_subclass(model: Chain) -> None:
    model.layers[1] = Wide(2, 2)


def a_tuple_of_layers(model: Chain) -> None:
    model.layers = tuple(model.layers)  # type: ignore[assignment]


def another_class_of_an_object(model: Chain) -> None:
    model.layers[0].__class__ = Wide


def a_function_for_a_layer(model: Chain) -> None:
    model.layers[0] = np.tanh  # type: ignore[call-overload]


def a_constant_of_the_class_as_a_field(model: Chain) -> None:
    model.scale = 2.5


def a_field_that_shadows_a_method(model: Chain) -> None:
    model.layers[0].forward = types.MethodType(lambda self, x: x @ self.w * 5.0, model.layers[0])  # type: ignore[method-assign]


def the_method_of_another_object(model: Chain) -> None:
    model.layers[0].forward = model.layers[1].forward  # type: ignore[method-assign]


def weights_of_single_precision(model: Chain) -> None:
    model.layers[0].w = model.layers[0].w.astype(np.float32)


def tied_weights(model: Chain) -> None:
    model.layers[1].w = model.layers[0].w


def one_layer_twice(model: Chain) -> None:
    model.layers[1] = model.layers[0]


def a_field_that_nobody_reads(model: Chain) -> None:
    model.layers[0].name = "first"


OBJECTS = [
    another_layer,
    a_layer_less,
    another_activation,
    a_function_for_an_activation,
    a_closure_for_an_activation,
    no_bias,
    a_number_for_a_bias,
    a_larger_layer,
    a_subclass,
    a_tuple_of_layers,
    another_class_of_an_object,
    a_function_for_a_layer,
    a_constant_of_the_class_as_a_field,
    a_field_that_shadows_a_method,
    the_method_of_another_object,
    weights_of_single_precision,
    tied_weights,
    one_layer_twice,
    a_field_that_nobody_reads,
]


@pytest.mark.parametrize("change", OBJECTS, ids=lambda change: change.__name__)
def test_an_object_that_is_changed_between_calls(change: Callable[[Chain], None]) -> None:
    model = small_model()
    gradient(loss, model, X)
    assert patterns() == 1
    change(model)
    check(loss, model, X)
    check(loss, small_model(), X)


def test_a_model_that_holds_itself() -> None:
    model = small_model()
    gradient(loss, model, X)
    model.parent = model
    assert repr(gradient(loss, model, X)) == repr(as_they_are(loss, model, X))
    assert repr(gradient(of_parent, model, X)) == repr(as_they_are(of_parent, model, X))


def of_parent(model: Any, x: Any) -> Any:
    return np.sum(model.parent.parent(x) * model.layers[0].w[0, 0])


def forward_without_bias(self: Any, x: Any) -> Any:
    return np.tanh(x @ self.w) * 2.0


def read_in_another_way(self: Any, name: str) -> Any:
    return object.__getattribute__(self, name) * 2.0 if name == "w" else object.__getattribute__(self, name)


CLASSES = {
    "another method": (Dense, "forward", forward_without_bias),
    "another method of a base": (Module, "__call__", lambda self, x: self.forward(x) * 7.0),
    "another constant of a base": (Module, "scale", 3.0),
    "a constant in a subclass": (Dense, "scale", 5.0),
    "a property for a field": (Dense, "w", property(lambda self: np.ones((2, 2)), lambda self, value: None)),
    "a method in between": (Dense, "__call__", lambda self, x: self.forward(x) * 11.0),
}


@pytest.mark.parametrize("name", CLASSES)
def test_a_class_that_is_changed_between_calls(name: str) -> None:
    cls, member, value = CLASSES[name]
    model = small_model()
    gradient(loss, model, X)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cls, member, value, raising=False)
        y, back = pullback(loss, model, X)
        assert y == loss(model, X)
        step = 1e-6 * np.ones_like(X)
        slope = (loss(model, X + step) - loss(model, X - step)) / 2e-6
        np.testing.assert_allclose(np.sum(back()[2]), slope, rtol=1e-5, atol=1e-7)
    check(loss, model, X)


def test_fields_that_are_read_in_another_way_from_now_on(monkeypatch: pytest.MonkeyPatch) -> None:
    model = small_model()
    gradient(loss, model, X)
    monkeypatch.setattr(Dense, "__getattribute__", read_in_another_way, raising=False)
    with pytest.raises(MissingRuleError, match="computed"):
        gradient(loss, model, X)


def helper(x: Any) -> Any:
    return x * 2.0


class Helped(Module):
    def __init__(self) -> None:
        self.w = array(2, 2)
        self.activation = identity

    def forward(self, x: Any) -> Any:
        return helper(self.activation(x @ self.w))


def tripled(x: Any) -> Any:
    return x * 3.0


@pytest.mark.parametrize("function", [helper, identity, Helped.forward], ids=lambda function: function.__name__)
def test_code_that_is_changed_between_calls(function: types.FunctionType) -> None:
    model, code = Helped(), function.__code__
    gradient(loss, model, X)
    assert patterns() == 1
    other = tripled if function is not Helped.forward else forward_without_bias
    try:
        function.__code__ = other.__code__
        check(loss, model, X)
        assert gradient(loss, model, X)[0].w is not None
    finally:
        function.__code__ = code
    check(loss, model, X)


def scaled(model: Any, x: Any) -> Any:
    return x @ model.w


def by_helper(model: Any, x: Any) -> Any:
    return np.sum(scaled(model, x))


def test_a_rule_that_is_declared_later_for_what_was_written_out() -> None:
    model = Dense(2, 2)
    gradient(by_helper, model, X)
    assert patterns() == 1

    @rrule.register(scaled)
    def scaled_rrule(model: Any, x: Any) -> Any:
        def scaled_pullback(y_bar: Any) -> Any:
            return NoTangent(), NoTangent(), 10.0 * y_bar @ model.w.T

        return x @ model.w, scaled_pullback

    try:
        np.testing.assert_allclose(gradient(by_helper, model, X)[1], 10.0 * np.ones((3, 2)) @ model.w.T)
        np.testing.assert_allclose(gradient(by_helper, model, X)[1], 10.0 * np.ones((3, 2)) @ model.w.T)
    finally:
        rrule.opt_out(scaled)


def test_the_text_is_the_same_after_a_rule_is_declared() -> None:
    model = Dense(2, 2)
    text = code_adjoint(by_helper, model, X)
    rrule.register(unrelated)(lambda x: (x, lambda y_bar: (NoTangent(), y_bar)))
    try:
        assert code_adjoint(by_helper, model, X) == text
    finally:
        rrule.opt_out(unrelated)


def unrelated(x: Any) -> Any:
    return x


class Switched(Module):
    def __init__(self) -> None:
        self.w = array(2, 2)
        self.is_training = True
        self.kind = "tanh"
        self.repeats = 2

    def forward(self, x: Any) -> Any:
        for _ in range(self.repeats):
            x = x @ self.w
        if self.is_training:
            x = x * 0.5
        return np.tanh(x) if self.kind == "tanh" else x if not self.kind else np.sin(x)


def test_flags_texts_and_numbers_that_steer() -> None:
    model = Switched()
    for is_training in (True, False, True):
        for kind in ("tanh", "sin", ""):
            for repeats in (0, 1, 3):
                model.is_training, model.kind, model.repeats = is_training, kind, repeats
                check(loss, model, X)
    assert patterns() >= 1


# What is kept


def test_a_lambda_made_anew_in_each_call_is_compiled_once() -> None:
    def step(model: Any, x: Any, y: Any) -> Any:
        return gradient(lambda m: np.sum((m(x) - y) ** 2), model)

    model = small_model()
    first = step(model, X, X + 1.0)
    misses = cache_info().misses
    assert same_cotangents(first, step(model, X, X + 1.0))
    assert cache_info().misses == misses and patterns() == 1
    step(small_model(), X[:2], X[:2])
    assert patterns() <= 2


def test_no_model_is_kept_alive() -> None:
    model = small_model()
    gradient(loss, model, X)
    watched = weakref.ref(model)
    weights = weakref.ref(model.layers[0].w)
    del model
    gc.collect()
    assert watched() is None and weights() is None


@pytest.mark.skipif(
    sys.version_info >= (3, 13),
    reason="from 3.13 on asking an object for its __dict__ makes it no slower, so that nothing avoids it",
)
def test_no_object_is_made_slower() -> None:
    model = Dense(2, 2)
    for _ in range(3):
        gradient(loss, model, X)
    assert not any(type(found) is dict for found in gc.get_referents(model))


def test_what_is_kept_is_bounded_and_goes_with_the_cache() -> None:
    gradient(loss, small_model(), X)
    assert len(CACHE.patterns) == 1
    cache_clear()
    assert not CACHE.patterns


def test_arguments_that_always_differ_are_left_as_they_are_at_last() -> None:
    for count in range(1, 20):
        gradient(loss, Chain(*(Dense(2, 2, seed=k) for k in range(count))), X)
    known = CACHE.patterns[id(loss.__code__), id(globals())]
    assert len(known.found) == 4
    others = Chain(*(Dense(2, 2, seed=k) for k in range(18)))
    assert known.matched(loss, [others, X]) is None
    check(loss, others, X)
    for _ in range(8):
        gradient(loss, Chain(*(Dense(2, 2, seed=k) for k in range(12))), X)
    assert known.matched(loss, [others, X]) is not None


# What is left to others


class Counter(Module):
    def __init__(self) -> None:
        self.w = array(2, 2)
        self.calls = 1.0
        self.seen: list[Any] = []

    def forward(self, x: Any) -> Any:
        self.calls = self.calls * 2.0
        return x @ self.w * self.calls


class Keeper(Counter):
    def forward(self, x: Any) -> Any:
        self.seen.append(np.sum(x))
        return x @ self.w * self.seen[-1]


class Scaler(Counter):
    def forward(self, x: Any) -> Any:
        self.w *= 2.0
        return x @ self.w


@pytest.mark.parametrize("cls", [Counter, Keeper, Scaler])
def test_a_model_that_is_written_into(cls: type[Counter]) -> None:
    ours, theirs = Chain(cls(), Dense(2, 2)), Chain(cls(), Dense(2, 2))
    found = gradient(loss, ours, X)
    expected = as_they_are(loss, theirs, X)
    np.testing.assert_allclose(found[1], expected[1])
    assert ours.layers[0].calls == theirs.layers[0].calls and ours.layers[0].seen == theirs.layers[0].seen  # type: ignore[attr-defined]


class Idle:
    look = 1.0

    def __getitem__(self, number: int) -> float:
        return 1.0


class Meddler:
    """Writes into a model when it is looked at."""

    model: Any = None

    @property
    def look(self) -> float:
        self.model.w = self.model.w * 2.0
        return 1.0

    def __getitem__(self, number: int) -> float:
        return self.look


DESK: list[Any] = [Idle()]


def by_property(model: Any, x: Any) -> Any:
    return np.sum(x @ model.w) * DESK[0].look + np.sum(x @ model.w)


def by_item(model: Any, x: Any) -> Any:
    return np.sum(x @ model.w) * DESK[0][0] + np.sum(x @ model.w)


@pytest.mark.parametrize("function", [by_property, by_item], ids=lambda function: function.__name__)
def test_a_model_that_is_changed_by_code_that_nobody_sees(function: Callable[..., Any]) -> None:
    model, ask = Dense(2, 2), grad(function, (0, 1))
    for _ in range(PATIENCE + 2):
        ask(model, X)
    idle, meddler = DESK[0], Meddler()
    meddler.model = model
    DESK[0] = meddler  # after the function was compiled for what it was
    try:
        for ask_again in (ask, lambda model, x: gradient(function, model, x)):
            before = model.w
            try:
                found = ask_again(model, X)
            except MutationError as error:
                assert "while it ran" in str(error)
            else:
                np.testing.assert_allclose(model.w, 2.0 * before)
                np.testing.assert_allclose(found[0].w, np.repeat(3.0 * np.sum(X, axis=0)[:, None], before.shape[1], axis=1))
                np.testing.assert_allclose(found[1], np.broadcast_to(np.sum(3.0 * before, axis=1), X.shape))
    finally:
        DESK[0] = idle
    check(function, model, X)


kept: list[Any] = []


def keeps(model: Any, x: Any) -> Any:
    kept.append(model)
    return np.sum(model.w * 2.0) + np.sum(x)


def returns(model: Any, x: Any) -> Any:
    return (model, np.sum(model(x)))


def test_a_model_that_is_kept_or_returned() -> None:
    model = Dense(2, 2)
    np.testing.assert_array_equal(gradient(keeps, model, X)[0].w, np.full((2, 2), 2.0))
    assert kept.pop() is model
    y, back = pullback(returns, model, X)
    assert y[0] is model
    assert back((None, 1.0))[1].w.shape == (2, 2)
    assert patterns() == 0


def same_weights(model: Any, x: Any) -> Any:
    first, second = model.layers
    if first is second:
        return np.sum(first(x)) * 10.0
    if first.w is second.w:
        return np.sum(first(x)) * 100.0
    return np.sum(second(first(x)))


def test_identities_are_those_of_the_arguments() -> None:
    model = small_model()
    check(same_weights, model, X)
    model.layers[1].w = model.layers[0].w
    check(same_weights, model, X)
    model.layers[1] = model.layers[0]
    check(same_weights, model, X)
    assert gradient(same_weights, model, X)[0].layers[0].w is not None


def test_forward_mode_and_gradient_functions_are_as_they_were() -> None:
    model = small_model()
    found = grad(loss, (0, 1))(model, X)
    expected = as_they_are(loss, model, X)
    assert same_cotangents(found[0].layers, expected[0].layers)
    direction = np.ones_like(X)
    _, slope = jvp(lambda x: loss(model, x), (X,), (direction,))
    np.testing.assert_allclose(slope, np.sum(found[1]))


def test_a_pullback_outlives_a_change_of_the_model() -> None:
    model = small_model()
    _, back = pullback(loss, model, X)
    first = back()
    model.layers = model.layers[:1]
    second = back()
    assert same_cotangents(first[2], second[2]) and len(second[1].layers) == 2


def test_the_text_shows_parts_of_arguments() -> None:
    text = code_adjoint(loss, small_model(), X, argnums=0)
    assert "layers_0_w_bar" in text and "pullback_of" not in text and "Tangent" not in text


def rooted(model: Any, x: Any) -> Any:
    y = x @ model.layers[0].w
    return np.sum(np.where(y > 0.0, np.sqrt(np.maximum(y, 0.0)), 0.0)) + np.sum(model.layers[1](x))


def roots(w: Any, x: Any) -> Any:
    y = x @ w
    return np.sum(np.where(y > 0.0, np.sqrt(np.maximum(y, 0.0)), 0.0))


def clipped(x: Any) -> Any:
    return np.where(x > 0.0, np.sqrt(np.maximum(x, 0.0)), x)


def test_zeros_of_selections_are_kept() -> None:
    model = small_model()
    x = np.array([[0.0, 0.0], [1.0, 2.0]])
    found = gradient(rooted, model, x)[0].layers[0].w
    assert patterns() == 1 and np.all(np.isfinite(found))
    np.testing.assert_allclose(found, gradient(roots, model.layers[0].w, x)[0])
    model.layers[0].activation = clipped
    model.layers[0].b = np.zeros(2)
    assert np.all(np.isfinite(gradient(loss, model, x)[0].layers[0].w))
    check(loss, model, x)


def test_tangents_of_objects() -> None:
    model = small_model()
    dot = gradient(loss, model, X)[0]
    y, slope = jvp(loss, (model, X), (dot, np.zeros_like(X)))
    assert y == loss(model, X)
    flat = fd.flatten_cotangent(model, dot)
    np.testing.assert_allclose(slope, flat @ flat)


def of_captured(model: Any, x: Any) -> Any:
    return pullback(lambda: np.sum(model(x) ** 2))


def test_a_captured_model_has_its_gradient() -> None:
    model = small_model()
    _, back = of_captured(model, X)
    own = back()[0]
    assert patterns() == 1
    expected = gradient(loss, model, X)
    np.testing.assert_allclose(own.x, expected[1])
    np.testing.assert_allclose(own.model.layers[1].w, expected[0].layers[1].w)


def test_methods_and_callable_objects_are_functions_of_their_object() -> None:
    class Sum(Dense):
        def total(self, x: Any) -> Any:
            return np.sum(self(x))

        def __call__(self, x: Any) -> Any:
            return np.sum(super().__call__(x))

    model = Sum(2, 2)
    for function in (model.total, model):
        own = pullback(function, X)[1]()[0]
        assert patterns() > 0
        w = own.w if isinstance(function, Sum) else own["__self__"].w
        np.testing.assert_allclose(w, gradient(lambda m: m.total(X), model)[0].w)
        cache_clear()


def test_default_and_keyword_arguments() -> None:
    def scaled_loss(model: Any, *xs: Any, factor: Any = 2.0, **named: Any) -> Any:
        return sum(np.sum(model(x)) for x in xs) * factor + sum(np.sum(v) for v in named.values())

    model = small_model()
    for keywords in ({}, {"factor": 3.0}, {"factor": 3.0, "other": X}):
        ours = gradient(scaled_loss, model, X, X + 1.0, **keywords)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(entry, "matched", lambda *_: None)
            theirs = gradient(scaled_loss, model, X, X + 1.0, **keywords)
        assert _form(ours) == _form(theirs)
        np.testing.assert_allclose(ours[0].layers[0].w, theirs[0].layers[0].w)
        np.testing.assert_allclose(ours[2], theirs[2])


def by_default(model: Any, x: Any, factor: Any = 2.0, *, shift: Any = 0.5) -> Any:
    return np.sum(model(x)) * factor + shift * shift


def test_what_is_a_default_in_one_call_is_differentiated_in_another() -> None:
    model = small_model()
    for _ in range(2):
        assert len(gradient(by_default, model, X)) == 2
        np.testing.assert_allclose(gradient(by_default, model, X, 2.0)[2], np.sum(model(X)))
        assert gradient(by_default, model, X, 3.0, shift=2.0)[2] is not None
        assert grad(by_default, 1)(model, X).shape == X.shape
        np.testing.assert_allclose(grad(by_default, 2)(model, X, 2.0), np.sum(model(X)))
    assert patterns() > 1


def layers_as_pairs(layers: Any, x: Any) -> Any:
    for w, b in layers:
        x = np.tanh(x @ w + b)
    return np.sum(x)


def heads_as_dicts(params: Any, x: Any) -> Any:
    return np.sum(sum(np.tanh(x @ head["w"]) * head["scale"] for head in params["heads"]) @ params["out"])


@pytest.mark.parametrize(
    ("function", "argument"),
    [
        (layers_as_pairs, [(array(2, 2), array(2)), (array(2, 3), array(3))]),
        (
            heads_as_dicts,
            {"heads": [{"w": array(2, 2), "scale": 0.5}, {"w": array(2, 2, seed=1), "scale": 2}], "out": array(2)},
        ),
    ],
)
def test_lists_of_layers_without_objects(function: Callable[..., Any], argument: Any) -> None:
    check(function, argument, X)
    assert "pullback_of" not in code_adjoint(function, argument, X)


@pytest.mark.parametrize("change", OBJECTS, ids=lambda change: change.__name__)
def test_a_gradient_function_that_has_been_called_often(change: Callable[[Chain], None]) -> None:
    model, ask = small_model(), grad(loss, (0, 1))
    for _ in range(PATIENCE):
        first = ask(model, X)
    assert ask.__defaults__, "there is no head"  # type: ignore[attr-defined]
    assert same_cotangents(ask(model, X), first)
    change(model)
    for x in (X, X[:2]):
        for ours, theirs in zip(ask(model, x), as_they_are(loss, model, x), strict=True):
            argument = model if isinstance(ours, Tangent) else x
            flat = fd.flatten_cotangent(argument, ours)
            np.testing.assert_allclose(flat, fd.flatten_cotangent(argument, theirs), rtol=1e-12, atol=1e-12)
    assert same_cotangents(ask(small_model(), X), first)


def number_of_some_type(model: Any, x: Any) -> Any:
    total = np.sum(model(x) ** 2)
    return total if x[0, 0] > 0.0 else float(total)


def test_a_gradient_function_that_has_been_called_often_and_gives_another_type() -> None:
    model, ask = small_model(), grad(number_of_some_type, (0, 1))
    for _ in range(PATIENCE + 1):
        ask(model, np.abs(X))
    assert ask.__defaults__, "there is no head"  # type: ignore[attr-defined]
    for x in (np.abs(X), -np.abs(X)):
        assert same_cotangents(ask(model, x)[0].layers[0].w, as_they_are(number_of_some_type, model, x)[0].layers[0].w)
    with pytest.raises(TypeError):
        ask()


def test_a_class_that_is_changed_after_many_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    model, ask = small_model(), grad(loss, 1)
    for _ in range(PATIENCE + 1):
        ask(model, X)
    monkeypatch.setattr(Dense, "forward", forward_without_bias)
    np.testing.assert_allclose(ask(model, X), as_they_are(loss, model, X)[1])
