"""The real degrees of freedom of a value, and values from other numbers in their places.

    outline = Outline({"W": np.eye(2), "name": "a"}, "args[0]")
    outline.vector()          [1., 0., 0., 1.]
    outline.path(1)           "args[0]['W'][0, 1]"
    outline.rebuild(v)        {"W": v.reshape(2, 2), "name": "a"}
    outline.along(x_bar)      the cotangent x_bar of the value as a vector of the same length

A complex number has two. What cannot be perturbed (texts, booleans, functions without fields) has none. Whole numbers have some
where a cotangent says that they matter; in the values that are built they are floats then. What an object, list or array has at
several places of one value counts once, at the first of them: when it moves, it moves at all of them.
"""

from __future__ import annotations

import copy
import functools
import types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, final

import numpy as np

from microgradpy.tangents.fields import named_like
from microgradpy.tangents.projection import fields_of
from microgradpy.tangents.types import Tangent, is_structural_zero

Vector = np.ndarray[Any, np.dtype[np.float64]]
EVERY: Final = object()
"""In the place of a cotangent: every number counts, whole ones too."""

_CONSTANT = (bool, np.bool, str, bytes, bytearray, type(None), type, types.ModuleType, slice, range)


@final
@dataclass(eq=False)
class Part:
    """A value inside of a value: `size` numbers of the vector from `start` on are its."""

    value: Any
    path: str
    start: int
    size: int = 0
    children: dict[Any, Part] = field(default_factory=dict)
    same_as: Part | None = None

    @property
    def is_leaf(self) -> bool:
        return self.size > 0 and not self.children


@final
class Outline:
    """The degrees of freedom of the value `x`, whose name in paths is `name`; if it is a tuple of arguments, they have `names`.
    `bar` says of which whole numbers: those that it has a cotangent for. If not `shared`, each place is a value of its own, as
    in results; if `arrays_apart`, so is each place of an array."""

    def __init__(
        self,
        x: Any,
        name: str = "x",
        bar: Any = None,
        *,
        shared: bool = True,
        arrays_apart: bool = False,
        names: Sequence[str] = (),
    ) -> None:
        self._known: dict[int, Part] = {}
        self._inside: set[int] = set()
        self._shared = shared
        self._arrays_apart = arrays_apart
        self._names = names
        self.size = 0
        self.root = self._part(x, name, bar)

    def _part(self, x: Any, path: str, bar: Any) -> Part:
        part = Part(x, path, self.size)
        if isinstance(x, _CONSTANT) or id(x) in self._inside:
            part.same_as = self._known.get(id(x))
            return part
        if not _is_immutable(x):
            if self._is_known(x):
                part.same_as = self._known[id(x)]
                return part
            self._known[id(x)] = part
        if is_number(x):
            self.size += _count(x, bar)
        else:
            self._inside.add(id(x))
            for key, value in children(x).items():
                inner = self._names[key] if self._names and not path else path + step_text(x, key)
                part.children[key] = self._part(value, inner, child(x, bar, key))
            self._inside.discard(id(x))
        part.size = self.size - part.start
        if not part.size and not any(inner.same_as for inner in part.children.values()):
            part.children = {}
        return part

    def _is_known(self, x: Any) -> bool:
        """Whether a value counts at another place already."""
        return self._shared and id(x) in self._known and not (self._arrays_apart and isinstance(x, np.ndarray))

    def leaves(self) -> list[Part]:
        """The numbers and arrays that can be moved, in the order of the vector."""

        def walk(part: Part) -> Iterator[Part]:
            if part.is_leaf:
                yield part
            for inner in part.children.values():
                yield from walk(inner)

        return list(walk(self.root))

    def leaves_in(self, keys: Iterable[Any]) -> list[Part]:
        """Those that are in the parts under these keys, be it that they count at another place."""
        met: dict[int, Part] = {}

        def walk(part: Part) -> None:
            home = part.same_as or part
            if id(home) not in met:
                met[id(home)] = home
                for inner in home.children.values():
                    walk(inner)

        for key in keys:
            if key in self.root.children:
                walk(self.root.children[key])
        return [leaf for leaf in self.leaves() if id(leaf) in met]

    def vector(self) -> Vector:
        """The degrees of freedom of the value itself."""
        return self._gather(self.root.value, again=False)

    def along(self, x: Any) -> Vector:
        """A cotangent of the value, or another value of its structure, as a vector: the sum over the places that something has.
        What is missing, or a structural zero, is zero."""
        return self._gather(x, again=True)

    def along_result(self, y: Any) -> Vector:
        """A result of this structure as a vector in which whole numbers are zero: where they have a derivative, they are
        constant, and where they jump, nothing says so but this."""
        return self._gather(y, again=True, whole=False)

    def _gather(self, x: Any, again: bool, whole: bool = True) -> Vector:
        result = np.zeros(self.size)

        def walk(part: Part, value: Any) -> None:
            home = part.same_as or part
            if is_structural_zero(value) or (home is not part and not again):
                return
            if home.is_leaf and (whole or not is_whole(value)):
                result[home.start : home.start + home.size] += leaf_vector(value, home.value, part.path)
            for key, inner in home.children.items():
                walk(inner, child(home.value, value, key))

        walk(self.root, x)
        return result

    def leaves_along(self, x: Any) -> list[tuple[Part, Any]]:
        """The leaves, each with what another value or cotangent has there."""
        result = []

        def walk(part: Part, value: Any) -> None:
            if part.is_leaf:
                result.append((part, value))
            for key, inner in part.children.items():
                walk(inner, child(part.value, value, key))

        walk(self.root, x)
        return result

    def rebuild(self, vector: Vector, *, wide: bool = False) -> Any:
        """The value with these degrees of freedom. If `wide`, numbers of less than double precision become double."""
        made: dict[int, Any] = {}

        def build(part: Part) -> Any:
            if part.same_as is not None and id(part.same_as) in made:
                return made[id(part.same_as)]
            if part.is_leaf:
                numbers = vector[part.start : part.start + part.size]
                made[id(part)] = leaf_value(numbers, part.value, wide)
                return made[id(part)]
            if not part.children:
                return part.value
            return _assembled(part, build, made)

        return build(self.root)

    def cotangent(self, vector: Vector) -> Any:
        """A cotangent, or tangent, of the value with these entries: a `Tangent` for what has fields, and None for what has no
        degrees of freedom."""

        def build(part: Part) -> Any:
            home = part.same_as or part
            if home.is_leaf or (isinstance(home.value, np.ndarray) and not home.value.size):
                return leaf_value(vector[home.start : home.start + home.size], home.value, False)
            if part.same_as is not None or not part.children:
                return None if not isinstance(part.value, list | tuple | dict) else _without_tangent(part.value)
            items = {key: build(inner) for key, inner in part.children.items()}
            if isinstance(part.value, list | tuple):
                return like_sequence(part.value, list(items.values()))
            return items if isinstance(part.value, dict) else Tangent(type(part.value), items)

        return build(self.root)

    def path(self, index: int) -> str:
        """Where the degree of freedom number `index` is, as one would write it in Python."""
        leaf = next(leaf for leaf in self.leaves() if leaf.start <= index < leaf.start + leaf.size)
        return leaf.path + index_text(leaf, index)


def index_text(leaf: Part, index: int) -> str:
    """The place of the degree of freedom number `index` in the leaf it belongs to."""
    offset, suffix = index - leaf.start, ""
    if np.iscomplexobj(leaf.value):
        offset, suffix = offset // 2, (".real", ".imag")[offset % 2]
    if not np.ndim(leaf.value):
        return suffix
    place = np.unravel_index(offset, np.shape(leaf.value))
    return f"[{', '.join(map(str, place))}]{suffix}"


def is_number(x: Any) -> bool:
    """Whether a value is a number or an array of numbers."""
    if isinstance(x, np.ndarray):
        return x.dtype.kind in "fciu"
    return isinstance(x, int | float | complex | np.number) and not isinstance(x, bool | np.timedelta64)


def is_whole(x: Any) -> bool:
    """Whether a number or array is of whole numbers."""
    return x.dtype.kind in "iu" if isinstance(x, np.ndarray | np.generic) else isinstance(x, int)


def _is_immutable(x: Any) -> bool:
    return isinstance(x, int | float | complex | np.generic | tuple)


def _count(x: Any, bar: Any) -> int:
    if is_whole(x) and is_structural_zero(bar):
        return 0
    return int(np.size(x)) * (2 if np.iscomplexobj(x) else 1)


def children(x: Any) -> dict[Any, Any]:
    """What is directly inside of a container, or the fields of an object."""
    if isinstance(x, _CONSTANT):
        return {}
    if isinstance(x, list | tuple):
        return dict(enumerate(x))
    if isinstance(x, dict):
        return dict(x)
    return fields_of(x) if not isinstance(x, np.ndarray | np.generic) else {}


def child(x: Any, value: Any, key: Any) -> Any:
    """The part at `key` of a value of the structure of `x`, or of a cotangent of it."""
    if value is EVERY or is_structural_zero(value):
        return value
    if isinstance(x, list | tuple):
        if len(value) != len(x):
            raise ValueError(f"a {type(x).__name__} of {len(x)} items has a cotangent or twin of {len(value)}")
        return value[key]
    if isinstance(value, Mapping):
        return value.get(key)
    return fields_of(value).get(key)


def step_text(x: Any, key: Any) -> str:
    """How one gets from `x` to what is at `key`."""
    return f"[{key!r}]" if isinstance(x, list | tuple | dict) else f".{key}"


def leaf_vector(value: Any, like: Any, path: str) -> Vector:
    """The degrees of freedom of a number or array, or of a cotangent of `like`."""
    array = np.asarray(value)
    if array.shape not in ((), np.shape(like)):
        raise ValueError(f"{path} has the shape {np.shape(like)}, and not {array.shape}")
    array = np.broadcast_to(array, np.shape(like)).ravel()
    if np.iscomplexobj(like):
        return np.stack([array.real, array.imag], axis=-1).ravel().astype(np.float64)
    if array.dtype.kind == "c":
        raise ValueError(f"{path} is real, and its cotangent or twin is complex")
    return array.astype(np.float64)


def leaf_value(numbers: Vector, like: Any, wide: bool) -> Any:
    """A number or array like `like` with other degrees of freedom."""
    entries = numbers[0::2] + 1j * numbers[1::2] if np.iscomplexobj(like) else numbers
    if not isinstance(like, np.ndarray | np.generic):
        number = entries[0].item()
        return type(like)(number) if isinstance(like, float | complex) else number
    dtype = np.dtype(np.float64) if like.dtype.kind in "iu" else like.dtype
    if wide:
        dtype = np.result_type(dtype, np.float64)
    if isinstance(like, np.generic):
        return dtype.type(entries[0])
    result = np.empty_like(like, dtype)  # in the same order of memory
    result[...] = entries.reshape(like.shape)
    return result


def _assembled(part: Part, build: Callable[[Part], Any], made: dict[int, Any]) -> Any:
    """A container or object with other parts. It is known before its parts are built, since they may contain it."""
    x = part.value
    if isinstance(x, tuple):
        return like_sequence(x, [build(inner) for inner in part.children.values()])
    special = _SPECIAL.get(type(x))
    if special is not None:
        return special(part, build, made)
    twin = made[id(part)] = copy.copy(x)
    for key, inner in part.children.items():
        if isinstance(x, list | dict):
            twin[key] = build(inner)
        else:
            _set_field(twin, key, build(inner))
    return twin


def _set_field(x: Any, name: str, value: Any) -> None:
    """Give an object another field, also where its class has a property of that name."""
    if name in getattr(x, "__dict__", {}):
        x.__dict__[name] = value
    else:
        object.__setattr__(x, name, value)


def like_sequence(x: Any, items: list[Any]) -> Any:
    """A list, tuple or namedtuple of other items."""
    if isinstance(x, list):
        return items
    return named_like(x, items) if hasattr(x, "_fields") else tuple(items)


def _without_tangent(x: Any) -> Any:
    """The cotangent of a container in which nothing can be perturbed."""
    return {key: None for key in x} if isinstance(x, dict) else like_sequence(x, [None] * len(x))


def _function(part: Part, build: Callable[[Part], Any], made: dict[int, Any]) -> Any:
    f = part.value
    cells = {name: types.CellType() for name in f.__code__.co_freevars}
    twin = types.FunctionType(f.__code__, f.__globals__, f.__name__, f.__defaults__, tuple(cells.values()))
    twin.__kwdefaults__ = f.__kwdefaults__
    made[id(part)] = twin
    for name, inner in part.children.items():
        cells[name].cell_contents = build(inner)
    return twin


def _method(part: Part, build: Callable[[Part], Any], made: dict[int, Any]) -> Any:
    owner = build(part.children["__self__"])
    return getattr(owner, part.value.__name__)


def _partial(part: Part, build: Callable[[Part], Any], made: dict[int, Any]) -> Any:
    parts = {name: build(inner) for name, inner in part.children.items()}
    return functools.partial(parts["func"], *parts["args"], **parts["keywords"])


_SPECIAL: dict[type, Callable[[Part, Callable[[Part], Any], dict[int, Any]], Any]] = {
    types.FunctionType: _function,
    types.MethodType: _method,
    types.BuiltinMethodType: _method,
    functools.partial: _partial,
}
