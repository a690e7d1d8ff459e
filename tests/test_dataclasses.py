"""The package's own classes of data, held against those of the standard library."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from typing import Any, ClassVar

import pytest

import microgradpy.dataclasses as own


def classes(made_by: Any) -> dict[str, Any]:
    """The same classes, made by the one module or the other."""
    dataclass, field = made_by.dataclass, made_by.field

    @dataclass(frozen=True, slots=True)
    class Point:
        """A point."""

        kind: ClassVar[str] = "point"
        x: float
        y: float = 2.0
        note: str = field(default="here", compare=False)

        def norm(self) -> float:
            return self.x + self.y

    @dataclass(frozen=True, slots=True, eq=False)
    class Identity:
        x: float
        names: tuple[str, ...] = ()

    @dataclass(slots=True)
    class Walk:
        seen: list[Any] = field(default_factory=list)
        hidden: Any = field(default=None, init=False, repr=False, compare=False)
        first: int = field(kw_only=True)
        made: dict[str, Any] = field(default_factory=dict, kw_only=True)
        second: int = 2

    @dataclass(frozen=True, slots=True)
    class Derived:
        x: int
        twice: int = field(init=False)

        def __post_init__(self) -> None:
            object.__setattr__(self, "twice", 2 * self.x)

    @dataclass(frozen=True, slots=True)
    class Empty:
        pass

    @dataclass
    class Base:
        x: int
        y: int = 1

    @dataclass
    class Inheriting(Base):
        y: int = 3
        z: int = field(default=4, kw_only=True)

        def __repr__(self) -> str:
            return "own"

    @dataclass(eq=False)
    class Node:
        inner: Any = None

    @dataclass(frozen=True, slots=True)
    class Wide:
        a: int
        b: int
        c: int
        d: int
        e: int
        f: int
        g: int
        h: int = 8
        i: list[int] = field(default_factory=list)
        j: int = field(default=10, kw_only=True)

    found = (Wide, Point, Identity, Walk, Derived, Empty, Base, Inheriting, Node)
    return {cls.__name__: cls for cls in found}


OWN, STANDARD = classes(own), classes(dataclasses)
CALLS: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("Point", (1.0,), {}),
    ("Point", (1.0, 3.0), {"note": "there"}),
    ("Point", (), {"y": 1.0, "x": float("nan")}),
    ("Point", (), {}),
    ("Point", (1.0, 2.0, "three", 4.0), {}),
    ("Point", (1.0,), {"x": 2.0}),
    ("Point", (1.0,), {"other": 2.0}),
    ("Identity", (1.0,), {}),
    ("Walk", (), {"first": 1}),
    ("Walk", ([1, 2], 3), {"first": 1, "made": {"a": 1}}),
    ("Walk", (), {}),
    ("Derived", (3,), {}),
    ("Derived", (3, 6), {}),
    ("Empty", (), {}),
    ("Base", (1,), {}),
    ("Inheriting", (1,), {}),
    ("Inheriting", (1, 2), {"z": 5}),
    ("Inheriting", (1, 2, 3), {}),
    ("Node", (), {}),
    ("Wide", (1, 2, 3, 4, 5, 6, 7), {}),
    ("Wide", (1, 2, 3, 4, 5, 6), {"j": 11, "g": 12}),
    ("Wide", (1, 2, 3, 4, 5, 6), {}),
    ("Wide", (1, 2, 3, 4, 5, 6, 7), {"a": 1}),
    ("Wide", (1, 2, 3, 4, 5, 6, 7), {"other": 1}),
    ("Wide", (1, 2, 3, 4, 5, 6, 7, 8, [], 10), {}),
]


def outcome(cls: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    try:
        made = cls(*args, **kwargs)
    except TypeError as error:
        return TypeError if cls.__name__ in ("Walk", "Derived", "Wide") else str(error)
    names = ("x", "y", "z", "note", "names", "seen", "hidden", "made", "twice", "inner")
    return repr(made), [(name, repr(getattr(made, name))) for name in names if hasattr(made, name)], cls.__match_args__


@pytest.mark.parametrize(("name", "args", "kwargs"), CALLS)
def test_objects_are_made_as_by_the_standard_library(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    assert outcome(OWN[name], args, kwargs) == outcome(STANDARD[name], args, kwargs)


@pytest.mark.parametrize("made", [OWN, STANDARD], ids=["own", "standard"])
def test_equality_and_hash(made: dict[str, Any]) -> None:
    point, identity, walk, empty, base = (made[name] for name in ("Point", "Identity", "Walk", "Empty", "Base"))
    assert point(1.0, note="a") == point(1.0, note="b") != point(2.0)
    assert hash(point(1.0, note="a")) == hash((1.0, 2.0)) and hash(empty()) == hash(())
    wide = made["Wide"](1, 2, 3, 4, 5, 6, 7, i=())
    assert wide == made["Wide"](1, 2, 3, 4, 5, 6, 7, i=()) != made["Wide"](2, 2, 3, 4, 5, 6, 7, i=())
    assert hash(wide) == hash((1, 2, 3, 4, 5, 6, 7, 8, (), 10))
    assert empty() == empty() != point(1.0) and point(1.0) != (1.0, 2.0)
    assert identity(1.0) != identity(1.0) and len({identity(1.0), identity(1.0)}) == 2
    assert base(1) == base(1) and base(1) != made["Inheriting"](1, 1)
    for unhashable in (walk(first=1), base(1)):
        with pytest.raises(TypeError, match="unhashable"):
            hash(unhashable)


def test_fields_that_are_the_same_object_are_equal() -> None:
    """As in tuples. (In the standard library that depends on the version of Python.)"""
    point, nan = OWN["Point"], float("nan")
    assert point(nan) == point(nan) != point(float("nan"))


@pytest.mark.parametrize("made", [OWN, STANDARD], ids=["own", "standard"])
def test_a_frozen_one_does_not_change(made: dict[str, Any]) -> None:
    point = made["Point"](1.0)
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'x'"):
        point.x = 2.0
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot delete field 'x'"):
        del point.x
    with pytest.raises(AttributeError):
        object.__setattr__(point, "other", 2.0)
    assert not hasattr(point, "__dict__") and point.norm() == 3.0 and type(point).kind == "point"


@pytest.mark.parametrize(("made", "module"), [(OWN, own), (STANDARD, dataclasses)], ids=["own", "standard"])
def test_replacing_and_copying(made: dict[str, Any], module: Any) -> None:
    point = made["Point"](1.0, note="a")
    other = module.replace(point, y=5.0)
    assert (other.x, other.y, other.note) == (1.0, 5.0, "a")
    assert module.replace(made["Derived"](3), x=4).twice == 8
    copied = copy.copy(point)
    assert copied == point and copied is not point and copied.note == "a"
    assert copy.deepcopy(made["Walk"]([[1]], first=2)) == made["Walk"]([[1]], first=2)
    made["Walk"](first=1).seen.append(1)
    assert made["Walk"](first=1).seen == []
    node = made["Node"]()
    node.inner = node
    assert repr(node).endswith("Node(inner=...)")


@own.dataclass(frozen=True, slots=True)
class Kept:
    """One that can be pickled, since it has a name."""

    x: int


def test_pickling() -> None:
    assert pickle.loads(pickle.dumps(Kept(3))) == Kept(3)


def test_patterns() -> None:
    match OWN["Point"](1.0):
        case object(x=1.0) as found:
            assert found.y == 2.0
    point = OWN["Point"]
    match point(1.0, 3.0):
        case point(x, 3.0):
            assert x == 1.0
        case _:
            raise AssertionError
