"""A function of a vector for each example of a rule, which calls what the rule is of, and what its second derivative is.

    def call(x):                                           x has the real numbers of the differentiated arguments
        y = f(x[0:6].reshape((2, 3)), axis=1)
        return np.sum(weights[0] * y)
"""

from __future__ import annotations

import copy
import linecache
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from microgradpy import DifferentiationError, gradient, hvp
from microgradpy.errors import CompilerBug
from microgradpy.rules.registry import Example
from tests.examples import BY_FUNCTION
from tests.rules.test_inlined import differentiated

RIGHT, REFUSED, NO_VALUE, NOT_ASKED = "right", "refused", "no value", "not asked"


# Helpers of rules, of which this would be the third derivative.
HELPERS = ("microgradpy.rules.", "microgradpy.tangents.", "microgradpy.runtime.", "microgradpy.ad.")
TRIED = {
    name: [examples[0], *examples[:0:-1][:1]] for name, examples in BY_FUNCTION.items() if not name.startswith(HELPERS)
}
"""The examples that are tried of each function: the first and the last one."""


class Outcome(NamedTuple):
    """What became of the second derivative of an example, and what it was refused for or is wrong by."""

    verdict: str
    what: str = ""


class Wrong(AssertionError):
    """A second derivative that is none; `is_nan` if it does not claim to be one."""

    is_nan = False


class NotAsked(Exception):
    """An example whose arguments or value are no numbers and arrays, or that nothing is differentiated in."""


class _Writer:
    """Writes the text of a function, and collects the numbers that it starts from."""

    def __init__(self) -> None:
        self.numbers: list[float] = []
        self.constants: list[Any] = []
        self.weights: list[Any] = []
        self.rng = np.random.default_rng(7)

    def argument(self, x: Any, is_wanted: bool) -> str:
        if is_wanted and isinstance(x, np.ndarray) and type(x) is np.ndarray and x.dtype in (float, complex):
            return self.array(x)
        if is_wanted and isinstance(x, float | complex | np.float64 | np.complex128):
            return self.number(x)
        if is_wanted and isinstance(x, list | tuple) and type(x) in (list, tuple):
            items = [self.argument(item, True) for item in x]
            return f"[{', '.join(items)}]" if isinstance(x, list) else f"({', '.join(items)}{',' if items else ''})"
        if isinstance(x, bool | int | str | None) or (isinstance(x, tuple) and all(isinstance(each, int) for each in x)):
            return repr(x) if type(x) in (bool, int, str, type(None), tuple) else self.constant(x)
        return self.constant(x)

    def constant(self, x: Any) -> str:
        self.constants.append(x)
        return f"constants[{len(self.constants) - 1}]"

    def array(self, x: np.ndarray[Any, Any]) -> str:
        part = self.part(np.real(x))
        if np.iscomplexobj(x):
            return f"({part} + 1j * {self.part(np.imag(x))})"
        return part

    def part(self, x: np.ndarray[Any, Any]) -> str:
        first = len(self.numbers)
        self.numbers += x.ravel().tolist()
        return f"x[{first}:{len(self.numbers)}]" + (f".reshape({x.shape!r})" if x.ndim != 1 else "")

    def number(self, x: complex) -> str:
        parts = [x.real, x.imag] if isinstance(x, complex | np.complexfloating) else [float(x)]
        first = len(self.numbers)
        self.numbers += parts
        return f"x[{first}]" if len(parts) == 1 else f"complex(x[{first}], x[{first + 1}])"

    def terms(self, y: Any, place: str) -> Iterator[str]:
        """What the function adds up of a value."""
        if isinstance(y, float | np.floating) or (isinstance(y, np.ndarray) and y.dtype.kind == "f"):
            yield f"np.sum({self.weight(y)} * {place})"
        elif isinstance(y, complex | np.complexfloating) or (isinstance(y, np.ndarray) and y.dtype.kind == "c"):
            yield f"np.sum({self.weight(y)} * np.real({place}))"
            yield f"np.sum({self.weight(y)} * np.imag({place}))"
        elif isinstance(y, list | tuple):
            for number, item in enumerate(y):
                yield from self.terms(item, f"{place}[{number}]")
        elif isinstance(y, dict) and type(y) is dict:
            for key, item in y.items():
                yield from self.terms(item, f"{place}[{key!r}]")
        elif not isinstance(y, bool | int | str | None | np.integer | np.bool_ | np.ndarray):
            raise NotAsked(type(y).__name__)

    def weight(self, y: Any) -> str:
        self.weights.append(self.rng.uniform(0.4, 1.6, np.shape(y)))
        return f"weights[{len(self.weights) - 1}]"


class Made(NamedTuple):
    """A function of a vector, with its text and a place."""

    function: Callable[[Any], Any]
    text: str
    x: np.ndarray[Any, Any]


def made(example: Example) -> Made:
    """The function for an example. Raises NotAsked."""
    writer = _Writer()
    try:
        wanted = differentiated(example)
    except (DifferentiationError, ValueError, AttributeError, TypeError) as error:  # no seed is drawn for what it gives
        raise NotAsked(str(error)) from error
    given = [writer.argument(x, place in wanted) for place, x in enumerate(example.args)]
    given += [f"{name}={writer.argument(x, False)}" for name, x in example.kwargs.items()]
    y = example.f(*copy.deepcopy(example.args), **copy.deepcopy(example.kwargs))
    terms = list(writer.terms(y, "y"))
    if not writer.numbers or not terms:
        raise NotAsked("nothing is differentiated")
    text = f"def call(x):\n    y = f({', '.join(given)})\n    return {' + '.join(terms)}\n"
    file = f"<second derivative of {example}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    names = {"f": example.f, "np": np, "constants": writer.constants, "weights": writer.weights, "__name__": "example"}
    exec(compile(text, file, "exec"), names)
    return Made(names["call"], text, np.array(writer.numbers))


def outcome(example: Example) -> Outcome:
    """What becomes of the second derivative of an example. Raises Wrong, and what a compiler that fails raises."""
    try:
        program = made(example)
    except NotAsked as error:
        return Outcome(NOT_ASKED, str(error))
    rng = np.random.default_rng(11)
    v, w = rng.normal(size=program.x.shape), rng.normal(size=program.x.shape)
    with np.errstate(all="ignore"):
        try:
            first = gradient(program.function, program.x)[0]
        except DifferentiationError as error:
            return Outcome(NOT_ASKED, f"{error.found}")
        try:
            found, other = hvp(program.function, program.x, v), hvp(program.function, program.x, w)
        except CompilerBug:
            raise
        except DifferentiationError as error:
            return Outcome(REFUSED, error.found)
        try:
            near, far = (_by_differences(program, v, h) for h in (1e-5, 1e-4))
        except ValueError as error:  # nearby it is a function of another domain, or of another number of values
            return Outcome(NO_VALUE, str(error))
    return _judged(program, first, (v, w), (found, other), near, far)


def _judged(program: Made, first: Any, directions: Any, products: Any, near: Any, far: Any) -> Outcome:
    (v, w), (found, other) = directions, products
    if first is not None and not np.all(np.isfinite(first)):
        return Outcome(NO_VALUE, "the gradient is not finite")
    if near.shape != found.shape or not np.all(np.isfinite(near)) or not np.all(np.isfinite(far)):
        return Outcome(NO_VALUE, "differences of the gradient are not finite")
    size = 1.0 + np.max(np.abs(near), initial=0.0) + (0.0 if first is None else 1e-3 * np.max(np.abs(first), initial=0.0))
    if not np.allclose(near, far, rtol=1e-4, atol=1e-4 * size):
        return Outcome(NO_VALUE, "differences of the gradient do not converge")
    if not np.allclose(found, far, rtol=1e-3, atol=1e-4 * size):
        wrong = Wrong(f"{program.text}at {program.x}\nalong {v}: {found}\ndifferences: {far}")
        wrong.is_nan = bool(np.isnan(found).any())
        raise wrong
    if not np.isclose(w @ found, v @ other, rtol=1e-6, atol=1e-7 * size * np.linalg.norm(w)):
        raise Wrong(f"{program.text}not symmetric: {w @ found} and {v @ other}")
    return Outcome(RIGHT)


def _by_differences(program: Made, v: Any, h: float) -> Any:
    sides = (gradient(program.function, program.x + sign * h * v)[0] for sign in (1.0, -1.0))
    after, before = (np.zeros(program.x.shape) if side is None else side for side in sides)
    return (after - before) / (2.0 * h)
