"""np.einsum: its derivative with respect to one operand is an einsum of the other operands with the cotangent.

    z = einsum("ij,jk->ik", x, y)      x_bar = einsum("ik,jk->ij", z_bar, y)

An index that stands in x only is summed away in z: x_bar repeats along it. An index that x has twice reads a diagonal:
x_bar is zero elsewhere. An ellipsis is spelled out in letters that are not used otherwise.
"""

from __future__ import annotations

import string
from typing import Any

import numpy as np

from microgradpy.rules.derivatives import pullback
from microgradpy.rules.numpy.options import fitted, plain_bars
from microgradpy.rules.registry import example, examples, rrule
from microgradpy.tangents.arithmetic import conj, unbroadcast
from microgradpy.tangents.helpers import cotangent_of_item
from microgradpy.tangents.types import NoTangent, is_structural_zero


@pullback(np.einsum, str, arity=2)
def einsum_of_one_pullback(z_bar, subscripts, x, *, optimize=False):
    """x_bar from einsum_bar."""
    return NoTangent(), einsum_bar(z_bar, subscripts, (x,), 0)


@pullback(np.einsum, str, arity=3)
def einsum_of_two_pullback(z_bar, subscripts, x, y, *, optimize=False):
    """x_bar and y_bar from einsum_bar."""
    return NoTangent(), einsum_bar(z_bar, subscripts, (x, y), 0), einsum_bar(z_bar, subscripts, (x, y), 1)


@rrule.register(np.einsum, str)
def einsum_rrule(subscripts, *operands, optimize=False):
    """One cotangent per operand from einsum_bar."""

    def einsum_pullback(z_bar):
        cotangents = [einsum_bar(z_bar, subscripts, operands, number) for number in range(len(operands))]
        return NoTangent(), NoTangent(), *cotangents

    return np.einsum(subscripts, *operands, optimize=optimize), einsum_pullback


@cotangent_of_item(2, 3)
def einsum_bar(z_bar: Any, subscripts: str, operands: tuple[Any, ...], number: int) -> Any:
    """The cotangent of operand `number` of `np.einsum(subscripts, *operands)`, in its shape."""
    inputs, output = spell_out(subscripts, [np.ndim(operand) for operand in operands])
    mine, x = inputs[number], operands[number]
    others = [(letters, conj(x)) for i, (letters, x) in enumerate(zip(inputs, operands, strict=True)) if i != number]
    factors = [(output, z_bar), *others]
    # einsum wants every index of the result in some factor: ones bring the indices that only x has.
    found = set("".join(letters for letters, _ in factors))
    distinct = "".join(dict.fromkeys(mine))
    sizes = _sizes(inputs, operands)
    lonely = "".join(letter for letter in distinct if letter not in found)
    if lonely:
        factors.append((lonely, np.ones([sizes[letter] for letter in lonely], np.result_type(z_bar))))
    formula = ",".join(letters for letters, _ in factors) + "->" + distinct
    x_bar = np.einsum(formula, *(factor for _, factor in factors), optimize=len(factors) > 2)
    if distinct == mine:
        return unbroadcast(x_bar, x)
    full = np.zeros([sizes[letter] for letter in mine], x_bar.dtype)
    # Of one operand with repeated indices einsum returns a view of the diagonal that may be written.
    np.einsum(f"{mine}->{distinct}", full)[...] = x_bar
    return unbroadcast(full, x)


def spell_out(subscripts: str, ranks: list[int]) -> tuple[list[str], str]:
    """The indices of each operand and of the result, one letter per axis: no blanks, ellipsis or implicit result."""
    left, arrow, output = subscripts.replace(" ", "").partition("->")
    inputs = left.split(",")
    unused = [letter for letter in string.ascii_letters if letter not in subscripts]
    # Ellipses broadcast from the last axis: all take their letters from the end of the same run.
    widths = [rank - len(letters.replace("...", "")) for letters, rank in zip(inputs, ranks, strict=True)]
    run = "".join(unused[: max([0, *(w for letters, w in zip(inputs, widths, strict=True) if "..." in letters)])])
    spelled = [letters.replace("...", run[len(run) - w :]) for letters, w in zip(inputs, widths, strict=True)]
    if not arrow:
        named = left.replace(",", "").replace(".", "")
        output = "..." + "".join(sorted(letter for letter in set(named) if named.count(letter) == 1))
    return spelled, output.replace("...", run)


def _sizes(inputs: list[str], operands: tuple[Any, ...]) -> dict[str, int]:
    sizes: dict[str, int] = {}
    for letters, operand in zip(inputs, operands, strict=True):
        for letter, size in zip(letters, np.shape(operand), strict=True):
            sizes[letter] = sizes.get(letter, 1) if size == 1 else size
    return sizes


def _table(*shape: int) -> np.ndarray:
    """An array of irregular numbers, of both signs and the given shape."""
    return np.sin(np.arange(1.0, 1.0 + np.prod(shape, dtype=int)) * 1.7 + len(shape)).reshape(shape)


_COMPLEX = _table(3, 2) + 1j * _table(2, 3).T
examples(np.einsum, ("ij->ji", _table(2, 3)), ("ij->i", _table(2, 3)), ("ij", _table(2, 3)), ("ii->i", _table(3, 3)))
examples(
    np.einsum, ("ii", _table(3, 3)), ("iji->j", _table(2, 3, 2)), ("i->", _table(3)), ("...ij->...ji", _table(2, 3, 4))
)
examples(np.einsum, ("ij,jk->ik", _table(2, 3), _table(3, 4)), ("ij,jk", _table(2, 3), _table(3, 2)))
examples(
    np.einsum,
    ("i,j->ij", _table(3), _table(2)),
    ("ij,ij->", _table(2, 3), _table(2, 3)),
    ("i, i", _table(3), _table(3)),
)
examples(np.einsum, ("ij,kj->", _table(2, 3), _table(4, 3)), ("bij,bjk->bik", _table(2, 2, 3), _table(2, 3, 2)))
examples(np.einsum, ("...ij,...jk->...ik", _table(2, 2, 3), _table(3, 2)), ("...i,i", _table(2, 3), _table(3)))
examples(
    np.einsum, ("ij,jk->ik", _COMPLEX, _table(2, 3)), ("ii,i->i", _table(3, 3), _table(3)), (",i->i", 0.7, _table(3))
)
examples(np.einsum, ("ij,jk,k->i", _table(2, 3), _table(3, 2), _table(2)), ("i,i,i->", _table(2), _table(2), _table(2)))
examples(np.einsum, ("i,ij->j", _table(1), _table(3, 2)), ("ij,k->k", _table(2, 3), _table(2)))
example(np.einsum, "ij,jk->ik", _table(2, 3), _table(3, 2), optimize=True)

_VECTOR = np.array([0.7, -1.4, 2.2])
_TABLE = np.array([[0.9, 2.1, -0.6], [1.8, -1.1, 0.3]])


@rrule.register(np.einsum, options=True)
def einsum_with_options_rrule(*operands, **options):
    """The rule of the plain call, with the axes as letters: np.einsum(x, [0, 1], y, [1], [0]) is "ab,b->a"."""
    y = np.einsum(*operands, **options)
    is_text = isinstance(operands[0], str)
    plain, places = (operands, range(len(operands))) if is_text else _with_letters(operands)

    def einsum_with_options_pullback(y_bar):
        bars: list[Any] = [NoTangent()] * len(operands)
        named = {name: value for name, value in options.items() if name == "optimize"}
        for place, bar in zip(places, plain_bars(np.einsum, plain, named, y_bar), strict=True):
            bars[place] = bar if is_structural_zero(bar) else fitted(bar, operands[place])
        return NoTangent(), *bars

    return y, einsum_with_options_pullback


def _with_letters(operands: tuple[Any, ...]) -> tuple[tuple[Any, ...], list[int]]:
    """The operands after a text of subscripts, and which operand each is; the text stands for the first list."""
    count = len(operands) // 2
    text = ",".join(map(_letters, operands[1 : 2 * count : 2]))
    arrow = "->" + _letters(operands[-1]) if len(operands) % 2 else ""
    return (text + arrow, *operands[: 2 * count : 2]), [1, *range(0, 2 * count, 2)]


def _letters(axes: Any) -> str:
    return "".join("..." if axis is Ellipsis else string.ascii_letters[axis] for axis in axes)


examples(np.einsum, (_TABLE, [0, 1], _VECTOR, [1], [0]), (_TABLE, [0, 1]), (_TABLE, [0, 1], _VECTOR, [1]))
examples(np.einsum, (_TABLE, [..., 0], [0, ...]), (_VECTOR, [0], _VECTOR, [1], _TABLE, [2, 0], [1, 2]))
example(np.einsum, "ij,j->i", _TABLE, _VECTOR, dtype=complex)
