"""What must hold of the derivative of a program that writes. What is expected comes from plain calls and differences.

`examine` says why a program of the table is refused, or which of the checks it fails.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from microgradpy import DifferentiationError, grad, jvp, pullback
from tests import finite_differences as fd
from tests.forward.tangents import assert_transposed, drawn
from tests.programs import Program
from tests.test_programs import check_type, same, same_cotangents
from tests.ways import INLINED, WAYS


@dataclass(frozen=True)
class Plain:
    """What a plain call gives: the value, the arguments afterwards, and which of all these share objects or memory."""

    value: Any
    args: tuple[Any, ...]
    sharing: list[tuple[int, ...]]


@dataclass(frozen=True)
class Verdict:
    """`refusal` is the error, if there is one; `defects` are the checks that failed, in words."""

    refusal: DifferentiationError | None = None
    defects: tuple[str, ...] = ()

    @property
    def right(self) -> bool:
        return self.refusal is None and not self.defects


def parts(x: Any, seen: set[int]) -> Iterator[Any]:
    """A value and everything inside it that can be written or shared, each once for every way to it but not beyond
    what was seen."""
    if not (isinstance(x, np.ndarray) or fd.children(x) or isinstance(x, list | dict)):
        return
    yield x
    if id(x) in seen or isinstance(x, np.ndarray):
        return
    seen.add(id(x))
    for _, child in fd.children(x):
        yield from parts(child, seen)


def sharing(*values: Any) -> list[tuple[int, ...]]:
    """For every part of the values the number of the first part that is the same object and, of an array, of the first
    array that shares its memory. Two calls that do the same give the same numbers."""
    found = list(parts(values, set()))
    arrays = [x for x in found if isinstance(x, np.ndarray)]
    numbers: dict[int, int] = {}
    result = []
    for x in found:
        number = numbers.setdefault(id(x), len(numbers))
        if isinstance(x, np.ndarray) and x.size:
            result.append((number, next(i for i, y in enumerate(arrays) if y is x or np.may_share_memory(x, y))))
        else:
            result.append((number,))
    return result


def plain_call(function: Callable[..., Any], args: tuple[Any, ...]) -> Plain:
    args = copy.deepcopy(args)
    y = function(*args)
    return Plain(y, args, sharing(y, args))


def scalar(function: Callable[..., Any], seed: Any) -> Callable[..., float]:
    """The function whose derivative the seed asks for; it keeps its hands off the arguments."""
    return lambda *args: fd.dot(seed, function(*copy.deepcopy(args)))


EXPECTED: dict[tuple[str, Callable[..., Any]], tuple[np.ndarray, np.ndarray]] = {}


def expected_cotangents(program: Program) -> tuple[np.ndarray, np.ndarray]:
    """The cotangents of all arguments for two seeds, by central differences; computed once for a program."""
    key = program.id, program.function
    if key not in EXPECTED:
        y = plain_call(program.function, program.args).value
        step = 3e-2 if "float32" in program.features else 1e-3
        first, second = (
            fd.differences(scalar(program.function, fd.random_seed(y, number)), program.args, step) for number in range(2)
        )
        EXPECTED[key] = first, second
    return EXPECTED[key]


def examine(program: Program, way: str = "inlined") -> Verdict:
    """Differentiate the program in one of the ways and check everything; any exception but a refusal comes out as it is."""
    with WAYS[way]():
        args = copy.deepcopy(program.args)
        try:
            y, back = pullback(program.function, *args)
            seeds = [fd.random_seed(y, number) for number in range(2)]
            cotangents = [back(seed) for seed in seeds]
            again = back(seeds[0])
            others = (*forward_defects(program, seeds[0], cotangents[0]),)
            if isinstance(y, float) and way == INLINED and "float32" not in program.features:
                others += (*defects_by_one(program.function, program.args, back(1.0)[1:]),)
        except DifferentiationError as refusal:
            return Verdict(refusal)
        return Verdict(defects=(*others, *defects(program, args, y, back, seeds, cotangents, again)))


def defects_by_one(function: Callable[..., Any], args: tuple[Any, ...], cotangents: tuple[Any, ...]) -> Iterator[str]:
    """Whether the gradient by one argument alone is another one than beside those by the others. These are constants then, so
    that other code is compiled, which may be refused. Which argument it is depends on the numbers."""
    sizes = [fd.flatten(x).size for x in args]
    numbers = [number for number, size in enumerate(sizes) if size]
    if len(numbers) < 2:
        return
    number = numbers[int(1e3 * abs(fd.flatten(args).sum())) % len(numbers)]
    try:
        found = grad(function, argnums=number)(*copy.deepcopy(args))
    except DifferentiationError:
        return
    one, beside = (fd.flatten_cotangent(args[number], bar) for bar in (found, cotangents[number]))
    if not np.allclose(one, beside, rtol=1e-7, atol=1e-9, equal_nan=True):
        yield f"gradient by argument {number} alone {one}, beside the others {beside}"


def forward_defects(program: Program, seed: Any, cotangents: Any) -> Iterator[str]:
    """Every way in which forward mode gives another value or another derivative than reverse mode."""
    random = np.random.default_rng(5)
    dots = tuple(drawn(x, random) for x in program.args)
    y, y_dot = jvp(program.function, copy.deepcopy(program.args), dots)
    plain = plain_call(program.function, program.args).value
    if not same(y, plain):
        yield f"value {y!r} in forward mode, by a plain call {plain!r}"
    try:
        assert_transposed(seed, y_dot, cotangents[1:], dots, 1e-5 if "float32" in program.features else 1e-10)
    except AssertionError as error:
        yield f"derivative: {error}"


def defects(
    program: Program,
    args: tuple[Any, ...],
    y: Any,
    back: Callable[..., Any],
    seeds: list[Any],
    cotangents: list[Any],
    again: Any,
) -> Iterator[str]:
    """Every way in which the value, the effects or the cotangents are not what they must be."""
    plain = plain_call(program.function, program.args)
    if not same(y, plain.value):
        yield f"value {y!r}, by a plain call {plain.value!r}"
    if not same(args, plain.args):
        yield f"arguments afterwards {args!r}, by a plain call {plain.args!r}"
    if sharing(y, args) != plain.sharing:
        yield "the value and the arguments share other objects than after a plain call"
    if not same_cotangents(cotangents[0], again):
        yield f"back gave {cotangents[0]!r}, then {again!r}"
    tolerance = {"rtol": 2e-4, "atol": 1e-4} if "float32" in program.features else {"rtol": 1e-6, "atol": 1e-7}
    for found, expected in zip(cotangents, expected_cotangents(program), strict=True):
        vector = fd.flatten_cotangent(program.args, found[1:])
        if not np.allclose(vector, expected, **tolerance):
            yield f"gradient {vector}, by differences {expected}"
    for x, x_bar in zip(program.args, cotangents[0][1:], strict=True):
        try:
            check_type(x, x_bar)
        except AssertionError as error:
            yield f"a cotangent of another type than its argument: {error}"
    yield from leaks(args, y, back, seeds[0], cotangents[0])


def leaks(args: tuple[Any, ...], y: Any, back: Callable[..., Any], seed: Any, first: Any) -> Iterator[str]:
    """Write into every array of a cotangent, and see who notices."""
    before = copy.deepcopy((args, y, seed, first))
    for array in parts(first, set()):
        if isinstance(array, np.ndarray) and array.flags.writeable:
            array += 1000.0
    third = back(seed)
    for name, now, then in zip(("an argument", "the value", "the seed"), (args, y, seed), before, strict=False):
        if not same(now, then):
            yield f"a cotangent shares memory with {name}, or back changed it"
    if not same_cotangents(third, before[3]):
        yield "a cotangent shares memory with what back keeps"
