"""What `match` does with a subject, with Python's own answers."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from microgradpy.rules.registry import examples, non_differentiable, rrule
from microgradpy.runtime.cotangents import attribute_cotangent
from microgradpy.tangents.arithmetic import accumulate, item_cotangent
from microgradpy.tangents.types import NoTangent, is_structural_zero

# Py_TPFLAGS_SEQUENCE, Py_TPFLAGS_MAPPING and _Py_TPFLAGS_MATCH_SELF of CPython, which decide this for the interpreter.
_SEQUENCE, _MAPPING, _MATCH_SELF = 1 << 5, 1 << 6, 1 << 22
_NO_CLASS = f"called match pattern must be a {'class' if sys.version_info >= (3, 12) else 'type'}"
MISSING: Any = object()


def is_sequence(subject: Any, length: int, at_least: bool = False) -> bool:
    """Whether a sequence pattern of so many items may match: `[a, b]`, or with a star `at_least`."""
    if not type(subject).__flags__ & _SEQUENCE:
        return False
    found = len(subject)
    return found >= length if at_least else found == length


def is_mapping(subject: Any, count: int) -> bool:
    """Whether a mapping pattern with so many keys may match."""
    return bool(type(subject).__flags__ & _MAPPING) and (not count or len(subject) >= count)


def values_of(subject: Any, *keys: Any) -> tuple[Any, ...] | None:
    """The values at all the keys of a mapping pattern; None if the subject is no mapping or has not got all of them."""
    if not is_mapping(subject, len(keys)):
        return None
    get = subject.get
    found: dict[Any, Any] = {}
    for key in keys:
        if key in found:
            raise ValueError(f"mapping pattern checks duplicate key ({key!r})")
        found[key] = get(key, MISSING)
        if found[key] is MISSING:
            return None
    return tuple(found.values())


def attributes_of(subject: Any, cls: Any, count: int, *names: str) -> tuple[Any, ...] | None:
    """The parts that a class pattern names: `count` by position, then those of the attributes `names`. None if the
    subject is no `cls` or has not got all of them."""
    every = names_in_pattern(subject, cls, count, names)
    if every is None:
        return None
    found: list[Any] = []
    for name in every:
        value = subject if name is None else getattr(subject, name, MISSING)
        if value is MISSING:
            return None
        found.append(value)
    return tuple(found)


def names_in_pattern(subject: Any, cls: Any, count: int, names: tuple[str, ...]) -> Iterator[str | None] | None:
    """The names of the parts, None for the subject itself; no names at all if the subject is no `cls`."""
    if not isinstance(cls, type):
        raise TypeError(_NO_CLASS)
    return _names(cls, count, names) if isinstance(subject, cls) else None


def _names(cls: type, count: int, named: tuple[str, ...]) -> Iterator[str | None]:
    """The attributes that the patterns in `cls(...)` stand for, the positional ones first; None stands for the subject
    itself. What is wrong with a name is found when it is its turn."""
    positional = getattr(cls, "__match_args__", MISSING) if count else ()
    is_whole = positional is MISSING and bool(cls.__flags__ & _MATCH_SELF)
    positional = (None,) if is_whole else () if positional is MISSING else positional
    if type(positional) is not tuple:
        raise TypeError(f"{cls.__name__}.__match_args__ must be a tuple (got {type(positional).__name__})")
    if count > len(positional):
        plural = "" if len(positional) == 1 else "s"
        raise TypeError(f"{cls.__name__}() accepts {len(positional)} positional sub-pattern{plural} ({count} given)")
    seen: set[str] = set()
    for name in (*positional[:count], *named):
        if not isinstance(name, str) and not is_whole:
            raise TypeError(f"__match_args__ elements must be strings (got {type(name).__name__})")
        if name in seen:
            raise TypeError(f"{cls.__name__}() got multiple sub-patterns for attribute {name!r}")
        if name is not None:
            seen.add(name)
        yield name


non_differentiable(is_sequence, is_mapping)


@rrule.register(values_of)
def values_of_rrule(subject: Any, *keys: Any) -> Any:
    """The cotangent of each value belongs to the subject's value at that key."""
    y = values_of(subject, *keys)

    def values_of_pullback(y_bar: Any) -> tuple[Any, ...]:
        subject_bar = None
        for key, bar in zip(keys, y_bar if y else (), strict=False):
            if not is_structural_zero(bar):
                subject_bar = accumulate(subject_bar, item_cotangent(subject, key, bar))
        return NoTangent(), subject_bar, *(NoTangent() for _ in keys)

    return y, values_of_pullback


@rrule.register(attributes_of)
def attributes_of_rrule(subject: Any, cls: Any, count: int, *names: str) -> Any:
    """The cotangent of each part belongs to the subject's attribute, or to the subject if that is the part."""
    y = attributes_of(subject, cls, count, *names)
    every = () if y is None else tuple(_names(cls, count, names))

    def attributes_of_pullback(y_bar: Any) -> tuple[Any, ...]:
        subject_bar = None
        for name, bar in zip(every, y_bar or (), strict=False):
            if not is_structural_zero(bar):
                part = bar if name is None else attribute_cotangent(subject, name, bar)
                subject_bar = accumulate(subject_bar, part)
        return NoTangent(), subject_bar, *(NoTangent() for _ in (cls, count, *names))

    return y, attributes_of_pullback


examples(values_of, ({"a": 2.0, "b": 3.0}, "b"), ({"a": 2.0, "b": 3.0}, "b", "a"), ({"a": 1.0}, "c"))
examples(attributes_of, (2.0, float, 1), (1.0 + 2.0j, complex, 0, "imag", "real"), (2.0, int, 1))
