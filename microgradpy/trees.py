"""Parameters in nested structure: a function of each leaf, and all of them as one vector, which is what optimisers of other
libraries work on.

A tree is made of lists, tuples, named tuples, deques, dicts, dataclasses, other objects with fields, and `Tangent`s. Its leaves
are real and complex numbers and arrays of these; texts, truth values, None, functions, classes and modules are part of the
structure and stay as they are. What is at two places of a tree counts twice; a tree that contains itself is refused.
"""

from __future__ import annotations

import functools
import types
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from typing import Any, final

import numpy as np

from microgradpy.errors import CotangentShapeError, MissingRuleError
from microgradpy.rules.nested import SECOND_BY_CALLS, differentiated
from microgradpy.rules.registry import examples, rrule
from microgradpy.tangents.fields import rebuilt
from microgradpy.tangents.projection import fields_of
from microgradpy.tangents.types import NoTangent, Tangent, accumulate, is_structural_zero

_STRUCTURE = (bool, np.bool, str, bytes, bytearray, type(None), slice, range, set, frozenset, type)
_CODE = (types.ModuleType, types.FunctionType, types.BuiltinFunctionType, types.MethodType, np.ufunc, np.dtype)
_NUMBERS = (int, float, complex, np.number)


def tree_map(fn: Callable[..., Any], tree: Any, /, *trees: Any) -> Any:
    """A tree like the first one, with `fn(leaf, *leaves)` for each leaf of it and those at its place in the others. These have
    the structure of the first, or that of its gradient: a `Tangent` in the place of an object; where one has None, the leaf of
    the first stays. Objects are copied without calling their class, and nothing is written into `tree`. ValueError for trees
    that do not match, with the place."""
    return _mapped(fn, (tree, *trees), "tree", ())


def _mapped(fn: Callable[..., Any], trees: tuple[Any, ...], where: str, inside: tuple[int, ...]) -> Any:
    tree, *others = trees
    if isinstance(tree, (*_STRUCTURE, *_CODE)):
        return tree
    if any(is_structural_zero(other) for other in others):
        return _mapped(lambda leaf: leaf, (tree,), where, inside)
    if _is_leaf(tree):
        return fn(*trees)
    if id(tree) in inside:
        raise ValueError(f"{where} contains itself")
    inside = (*inside, id(tree))
    parts = _parts(tree, where)
    of_others = [_parts_like(parts, other, where) for other in others]
    made = {
        key: _mapped(fn, (part, *(each[key] for each in of_others)), _place(tree, where, key), inside)
        for key, part in parts.items()
    }
    return _rebuilt(tree, made)


def _is_leaf(x: Any) -> bool:
    return isinstance(x, _NUMBERS) or (isinstance(x, np.ndarray) and x.dtype.kind in "fciu")


def _parts(tree: Any, where: str) -> dict[Any, Any]:
    """The parts of a container or object, by index, key or name."""
    if isinstance(tree, list | tuple | deque):
        return dict(enumerate(tree))
    if isinstance(tree, Mapping):
        return dict(tree)
    if isinstance(tree, np.ndarray):
        return {}  # of truth values, texts or objects
    found = fields_of(tree)
    if not found and type(tree).__module__ not in ("builtins", "numpy"):
        return {}
    if not found:
        raise ValueError(f"{where} is a {type(tree).__name__}, which is no part of a tree")
    return found


def _parts_like(parts: dict[Any, Any], other: Any, where: str, may_lack: bool = False) -> dict[Any, Any]:
    """Those of another tree. Fields may be missing in a `Tangent`, and keys in the cotangent of a dict."""
    found = _parts(other, where)
    if (may_lack or isinstance(other, Tangent)) and found.keys() <= parts.keys():
        return {key: found.get(key) for key in parts}
    if found.keys() != parts.keys():
        raise ValueError(f"{where} has the parts {list(parts)} in the first tree, and {list(found)} in another one")
    return found


def _place(tree: Any, where: str, key: Any) -> str:
    return f"{where}[{key!r}]" if isinstance(tree, list | tuple | deque | dict) else f"{where}.{key}"


def _rebuilt(tree: Any, parts: dict[Any, Any]) -> Any:
    """A container or object like another one, of other parts."""
    return Tangent(tree.primal_type, parts) if isinstance(tree, Tangent) else rebuilt(tree, parts)


@rrule.register(tree_map)
def tree_map_rrule(fn: Any, tree: Any, *trees: Any) -> Any:
    """The cotangents of the leaves are those of the calls, in their order."""
    backs: list[Any] = []

    def called(*leaves: Any) -> Any:
        y, back = differentiated(fn, *leaves)
        backs.append(back)
        return y

    made = tree_map(called, tree, *trees)

    def tree_map_pullback(made_bar: Any) -> tuple[Any, ...]:
        calls, of_fn = iter(backs), [None]

        def of_leaves(y_bar: Any) -> tuple[Any, ...]:
            back = next(calls, None)
            if back is None:  # the text of this rule is differentiated, for a value that there is
                remedy = "Write it as a comprehension: {key: fn(value) for key, value in tree.items()}."
                raise MissingRuleError("what it calls is not differentiated twice", None, remedy)
            fn_bar, *bars = back(y_bar)
            of_fn[0] = accumulate(of_fn[0], fn_bar)
            return tuple(bars)

        bars = _bars_of_map((tree, *trees), made_bar, of_leaves)
        return NoTangent(), of_fn[0], *bars

    return made, tree_map_pullback


def _second_of_map(of_call: Any, args: tuple[Any, ...], dots: tuple[Any, ...]) -> Any:
    """`rules.nested.SECOND_BY_CALLS`: the tangents of the leaves, and the cotangents of both, are those of the calls, in their
    order."""
    (fn, *trees), (fn_dot, *tree_dots) = args, dots
    waiting, backs, made_dots = iter(_leaves_of_bars(tuple(trees), tuple(tree_dots))), list[Any](), list[Any]()
    none = (None,) * len(trees)

    def called(*leaves: Any) -> Any:
        (y, y_dot), back = of_call(fn, fn_dot, leaves, next(waiting), {})
        backs.append(back)
        made_dots.append(y_dot)
        return y

    made = tree_map(called, *trees)
    moved = iter(made_dots)
    made_dot = _bars_of_map(tuple(trees), tree_dots[0], lambda _: (next(moved), *none[1:]))[0]

    def second_of_map_pullback(bars: Any) -> tuple[Any, ...]:
        made_bars = (None, None) if is_structural_zero(bars) else bars
        of_calls = [_leaves_of_bars(tuple(trees), (bar, *none[1:])) for bar in made_bars]
        of_fn, found = [None, None], list[tuple[Any, Any]]()
        for back, (y_bar, *_), (y_dot_bar, *_) in zip(backs, *of_calls, strict=True):
            _, fn_bar, fn_dot_bar, x_bars, dot_bars, _ = back((y_bar, y_dot_bar))
            of_fn = [accumulate(of_fn[0], fn_bar), accumulate(of_fn[1], fn_dot_bar)]
            found.append((none if is_structural_zero(x_bars) else x_bars, none if is_structural_zero(dot_bars) else dot_bars))
        tree_bars = []
        for number, bar in enumerate(made_bars):
            of_leaves = iter([each[number] for each in found])
            tree_bars.append((of_fn[number], *_bars_of_map(tuple(trees), bar, functools.partial(_next_of, of_leaves))))
        return NoTangent(), NoTangent(), NoTangent(), *tree_bars, NoTangent()

    return (made, made_dot), second_of_map_pullback


SECOND_BY_CALLS[tree_map] = _second_of_map


def _next_of(bars: Iterator[Any], _: Any) -> Any:
    return next(bars)


def _leaves_of_bars(trees: tuple[Any, ...], bars: tuple[Any, ...]) -> list[tuple[Any, ...]]:
    """The parts of cotangents or tangents of some trees, for each call that `tree_map` makes of their leaves."""
    found: list[list[Any]] = []
    for bar in bars:
        own: list[Any] = []

        def noted(leaf_bar: Any, own: list[Any] = own) -> tuple[Any, ...]:
            own.append(leaf_bar)
            return (None,) * len(trees)

        _bars_of_map(trees, bar, noted)
        found.append(own)
    return list(zip(*found, strict=True))


def _bars_of_map(trees: tuple[Any, ...], made_bar: Any, of_leaves: Callable[[Any], tuple[Any, ...]]) -> tuple[Any, ...]:
    """The cotangents of the trees that `tree_map` went through, in the order in which it did."""
    tree, *others = trees
    if isinstance(tree, (*_STRUCTURE, *_CODE)):
        return (None,) * len(trees)
    if any(is_structural_zero(other) for other in others):
        return (made_bar, *(None for _ in others))
    if _is_leaf(tree):
        return of_leaves(made_bar)
    parts = _parts(tree, "")
    of_others = [_parts_like(parts, other, "") for other in others]
    found = {
        key: _bars_of_map((part, *(each[key] for each in of_others)), _part_of_bar(made_bar, key), of_leaves)
        for key, part in parts.items()
    }
    return tuple(_as_bar(each, {key: bars[number] for key, bars in found.items()}) for number, each in enumerate(trees))


def _part_of_bar(bar: Any, key: Any) -> Any:
    if is_structural_zero(bar):
        return None
    if isinstance(bar, Tangent) and bar.primal_type is Tangent:
        bar = bar.get("_fields")
    return bar.get(key) if isinstance(bar, Mapping) else None if is_structural_zero(bar) else bar[key]


def _as_bar(tree: Any, bars: dict[Any, Any]) -> Any:
    """The cotangent of a container or object from those of its parts."""
    if all(map(is_structural_zero, bars.values())):
        return None
    if isinstance(tree, tuple):
        return tuple(bars.values())
    if isinstance(tree, list | deque):
        return list(bars.values())
    if isinstance(tree, Tangent):
        return Tangent(Tangent, {"_fields": bars})
    return bars if isinstance(tree, dict) else Tangent(type(tree), bars)


def ravel(tree: Any) -> tuple[np.ndarray[Any, Any], Unravel]:
    """`(vector, unravel)`: the leaves of a tree in one array of one axis, and what makes a tree like it of such a vector:
    `unravel(vector)`, with numbers and arrays of the types, shapes and dtypes that the leaves had. Whole numbers stay as they
    are and are not in the vector. `unravel.vector(gradient)` is the vector of another tree, such as a gradient:

        vector, unravel = ravel(parameters)

        def value_and_slope(vector):
            value, (parameters_bar,) = value_and_gradient(loss, unravel(vector))
            return value, unravel.vector(parameters_bar)

        scipy.optimize.minimize(value_and_slope, vector, jac=True)
    """
    unravel = Unravel(tree)
    return unravel.vector(tree), unravel


@final
class Unravel:
    """What makes a tree of a vector; `size` is how many numbers that has, `dtype` of which type they are."""

    def __init__(self, tree: Any) -> None:
        leaves: list[Any] = []
        self._tree = tree_map(lambda leaf: _noted(leaf, leaves), tree)
        self.size = sum(np.size(leaf) for leaf in leaves)
        self.dtype = np.result_type(*(np.asarray(leaf).dtype for leaf in leaves)) if leaves else np.dtype(float)

    def __call__(self, vector: Any) -> Any:
        """The tree with the numbers of a vector. ValueError if it does not have as many."""
        return unraveled(self, vector)

    def vector(self, tree: Any) -> np.ndarray[Any, Any]:
        """The leaves of a tree of this structure, or of a gradient of one, as a vector; zeros for what is None."""
        return self._joined(_leaves_at(self._tree, tree, "tree"))

    def cotangent(self, tree_bar: Any) -> np.ndarray[Any, Any]:
        """The cotangent of a vector, of which this is that of the tree."""
        try:
            return self._joined(_leaves_at(self._tree, tree_bar, "tree", may_lack=True))
        except ValueError as error:
            raise CotangentShapeError(f"a cotangent of another structure: {error}") from None

    def _joined(self, leaves: Iterator[np.ndarray[Any, Any]]) -> np.ndarray[Any, Any]:
        found = list(leaves)
        return np.concatenate(found, dtype=self.dtype, casting="unsafe") if found else np.zeros(0, self.dtype)

    def __repr__(self) -> str:
        return f"<unravel: {self.size} numbers of dtype {self.dtype}>"


def _noted(leaf: Any, leaves: list[Any]) -> Any:
    """A leaf of the structure that is kept: an array of its own, so that nobody else's is."""
    if not _is_continuous(leaf):
        return leaf
    leaves.append(leaf)
    return np.zeros_like(leaf) if isinstance(leaf, np.ndarray) else leaf


def _is_continuous(leaf: Any) -> bool:
    return isinstance(leaf, float | complex | np.inexact) or (isinstance(leaf, np.ndarray) and leaf.dtype.kind in "fc")


def _leaves_at(structure: Any, tree: Any, where: str, may_lack: bool = False) -> Iterator[np.ndarray[Any, Any]]:
    """The leaves of a tree, each as a vector, at the places of the continuous leaves of another one."""
    if isinstance(structure, (*_STRUCTURE, *_CODE)) or (_is_leaf(structure) and not _is_continuous(structure)):
        return
    if _is_leaf(structure):
        if is_structural_zero(tree):
            yield np.zeros(np.size(structure))
        elif np.shape(tree) != np.shape(structure):
            raise ValueError(f"{where} has shape {np.shape(tree)}, and {np.shape(structure)} is its shape in the vector")
        else:
            yield np.ravel(tree)
        return
    parts = _parts(structure, where)
    given = dict.fromkeys(parts) if is_structural_zero(tree) else _parts_like(parts, tree, where, may_lack)
    for key, part in parts.items():
        yield from _leaves_at(part, given[key], _place(structure, where, key), may_lack)


def unraveled(unravel: Unravel, vector: Any) -> Any:
    """The tree that `unravel` makes of a vector."""
    if np.shape(vector) != (unravel.size,):
        raise ValueError(f"the vector has shape {np.shape(vector)}, and the tree {unravel.size} numbers")
    place = 0

    def next_leaf(leaf: Any) -> Any:
        nonlocal place
        if not _is_continuous(leaf):
            return leaf
        part = vector[place : place + np.size(leaf)]
        place += np.size(leaf)
        part = part.real if np.iscomplexobj(part) and not np.iscomplexobj(leaf) else part
        return part.reshape(leaf.shape).astype(leaf.dtype) if isinstance(leaf, np.ndarray) else type(leaf)(part[0])

    return tree_map(next_leaf, unravel._tree)


@rrule.register(unraveled)
def unraveled_rrule(unravel: Any, vector: Any) -> Any:
    """The cotangent of the vector has those of the leaves."""
    tree = unraveled(unravel, vector)

    def unraveled_pullback(tree_bar: Any) -> tuple[Any, ...]:
        return NoTangent(), NoTangent(), unravel.cotangent(tree_bar)

    return tree, unraveled_pullback


examples(unraveled, (Unravel({"w": np.ones((2, 2)), "b": [0.5, 3]}), np.array([0.3, -0.7, 1.1, 0.4, 2.0])))
examples(
    tree_map,
    (np.tanh, {"w": np.array([0.3, -0.7]), "b": [0.5, 0.2]}),
    (np.multiply, [0.3, np.ones(2)], [1.5, np.arange(2.0)]),
)
