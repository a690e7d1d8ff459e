"""What memory stands at several places: each place of an array has its share, also where something else is written.

What is expected comes from differences that move what is at one place (`tests/places.py`)."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from microgradpy import MutationError, Tangent, compiler, grad, gradient, jvp, pullback
from tests.places import difference, leaves, slope
from tests.programs import sharing
from tests.programs.sharing import CONFIG, CONSTANTS, LEAF, LEAVES, READ, ROWS, TABLE, W0, Holder, Leaf, P, Row, leaf, two_of
from tests.ways import WAYS


def check(row: Row, bars: Any) -> None:
    for path, x in leaves(row.arguments()):
        for unit in np.eye(np.size(x)):
            by = unit.reshape(np.shape(x)) if isinstance(x, np.ndarray) else float(unit[0])
            expected = difference(row.function, row.arguments, path, by)
            np.testing.assert_allclose(slope(bars, path, by), expected, rtol=1e-6, atol=1e-8, err_msg=f"{path}")


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("row", ROWS, ids=str)
def test_each_place_has_its_share(row: Row, way: str) -> None:
    with WAYS[way]():
        check(row, gradient(row.function, *row.arguments()))
        y, back = pullback(row.function, *row.arguments())
        assert type(y) is type(row.function(*row.arguments()))
        assert y == row.function(*row.arguments())
        check(row, back(1.0)[1:])
        check(row, tuple(None if bar is None else doubled(bar, 0.5) for bar in back(2.0)[1:]))


def doubled(bar: Any, factor: float) -> Any:
    if bar is None or isinstance(bar, str):
        return bar
    if isinstance(bar, list | tuple):
        return [doubled(part, factor) for part in bar]
    if isinstance(bar, dict | Tangent):
        return {key: doubled(part, factor) for key, part in bar.items()}
    return bar * factor


@pytest.mark.parametrize("row", [row for row in ROWS if all(type(x) is np.ndarray for x in row.arguments())], ids=str)
def test_forward_mode(row: Row) -> None:
    args = row.arguments()
    draw = np.random.default_rng(0)
    dots = tuple(draw.normal(size=x.shape) for x in args)
    expected = sum(difference(row.function, row.arguments, (k,), dot) for k, dot in enumerate(dots))
    np.testing.assert_allclose(jvp(row.function, args, dots)[1], expected, rtol=1e-6)


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_nothing_else_is_changed(row: Row) -> None:
    """The arguments and what shares memory with them are as after a plain call, and nothing stands in for anything."""
    before = copy.deepcopy((W0, TABLE, CONFIG, P.mean))
    plain, args = row.arguments(), row.arguments()
    row.function(*plain)
    gradient(row.function, *args)
    assert str([part for _, part in leaves(plain)]) == str([part for _, part in leaves(args)])
    for _, part in leaves(args):
        if isinstance(part, np.ndarray):
            assert part.base is None or isinstance(part.base, np.ndarray)
    assert P.mean is W0 and TABLE[0] is W0 and CONFIG["w"] is W0
    assert str(before) == str((W0, TABLE, CONFIG, P.mean))


# Objects, lists and dicts that nobody writes


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("row", READ, ids=str)
def test_what_is_only_read_has_its_share_at_each_place(row: Row, way: str) -> None:
    """The shares are those of arguments that are copies of each other."""
    apart = tuple(map(copy.deepcopy, row.arguments()))
    args, held = row.arguments(), copy.deepcopy((LEAF, LEAVES, CONSTANTS))
    with WAYS[way]():
        y, back = pullback(row.function, *args)
        bars, again = back(1.0)[1:], back(2.0)[1:]
    assert y == row.function(*row.arguments())
    for path, x in leaves(copy.deepcopy(apart)):
        for unit in np.eye(np.size(x)):
            by = unit.reshape(np.shape(x)) if isinstance(x, np.ndarray) else float(unit[0])
            expected = difference(row.function, lambda: tuple(map(copy.deepcopy, apart)), path, by)
            np.testing.assert_allclose(slope(bars, path, by), expected, rtol=1e-6, atol=1e-8, err_msg=f"{path}")
            np.testing.assert_allclose(slope(again, path, by), 2.0 * expected, rtol=1e-6, atol=1e-8, err_msg=f"{path}")
    assert str([part for _, part in leaves(held)]) == str([part for _, part in leaves((LEAF, LEAVES, CONSTANTS))])


def test_objects_returned_and_stored_are_those_that_were_given():
    def f(a, b, o):
        o.last = a
        o.items = [b, (a, b.w)]
        return a, [b], lambda: b

    q, o = Leaf(1.5, np.array([1.0, 2.0])), Holder()
    (a, (b,), later), back = pullback(f, q, q, o)
    assert a is b is later() is o.last is o.items[0] is o.items[1][0] is q
    assert o.items[1][1] is q.w
    _, a_bar, b_bar, _ = back((Tangent(Leaf, {"v": 2.0}), [Tangent(Leaf, {"v": 3.0})], None))
    assert (a_bar["v"], b_bar["v"]) == (2.0, 3.0)


def objects_by_identity(a, b):
    out = []
    out.append(a.v)
    return out[0] * b.v if a is b and id(a) == id(b) and type(a) is Leaf and isinstance(b, Leaf) else 0.0


def test_which_object_is_which():
    for mode in WAYS.values():
        with mode():
            a_bar, b_bar = gradient(objects_by_identity, *two_of(Leaf(1.5, np.ones(2))))
        assert (a_bar["v"], b_bar["v"]) == (1.5, 1.5)


# What is returned and stored


def returned(a, b, o):
    o.last = a
    o.items = [b, (a, b[1:])]
    return a, b[1:], {"b": b}


def test_what_is_returned_and_stored_is_what_was_given():
    x, o = np.array([1.0, 2.0, 3.0]), Holder()
    (a, part, held), back = pullback(returned, x, x, o)
    assert a is x and held["b"] is x and part.base is x
    assert o.last is x and o.items[0] is x and o.items[1][0] is x and o.items[1][1].base is x
    _, a_bar, b_bar, _ = back((np.ones(3), np.full(2, 2.0), {"b": np.full(3, 5.0)}))
    np.testing.assert_array_equal(a_bar, [1.0, 1.0, 1.0])
    np.testing.assert_array_equal(b_bar, [5.0, 7.0, 7.0])


def stored_and_raised(a, b, o):
    o.last = a
    raise KeyError("stopped")


def test_what_was_stored_before_an_exception_is_what_was_given():
    x, o = np.array([1.0, 2.0]), Holder()
    with pytest.raises(KeyError, match="stopped"):
        gradient(stored_and_raised, x, x, o)
    assert o.last is x


def test_captured_variables_have_their_share():
    captured = np.array([0.5, 2.0])

    def f(w):
        out = []
        out.append(np.sum(w * w * captured))
        return out[0]

    df, w_bar = pullback(f, captured)[1](1.0)
    np.testing.assert_allclose(w_bar, 2.0 * captured**2)
    np.testing.assert_allclose(df["captured"], captured**2)


def compared_by_identity(a, b):
    out = []
    out.append(1.0)
    same = a is b and id(a) == id(b) and a is not None
    return np.sum(a * a * b) if same and np.shares_memory(a, b) else np.sum(a)


def test_who_is_who():
    x = np.array([0.5, 2.0])
    for mode in WAYS.values():
        with mode():
            a_bar, b_bar = gradient(compared_by_identity, x, x)
        np.testing.assert_allclose(a_bar, 2.0 * x**2)
        np.testing.assert_allclose(b_bar, x**2)


def only_one(a, b):
    out = []
    out.append(np.sum(a * a * b))
    return out[0]


def test_the_gradient_by_one_of_two():
    x = np.array([0.5, 2.0])
    np.testing.assert_allclose(grad(only_one)(x, x), 2.0 * x**2)
    np.testing.assert_allclose(grad(only_one, argnums=1)(x, x), x**2)


class Network:
    def __init__(self) -> None:
        self.layer = Holder(w=np.array([0.5, 2.0]), calls=0)

    def loss(self, layer):
        layer.calls += 1
        return np.sum(layer.w * np.sin(self.layer.w))


def test_an_object_that_is_also_reached_by_the_method():
    """The gradient of the argument is whole, and what the method's own object has is not."""
    net = Network()
    w = net.layer.w
    expected = np.sin(w) + w * np.cos(w)
    np.testing.assert_allclose(gradient(net.loss, net.layer)[0]["w"], expected)
    df, found = pullback(net.loss, net.layer)[1](1.0)
    np.testing.assert_allclose(found["w"], expected)
    assert df is None or df["__self__"] is None


# Refusals


def written_through_a_name(a, b):
    a[1] = a[0] * 2.0
    return np.sum(a * b)


def written_packed(*xs):
    xs[0][1:] *= 2.0
    return np.sum(xs[0] * xs[1])


def variable_written(w):
    W0[0] = 3.0
    return np.sum(w * w)


def argument_written(w):
    w *= 2.0
    return np.sum(w * W0)


def argument_written_by_out(w):
    np.multiply(w, 2.0, out=w)
    return np.sum(w * W0)


def argument_filled(w):
    w.fill(1.0)
    return np.sum(w * TABLE[0])


def written_in_a_callee(w):
    def scale(v):
        v[:] = v * 2.0

    scale(w)
    return np.sum(w * P.mean)


def field_written(m):
    m.a[0] = m.b[1]
    return np.sum(m.a * m.b)


def object_written(a, b):
    a.v = a.v * 2
    return a.v * b.v


KEPT = [0.0]


def object_read(a, b):
    KEPT[0] = a.v * b.v
    return KEPT[0]


def objects_compared(a, b):
    out = []
    out.append(a.v)
    return out[0] * b.v if a == b else a.v


def object_looked_for(a, b):
    kept = [a]
    kept.append(a)
    return a.v * b.v * kept.index(b)


def object_as_key(a, b):
    known = {}
    known[a] = 2.0
    return a.v * b.v * known[b]


def attribute_added(a, b):
    a.n = 1
    return a.v * b.v


def list_written_by_a_computed_name(a, b):
    out = []
    out.append(1.0)
    getattr(a, "app" + "end")(b[0])
    return a[0] * b[-1]


def objects_popped(ws, vs):
    return ws.pop().v * vs.pop().v


class SlottedLeaf:
    __slots__ = ("v",)

    def __init__(self, v: Any) -> None:
        self.v = v


class WithDestructor(Leaf):
    def __del__(self):
        pass


def popped(ws):
    out = []
    out.append(np.sum(ws.pop() * ws.pop()))
    return out[0]


def _x() -> Any:
    return np.array([0.7, -1.1, 0.4])


REFUSED: list[tuple[Callable[..., Any], Callable[[], tuple[Any, ...]], str]] = [
    (written_through_a_name, lambda: tuple([_x()] * 2), "the argument 'a' and the argument 'b' share memory, which is written"),
    (written_through_a_name, lambda: (lambda z: (z[:2], z[1:]))(_x()), "the argument 'a' and the argument 'b' share memory"),
    (written_packed, lambda: tuple([_x()] * 2), r"the argument 'xs\[0\]' and the argument 'xs\[1\]' share memory"),
    (variable_written, lambda: (W0,), "the argument 'w' and the variable 'W0' share memory"),
    (argument_written, lambda: (W0,), "the argument 'w' and the variable 'W0' share memory"),
    (argument_written, lambda: (W0[1:],), "the argument 'w' and the variable 'W0' share memory"),
    (argument_written_by_out, lambda: (W0,), "the argument 'w' and the variable 'W0' share memory"),
    (argument_filled, lambda: (W0,), r"the argument 'w' and the variable 'TABLE\[\d\]' share memory"),
    (written_in_a_callee, lambda: (W0,), "the argument 'w' and the variable 'P.mean' share memory"),
    (field_written, lambda: (Holder(a=W0, b=W0),), "the argument 'm.a' and the argument 'm.b' share memory"),
    (object_read, lambda: two_of(WithDestructor(2.0, 1.0)), "'a' and 'b' reach one WithDestructor, and where something"),
    (object_read, lambda: two_of(SlottedLeaf(1.0)), "'a' and 'b' reach one SlottedLeaf, and where something else"),
    (objects_compared, lambda: two_of(leaf()), "a Leaf that stands at several places is compared"),
    (object_looked_for, lambda: two_of(leaf()), "a Leaf that stands at several places is compared"),
    (object_as_key, lambda: two_of(leaf()), "a Leaf that stands at several places is compared"),
    (attribute_added, lambda: two_of(leaf()), "a Leaf that several arguments reach is written into"),
    (list_written_by_a_computed_name, lambda: two_of([0.5, 1.5]), "a list that several arguments reach is written into"),
    (objects_popped, lambda: (lambda q: ([q], [q]))(leaf()), "'ws' and 'vs' reach one Leaf, and where something else"),
    (popped, lambda: ([W0, W0],), r"'ws\[0\]' and the argument 'ws\[1\]' share memory, and where something else is written"),
]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("function", "arguments", "words"), REFUSED)
def test_refused(function: Callable[..., Any], arguments: Callable[[], tuple[Any, ...]], words: str, way: str) -> None:
    before = W0.copy()
    with WAYS[way](), pytest.raises(MutationError, match=words):
        gradient(function, *arguments())
    np.testing.assert_array_equal(W0, before)  # a write is refused before it is made


@pytest.mark.parametrize(("argnums", "constant"), [(0, "b"), (1, "a")])
def test_an_object_that_is_written_and_reached_by_a_constant_argument(argnums: int, constant: str) -> None:
    q = Holder(v=2.0)
    with pytest.raises(MutationError, match=f"reach one Holder, which is written into, and '{constant}' is not differentiated"):
        grad(object_written, argnums=argnums)(q, q)
    assert q.v == 2.0
    assert gradient(object_written, q, q)[0]["v"] == 16.0


def test_the_module_has_no_other_names_for_its_array():
    assert [name for name, value in vars(sharing).items() if value is W0] == ["W0"]


def reversed_in_place(ws):
    ws.reverse()
    return np.sum(np.sin(ws[0]) * 2.0 + ws[1])


def moved_to_another_key(p):
    p["b"] = p.pop("a")
    return np.sum(np.sin(p["b"]))


def exchanged(ws):
    ws[0], ws[1] = ws[1], ws[0]
    return np.sum(np.sin(ws[0]) * 2.0 + ws[1])


def added_to(ws):
    ws.append(ws[1] * 2.0)
    return np.sum(np.sin(ws[0]) * ws[2])


@pytest.mark.parametrize("way", WAYS)
def test_what_is_at_another_place_than_it_was(way: str) -> None:
    """It is told apart, or refused: never taken for what was there before."""
    x = np.array([0.5, 2.0])
    with WAYS[way]():
        with pytest.raises(MutationError, match="cannot be told apart"):
            gradient(reversed_in_place, [x, x])
        with pytest.raises(MutationError, match="cannot be told apart"):
            gradient(moved_to_another_key, {"a": x, "b": x})
        (first, second), *_ = gradient(exchanged, [x, x])
        np.testing.assert_allclose(second, 2.0 * np.cos(x))
        np.testing.assert_allclose(first, np.ones(2))
        (first, second), *_ = gradient(added_to, [x, x])
        np.testing.assert_allclose(first, np.cos(x) * x * 2.0)
        np.testing.assert_allclose(second, np.sin(x) * 2.0)


class SharedLeaf:
    def __init__(self, v: float) -> None:
        self.v = v


SHARED_LEAF = SharedLeaf(2.5)
SHARED_LIST, SHARED_DICT = [SHARED_LEAF], {"a": SHARED_LEAF}


@pytest.mark.parametrize("reached", [lambda: SHARED_LIST[0], lambda: SHARED_DICT["a"]], ids=["list", "dict"])
def test_what_is_written_has_nothing_to_do_with_an_object_that_is_shared(reached: Any) -> None:
    """Only memory that the function makes for itself is written: the object in the container is a constant."""

    def product(leaf: Any, x: float) -> float:
        made = [0.0]
        made[0] = leaf.v * reached().v * x
        return made[0]

    leaf_bar, x_bar = gradient(product, SHARED_LEAF, 0.5)
    assert (leaf_bar.v, x_bar) == (2.5 * 0.5, 2.5 * 2.5)


@pytest.mark.parametrize("reached", [lambda: SHARED_LIST[0], lambda: SHARED_DICT["a"]], ids=["list", "dict"])
def test_an_object_that_a_container_of_the_module_has_too_is_a_constant_there(reached: Any) -> None:
    """The uses through the container were counted as uses of the argument, and refused where writes are tracked."""

    def product(leaf: Any, x: float) -> float:
        made = [[0.0]]
        made[0][0] = leaf.v * reached().v * x
        return made[0][0]

    leaf_bar, x_bar = gradient(product, SHARED_LEAF, 0.5)
    assert (leaf_bar.v, x_bar) == (2.5 * 0.5, 2.5 * 2.5)
    with compiler.always_track(), pytest.raises(MutationError, match="reach one SharedLeaf"):
        gradient(product, SHARED_LEAF, 0.5)
