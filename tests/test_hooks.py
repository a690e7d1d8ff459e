"""`hook` and `showgrad` see cotangents on their way; `is_differentiating` says whether there will be any."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest

from microgradpy import (
    CotangentShapeError,
    MutationError,
    gradient,
    hook,
    is_differentiating,
    jvp,
    pullback,
    pushforward,
    showgrad,
    value_and_gradient,
)
from microgradpy.compiler import always_dispatch, always_track

MODES = {"as it is": nullcontext, "tracked": always_track, "dispatched": always_dispatch}
in_every_mode = pytest.mark.parametrize("mode", MODES.values(), ids=list(MODES))
X = np.array([1.0, 2.0, 3.0])
SEEN: list[Any] = []


def note(x_bar):
    SEEN.append(x_bar)


def tenfold(x_bar):
    return 10.0 * x_bar


def straight(x):
    return np.sum(hook(note, x * 2.0) * x)


def used_twice(x):
    y = x * 2.0
    return np.sum(hook(note, y) + y * 5.0)


def in_a_loop(x):
    total = 0.0
    for i in range(3):
        total = total + hook(note, x[i]) * (i + 1)
    return total


def in_a_branch(x):
    if x[0] > 0:
        return np.sum(hook(note, x) ** 2)
    return np.sum(hook(tenfold, x))


def in_a_closure(x):
    def inner(y):
        return hook(note, y * x)

    return np.sum(inner(x))


def by_keyword(x):
    return np.sum(hook(fn=note, x=x) * 3.0)


def in_a_function_that_writes(x):
    y = np.zeros(3)
    for i in range(3):
        y[i] = hook(note, x[i] * 2.0)
    return np.sum(y * y)


def of_an_array_that_was_written(x):
    y = np.zeros(3)
    y[1:] = x[1:] * 2.0
    y = hook(note, y)
    return np.sum(y * y)


def of_a_tuple(x):
    a, b = hook(note, (x * 2.0, x[0] * 3.0))
    return np.sum(a) + b


def of_a_list_item(x):
    items = [x[0] * 2.0, x[1]]
    items.append(hook(note, items[0]) * items[1])
    return sum(items)


def of_a_whole_list(x):
    items = hook(note, [x[0] * 2.0, x[1]])
    return items[0] * items[1]


class Model:
    def __init__(self, w):
        self.w = w

    def loss(self, x):
        return np.sum(hook(note, self.w * x))


MODEL = Model(3.0)


def in_a_method(x):
    return MODEL.loss(x)


LOOKING: dict[Callable[..., Any], list[Any]] = {
    straight: [X],
    used_twice: [np.ones(3)],
    in_a_loop: [3.0, 2.0, 1.0],
    in_a_branch: [2.0 * X],
    in_a_closure: [np.ones(3)],
    by_keyword: [np.full(3, 3.0)],
    in_a_function_that_writes: [12.0, 8.0, 4.0],
    of_an_array_that_was_written: [np.array([0.0, 8.0, 12.0])],
    of_a_tuple: [(np.ones(3), 1.0)],
    of_a_list_item: [2.0],
    of_a_whole_list: [[2.0, 2.0]],
    in_a_method: [np.ones(3)],
}


def as_lists(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return [as_lists(item) for item in value]
    return np.asarray(value).tolist()


def unhooked(function: Callable[..., Any], x: Any) -> Any:
    """The gradient by differences: the functions of this table are of low degree."""
    return [(function(x + h) - function(x - h)) / 2e-5 for h in 1e-5 * np.eye(3)]


@in_every_mode
@pytest.mark.parametrize("function", LOOKING, ids=lambda function: function.__name__)
def test_a_hook_sees_the_cotangent_and_changes_nothing(function: Callable[..., Any], mode: Any) -> None:
    SEEN.clear()
    with mode():
        y, (x_bar,) = value_and_gradient(function, X)
        assert as_lists(SEEN) == as_lists(LOOKING[function])
        np.testing.assert_allclose(x_bar, unhooked(function, X), rtol=1e-6)
        assert y == function(X)
        assert len(SEEN) == len(LOOKING[function]), "a plain call has no cotangents"
        assert jvp(function, (X,), (np.ones(3),))[1] == pytest.approx(np.sum(x_bar))
        assert len(SEEN) == len(LOOKING[function]), "tangents pass"


def changed(x):
    return np.sum(hook(tenfold, x * 2.0) + x)


def changed_in_a_loop(x):
    y = x
    for _ in range(2):
        y = hook(tenfold, y) * 1.0
    return np.sum(y)


def changed_where_it_is_written(x):
    y = x.copy()
    y *= 2.0
    z = hook(lambda y_bar: np.clip(y_bar, -1.5, 1.5), y)
    return np.sum(z * z)


def changed_in_part(x):
    a, b = hook(lambda bars: (None, 5.0 * bars[1]), (x, x[0]))
    return np.sum(a) + b


@in_every_mode
@pytest.mark.parametrize(
    ("function", "expected", "tangent"),
    [
        (changed, [21.0, 21.0, 21.0], 9.0),
        (changed_in_a_loop, [100.0, 100.0, 100.0], 3.0),
        (changed_where_it_is_written, [3.0, 3.0, 3.0], 48.0),
        (changed_in_part, [5.0, 0.0, 0.0], 4.0),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_what_a_hook_returns_goes_on(function: Callable[..., Any], expected: list[float], tangent: float, mode: Any) -> None:
    with mode():
        np.testing.assert_array_equal(gradient(function, X)[0], expected)
        assert jvp(function, (X,), (np.ones(3),))[1] == tangent
        _, push = pushforward(function, X)
        assert push(None, np.ones(3)) == tangent


@in_every_mode
def test_what_a_hook_does_to_its_argument_is_its_own_affair(mode: Any) -> None:
    def spoiled(x):
        return np.sum(hook(spoil, x) * 2.0)

    def spoil(x_bar):
        x_bar[:] = np.nan

    with mode():
        _, back = pullback(spoiled, X)
        for _ in range(2):
            np.testing.assert_array_equal(back(1.0)[1], [2.0, 2.0, 2.0])


@in_every_mode
def test_a_cotangent_of_another_shape_is_refused(mode: Any) -> None:
    def wrong(x):
        return np.sum(hook(np.sum, x))

    with mode(), pytest.raises(CotangentShapeError, match=r"what sum returned as the cotangent"):
        gradient(wrong, X)


def test_a_hook_is_not_called_where_no_derivative_comes_back() -> None:
    def unused(x):
        hook(note, x * 2.0)
        return np.sum(x)

    SEEN.clear()
    np.testing.assert_array_equal(gradient(unused, X)[0], np.ones(3))
    assert SEEN == []


def test_a_hook_may_differentiate() -> None:
    def second(x):
        return np.sum(hook(lambda x_bar: gradient(lambda v: np.sum(v**3), x_bar)[0], x * 2.0))

    np.testing.assert_array_equal(gradient(second, X)[0], [6.0, 6.0, 6.0])


def test_writing_into_what_was_hooked_is_right_or_refused() -> None:
    def written_later(x):
        y = x * 2.0
        z = hook(note, y)
        y[0] = 0.0
        return np.sum(z * x)

    with pytest.raises(MutationError, match="hook"):
        gradient(written_later, X)


@in_every_mode
def test_showgrad_prints_the_place_and_the_text(mode: Any, capsys: pytest.CaptureFixture[str]) -> None:
    def layers(x):
        h = showgrad(x[0] * 2.0)
        h = showgrad(np.array([h, x[1]]), label="both")
        return np.sum(
            showgrad(
                h
            )
            * 3.0
        )

    line = layers.__code__.co_firstlineno + 1
    with mode():
        y, back = pullback(layers, X)
        assert capsys.readouterr().out == ""
        _, x_bar = back(1.0)
        np.testing.assert_array_equal(x_bar, [6.0, 3.0, 0.0])
        printed = capsys.readouterr().out.replace(__file__, "file")
        assert printed == (
            f"file:{line + 3}: gradient of h = [3. 3.]\n"
            f"file:{line + 1}: gradient of both = [3. 3.]\n"
            f"file:{line}: gradient of x[0] * 2.0 = 3.0\n"
        )
        assert layers(X) == y
        jvp(layers, (X,), (X,))
        assert capsys.readouterr().out == ""


# is_differentiating


def asks(x):
    return x * 2.0 if is_differentiating() else x


def asks_in_a_loop(x):
    for _ in range(2):
        if is_differentiating():
            x = x * 2.0
    return x / 2.0


def asks_where_it_writes(x):
    y = np.zeros(1)
    y[0] = x * (2.0 if is_differentiating() else 1.0)
    return y[0]


def asks_in_a_callee(x):
    return factor() * x


def factor():
    return 2.0 if is_differentiating() else 1.0


def asks_in_a_closure(x):
    return (lambda: x * (1.0 + is_differentiating()))()


def asks_in_a_generator(x):
    def parts():
        yield x
        if is_differentiating():
            yield x

    return sum(parts())


def asks_from_a_table(x):
    return {"f": asks}["f"](x)


ASKING = [
    asks, asks_in_a_loop, asks_where_it_writes, asks_in_a_callee, asks_in_a_closure, asks_in_a_generator, asks_from_a_table,
]  # fmt: skip


@in_every_mode
@pytest.mark.parametrize("function", ASKING, ids=lambda function: function.__name__)
def test_is_differentiating(function: Callable[..., Any], mode: Any) -> None:
    with mode():
        plain = function(3.0)
        assert plain == 3.0 if function is not asks_in_a_loop else 1.5
        for y, derivative in (value_and_gradient(function, 3.0), jvp(function, (3.0,), (1.0,))):
            assert (y, np.ravel(derivative)[0]) == (6.0, 2.0)
        assert pushforward(function, 3.0)[0] == 6.0
        assert function(3.0) == plain


def test_it_is_false_after_an_exception_and_in_the_backward_pass() -> None:
    def fails(x):
        raise KeyError(x)

    with pytest.raises(KeyError):
        gradient(fails, 1.0)
    assert not is_differentiating()
    gradient(lambda x: hook(lambda x_bar: note(is_differentiating()), x) * 2.0, 1.0)
    assert SEEN[-1] is False


ASK, ANSWERED = threading.Event(), threading.Event()


def waits_for_another_thread(x):
    ASK.set()
    ANSWERED.wait(10.0)
    return x * (1.0 + is_differentiating())


def test_it_is_a_matter_of_the_thread() -> None:
    answers: list[bool] = []

    def answer():
        ASK.wait(10.0)
        answers.append(is_differentiating())
        ANSWERED.set()

    thread = threading.Thread(target=answer)
    thread.start()
    assert gradient(waits_for_another_thread, 1.0) == (2.0,)
    thread.join()
    assert answers == [False]
