"""Common expressions with arrays, and what the compiler proves of them: `python -m tests.passes.expressions` prints it.

What there is to prove is not written down: it is what the values of an expression have in common for arguments of several
sizes, all lengths of which are different. Either it is proven, or what is `lost` of it first: the "kind" (that it is a number
or an array), the "rank" (with the dtype), or the "axes" (which are those of which argument, and which have length one).
"""

from __future__ import annotations

import itertools
import linecache
import types
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from microgradpy.ad.primal_builder import NeedsTracking
from microgradpy.compiler import analysed
from microgradpy.ir.input_kinds import kinds_of
from microgradpy.ir.kinds import UNKNOWN, Array, Kind, Scalar, is_numeric
from tests.passes.proofs import holds, lengths_of

SIZES = ((4, 3, 6), (5, 8, 2), (7, 4, 9), (9, 5, 4))
"""Lengths n, m, p of the axes, all different."""
ODD_SIZES = ((1, 3, 2), (3, 1, 2), (3, 2, 1), (1, 1, 1), (2, 2, 2), (0, 2, 3), (2, 0, 1), (2, 3, 0), (0, 0, 0))
"""Lengths that are equal, one or none."""
MODULE_VECTOR = np.array([0.5, 1.5, 2.5, -1.0])


def arguments(sizes: tuple[int, int, int], dtype: str = "float") -> dict[str, Any]:
    """By name: vectors x and y of length n, v of m; matrices M (n, m), N (m, p), S (n, n), positive definite; T (p, n, m); a
    complex vector z and matrix Z; whole numbers `rows` (p), which are indices of x; which of x are positive; numbers."""
    n, m, p = sizes
    chance = np.random.default_rng(n + 10 * m + 100 * p)

    def made(*shape: int) -> Any:
        values = chance.standard_normal(shape)
        return {"float": values, "complex": values + 0.5j, "int": np.round(3.0 * values).astype(int), "bool": values > 0.0}[
            dtype
        ]

    square = chance.standard_normal((n, n))
    return {
        "x": made(n), "y": made(n), "v": made(m), "M": made(n, m), "N": made(m, p), "T": made(p, n, m),
        "S": square @ square.T + n * np.eye(n), "z": made(n) + 1j, "Z": made(n, m) * 1j,
        "rows": np.zeros(p, int) if n else np.zeros(0, int), "mask": chance.standard_normal(n) > 0.0,
        "a": 1.5, "b": -0.5, "k": 2, "n": n,
    }  # fmt: skip


@dataclass(frozen=True)
class Expression:
    """`lost` is what is not proven of it."""

    text: str
    lost: str = ""

    def __str__(self) -> str:
        return self.text

    @property
    def names(self) -> list[str]:
        """The parameters that it reads."""
        read = compile(self.text, "", "eval")
        codes = [read, *(const for const in read.co_consts if isinstance(const, types.CodeType))]
        used = {name for code in codes for name in code.co_names}
        return [name for name in arguments(SIZES[0]) if name in used]

    def function(self, body: str = "return y") -> Any:
        """It as a function, from a file of its own; `body` says what becomes of its value."""
        text = f"def expression({', '.join(self.names)}):\n    y = {self.text}\n    {body}\n"
        name = f"<expression {self.text} {body}>"
        linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
        namespace: dict[str, Any] = {"np": np, "MODULE_VECTOR": MODULE_VECTOR}
        exec(compile(text, name, "exec"), namespace)
        return namespace["expression"]


def proven(function: Any, given: Mapping[str, Any]) -> Kind:
    """What the compiler proves of the value for these arguments, of which those of floating point are differentiated."""
    active = tuple(np.result_type(value).kind in "fc" for value in given.values())
    try:
        return analysed(function, kinds_of(given.values()), active).result_kind
    except NeedsTracking:
        return UNKNOWN


def value_of(function: Any, given: Mapping[str, Any]) -> Any:
    """The value, or None if there is none."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return function(*given.values())
        except Exception:
            return None


def given_to(expression: Expression, sizes: tuple[int, int, int], dtype: str = "float") -> dict[str, Any]:
    everything = arguments(sizes, dtype)
    return {name: everything[name] for name in expression.names}


def lost(expression: Expression) -> str:
    """What is not proven of an expression; nothing if all is."""
    function = expression.function()
    runs = []
    for sizes in SIZES:
        given = given_to(expression, sizes)
        runs.append((given, value_of(function, given)))
    assert all(y is not None for _, y in runs), f"{expression} does not run"
    kind = proven(function, runs[0][0])
    if not is_numeric(kind):
        return "kind"
    if isinstance(kind, Scalar):
        return ""
    if not isinstance(kind, Array) or kind.ndim is None or not kind.dtype:
        return "rank"
    symbols = kind.shape or (None,) * kind.ndim
    return "" if all(map(told, symbols, there_is_to_tell(runs))) else "axes"


def there_is_to_tell(runs: list[tuple[dict[str, Any], Any]]) -> list[Any]:
    """For each axis of the values the symbol that the arguments of the first run have for its length, if it has that length in
    all runs; 1, or None if there is nothing to tell."""
    axes: list[Any] = []
    symbols = [symbols_by_length(given) for given, _ in runs]
    for place in range(np.ndim(runs[0][1])):
        found = {known.get(np.shape(y)[place]) for known, (_, y) in zip(symbols, runs, strict=True)}
        axes.append(found.pop() if len(found) == 1 else None)
    return axes


def symbols_by_length(given: Mapping[str, Any]) -> dict[int, Any]:
    kinds = kinds_of(given.values())
    lengths = [lengths_of(kind, value) for kind, value in zip(kinds, given.values(), strict=True)]
    return {length: symbol for known in lengths for symbol, length in known.items()} | {1: 1}


def told(symbol: Any, expected: Any) -> bool:
    return expected is None or symbol == expected


def doubtful(expression: Expression) -> Iterator[str]:
    """What is proven of an expression and does not hold, for many arguments."""
    function = expression.function()
    for sizes, dtype in itertools.product((*SIZES, *ODD_SIZES), ("float", "complex", "int", "bool")):
        given = given_to(expression, sizes, dtype)
        y = value_of(function, given)
        if y is None:
            continue
        kinds = kinds_of(given.values())
        lengths: dict[Any, Any] = {1: 1}
        for kind, value in zip(kinds, given.values(), strict=True):
            lengths |= lengths_of(kind, value)
        kind = proven(function, given)
        if not holds(kind, y, lengths):
            yield f"{expression} of {sizes} {dtype}: {kind}, but it is {y!r}"


EXPRESSIONS = [
    # Other shapes
    Expression("M.reshape(-1)"),
    Expression("M.reshape(-1, 1)"),
    Expression("x.reshape(1, -1)"),
    Expression("x.reshape(n, 1)"),
    Expression("x.reshape((n, 1))"),
    Expression("np.reshape(x, (-1, 1))"),
    Expression("np.reshape(x, (n, 1))"),
    Expression("M.reshape(M.shape[0], M.shape[1])"),
    Expression("M.reshape(M.shape)"),
    Expression("M.ravel()"),
    Expression("x.flatten()"),
    Expression("M.T"),
    Expression("M.transpose()"),
    Expression("T.transpose(0, 2, 1)"),
    Expression("np.transpose(T, (2, 0, 1))"),
    Expression("T.swapaxes(0, 1)"),
    Expression("np.swapaxes(T, -1, -2)"),
    Expression("np.moveaxis(T, 0, -1)"),
    Expression("np.squeeze(M[:, :1], axis=1)"),
    Expression("np.expand_dims(x, 0)"),
    Expression("np.expand_dims(x, axis=-1)"),
    Expression("np.atleast_2d(x)"),
    Expression("np.broadcast_to(x, (2, n))", "axes"),
    Expression("np.broadcast_to(v, M.shape)"),
    # Parts of arrays
    Expression("x[1:-1]"),
    Expression("x[1:] - x[:-1]"),
    Expression("x[::-1]"),
    Expression("x[::2]"),
    Expression("x[:2]"),
    Expression("x[0]"),
    Expression("x[-1]"),
    Expression("M[0]"),
    Expression("M[1:]"),
    Expression("M[:, 0]"),
    Expression("M[0, 1]"),
    Expression("M[:, 1:]"),
    Expression("M[:, None, :]"),
    Expression("x[None, :]"),
    Expression("x[:, None]"),
    Expression("x[..., None]"),
    Expression("x[:, np.newaxis] - y[None, :]"),
    Expression("T[0, :, 1]"),
    Expression("x[rows]"),
    Expression("M[rows]"),
    Expression("M[:, [0, 1]]"),
    Expression("x[mask]"),
    Expression("x[k]"),
    Expression("M[k]"),
    Expression("np.take(x, rows)"),
    Expression("np.split(M, [1])[0]", "axes"),
    Expression("np.split(x, [1, 2])[0]", "axes"),
    # Put together
    Expression("np.array([a, b])"),
    Expression("np.array([a, b, a * b])"),
    Expression("np.array([x, y])"),
    Expression("np.array([[a, b], [-b, a]])"),
    Expression("np.array([x[0], x[1] * x[0]])"),
    Expression("np.asarray([a, b])"),
    Expression("np.array([a * i for i in range(3)])"),
    Expression("np.array([t * t for t in x])", "axes"),
    Expression("np.hstack([x, y])"),
    Expression("np.hstack((a, x))"),
    Expression("np.vstack([x, y])"),
    Expression("np.vstack((x, y))"),
    Expression("np.stack([x, y])"),
    Expression("np.stack([x, y], axis=1)"),
    Expression("np.stack([x * i for i in range(3)])", "axes"),
    Expression("np.concatenate([x, y])"),
    Expression("np.concatenate([M, M], axis=1)"),
    Expression("np.concatenate(([a], x))"),
    Expression("np.concatenate([x[1:], x[:1]])", "axes"),
    Expression("np.column_stack([x, y])"),
    Expression("np.append(x, a)"),
    Expression("np.append(x, y)"),
    Expression("np.tile(x, 2)"),
    Expression("np.repeat(x, 2)"),
    Expression("np.pad(x, 1)"),
    Expression("np.pad(x, (1, 2))"),
    Expression("np.roll(x, 1)"),
    Expression("np.roll(M, 1, axis=0)"),
    Expression("np.flip(x)"),
    Expression("np.block([[S, S], [S, S]])"),
    Expression("np.diag(x)"),
    Expression("np.diag(S)"),
    Expression("np.trace(S)"),
    Expression("np.tril(S)"),
    Expression("np.triu(S)"),
    Expression("np.meshgrid(x, v)[0]"),
    Expression("np.kron(x, v)"),
    # Products
    Expression("x @ y"),
    Expression("M @ v"),
    Expression("M @ N"),
    Expression("x @ M"),
    Expression("T @ v"),
    Expression("T @ N"),
    Expression("np.dot(x, y)"),
    Expression("np.dot(M, v)"),
    Expression("np.dot(M, N)"),
    Expression("np.dot(a, x)"),
    Expression("np.vdot(x, y)"),
    Expression("np.inner(x, y)"),
    Expression("np.outer(x, v)"),
    Expression("np.cross(x[:3], y[:3])", "rank"),
    Expression("np.tensordot(M, N, axes=1)"),
    Expression("np.matmul(S, x)"),
    Expression("x.dot(y)"),
    Expression("M.dot(v)"),
    Expression('np.einsum("ij,j->i", M, v)'),
    Expression('np.einsum("ij,jk", M, N)'),
    Expression('np.einsum("ij,ij->i", M, M)'),
    Expression('np.einsum("i,i", x, y)'),
    Expression('np.einsum("ii", S)'),
    Expression('np.einsum("pij,j->pi", T, v)'),
    Expression("np.multiply.outer(x, v)"),
    Expression("np.convolve(x, y)"),
    Expression('np.convolve(x, y, "same")'),
    # Linear algebra
    Expression("np.linalg.solve(S, x)"),
    Expression("np.linalg.solve(S, M)"),
    Expression("np.linalg.inv(S)"),
    Expression("np.linalg.det(S)"),
    Expression("np.linalg.slogdet(S)[1]"),
    Expression("np.linalg.cholesky(S)"),
    Expression("np.linalg.norm(x)"),
    Expression("np.linalg.norm(M)"),
    Expression("np.linalg.norm(M, axis=1)"),
    Expression("np.linalg.norm(x, 1)"),
    Expression("np.linalg.pinv(M)"),
    Expression("np.linalg.eigvalsh(S)"),
    Expression("np.linalg.eigh(S)[0]"),
    Expression("np.linalg.eigh(S)[1]"),
    Expression("np.linalg.svd(M, full_matrices=False)[1]"),
    Expression("np.linalg.qr(S)[0]"),
    Expression("np.linalg.lstsq(M, x, rcond=None)[0]"),
    Expression("np.linalg.matrix_power(S, 2)"),
    # Reductions
    Expression("np.sum(x)"),
    Expression("x.sum()"),
    Expression("np.sum(M, axis=0)"),
    Expression("M.sum(axis=1, keepdims=True)"),
    Expression("np.sum(T, axis=(1, 2))"),
    Expression("np.mean(x)"),
    Expression("x.mean()"),
    Expression("M.mean(0)"),
    Expression("M.mean(axis=1, keepdims=True)"),
    Expression("M - M.mean(axis=0, keepdims=True)"),
    Expression("np.max(x)"),
    Expression("x.max()"),
    Expression("M.max(axis=1)"),
    Expression("M.max(axis=1, keepdims=True)"),
    Expression("np.min(M, axis=0)"),
    Expression("np.var(x)"),
    Expression("np.std(M, axis=0)"),
    Expression("np.prod(x)"),
    Expression("np.average(x, weights=y)"),
    Expression("np.median(x)"),
    Expression("np.ptp(x)"),
    Expression("np.argmax(x) * a"),
    Expression("sum(x)"),
    Expression("sum(x * y)"),
    Expression("max(x)"),
    Expression("np.logaddexp.reduce(x)"),
    Expression("np.percentile(x, 50)"),
    Expression("np.cumsum(x)"),
    Expression("np.cumsum(M, axis=0)"),
    Expression("x.cumsum()"),
    Expression("np.cumprod(x)"),
    Expression("np.diff(x)"),
    Expression("np.diff(M, axis=0)"),
    Expression("np.gradient(x)"),
    Expression("np.trapezoid(y, x)"),
    Expression("np.maximum.accumulate(x)"),
    Expression("np.add.reduce(x)"),
    # Elementwise
    Expression("x * MODULE_VECTOR[0]"),
    Expression("MODULE_VECTOR * a"),
    Expression("np.where(x > 0, x, 0.0)"),
    Expression("np.where(x > 0, x, y)"),
    Expression("np.where(mask, x, a)"),
    Expression("np.clip(x, 0.0, 1.0)"),
    Expression("np.clip(x, None, 1.0)"),
    Expression("x.clip(0.0, 1.0)"),
    Expression("np.maximum(x, 0.0)"),
    Expression("np.abs(x)"),
    Expression("np.sqrt(x * x + 1.0)"),
    Expression("x ** 2"),
    Expression("x ** 0.5"),
    Expression("a ** x"),
    Expression("2.0 ** x"),
    Expression("x ** y"),
    Expression("np.power(x, 2)"),
    Expression("x / y"),
    Expression("x % 2.0"),
    Expression("x // 2.0"),
    Expression("np.mod(x, 2.0)"),
    Expression("np.sign(x)"),
    Expression("np.floor(x)"),
    Expression("np.square(x)"),
    Expression("np.exp(-x)"),
    Expression("1 / (1 + np.exp(-x))"),
    Expression("np.nan_to_num(x)"),
    Expression("np.round(x, 2)"),
    Expression("np.interp(a, x, y)"),
    Expression("np.interp(x, y, y)"),
    Expression("np.sort(x)"),
    Expression("np.sort(M, axis=0)"),
    Expression("x.astype(float)"),
    Expression("x.copy()"),
    Expression("np.copy(x)"),
    Expression("np.real(z)"),
    Expression("np.imag(z)"),
    Expression("np.abs(z)"),
    Expression("np.conj(z)"),
    Expression("z.real"),
    Expression("z.conj()"),
    Expression("np.angle(z)"),
    Expression("np.abs(Z) ** 2"),
    Expression("np.fft.fft(x)"),
    Expression("np.fft.ifft(z)"),
    Expression("np.fft.rfft(x)"),
    Expression("np.fft.irfft(z)"),
    Expression("np.fft.fft2(M)"),
    Expression("np.fft.fftshift(x)"),
    Expression("np.polyval(y, a)", "rank"),
    Expression("np.polyval(y, x)"),
    Expression("x[:, None] * v"),
    Expression("x - np.mean(x)"),
    Expression("M + x[:, None]"),
    Expression("M / M.sum(axis=1)[:, None]"),
    # Made
    Expression("np.zeros(3) + a"),
    Expression("np.zeros(n) + x", "axes"),
    Expression("np.zeros(len(x)) * x"),
    Expression("np.zeros(x.shape) * x"),
    Expression("np.zeros(x.shape[0]) * x"),
    Expression("np.zeros(x.size)"),
    Expression("np.zeros((n, 2)) * a"),
    Expression("np.zeros(M.shape)"),
    Expression("np.zeros((M.shape[0], M.shape[1]))"),
    Expression("np.zeros_like(x) + a"),
    Expression("np.ones_like(M)"),
    Expression("np.ones(n) * a"),
    Expression("np.full(3, a)"),
    Expression("np.full(x.shape, a)"),
    Expression("np.full((n, 2), a)"),
    Expression("np.full_like(x, a)"),
    Expression("np.eye(n) * a"),
    Expression("np.eye(len(x)) + S"),
    Expression("np.identity(n) * a"),
    Expression("np.linspace(0.0, a, 5)"),
    Expression("np.linspace(a, b, n)"),
    Expression("np.arange(5) * a"),
    Expression("np.arange(n) * a"),
    Expression("np.arange(0.0, 1.0, 0.25) * a"),
    Expression("np.arange(len(x)) * x"),
]


def main() -> None:
    """Print what is lost of each expression, and how much in all."""
    found = {expression: lost(expression) for expression in EXPRESSIONS}
    for expression, what in found.items():
        print(f"{expression!s:56}{what}")
    counts = {what: list(found.values()).count(what) for what in ("kind", "rank", "axes", "")}
    print(", ".join(f"{what or 'nothing'} lost: {count}" for what, count in counts.items()), f"of {len(found)}")


if __name__ == "__main__":
    main()
