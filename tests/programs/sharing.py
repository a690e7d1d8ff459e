"""Programs whose arguments share memory with each other, with module variables and with captured variables, and which write
something else. Each row makes its arguments anew: who shares what with whom is a part of them."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

W0 = np.array([1.3, -0.4, 0.8])
TABLE = [W0, W0[1:]]
CONFIG = {"w": W0, "inner": {"pair": (W0, 2.0)}}
SEEN: list[float] = []
Pair = namedtuple("Pair", "left right")


class Holder:
    def __init__(self, **fields: Any) -> None:
        self.__dict__.update(fields)

    def scaled(self) -> Any:
        return self.mean * W0


class Slotted:
    __slots__ = ("a", "b")

    def __init__(self, a: Any, b: Any) -> None:
        self.a, self.b = a, b


class WithConstant:
    prior = W0


P = Holder(mean=W0, n=0)


@dataclass(frozen=True)
class Row:
    """A function and what makes its arguments."""

    function: Callable[..., Any]
    arguments: Callable[[], tuple[Any, ...]]

    def __str__(self) -> str:
        return self.function.__name__


ROWS: list[Row] = []


def row(arguments: Callable[[], tuple[Any, ...]]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def enter(function: Callable[..., Any]) -> Callable[..., Any]:
        ROWS.append(Row(function, arguments))
        return function

    return enter


def the_variable() -> tuple[Any, ...]:
    return (W0,)


def a_part_of_it() -> tuple[Any, ...]:
    return (W0[:2],)


def twice() -> tuple[Any, ...]:
    x = np.array([0.7, -1.1, 0.4])
    return x, x


def views() -> tuple[Any, ...]:
    z = np.array([0.7, -1.1, 0.4, 1.9])
    return z[:3], z[1:]


def apart_views() -> tuple[Any, ...]:
    z = np.array([0.7, -1.1, 0.4, 1.9])
    return z[::2], z[1::2]


# Module variables


@row(the_variable)
def entries_of_a_variable(w):
    out = np.zeros(3)
    for i in range(3):
        out[i] = w[i] * W0[i] * W0[0]
    return np.sum(out)


@row(the_variable)
def difference_to_a_variable(w):
    r = np.zeros(3)
    r[:] = w * w - W0
    return np.sum(r * W0)


@row(the_variable)
def difference_to_an_attribute(w):
    r = np.zeros(3)
    r[:] = w - P.mean
    return np.sum(r * w)


@row(the_variable)
def item_of_a_list(w):
    out = []
    out.append(np.sum(w * TABLE[0]) + np.sum(TABLE[1] * w[1:]))
    return out[0]


@row(the_variable)
def item_of_a_dict(w):
    out = []
    out.append(np.sum(w * CONFIG["w"]) * CONFIG["inner"]["pair"][1])
    out.append(np.sum(CONFIG["inner"]["pair"][0] * w * w))
    return out[0] * out[1]


@row(the_variable)
def attribute_of_a_class(w):
    out = []
    out.append(np.sum(w * WithConstant.prior))
    return out[0]


@row(the_variable)
def read_by_a_method(w):
    out = []
    out.append(np.sum(P.scaled() * w))
    return out[0]


def prior():
    return np.sin(W0)


@row(the_variable)
def read_by_a_callee(w):
    out = []
    out.append(np.sum(w * prior()))
    return out[0]


@row(the_variable)
def read_in_a_closure(w):
    out = []

    def add(scale):
        out.append(np.sum(w * W0) * scale)

    add(2.0)
    add(out[0])
    return out[1]


@row(the_variable)
def an_attribute_of_an_object_counted(w):
    P.n = 0
    P.n += 1
    return np.sum(w * P.mean) * P.n


@row(a_part_of_it)
def part_of_a_variable(w):
    SEEN.append(0.0)
    SEEN.clear()
    return np.sum(w * W0[1:]) + np.sum(w * TABLE[1])


@row(the_variable)
def default_that_is_not_passed(w, v=W0):
    out = []
    out.append(np.sum(w * v * v))
    return out[0]


def _capturing():
    captured = W0

    def squared():
        return captured * captured

    def captured_variable(w):
        out = []
        out.append(np.sum(w * captured) + np.sum(squared() * w))
        return out[0]

    return captured_variable


captured_variable = row(the_variable)(_capturing())


@row(lambda: ([W0, np.array([0.2, 0.1, -0.6])],))
def list_of_a_variable(ws):
    out = []
    for w in ws:
        out.append(np.sum((w - W0) ** 2) + np.sum(np.sin(w) * W0))
    return out[0] * out[1]


@row(lambda: ({"w": W0, "b": 0.3},))
def dict_of_a_variable(p):
    out = []
    out.append(np.sum(p["w"] * W0) * p["b"])
    out.append(np.sum(p["w"] * CONFIG["w"] * P.mean))
    return out[0] * out[1]


@row(lambda: (Holder(w=W0, n=0),))
def field_of_a_variable(m):
    m.n += 1
    return np.sum(m.w * W0 * WithConstant.prior)


@row(lambda: (W0, [W0, 2.0]))
def argument_and_item_and_variable(w, ws):
    out = []
    out.append(np.sum(w * ws[0] * ws[1] * np.exp(W0)))
    return out[0]


# Arguments among themselves


@row(twice)
def one_array_packed(*xs):
    out = []
    out.append(np.sum(xs[0] * xs[0] * xs[1]))
    return out[0]


@row(views)
def views_packed(*xs):
    out = []
    out.append(np.sum(xs[0] * np.sin(xs[1])))
    return out[0]


@row(twice)
def one_array(a, b):
    out = []
    out.append(np.sum(a * a * b))
    return out[0]


@row(twice)
def an_attribute_is_set(a, b):
    P.n = 3
    return np.sum(a * a * b)


@row(views)
def written_beside_the_overlap(a, b):
    a[0] = a[0] * b[0]
    b[2] *= 3.0
    return np.sum(a * a * b)


@row(apart_views)
def views_of_other_entries(a, b):
    a[0] *= b[1]
    b[:] = a * b
    return np.sum(a * a * b)


@row(twice)
def forwarded(a, b):
    def inner(*args, **kwargs):
        out = []
        out.append(np.sum(args[0] * kwargs["last"]))
        return out[0]

    return inner(a, last=b * b) + inner(b, last=a)


@row(lambda: (np.float64(2.0), *twice()))
def with_a_number(s, a, b):
    out = np.zeros(2)
    out[0] = s * np.sum(a * b)
    out[1] = np.sum(a) * out[0]
    return out[1]


@row(lambda: (twice(),))
def one_array_in_a_tuple(pair):
    a, b = pair
    out = [0.0]
    out[0] = np.sum(a * a * b)
    return out[0]


@row(lambda: (Pair(*views()),))
def views_in_a_namedtuple(pair):
    out = [0.0]
    out[0] = np.sum(pair.left * pair.left * pair.right)
    return out[0]


@row(lambda: ((lambda z: (z.reshape(2, 2), z.reshape(4, 1)[:2]))(np.array([0.7, -1.1, 0.4, 1.9]))))
def other_shapes(a, b):
    out = []
    out.append(np.sum(a @ b * b))
    return out[0]


# Places in containers and objects


@row(lambda: (list(twice()),))
def tied_in_a_list(ws):
    out = []
    out.append(np.sum(ws[0] * ws[0] * ws[1]))
    return out[0]


@row(lambda: (list(twice()),))
def tied_and_unpacked(ws):
    out = []
    a, b = ws
    out.append(np.sum(a * a * b))
    return out[0]


@row(lambda: (list(twice()),))
def tied_and_looped_over(ws):
    out = []
    for k, w in enumerate(ws):
        out.append(np.sum(np.sin(w)) * (k + 1.0))
    return out[0] * out[1] + sum([np.sum(w) for w in reversed(ws)])


@row(lambda: (list(twice()),))
def tied_and_joined(ws):
    out = []
    out.append(np.sum(np.concatenate(ws) * np.arange(6.0)))
    out.append(np.sum(np.stack(ws)[1] * ws[0]))
    return out[0] * out[1]


@row(lambda: (list(twice()),))
def tied_and_spread(ws):
    out = []
    out.append(np.dot(*ws))
    first, *rest = ws[::-1]
    out.append(np.sum(np.cos(first) * rest[0]))
    return out[0] * out[1]


@row(lambda: ([(W0, 2.0), (W0, 3.0)],))
def tied_in_layers(layers):
    x = np.ones(3)
    trace = []
    for w, b in layers:
        x = np.tanh(w * x + b)
        trace.append(x)
    return np.sum(trace[0] * trace[1])


@row(lambda: (dict(zip("ab", twice(), strict=True)),))
def tied_in_a_dict(p):
    out = []
    out.append(np.sum(p["a"] * p["a"] * p["b"]))
    for key, w in p.items():
        out.append(np.sum(w) * (2.0 if key == "b" else 1.0))
    return out[0] * out[1] * out[2] + sum([np.sum(w) ** 2 for w in p.values()])


@row(lambda: (Holder(a=W0, b=W0, n=1),))
def tied_in_an_object(m):
    m.n += 1
    return np.sum(m.a * m.a * m.b) * m.n


@row(lambda: (Slotted(*views()),))
def tied_in_slots(m):
    out = []
    out.append(np.sum(m.a * m.a * m.b))
    return out[0]


@row(lambda: (Holder(layers=[Holder(w=W0), Holder(w=W0)], calls=0), W0))
def network_with_one_matrix(net, x):
    net.calls += 1
    for layer in net.layers:
        layer.last = x
        x = np.tanh(layer.w * x)
    return np.sum(x)


# One object at two places


def _one_box() -> tuple[Any, ...]:
    q = Holder(v=2.0, w=np.array([0.5, -0.3]))
    return q, q


@row(_one_box)
def one_object_written(a, b):
    a.v = a.v * 2
    return a.v * b.v * np.sum(b.w)


@row(lambda: tuple([_one_box()[0]] * 2))
def one_object_written_packed(*xs):
    xs[1].v = xs[0].v * 2
    return xs[0].v * xs[1].v * np.sum(xs[1].w)


@row(lambda: tuple([[0.5, 1.5]] * 2))
def one_list_written(a, b):
    a[0] = a[0] * b[1]
    return a[0] * b[0]


def _parent() -> tuple[Any, ...]:
    child = Holder(v=1.5)
    parent = Holder(child=child, v=0.5)
    child.parent = parent
    return (parent,)


@row(_parent)
def parent_pointer(p):
    p.child.v = p.child.parent.v * p.child.v
    return p.child.v * p.v


# Objects, lists and dicts at two places that nobody writes: what they are at each has its share, as of a copy there


READ: list[Row] = []


def read(arguments: Callable[[], tuple[Any, ...]]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def enter(function: Callable[..., Any]) -> Callable[..., Any]:
        READ.append(Row(function, arguments))
        return function

    return enter


class Leaf:
    def __init__(self, v: Any, w: Any) -> None:
        self.v, self.w = v, w

    def scaled(self, by: Any) -> Any:
        return self.v * by + np.sum(self.w * self.w)

    @property
    def double(self) -> Any:
        return self.v * 2.0

    def __add__(self, other: Any) -> Leaf:
        return Leaf(self.v + other.v, self.w * other.w)

    def __radd__(self, other: Any) -> Leaf:
        return Leaf(self.v + other, self.w)

    def __mul__(self, by: Any) -> Leaf:
        return Leaf(self.v * by, self.w * by)


@dataclass(frozen=True)
class Settings:
    rate: float
    table: dict[str, Any]


LEAF = Leaf(1.25, np.array([0.4, -0.9]))
LEAVES = [LEAF]
CONSTANTS = {"a": 0.5, "w": np.array([0.3, 0.6])}


def leaf() -> Leaf:
    return Leaf(0.75, np.array([0.5, -1.2]))


def two_of(x: Any) -> tuple[Any, ...]:
    return x, x


@read(lambda: two_of(Holder(v=2.0)))
def one_object_read(a, b):
    out = []
    out.append(a.v * a.v * b.v)
    return out[0]


@read(lambda: two_of(leaf()))
def methods_of_one_object(a, b):
    out = np.zeros(2)
    out[0] = a.scaled(b.v)
    out[1] = b.double * a.double * np.sum(a.w * np.sin(b.w))
    return out[0] * out[1]


@read(lambda: two_of(leaf()))
def operators_of_one_object(a, b):
    log = [0.0]
    total = a + b * 2.0
    total = total + a
    log[0] = total.v * np.sum(total.w)
    return log[0] + sum([a, b]).v * sum((b, b), a).v


@read(lambda: two_of(leaf()))
def one_object_packed(*xs):
    out = []
    for k, x in enumerate(xs):
        out.append(x.v * (k + 1.0) + np.sum(x.w) * xs[0].v)
    return out[0] * out[1]


@read(lambda: (lambda q: ([q, 2.0], {"q": q, "x": 0.5}, (q, 1.5)))(leaf()))
def one_object_in_three_containers(many, named, pair):
    out = []
    first, factor = pair
    out.append(many[0].v * many[1] * named["q"].v * first.v * factor)
    for x in named.values():
        out.append(x.scaled(2.0) if isinstance(x, Leaf) else x)
    second, *rest = many
    return out[0] * out[1] * out[2] + np.sum(second.w * first.w) * rest[0]


@read(lambda: (lambda q: ([[q]], {"a": {"b": (q, 2.0)}}))(leaf()))
def one_object_far_down(outer, named):
    out = []
    out.append(outer[0][0].v * named["a"]["b"][0].scaled(1.5))
    return out[0] * outer[0][0].v


@read(lambda: (lambda q: ([q], [q]))(leaf()))
def one_object_in_lists_packed(*lists):
    out = []
    out.append(lists[0][0].v * lists[1][0].v ** 2 * np.sum(lists[1][0].w))
    return out[0]


@read(lambda: two_of(Holder(inner=leaf(), items=[0.5, leaf()], pair=(leaf(), 2.0))))
def one_tree_of_objects(a, b):
    out = []
    out.append(a.inner.v * b.items[1].v * a.items[0] * b.pair[0].v)
    out.append(np.sum(a.items[1].w * b.inner.w) * b.pair[1])
    return out[0] * out[1]


@read(lambda: two_of([0.5, np.array([1.5, -0.5]), [2.0]]))
def one_list_read(a, b):
    out = []
    out.append(a[0] * b[2][0])
    for x in b[:1]:
        out.append(x * np.sum(a[1] * b[1]))
    return out[0] * out[1] * len(a)


@read(lambda: two_of({"a": 0.5, "w": np.array([1.5, -0.5]), "n": {"b": 2.0}}))
def one_dict_read(a, b):
    out = np.zeros(2)
    out[0] = a["a"] * b["n"]["b"] + sum([x * 2.0 for key, x in b.items() if key == "a"])
    out[1] = np.sum(a["w"] * np.cos(b["w"])) * a.get("a", 0.0)
    return out[0] * out[1]


@read(lambda: two_of(Settings(0.1, {"a": 2.0})))
def one_frozen_object(a, b):
    out = []
    out.append(a.rate * b.table["a"])
    return out[0] * b.rate


@read(lambda: (LEAF,))
def object_of_a_variable(q):
    out = []
    out.append(q.v * LEAF.v * np.sum(q.w * LEAF.w))
    return out[0] * q.v


@read(lambda: ([LEAF], LEAF))
def object_of_a_variable_twice(many, q):
    out = []
    out.append(q.v * LEAF.v * many[0].v)
    return out[0] * q.double * LEAF.double


@read(lambda: (CONSTANTS,))
def dict_of_constants(p):
    out = []
    out.append(p["a"] * CONSTANTS["a"] * np.sum(p["w"] * CONSTANTS["w"]))
    return out[0] * p["a"]


@read(lambda: two_of(leaf()))
def given_to_callees(a, b):
    log = []

    def add(x, *, by):
        log.append(x.v * by.v)
        return x

    return add(a, by=b).v * add(b, by=b).scaled(log[0]) * log[1]


@read(lambda: two_of(leaf()))
def kept_in_a_list_and_captured(a, b):
    kept = [a]
    kept.append(b)
    made = Holder(first=kept[0], second=None)
    made.second = kept[1]

    def later(t):
        return b.v * t + a.v

    return later(made.first.v) * made.second.scaled(2.0) * kept[-1].v


@read(lambda: (lambda q: (q, q.w))(leaf()))
def object_and_its_array(q, w):
    out = []
    out.append(np.sum(q.w * w * w) * q.v)
    return out[0]


@read(lambda: (lambda q: (q, q, q.w, [q.w]))(leaf()))
def two_objects_and_their_array(a, b, w, ws):
    out = []
    out.append(np.sum(a.w * w * b.w * ws[0]) * a.v)
    return out[0]


@read(lambda: (lambda q: (Holder(q=q), q))(leaf()))
def object_and_its_holder_written(h, q):
    h.n = h.q.v * 2.0
    return h.n * q.v * h.q.scaled(q.v)


@read(lambda: (lambda q: (Holder(q=q), q))(leaf()))
def another_object_put_there(h, q):
    first = h.q.v
    h.q = Leaf(first * q.v, q.w * 2.0)
    return h.q.v * np.sum(h.q.w) * q.v


@read(lambda: (lambda q: ([q], [q]))(leaf()))
def one_object_in_two_lists(ws, vs):
    out = []
    for x, y in zip(ws, vs, strict=True):
        out.append(x.v * y.v**2)
    out += [x.v for x in ws]
    a, b = [*ws, *vs]
    return out[0] * out[1] * a.v * np.sum(b.w)


@read(lambda: (lambda q: ({"a": q}, {"b": q}))(leaf()))
def one_object_in_two_dicts(p, q):
    out = []

    def both(a, b):
        out.append(a.v * b.v**2)
        return out[0]

    return both(p["a"], **q) * p["a"].v if "b" in q else 0.0


def _parent_and_child() -> tuple[Any, ...]:
    parent = _parent()[0]
    return parent, parent.child


@read(_parent_and_child)
def parent_pointer_read(p, c):
    out = []
    out.append(p.v * c.parent.v**2 * c.v)
    return out[0] * p.child.v**3


@read(lambda: two_of(leaf()))
def one_object_yielded_and_matched(a, b):
    out = []

    def both():
        yield a
        yield b

    for x in both():
        out.append(x.v)
    match (a, b):
        case (Leaf(v=v), Leaf(w=w)):
            out.append(v * np.sum(w))
    return out[0] * out[1] ** 2 * out[2]
