"""Fields are read without making the `__dict__` of an object, after which CPython would be slower with it for ever."""

from __future__ import annotations

import dataclasses
import gc
import sys
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from microgradpy import gradient, nn, pullback, pushforward, tracking, value_and_gradient
from microgradpy.compiler import always_dispatch, always_track
from microgradpy.tangents.fields import dict_of, has_field, made_dict


class Plain:
    limit = 0.0

    def __init__(self, x: Any, y: Any) -> None:
        self.x = x
        self.y = y

    def product(self) -> Any:
        return self.x * self.y


@dataclasses.dataclass
class Data:
    x: float
    y: float
    count: int = 0
    other: int = 0

    def product(self) -> Any:
        return self.x * self.y


class Base(Plain):
    __slots__ = ("z",)

    @property
    def half(self) -> Any:
        return self.x / 2


class Holder:
    def __init__(self, x: Any, y: Any) -> None:
        self.inner = Plain(x, y)
        self.pair = (self.inner, Plain(y, x))

    def product(self) -> Any:
        return self.inner.product() * self.pair[1].x


def scaled(o: Any) -> Any:
    o = o.inner if isinstance(o, Holder) else o
    o.x = o.x * 2.0
    return o.x * o.y


def has_dict(o: Any) -> bool:
    return any(type(held) is dict for held in gc.get_referents(o))


USES: list[Callable[[Any], Any]] = [
    lambda o: gradient(lambda o: o.product(), o),
    lambda o: gradient(lambda o: o.product(), o),
    lambda o: gradient(scaled, o),
    lambda o: pullback(scaled, o)[1](1.0),
    lambda o: pushforward(lambda o: o.product(), o),
    lambda o: gradient(o.product),
    lambda o: value_and_gradient(lambda o, x: o.product() * x, o, 2.0),
    lambda o: tracking.track(lambda o: o.product(), o),
]


@pytest.mark.parametrize("mode", [None, always_dispatch, always_track], ids=["inlined", "dispatched", "tracked"])
@pytest.mark.parametrize("use", USES, ids=map(str, range(len(USES))))
@pytest.mark.parametrize("make", [Plain, Data, Holder, Base], ids=lambda make: make.__name__)
def test_no_dict_is_made(make: Any, use: Callable[[Any], Any], mode: Any) -> None:
    o = make(1.5, 2.5)
    before = has_dict(o)  # from 3.13 on, an object with slots besides has one from the first
    if mode is None:
        use(o)
    else:
        with mode():
            use(o)
    assert has_dict(o) == before and not (before and sys.version_info < (3, 13))
    assert not isinstance(o, Holder) or not has_dict(o.inner)


def test_no_dict_is_made_by_training() -> None:
    model = nn.Chain(nn.Dense(3, 4, activation=nn.tanh_act), nn.Dense(4, 1))
    x = np.ones((5, 3))
    optimiser = nn.SGD(0.1)
    for _ in range(3):
        optimiser.update(model, gradient(lambda model, x: np.sum(model(x) ** 2), model, x)[0])
    assert not any(map(has_dict, (model, *model.layers)))


class Meta(type):
    """A class of classes, whose `__annotations__` are a descriptor."""


class OfMeta(metaclass=Meta):
    def __init__(self, x: Any) -> None:
        self.x = x


def test_classes_have_no_fields_of_their_own() -> None:
    assert "x" not in dict_of(OfMeta)
    assert dict_of(OfMeta(1.0)) == {"x": 1.0}
    assert gradient(lambda x, cls: cls(x).x * x, 1.5, OfMeta) == (3.0, None)


class Changing:
    kept = 1.0
    same = None

    def __init__(self, x: Any, *names: str) -> None:
        self.x = x
        for name in names:
            setattr(self, name, None)

    def later(self) -> None:
        self.y = self.x

    def method(self) -> None: ...


def shown(o: Any) -> Any:
    """What `dict_of` says, before anybody has asked for the `__dict__`, and what that is."""
    found = dict(dict_of(o))
    assert all(has_field(o, name) for name in found)
    return found, vars(o)


def changed(*steps: Callable[[Any], Any]) -> Changing:
    o = Changing(2.0)
    for step in steps:
        step(o)
    return o


OBJECTS = [
    Changing(1.0),
    Changing(1.0, "y"),
    Changing(1.0, "unseen"),
    Changing(1.0, "same"),
    Changing(1.0, "kept"),
    Changing(1.0, "method"),
    Changing(1.0, "same", "kept", "method", "y"),
    Changing(Changing),
    Changing({"a": 1.0}),
    changed(Changing.later),
    changed(Changing.later, lambda o: delattr(o, "x")),
    changed(lambda o: setattr(o, "kept", 1.0), lambda o: setattr(o, "same", 2.0)),
    changed(lambda o: setattr(o, "method", Changing.method.__get__(o))),
    changed(lambda o: setattr(o, "me", o)),
    changed(lambda o: vars(o).update(z=3.0)),
    Data(1.0, 2.0),
    Data(1.0, 2.0, 1),
    Data(0, 0),
    types.SimpleNamespace(a=1.0),
    ValueError("text"),
]


@pytest.mark.parametrize("o", OBJECTS, ids=map(str, range(len(OBJECTS))))
def test_the_fields_are_those_of_the_dict(o: Any) -> None:
    found, expected = shown(o)
    assert found == expected or found.keys() == expected.keys()
    assert made_dict(o) is vars(o)


def test_what_has_no_dict() -> None:
    assert dict_of(1.0) == {}
    assert not has_field(1.0, "real")
    assert dict_of(super(Data, Data(1.0, 2.0))) == {}
    assert (made_dict(Plain(1.0, 2.0)) is None) == (sys.version_info < (3, 13))


def test_no_code_of_the_class_runs() -> None:
    class Noisy:
        def __init__(self) -> None:
            self.x = 1.0

        @property
        def y(self) -> float:
            raise AssertionError

        @y.setter
        def y(self, value: float) -> None:
            self.computed = value

        @property
        def computed(self) -> float:
            raise AssertionError

        @computed.setter
        def computed(self, value: float) -> None:
            raise AssertionError

        def __getattr__(self, name: str) -> Any:
            raise AssertionError

    o = Noisy()
    assert dict_of(o) == {"x": 1.0}
    assert not has_field(o, "y")
    assert not has_field(o, "z")
    assert not has_dict(o)
