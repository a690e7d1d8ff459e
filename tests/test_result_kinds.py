"""What is proven of a call's result holds of what the call returns: each callee of the table with many arguments,
positional and by keyword, and with weaker knowledge of them; and what helpers of rules are declared to return.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import io
import itertools
import math
import operator
import random
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from scipy import special

from microgradpy.ad import inline
from microgradpy.ir.input_kinds import kinds_of
from microgradpy.ir.kinds import (
    NUMERIC,
    REAL,
    UNKNOWN,
    Array,
    Kind,
    Scalar,
    Sequence,
    TupleOf,
    either_numeric,
    entries_of,
    is_real_scalar,
)
from microgradpy.ir.nodes import Const, Value, fresh
from microgradpy.passes.kind_table import FOURIER
from microgradpy.passes.result_kinds import _RULES, result_kind
from microgradpy.rules.entries import Unwritten
from microgradpy.rules.registry import rrule
from microgradpy.tangents.helpers import COTANGENT_OF, COTANGENT_OF_CALL, LIKE, NUMERIC_RESULT, RETURNS
from tests.examples import BY_FUNCTION
from tests.names import name_of
from tests.passes.proofs import dtype_of_number, holds, lengths_of
from tests.ways import ALL_WAYS, SHARE, some

# Arguments of few kinds each, so that all pairs can be tried: the signs and zeros at which Python changes the type of a
# result, the ranks and lengths that broadcast, and the dtypes that NumPy promotes.
NUMBERS: list[Any] = [
    2.5, -2.5, 0.0, 3, -2, 0, 1, True, False, 1.0 + 2.0j, np.float64(1.5), np.float64(-0.5), np.float32(0.5), np.int64(2),
    np.int8(-3), np.bool_(True), np.complex128(1j),
]  # fmt: skip
VECTOR = np.array([0.5, -1.5, 2.5])
MATRIX = np.array([[0.5, 1.5, -0.5], [2.5, -3.5, 1.0]])
ARRAYS: list[Any] = [
    np.array(1.5), np.array(2), np.array(True), np.array(1j), VECTOR, np.array([1, 2, 3]), np.array([True, False, True]),
    VECTOR + 1j, VECTOR.astype(np.float32), np.array([0.5]), np.zeros(0), MATRIX, np.ones((3, 2), int), MATRIX > 0.0,
    np.ones((3, 3)), np.ones((2, 1)), np.ones((1, 3), np.float32), np.zeros((0, 3)), np.zeros((3, 0)), MATRIX * 1j,
    np.ones((2, 3, 2)),
]  # fmt: skip
OTHERS: list[Any] = [
    None, "a", "x", (2, 3), (), (1,), (1.5, 2.5), (0, slice(None)), (slice(0, 1), 1), [0.5, 1.5], [], [[1.0, 2.0]], {"a": 1.0},
    [1, 2], [1, 2.5], ["a", "b"], [1j], [VECTOR, VECTOR], [True, 2],
    slice(0, 2), float, int, complex, bool, np.float32, "f4", "complex", range(3), Ellipsis,
    (VECTOR, VECTOR), (MATRIX, MATRIX), (VECTOR, VECTOR * 1j), (VECTOR, np.array([1, 2])), (np.array(1.5), np.array(2)),
    (MATRIX,),
    (VECTOR, [0.5]), ([1], VECTOR), ([1j, 2j], VECTOR), ([1, 2.5], VECTOR), (VECTOR, []), ([True], [2]),
    slice(None), (slice(None), None), (None, Ellipsis, 0), (Ellipsis, slice(0, 1)), (slice(None), slice(None), None), (True, 0),
    "ij,j->i", "ij,jk->ik", "i,i->", "i,j->ji", "ij->j", "ii->i", "ij,ij->ij", "i...->i",
]  # fmt: skip
POOL = NUMBERS + ARRAYS + OTHERS
NAMES = ["T", "mT", "shape", "ndim", "size", "real", "imag", "dtype", "sum", "flat", "missing"]
KEYWORDS: dict[str, list[Any]] = {
    "axis": [0, 1, -1, None, (0, 1), ()],
    "keepdims": [True, False, 1, None],
    "dtype": [float, complex, int, np.float32, "complex", None],
    "out": [np.zeros(()), np.zeros(3), np.zeros((2, 3)), None],
    "where": [True, False, np.array([True, False, True])],
    "initial": [0.5, 1j, 2],
    "ddof": [1],
    "correction": [1],
    "order": ["F"],
    "subok": [True],
    "key": [abs],
    "default": [None, 1.5],
    "casting": ["unsafe"],
    "start": [1],
    "like": [VECTOR],
    "shape": [(2, 3)],
    "k": [1],
    "mean": [0.5],
    "axes": [(1, 0)],
    "a_min": [0.5],
    "a": [VECTOR],
    "min": [0.5],
    "max": [0.5],
    "deg": [True],
    "copy": [True],
}


def named(callee: Any) -> str:
    return f"{getattr(callee, '__module__', None) or type(callee).__module__}.{getattr(callee, '__qualname__', callee)}"


def argument_lists(callee: Any) -> Iterator[tuple[tuple[Any, ...], dict[str, Any]]]:
    """Positional and keyword arguments to try: all of one, all pairs of numbers and arrays, and a sample of the rest."""
    chance = random.Random(named(callee))
    yield (), {}
    for value in POOL:
        yield (value,), {}
    if callee is getattr:
        yield from (((array, name), {}) for array in NUMBERS + ARRAYS for name in NAMES)
        yield from (((array, name, 2.5), {}) for array in NUMBERS + ARRAYS for name in NAMES)
    for pair in itertools.product(NUMBERS + ARRAYS, repeat=2):
        yield pair, {}
    for _ in range(250):
        yield (chance.choice(ARRAYS + NUMBERS), chance.choice(OTHERS)), {}
        yield (chance.choice(OTHERS), chance.choice(POOL)), {}
    for _ in range(400):
        count = chance.choice((3, 3, 3, 4, 5))
        yield (chance.choice(ARRAYS), *chance.choices(POOL, k=count - 1)), {}
        yield tuple(chance.choices(POOL, k=count)), {}
    for name, values in KEYWORDS.items():
        for value in values:
            for first in (*ARRAYS, 2.5, (2, 3), 3):
                yield (first,), {name: value}
                if chance.random() < 0.3:
                    yield (first, chance.choice(POOL)), {name: value}
    for _ in range(300):
        names = chance.sample(list(KEYWORDS), 2)
        arguments = chance.choices(ARRAYS + NUMBERS, k=chance.choice((1, 1, 2, 3)))
        yield tuple(arguments), {name: chance.choice(KEYWORDS[name]) for name in names}


def weakened(kind: Kind, index: int) -> list[Kind]:
    """Kinds that prove less of the same value. Of an array of unproven rank one symbol stands for the whole shape."""
    match kind:
        case Scalar():
            return [REAL, NUMERIC, either_numeric((kind,))] if is_real_scalar(kind) else [NUMERIC, either_numeric((kind,))]
        case Array(ndim=ndim, dtype=dtype, shape=shape):
            whole = (("whole", index),)
            less = [Array(ndim, dtype), Array(ndim, "", shape), Array(None, dtype), Array(None, dtype, whole), NUMERIC]
            return [*less, either_numeric((kind,)), entries_of(kind)]
        case TupleOf():
            return [Sequence("tuple"), UNKNOWN]
        case Sequence(name=name):
            return [Sequence(name), UNKNOWN]
    return [UNKNOWN]


def knowledge(values: tuple[Any, ...], chance: random.Random) -> Iterator[tuple[tuple[Kind, ...], dict[Any, Any]]]:
    """What may be proven of the arguments, and the length (or shape) that each symbol stands for."""
    kinds = kinds_of(values)
    lengths: dict[Any, Any] = {}
    for index, (value, kind) in enumerate(zip(values, kinds, strict=True)):
        lengths |= lengths_of(kind, value)
        if isinstance(kind, Array):
            lengths["whole", index] = value.shape
    # Arrays of the same shape may be known to be, without anything else known of the shape.
    whole = {shape: symbol for symbol, shape in lengths.items() if isinstance(shape, tuple)}
    yield kinds, lengths
    if not kinds:
        return
    same_shapes = [
        Array(None, kind.dtype, (whole[value.shape],)) if isinstance(kind, Array) else kind
        for value, kind in zip(values, kinds, strict=True)
    ]
    yield tuple(same_shapes), lengths
    for _ in range(3):
        one = chance.randrange(len(kinds))
        weaker = chance.choice(weakened(kinds[one], one))
        yield (*kinds[:one], weaker, *kinds[one + 1 :]), lengths
    yield tuple(chance.choice(weakened(kind, index)) for index, kind in enumerate(kinds)), lengths


def plain_call(callee: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[bool, Any]:
    """Whether a call returns, and what."""
    args, kwargs = copy.deepcopy((args, kwargs))
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return True, callee(*args, **kwargs)
        except Exception:
            return False, None


def as_value(argument: Any, constant: bool) -> Value:
    """An argument as the compiler sees it: literals may be constants."""
    literal = argument is None or type(argument) in (bool, int, float, complex, str) or isinstance(argument, type)
    return Const(argument) if constant and literal else fresh()


METHODS = [method for name, method in vars(np.ndarray).items() if callable(method) and not name.startswith("_")]
UFUNCS = [ufunc for ufunc in vars(np).values() if isinstance(ufunc, np.ufunc)]
# One of SciPy's for each combination of types that they can be given.
SPECIAL = {tuple(ufunc.types): ufunc for ufunc in vars(special).values() if isinstance(ufunc, np.ufunc)}
FOURIER_CALLEES = [getattr(np.fft, name) for name in FOURIER]
CALLEES = list(dict.fromkeys([*_RULES, *FOURIER_CALLEES, *METHODS, *some([*UFUNCS, *SPECIAL.values()], name_of=named)]))


@pytest.mark.parametrize("callee", CALLEES, ids=named)
def test_what_is_proven_of_a_result_holds(callee: Any) -> None:
    chance = random.Random(named(callee))
    for args, kwargs in itertools.islice(argument_lists(callee), 0 if ALL_WAYS else SHARE, None, 1 if ALL_WAYS else 3):
        if not any_proof(callee, args, kwargs):
            continue
        returned, y = plain_call(callee, args, kwargs)
        if not returned:
            continue
        y = list(y) if isinstance(y, zip) else y  # of which a loop reads the items
        for kinds, lengths in knowledge(args, chance):
            for constant in (True, False):
                values = tuple(as_value(argument, constant) for argument in args)
                keywords = {name: as_value(argument, constant) for name, argument in kwargs.items()}
                proven = result_kind(callee, kinds, values, keywords)
                assert holds(proven, y, lengths), f"{named(callee)}{args} {kwargs}: {proven} of {kinds}, but it is {y!r}"


def any_proof(callee: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Whether anything is proven where most is known: with less known, no more is."""
    values, keywords = tuple(as_value(x, True) for x in args), {name: as_value(x, True) for name, x in kwargs.items()}
    return result_kind(callee, kinds_of(args), values, keywords) is not UNKNOWN


@pytest.mark.parametrize(
    "callee, args, kwargs, kind",
    [
        (np.sum, (MATRIX, 0), {}, Array(1, "float", (("d", 2),))),
        (np.sum, (MATRIX,), {}, Scalar("float")),
        (np.mean, (MATRIX,), {"axis": 1, "keepdims": True}, Array(2, "float", (("d", 1), 1))),
        (np.ndarray.sum, (MATRIX,), {"axis": 0}, Array(1, "float", (("d", 2),))),
        (np.exp, (MATRIX,), {}, Array(2, "float", (("d", 1), ("d", 2)))),
        (np.maximum, (VECTOR, 0.0), {}, Array(1, "float", (("d", 1),))),
        (np.zeros, ((2, 3),), {}, Array(2)),
        (operator.matmul, (MATRIX, VECTOR), {}, Array(1, "float", (("d", 1),))),
        (operator.neg, (VECTOR,), {}, Array(1, "float", (("d", 1),))),
        (operator.pow, (VECTOR, 2), {}, Array(1, "float", (("d", 1),))),
        (operator.mul, (2.5, 3), {}, Scalar("float")),
        (operator.getitem, (MATRIX, 0), {}, Array(1, "float", (("d", 2),))),
        (operator.getitem, (VECTOR, (slice(None), None)), {}, Array(2, "float", (("d", 1), 1))),
        (np.einsum, ("ij,j->i", MATRIX, VECTOR), {}, Array(1, "float", (("d", 1),))),
        (np.concatenate, ((MATRIX, MATRIX), 1), {}, Array(2, "float", (("d", 1), ("sum", ("d", 2), ("d", 2))))),
        (getattr, (MATRIX, "T"), {}, Array(2, "float", (("d", 2), ("d", 1)))),
        (math.sin, (2.5,), {}, Scalar("float")),
        (special.gamma, (MATRIX,), {}, Array(2, "float", (("d", 1), ("d", 2)))),
        (special.gamma, (3,), {}, Scalar("float")),
        (special.beta, (MATRIX, VECTOR), {}, Array(2, "float", (("d", 1), ("d", 2)))),
        (special.jv, (1, VECTOR * 1j), {}, Array(1, "complex", (("d", 1),))),
        (special.wofz, (VECTOR,), {}, NUMERIC),  # it makes complex numbers of real ones
    ],
    ids=name_of,
)
def test_enough_is_proven(callee: Any, args: tuple[Any, ...], kwargs: dict[str, Any], kind: Kind) -> None:
    values, keywords = tuple(as_value(x, True) for x in args), {name: as_value(x, True) for name, x in kwargs.items()}
    assert result_kind(callee, kinds_of(args), values, keywords) == kind


# What the helpers of rules are declared to return


HELPERS = frozenset((*COTANGENT_OF, *COTANGENT_OF_CALL, *LIKE, *RETURNS, *NUMERIC_RESULT))


@functools.cache
def places_of_helpers() -> list[tuple[Any, str, Any]]:
    """Where the helpers are found: in which module, by which name."""
    helpers = {id(helper): helper for helper in HELPERS}
    modules = [module for name, module in sys.modules.items() if name.startswith("microgradpy.")]
    named = [(module, name, value) for module in modules for name, value in list(vars(module).items())]
    return [(module, name, helpers[id(value)]) for module, name, value in named if id(value) in helpers]


Calls = list[tuple[Any, tuple[Any, ...], Any]]


@pytest.fixture
def calls() -> Iterator[Calls]:
    """The calls of declared helpers from now on: the helper, its arguments and what it returned."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        yield watched(monkeypatch)
    rrule.changed()  # what was found meanwhile is found anew


def watched(monkeypatch: pytest.MonkeyPatch) -> Calls:
    calls: Calls = []

    def watch(helper: Any) -> Any:
        def watching(*args: Any) -> Any:
            value = helper(*args)
            calls.append((helper, args, value))
            return value

        return watching

    # A rule that is read or written meanwhile calls what is watched: it must not be kept for other tests.
    monkeypatch.setattr(inline, "_templates", {})
    written: dict[int, Any] = {}
    monkeypatch.setattr(Unwritten, "rule", lambda rule: written.get(id(rule)) or written.setdefault(id(rule), rule._write()))
    replacements = {helper: watch(helper) for helper in HELPERS}
    for module, name, helper in places_of_helpers():
        monkeypatch.setattr(module, name, replacements[helper])
    return calls


def agrees(helper: Any, args: tuple[Any, ...], value: Any) -> bool:
    """Whether a helper returned what it is declared to return: a number, or something of the shape of an argument, and
    real if that is."""
    if helper in RETURNS and not any(map(np.iscomplexobj, args)):  # `math` takes no complex numbers
        if RETURNS[helper] is list:
            return isinstance(value, list | dict)
        return dtype_of_number(value) in (RETURNS[helper].__name__, "int")
    if helper in NUMERIC_RESULT:
        return isinstance(value, np.ndarray) or bool(dtype_of_number(value))
    if helper in COTANGENT_OF_CALL:
        function, indices = COTANGENT_OF_CALL[helper]
        returned, z = plain_call(function, tuple(args[index] for index in indices), {})
        return not returned or np.shape(value) == np.shape(z)
    x = args[COTANGENT_OF.get(helper, LIKE.get(helper, 0))]
    if helper in RETURNS or not (isinstance(x, np.ndarray) or dtype_of_number(x)) or np.result_type(x).kind not in "fciu":
        return True  # nothing is proven of containers, nor of what carries no derivative
    numeric = isinstance(value, np.ndarray) or bool(dtype_of_number(value))
    return numeric and np.shape(value) == np.shape(x) and (np.iscomplexobj(x) or not np.iscomplexobj(value))


def variations(args: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    """The arguments of an example, and the same with other dtypes and shapes of the arrays and numbers among them."""
    yield args
    changes = [
        lambda x: x.astype(np.float32), lambda x: np.ones(x.shape, int), lambda x: x + 0.5j, lambda x: x[:0],
        lambda x: x[..., :0], lambda x: x.reshape(-1)[:1].reshape(()), lambda x: x[:1],
    ]  # fmt: skip
    for change in changes:
        for only in (None, *range(len(args) if len(args) > 1 else 0)):
            with contextlib.suppress(Exception):
                yield tuple(
                    change(x) if isinstance(x, np.ndarray) and only in (None, place) else x for place, x in enumerate(args)
                )


def ones_like(y: Any) -> Any:
    """A cotangent for a value."""
    if isinstance(y, tuple | list):
        return type(y)(map(ones_like, y)) if type(y) in (tuple, list) else tuple(map(ones_like, y))
    if isinstance(y, np.ndarray):
        return np.ones(y.shape, y.dtype if y.dtype.kind in "fc" else float)
    return y * 0.0 + 1.0


# What iterates until it has converged takes seconds for all variations.
SOLVERS = ("scipy.integrate", "scipy.optimize", "scipy.stats.generic")
# A helper is given there what no pullback gives it.
EXAMPLES = {name: examples for name, examples in BY_FUNCTION.items() if not name.startswith("microgradpy.")}


@pytest.mark.parametrize("name", some(EXAMPLES))
def test_helpers_return_what_they_are_declared_to(name: str, calls: Calls) -> None:
    for example in EXAMPLES[name]:
        for args in variations(example.args) if ALL_WAYS or not name.startswith(SOLVERS) else [example.args]:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                with contextlib.suppress(Exception):
                    outcome = rrule(example.f, *args, **example.kwargs)
                    assert outcome is not None
                    outcome[1](ones_like(outcome[0]))
            for helper, given, value in calls:
                assert agrees(helper, given, value), f"{helper.__name__}{given} returned {value!r}"
            calls.clear()
