"""Functions and loops that the backward pass runs again: the same gradients, of less memory; what is refused, and where."""

from __future__ import annotations

import importlib.util
import math
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from microgradpy import (
    DifferentiationError,
    MutationError,
    checkpointed,
    code_adjoint,
    code_primal,
    export,
    grad,
    gradient,
    hessian,
    jvp,
    pullback,
    value_and_grad,
    value_and_gradient,
)
from microgradpy.ad import segments
from microgradpy.runtime.checkpoints import run_numbers_again
from tests.ways import WAYS, chosen

PROGRAMS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = []


def program(*args: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def enter(f: Callable[..., Any]) -> Callable[..., Any]:
        PROGRAMS.append((f, args))
        return f

    return enter


@program(1.2, 0.7, 50)
def break_with_an_unassigned_variable(x, w, n):
    y = x
    for _ in range(n):
        if y > 3.0:
            break
        a = math.sin(y) * w + 0.3
        y = y + a
    return y * a


@program(1.2, 0.7, 50)
@program(1.2, 0.7, 3)
def return_in_a_loop(x, w, n):
    y = x
    for i in range(n):
        if y > 3.0:
            return y * i + w
        y = y + math.sin(y) * w + 0.3
    return y


@program(1.2, 0.7, 50)
def loop_with_else(x, w, n):
    y = x
    for _ in range(n):
        if y > 30.0:
            break
        y = y + math.cos(y) * w
    else:
        y = y * 2.0
    return y + w


@program(np.arange(4.0) + 0.1, np.eye(4) * 0.9 + 0.01, 37)
def carried_arrays(x, w, n):
    v, p = x, x * 2
    for i in range(1, n, 2):
        v, p = np.tanh(w @ p) * 0.9 + i * 0.001, v
    return np.sum(v * p)


@program((1.0, 2.0), 0.01, 60)
def carried_tuple(s, h, n):
    for _ in range(n):
        x, y = s
        s = (x + h * y, y - h * x)
    return s[0] * s[1]


@program(np.linspace(0.1, 1, 23), 0.5)
@program([0.1, 0.2, 0.7, 1.0, 0.3], 0.5)
@program((0.1, 0.2, 0.7, 1.0, 0.3), 0.5)
def items_of_a_sequence(xs, w):
    y = 0.0
    for x in xs:
        y = math.tanh(y * w + x)
    return y


@program(np.ones((7, 3)) * np.arange(7.0)[:, None], np.arange(3.0))
def enumerated_rows(xs, w):
    y = np.zeros(3)
    for k, (x, z) in enumerate(zip(xs, reversed(xs), strict=False), 1):
        y = np.tanh(y * w + x * k - z)
    return np.sum(y)


@program(1.2, 0.7, 0)
@program(1.2, 0.7, -3)
def no_steps(x, w, n):
    y = x * w
    for _ in range(n):
        y = y * y
    return y


@program(1.2, 0.7, 20)
def loops_in_loops(x, w, n):
    y = x
    for _ in range(n):
        for j in range(5):
            if j == 3:
                continue
            y = math.sin(y) * w + j * 0.01
            if y > 5:
                break
        k = 0
        while k < 3:
            y, k = y * 0.9 + w, k + 1
    return y


@program(1.2, 0.97)
def while_loop(x, w):
    y, k = x, 0
    while y > 1e-2 and k < 500:
        y, k = y * w, k + 1
    return y * k


@program(1.2, 0.97)
@program(1.2, 1.01)
def while_with_exits(x, w):
    y, k = x, 0
    while True:
        y, k = y * w, k + 1
        if y < 0.5:
            break
        if k > 60:
            return y * y
    return y * k


@program(1.2, 0.97, 30)
def closure_in_a_loop(x, w, n):
    def step(y):
        return math.sin(y) * w + x

    y = x
    for _ in range(n):
        y = step(y)
    return y


@program(1.2, 0.97, 30)
def exception_in_a_loop(x, w, n):
    y = x
    for _ in range(n):
        try:
            y = math.sqrt(y - w) + x
        except ValueError:
            y = y + 1.0
    return y


@program(1.2, 0.97, 30)
@program(0.01, 0.97, 30)
def exception_out_of_a_loop(x, w, n):
    y = x
    try:
        for _ in range(n):
            y = y * 1.5 * w
            if y > 3:
                raise ValueError
    except ValueError:
        return y * y
    return y


@program(1.2, 0.97, 30)
def loops_one_after_the_other(x, w, n):
    y, t = x, 0.0
    for _ in range(n):
        y = math.sin(y) * w
        t += y * y
    if t > 0.1:
        for _ in range(n):
            t = t * w + y
    return t


@program(1.2, 0.97, 30)
def variable_after_the_loop(x, w, n):
    y = x
    for i in range(n):  # noqa: B007
        y = y * w
    return y * i


@program(1.2, np.arange(5.0), 12)
def lists_of_one_turn(x, w, n):
    y = x
    for _ in range(n):
        products = [y * c for c in w]
        squares = []
        for v in products:
            squares.append(v * v)
        y = math.tanh(sum(squares)) + math.tanh(sum(products))
    return y


@program(1.3, 9)
def own_array_that_is_added_to(x, n):
    y = np.array([x, x * x])
    for _ in range(n):
        y += np.sin(y) * y
    return np.sum(y)


STEP = 0.01


@program(1.2, 0.97, 30)
def module_variable(x, w, n):
    y = x
    for _ in range(n):
        y = y + STEP * math.sin(w * y)
    return y


@pytest.fixture
def short_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts of parts in loops of a few steps."""
    monkeypatch.setattr(segments, "_LEAF", 2)
    monkeypatch.setattr(segments, "_PARTS", 3)
    monkeypatch.setattr(segments, "_FIRST", 2)


def leaves(x: Any) -> list[Any]:
    return [leaf for part in x for leaf in leaves(part)] if isinstance(x, list | tuple) else [x]


@pytest.mark.usefixtures("short_parts")
@pytest.mark.parametrize("checkpoint", ["sqrt", "log", 3])
@pytest.mark.parametrize(("f", "args"), PROGRAMS, ids=[f.__name__ for f, _ in PROGRAMS])
def test_gradients_are_those_without_checkpoints(f: Any, args: Any, checkpoint: Any) -> None:
    numbers = tuple(place for place, x in enumerate(args) if not isinstance(x, int))
    y, expected = value_and_grad(f, numbers)(*args)
    if checkpoint == 3 and f.__name__.startswith("while"):
        with pytest.raises(DifferentiationError, match="nobody knows how many steps"):
            grad(f, numbers, checkpoint=checkpoint)(*args)
        return
    found = value_and_grad(f, numbers, checkpoint=checkpoint)
    for way in ("inlined", *chosen(f"{f.__name__} {checkpoint}", tuple(WAYS))):
        with WAYS[way]():
            z, bars = found(*args)
        assert z == y and type(z) is type(y)
        for bar, other in zip(leaves(bars), leaves(expected), strict=True):
            np.testing.assert_allclose(bar, other, rtol=1e-12, atol=1e-300)


@pytest.mark.usefixtures("short_parts")
@pytest.mark.parametrize("checkpoint", ["sqrt", "log", 3])
def test_what_is_not_a_sum_is_equal_to_the_last_bit(checkpoint: Any) -> None:
    def f(x: float, n: int) -> float:
        y = x
        for i in range(n):
            y = math.sin(y) * 1.3 + 0.1 * i
        return y

    assert grad(f, checkpoint=checkpoint)(1.1, 40) == grad(f)(1.1, 40)


def test_gradient_functions_keep_their_checkpoints() -> None:
    found = grad(carried_arrays, checkpoint="sqrt")
    args = PROGRAMS[4][1]
    expected = grad(carried_arrays)(*args)
    for _ in range(200):  # there are heads by then
        np.testing.assert_allclose(found(*args), expected, rtol=1e-12)


class Model:
    def __init__(self) -> None:
        self.w = 0.7

    def loss(self, x: float, n: int) -> float:
        y = x
        for _ in range(n):
            y = math.sin(y) * self.w + 0.2
        return y


def test_methods_have_checkpoints() -> None:
    model = Model()
    assert grad(model.loss, checkpoint="log")(1.1, 300) == grad(model.loss)(1.1, 300)
    with pytest.raises(TypeError, match="a Model"):
        grad(model, checkpoint="sqrt")  # type: ignore[arg-type]


@pytest.mark.parametrize("checkpoint", ["cubic", 0, -1, 2.5, True])
def test_other_checkpoints_are_refused(checkpoint: Any) -> None:
    with pytest.raises(ValueError, match="checkpoint="):
        grad(math.sin, checkpoint=checkpoint)


def test_checkpointed_outside_of_derivatives() -> None:
    xs = [1.0, 2.0]
    assert checkpointed(xs) is xs and checkpointed(xs, every=2) is xs

    def f(x: float, *, k: float = 2.0) -> float:
        """The product."""
        return x * k

    wrapped = checkpointed(f)
    assert wrapped(3.0, k=4.0) == 12.0 and wrapped.__doc__ == "The product." and checkpointed(wrapped) is wrapped
    with pytest.raises(TypeError, match="a float"):
        checkpointed(1.0)
    with pytest.raises(ValueError, match="every=0"):
        checkpointed(xs, every=0)


@pytest.mark.parametrize("every", [0, -3, 2.0])
def test_segments_of_no_steps_are_refused_as_in_plain_python(every: Any) -> None:
    def f(x: float, every: Any) -> float:
        for _ in checkpointed(range(10), every=every):
            x = x * 1.5
        return x

    assert grad(f)(1.0, 4) == grad(f)(1.0, 1) == 1.5**10
    for g in (f, grad(f), lambda x, every: jvp(lambda x: f(x, every), (x,), (1.0,))):
        with pytest.raises(ValueError, match=f"every={every}"):
            g(1.0, every)


# Memory


def long_loop(x: float, w: float, n: int) -> float:
    y, z = x, 0.0
    for _ in range(n):
        y, z = math.sin(y) * w + 0.5, z + y * w * 1e-3
    return y + z


def in_segments(x: float, w: float, n: int) -> float:
    y, z = x, 0.0
    for _ in checkpointed(range(n), every=200):
        y, z = math.sin(y) * w + 0.5, z + y * w * 1e-3
    return y + z


def peak(f: Callable[..., Any], *args: Any) -> int:
    for _ in range(3):
        f(*args[:-1], 300)
    tracemalloc.start()
    f(*args)
    found = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return found


@pytest.mark.parametrize(
    ("found", "share"),
    [
        (grad(long_loop, checkpoint="sqrt"), 15),
        (grad(long_loop, checkpoint="log"), 30),
        (grad(long_loop, checkpoint=50), 15),
        (grad(in_segments), 15),
    ],
    ids=["sqrt", "log", "50", "every"],
)
def test_a_long_loop_takes_a_part_of_the_memory(found: Any, share: int) -> None:
    assert peak(found, 1.0, 1.1, 20_000) * share < peak(grad(long_loop), 1.0, 1.1, 20_000)


def test_a_checkpointed_function_keeps_its_arguments_only() -> None:
    def layer(x: Any, w: Any) -> Any:
        for _ in range(20):
            x = np.tanh(x * w)
        return x

    def network(layer: Any) -> Callable[..., Any]:
        def loss(x: Any, w: Any, n: int) -> Any:
            for _ in range(n):
                x = layer(x, w)
            return np.sum(x)

        return loss

    x = np.linspace(0.0, 1.0, 1000)
    again = checkpointed(layer)
    assert peak(grad(network(again)), x, x, 20) * 5 < peak(grad(network(layer)), x, x, 20)
    np.testing.assert_array_equal(grad(network(again))(x, x, 20), grad(network(layer))(x, x, 20))


# What else decides on the value

FACTOR = 2.0
TABLE = {"a": 3.0}


@checkpointed
def by_factor(x: float) -> float:
    return x * FACTOR


@checkpointed
def by_table(x: float) -> float:
    return x * TABLE["a"]


@checkpointed
def by_model(x: float, model: Model) -> float:
    return x * model.w


@pytest.mark.parametrize("x", [0.0, 1.5])
@pytest.mark.parametrize("what", ["variable", "dict", "object"])
def test_what_is_read_must_be_as_it_was(what: str, x: float, monkeypatch: pytest.MonkeyPatch) -> None:
    model = Model()
    programs: dict[str, Callable[[float], float]] = {
        "variable": lambda x: by_factor(x) * 2,
        "dict": lambda x: by_table(x) * 2,
        "object": lambda x: by_model(x, model) * 2,
    }
    _, back = pullback(programs[what], x)
    assert back() == back()
    match what:
        case "variable":
            monkeypatch.setitem(globals(), "FACTOR", 5.0)
        case "dict":
            monkeypatch.setitem(TABLE, "a", 7.0)
        case _:
            model.w = 0.3
    with pytest.raises(MutationError):
        back()


def test_random_numbers_are_drawn_once() -> None:
    def noise(x: Any, draw: Any) -> Any:
        return np.sum(np.tanh(x) * draw.normal(size=x.shape)) + np.sum(x * np.random.rand(3))  # noqa: NPY002

    again = checkpointed(noise)

    def loss(f: Any, x: Any, draw: Any) -> Any:
        return f(x, draw) + f(x * 0.0, draw) + draw.normal() * np.sum(x)

    results = []
    for f in (noise, again):
        draw = np.random.default_rng(5)
        np.random.seed(5)  # noqa: NPY002
        found = gradient(lambda x, draw, f=f: loss(f, x, draw), np.arange(3.0), draw)[0]
        results.append((found, draw.random(), np.random.rand()))  # noqa: NPY002
    np.testing.assert_array_equal(results[0][0], results[1][0])
    assert results[0][1:] == results[1][1:]


def test_what_gives_another_value_is_refused() -> None:
    @checkpointed
    def now(x: float) -> float:
        return x * time.perf_counter()

    with pytest.raises(MutationError, match="now, which is checkpointed"):
        gradient(lambda x: now(x) * 2, 1.0)


def next_items(x: float, items: Any) -> float:
    return x * next(items) + next(items)


def test_what_was_read_of_an_iterator_is_kept() -> None:
    again = checkpointed(next_items)

    def loss(f: Any, x: float) -> float:
        items = iter([1.0, 2.0, x, 4.0])
        return f(x, items) * x + f(x * 0.0, items)

    assert gradient(lambda x: loss(again, x), 1.5) == gradient(lambda x: loss(next_items, x), 1.5)


@checkpointed
def written(x: Any, out: Any) -> Any:
    out[0] = x[0] * 2.0
    return np.sum(out)


def test_what_writes_has_the_gradient_that_it_has_without() -> None:
    def f(x: Any, out: Any) -> Any:
        return written(x, out) * 3.0 + out[0] + written(x * 2, out)

    x, out = np.array([1.0, 2.0]), np.ones(3)
    dx, dout = gradient(f, x, out)
    np.testing.assert_array_equal(dx, [12.0, 0.0])
    np.testing.assert_array_equal(dout, [0.0, 4.0, 4.0])
    assert out[0] == 4.0


@checkpointed
def with_a_zero(x: Any) -> Any:
    return np.where(x > 0.0, 1.0 / x, x)


@pytest.mark.filterwarnings("error")
def test_the_second_run_does_not_warn() -> None:
    def f(x: Any) -> Any:
        with np.errstate(divide="ignore"):
            y = with_a_zero(x)
        return np.sum(y * y)

    def plain(x: Any) -> Any:
        with np.errstate(divide="ignore"):
            y = np.where(x > 0.0, 1.0 / x, x)
        return np.sum(y * y)

    x = np.array([0.0, 2.0])
    np.testing.assert_array_equal(gradient(f, x)[0], gradient(plain, x)[0])


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("x", [1e200, np.float64(1e200), np.array([1e200])])
def test_the_second_run_of_numbers_does_not_warn_either(x: Any) -> None:
    def primal(x: Any) -> Any:
        return None, x * x

    np.testing.assert_array_equal(run_numbers_again(primal, x), np.full(np.shape(x), math.inf))


def test_gradients_that_are_made_again_are_not_compiled_again() -> None:
    codes = [grad(long_loop, checkpoint="sqrt").__wrapped__.__code__ for _ in range(2)]
    assert codes[0] is codes[1] is not long_loop.__code__


# What is refused


def appends(x: float) -> float:
    ys = []
    y = x
    for _ in checkpointed(range(10)):
        y = y * 0.9
        ys.append(y)
    return sum(ys)


def returns_from_inside(x: float) -> float:
    y = x
    for _ in checkpointed(range(3)):
        for _ in range(2):
            if y > 3:
                return y
            y = y * 1.5
    return y


def reads_what_changes(x: float) -> float:
    xs = [x, x * x, 3.0]
    y = 1.0
    for k in checkpointed(range(3)):
        y = y * xs[k]
    xs[0] = 2.0
    return y * sum(xs)


def may_write_in_place(x: float) -> float:
    y = np.array([x, 2.0 * x])
    for _ in checkpointed(range(3)):
        y = y * 2.0
        LOG["y"] = y
    return y.sum()


LOG: dict[str, Any] = {}


def pairs_of_a_dict(x: float) -> float:
    y = x
    for _, v in checkpointed(TABLE.items()):
        y = y * v
    return y


@pytest.mark.parametrize(
    ("f", "words", "line"),
    [
        (appends, "changes a list", 5),
        (returns_from_inside, "a return from a loop", 3),
        (reads_what_changes, "the function changes in place", 3),
        (may_write_in_place, "it writes into `LOG`", 2),
        (pairs_of_a_dict, "dict_items", 2),
    ],
)
def test_loops_that_cannot_be_run_again_are_refused(f: Callable[..., Any], words: str, line: int) -> None:
    with pytest.raises(DifferentiationError, match=words) as caught:
        gradient(f, 1.3)
    where = caught.value.where
    assert where is not None and where.line == f.__code__.co_firstlineno + line


# Other ways


def squared(x: Any) -> Any:
    y = x
    for _ in checkpointed(range(20), every=3):
        y = np.tanh(y * 0.9) + 0.1
    return np.sum(y * y)


def plainly_squared(x: Any) -> Any:
    y = x
    for _ in range(20):
        y = np.tanh(y * 0.9) + 0.1
    return np.sum(y * y)


def test_forward_mode_and_second_derivatives() -> None:
    x = np.arange(3.0)
    assert jvp(squared, (x,), (x,)) == jvp(plainly_squared, (x,), (x,))
    np.testing.assert_allclose(hessian(squared, x), hessian(plainly_squared, x), rtol=1e-12)


def test_exported_modules_run_segments_again(tmp_path: Path) -> None:
    x = np.arange(3.0)
    path = export(squared, tmp_path / "exported.py", x)
    spec = importlib.util.spec_from_file_location("exported", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    (y, (bar,)), (z, (other,)) = module.value_and_gradient(x), value_and_gradient(squared, x)
    assert y == z
    np.testing.assert_array_equal(bar, other)
    with pytest.raises(DifferentiationError, match="checkpointed function may read"):
        export(by_factor_twice, tmp_path / "other.py", 1.0)


def by_factor_twice(x: float) -> float:
    return by_factor(by_factor(x))


def of_both(x: float, w: float) -> float:
    return math.sin(x * w) * x


checked = checkpointed(of_both)


def in_a_row(x: float, w: float) -> float:
    return checked(checked(x, w), w)


def test_the_texts_show_what_is_run_again() -> None:
    assert "of_both_value, _ = of_both_primal(x, w)" in code_primal(in_a_row, 1.0, 2.0)
    text = code_adjoint(in_a_row, 1.0, 2.0)
    assert text.count("run_again(of_both_primal, ") == 2 and "second_run" not in text
    assert "second_run(" in code_adjoint(by_factor_twice, 1.0)
    assert "for start, y in zip(reversed(range(0, 100, every)), reversed(tape_y)):" in code_adjoint(_shown, 1.0)
    assert code_adjoint(checked, 1.0, 2.0) == code_adjoint(of_both, 1.0, 2.0)


def test_the_first_run_of_a_segment_makes_no_records() -> None:
    assert "_shown_loop_value_primal(y, start, min(start + every, 100))" in code_primal(_shown, 1.0)
    assert "run_numbers_again(_shown_loop_primal, y, start, " in code_adjoint(_shown, 1.0)


def _shown(x: float) -> float:
    y = x
    for _ in checkpointed(range(100)):
        y = math.sin(y)
    return y
