"""Code that runs where nothing is called by name, and writes into an argument which it has by another way: a property, an
operator, a descriptor of an object that a function only looks at. The gradient is right, or it is refused."""

from __future__ import annotations

import functools
import math
import operator
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from microgradpy import DifferentiationError, MutationError, entry, grad, gradient
from microgradpy.runtime.bytecode import computes_names, texts_in, writes
from tests.ways import ALL

ARGUMENT: list[Any] = [None]


def double(answer: Any) -> Any:
    ARGUMENT[0][0] = ARGUMENT[0][0] * 2.0
    return answer


class Sensor:
    """Writes into the argument whenever it is looked at."""

    @property
    def reading(self) -> float:
        return double(1.0)

    def method(self) -> float:
        return double(1.0)

    def __add__(self, other: Any) -> float:
        return double(1.0)

    def __radd__(self, other: Any) -> float:
        return double(1.0)

    def __neg__(self) -> float:
        return double(1.0)

    def __getitem__(self, number: int) -> float:
        return double(1.0)


class Answering:
    def __getattr__(self, name: str) -> float:
        if name.startswith("_"):
            raise AttributeError(name)
        return double(1.0)

    def __bool__(self) -> bool:
        return double(True)


class Descriptor:
    def __get__(self, owner: Any, cls: Any = None) -> float:
        return double(1.0)


class Described:
    reading = Descriptor()


class Holder:
    sensor = Sensor()
    """An attribute of the class."""

    def __init__(self) -> None:
        self.own = Sensor()


class Asking(type):
    def __call__(cls) -> Any:
        return double(1.0)

    def __instancecheck__(cls, other: Any) -> bool:
        return double(True)

    def __len__(cls) -> int:
        return double(1)


class Asked(metaclass=Asking):
    pass


class Equal(type):
    def __eq__(cls, other: Any) -> bool:
        return double(True)

    def __hash__(cls) -> int:
        return 12345


class Compared(metaclass=Equal):
    pass


def in_closure() -> Callable[[], float]:
    held = Sensor()
    return lambda: held.reading


def by_default(sensor: Any = Sensor()) -> float:  # noqa: B008
    return sensor.reading


SENSOR, ANSWERING, DESCRIBED, HOLDER = Sensor(), Answering(), Described(), Holder()
SENSORS, BY_NAME, NAME = [Sensor()], {"sensor": Sensor()}, "reading"
NAMESPACE, IN_SET, IN_VIEW = types.SimpleNamespace(sensor=Sensor()), {SENSOR}, types.MappingProxyType(BY_NAME)
IN_ARRAY, CLOSED = np.array([SENSOR, None], dtype=object), in_closure()
GET, CALL, BOUND = operator.attrgetter("reading"), operator.methodcaller("method"), functools.partial(Sensor.method, SENSOR)


def made() -> Sensor:
    return SENSOR


made.sensor = SENSOR  # type: ignore[attr-defined]


def read_by_another() -> float:
    return SENSOR.reading


def by_match(s: Any) -> Any:
    a = s[0]
    match SENSOR:
        case Sensor(reading=r):
            pass
        case _:
            r = 3.0
    return a * s[0] * r + a


LOOKS: dict[str, Callable[[Any], Any]] = {
    "property": lambda s: s[0] * (SENSOR.reading) * s[0] + s[0],
    "property of a field": lambda s: s[0] * (HOLDER.own.reading) * s[0] + s[0],
    "property of an attribute of a class": lambda s: s[0] * (HOLDER.sensor.reading) * s[0] + s[0],
    "property of an attribute, named by the class": lambda s: s[0] * (Holder.sensor.reading) * s[0] + s[0],
    "property of an attribute of a function": lambda s: s[0] * (made.sensor.reading) * s[0] + s[0],  # type: ignore[attr-defined]
    "property of an item": lambda s: s[0] * (SENSORS[0].reading) * s[0] + s[0],
    "property of an entry": lambda s: s[0] * (BY_NAME["sensor"].reading) * s[0] + s[0],
    "property of a result": lambda s: s[0] * (made().reading) * s[0] + s[0],
    "property in another function": lambda s: s[0] * (read_by_another()) * s[0] + s[0],
    "property in a comprehension": lambda s: s[0] * (sum([each.reading for each in SENSORS])) * s[0] + s[0],
    "getattr": lambda s: s[0] * (getattr(SENSOR, "reading")) * s[0] + s[0],  # noqa: B009
    "getattr with default": lambda s: s[0] * (getattr(SENSOR, "reading", 2.0)) * s[0] + s[0],
    "getattr by a variable": lambda s: s[0] * (getattr(SENSOR, NAME)) * s[0] + s[0],
    "getattr of a method": lambda s: s[0] * (getattr(SENSOR, "met" + "hod")()) * s[0] + s[0],
    "hasattr": lambda s: s[0] * (1.0 if hasattr(SENSOR, "reading") else 2.0) * s[0] + s[0],
    "attrgetter": lambda s: s[0] * (operator.attrgetter("reading")(SENSOR)) * s[0] + s[0],
    "attrgetter of the module": lambda s: s[0] * (GET(SENSOR)) * s[0] + s[0],
    "attrgetter, mapped": lambda s: s[0] * (sum(map(GET, SENSORS))) * s[0] + s[0],
    "attrgetter as a key": lambda s: s[0] * (1.0 if max(SENSORS, key=GET) else 2.0) * s[0] + s[0],
    "methodcaller": lambda s: s[0] * (operator.methodcaller("method")(SENSOR)) * s[0] + s[0],
    "methodcaller of the module": lambda s: s[0] * (CALL(SENSOR)) * s[0] + s[0],
    "partial of the module": lambda s: s[0] * (BOUND()) * s[0] + s[0],
    "operator": lambda s: s[0] * (SENSOR + 1.0) * s[0] + s[0],
    "operator on the right": lambda s: s[0] * (1.0 + SENSORS[0]) * s[0] + s[0],
    "operator of a result": lambda s: s[0] * (made() + 1.0) * s[0] + s[0],
    "operators in a sum": lambda s: s[0] * (sum(SENSORS)) * s[0] + s[0],
    "sign": lambda s: s[0] * (-HOLDER.own) * s[0] + s[0],
    "item": lambda s: s[0] * (SENSOR[0]) * s[0] + s[0],
    "__getattr__": lambda s: s[0] * (ANSWERING.anything) * s[0] + s[0],
    "__bool__": lambda s: s[0] * (1.0 if ANSWERING else 2.0) * s[0] + s[0],
    "entry of a namespace": lambda s: s[0] * NAMESPACE.sensor.reading * s[0] + s[0],
    "item of a set": lambda s: s[0] * sum([each.reading for each in IN_SET]) * s[0] + s[0],
    "entry of an array of objects": lambda s: s[0] * IN_ARRAY[0].reading * s[0] + s[0],
    "entry of a view of a dict": lambda s: s[0] * IN_VIEW["sensor"].reading * s[0] + s[0],
    "captured": lambda s: s[0] * CLOSED() * s[0] + s[0],
    "default": lambda s: s[0] * by_default() * s[0] + s[0],
    "call of a metaclass": lambda s: s[0] * Asked() * s[0] + s[0],
    "equality of a metaclass": lambda s: s[0] * (Compared == 1) * s[0] + s[0],
    "instances of a metaclass": lambda s: s[0] * (1.0 if isinstance(1, Asked) else 2.0) * s[0] + s[0],
    "length of a metaclass": lambda s: s[0] * len(Asked) * s[0] + s[0],  # type: ignore[arg-type]
    "pattern": by_match,
    "descriptor": lambda s: s[0] * (DESCRIBED.reading) * s[0] + s[0],
}


def pair(x: float) -> dict[int, float]:
    return {0: x}


MAKERS: dict[str, Callable[[float], Any]] = {"list": lambda x: [x], "dict": pair, "array": lambda x: np.array([x])}


def of_function(function: Callable[[Any], Any], make: Callable[[float], Any], x: float) -> float:
    ARGUMENT[0] = make(x)
    return float(function(ARGUMENT[0]))


@pytest.mark.parametrize("way", ALL)
@pytest.mark.parametrize("kind", MAKERS)
@pytest.mark.parametrize("look", LOOKS)
def test_what_is_looked_at_may_write_into_an_argument(look: str, kind: str, way: str) -> None:
    function, make = LOOKS[look], MAKERS[kind]
    expected = (of_function(function, make, 1.5 + 1e-6) - of_function(function, make, 1.5 - 1e-6)) / 2e-6
    ARGUMENT[0] = make(1.5)
    try:
        with ALL[way]():
            (found,) = gradient(function, ARGUMENT[0])
    except MutationError:
        return
    assert found[0] == pytest.approx(expected)


class Point:
    def __init__(self, x: float) -> None:
        self.x = x


POINT = Point(1.5)


class Mover:
    @property
    def reading(self) -> float:
        POINT.x = POINT.x * 2.0
        return 1.0

    def __add__(self, other: Any) -> float:
        return self.reading


MOVER = Mover()
OF_POINTS: list[Callable[[Any], Any]] = [
    lambda p: p.x * MOVER.reading * p.x + p.x,
    lambda p: p.x * getattr(MOVER, NAME) * p.x + p.x,
    lambda p: p.x * GET(MOVER) * p.x + p.x,
    lambda p: p.x * (MOVER + 1.0) * p.x + p.x,
]


@pytest.mark.parametrize("way", ALL)
@pytest.mark.parametrize("number", range(len(OF_POINTS)))
def test_what_is_looked_at_may_write_into_an_object(number: int, way: str) -> None:
    POINT.x = 1.5
    try:
        with ALL[way]():
            (found,) = gradient(OF_POINTS[number], POINT)
    except MutationError:
        return
    assert found.x == pytest.approx(8.0) and POINT.x == 3.0


class Still:
    @property
    def reading(self) -> float:
        return 1.0


class Container:
    held: Any


HOLDERS = {"only": Container()}


@pytest.mark.parametrize("size", [1, 30_000])
def test_nothing_is_too_large_to_be_watched(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first of many objects is changed by a property that was put there after the function was compiled."""

    def function(points: list[Point]) -> float:
        first = points[0].x
        reading = HOLDERS["only"].held.reading
        return first * points[0].x * reading

    points = [Point(1.5) for _ in range(size)]
    monkeypatch.setitem(globals(), "POINT", points[0])
    HOLDERS["only"].held = Still()
    differentiated = grad(function)
    assert differentiated(points)[0].x == pytest.approx(3.0)
    HOLDERS["only"].held = MOVER
    try:
        found = differentiated(points)
    except MutationError:
        return
    assert found[0].x == pytest.approx(6.0)  # x * 2 x


def test_names_that_code_reads_by_texts() -> None:
    def reads(x: Any) -> Any:
        match x:
            case Point(x=found):
                return found
        return getattr(x, "one"), getattr(x, "two", None), operator.attrgetter("three.four")(x), hasattr(x.a[0], "five")  # noqa: B009

    assert {"one", "two", "three", "four", "five", "x"} <= set(texts_in(reads.__code__))
    assert not computes_names(reads.__code__)


@pytest.mark.parametrize(
    "function",
    [
        lambda x, name: getattr(x, name),
        lambda x, name: getattr(x, f"w{name}"),
        lambda x, name: getattr(x, "w" + name, None),
        lambda x, name: getattr(x, "a" if name else "b"),
        lambda x, name: [getattr(each, name.lower()) for each in x],
        lambda x, name: operator.attrgetter(name)(x),
        lambda x, name: map(getattr, x, name),
    ],
)
def test_names_that_code_computes(function: Callable[..., Any]) -> None:
    assert computes_names(function.__code__)


@dataclass
class Branch:
    place: int = -1
    left: Any = None
    right: Any = None


def summed(branch: Any, x: Any) -> Any:
    if branch.left is None:
        return x[branch.place]
    return summed(branch.left, x) * summed(branch.right, x)


def test_objects_of_dataclasses_are_not_watched_for_their_repr(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> Any:
        raise AssertionError("watched")

    monkeypatch.setattr(entry, "watched", refuse)
    branch = Branch(left=Branch(0), right=Branch(left=Branch(1), right=Branch(0)))
    x_bar = grad(summed, 1)(branch, np.array([1.5, 2.0]))
    np.testing.assert_allclose(x_bar, [2 * 1.5 * 2.0, 1.5 * 1.5])


class Place:
    """An index that says where it is, and counts how often it is asked."""

    def __init__(self, place: int, asked: Any) -> None:
        self.place, self.asked = place, asked

    def __index__(self) -> int:
        self.asked += 1.0
        return self.place

    def __repr__(self) -> str:
        return "a place"


def by_index(holder: Any, x: Any) -> Any:
    return x[holder.place] * np.sum(x)


def test_an_index_that_has_code_of_its_own_is_seen_beside_a_repr() -> None:
    x = np.array([1.5, 2.0])
    with pytest.raises(DifferentiationError):
        grad(by_index, 1)(Branch(place=Place(1, x)), x)  # type: ignore[arg-type]


def of_more_arguments(x: Any, y: Any, z: Any) -> Any:
    return x


@pytest.mark.parametrize(("function", "wanted"), [
    (lambda x: math.sqrt(1.0 + of_more_arguments(x, x, 0) ** 2), False),
    (lambda x: np.sin(min(x, x, 1.0)), False),
    (lambda x, y: np.multiply(x, of_more_arguments(1, 2, y), x), True),
])  # fmt: skip
def test_arguments_of_calls_inside_of_calls_are_not_counted(function: Callable[..., Any], wanted: bool) -> None:
    """`np.sin(x, y)` writes into `y`: what is called with three arguments inside of a call of a sine is no such call."""
    assert writes(function.__code__) is wanted
