"""What is said of an operation that has made a NaN or an infinity: which, where, what it was given, and what helps."""

from __future__ import annotations

import ast
import linecache
import types
from collections.abc import Iterator
from typing import Any, NoReturn, final

import numpy as np

from microgradpy.dataclasses import dataclass
from microgradpy.errors import AnomalyError
from microgradpy.ir.nodes import Location
from microgradpy.runtime.modes import NAN
from microgradpy.runtime.streams import Stream

FORWARD, BACKWARD, TANGENT = "forward pass", "backward pass", "pass of the tangents"
NAN_STATE, INFINITE = 1, 2
WORDS = {NAN_STATE: "a NaN", INFINITE: "an infinity", NAN_STATE | INFINITE: "a NaN and an infinity"}


@final
@dataclass(frozen=True, slots=True, eq=False)
class Site:
    """An operation that is looked at. Of the values that it is given with, the first `count` are what it was computed from, and
    `excuses` says which of those explain a NaN in the result by having one; `names` are for the others, which say what the
    user's operation was given. `left_out` is a `np.where` that may leave out entries of the result."""

    where: Location
    during: str
    checks: str
    count: int
    excuses: tuple[bool, ...]
    names: tuple[str, ...]
    left_out: Location | None = None
    is_packed: bool = False
    """Whether the arguments of a call that is resolved at run time are one tuple and one dict."""

    def blames(self, state: int, excused: int) -> int:
        """What an operation is to blame for, if `state` is that of its result, and `excused` that of what it was given."""
        made = state & ~excused if not excused & NAN_STATE else 0
        return made & NAN_STATE if self.checks == NAN else made


def report(site: Site, made: int, value: Any, read: tuple[Any, ...], shown: tuple[Any, ...]) -> NoReturn:
    text = text_of(site.where)
    what = WORDS[made]
    whose = {FORWARD: text, BACKWARD: f"the derivative of {text}", TANGENT: f"the tangent of {text}"}[site.during]
    given = shown or read
    names = _names(text, site.names + ("",) * (len(given) - len(site.names)))
    lines = [f"the result: {short_form(value)}"] if isinstance(value, np.ndarray) else []
    # What the operation has written into is not what it was given any more.
    pairs = [(name, x) for name, x in zip(names, given, strict=False) if x is not value or not isinstance(x, np.ndarray)]
    lines += _inputs(pairs, value, _bad_entries(value, made))
    if site.left_out is not None and (site.during == FORWARD or _is_left_out(value, read or shown, made)):
        lines.append(_hint(text, site.left_out))
    elif site.during != FORWARD and _is_left_out(value, read or shown, made):
        lines.append(_ZERO_TIMES_INFINITY)
    raise AnomalyError(f"{whose} is {what}, in the {site.during}", site.where, "\n  ".join(lines))


def text_of(where: Location) -> str:
    """An operation as the user wrote it, on one line."""
    if not where.source.strip() or not where.end_line:
        return where.text or "an operation"
    between = [linecache.getline(where.file, number) for number in range(where.line + 1, where.end_line + 1)]
    lines = [line.rstrip().encode() for line in (where.source, *between)]
    lines[-1] = lines[-1][: where.end_column]
    lines[0] = lines[0][where.column :]
    return " ".join(line.decode().strip() for line in lines)


def _names(text: str, names: tuple[str, ...]) -> tuple[str, ...]:
    """What the user calls the operands of an operation, as far as its text tells."""
    try:
        (statement,) = ast.parse(text).body
    except (SyntaxError, ValueError):
        return names
    node = statement.value if isinstance(statement, ast.Expr | ast.Assign) else statement
    match node:
        case ast.BinOp(left=left, right=right):
            operands: list[ast.expr] = [left, right]
        case ast.UnaryOp(operand=operand):
            operands = [operand]
        case ast.Call(func=function, args=args, keywords=keywords):
            operands = [*args, *(keyword.value for keyword in keywords if keyword.arg != "out")]
            if isinstance(function, ast.Attribute) and len(operands) < len(names):
                operands.insert(0, function.value)
        case ast.AugAssign(target=target, value=value):
            operands = [target, value]
        case _:
            return names
    found = [ast.unparse(operand) for operand in operands if not isinstance(operand, ast.Starred)]
    return (*found, *names[len(found) :]) if len(found) <= len(names) else names


def _inputs(named: list[tuple[str, Any]], result: Any, bad: tuple[Any, ...]) -> Iterator[str]:
    seen = set()
    for name, value in named:
        text = short_form(value)
        if name not in seen and name != text and not isinstance(value, str | types.ModuleType | Stream):
            seen.add(name)
            yield f"{name or 'an operand'} = {text}{_at(value, result, bad)}"


def _at(value: Any, result: Any, bad: tuple[Any, ...]) -> str:
    """What an array has at the first of the bad entries of the result, to whose shape it may have been repeated."""
    if not isinstance(value, np.ndarray) or not 0 < value.ndim <= len(bad):
        return ""
    pairs = list(zip(value.shape, result.shape[-value.ndim :], strict=True))
    if not all(size in (1, whole) for size, whole in pairs):
        return ""
    place = [0 if size == 1 else index for index, size in zip(bad[-value.ndim :], value.shape, strict=True)]
    return f"; at {place}: {value[tuple(place)]}"


def _bad_entries(value: Any, made: int) -> tuple[Any, ...]:
    """The index of the first bad entry of an array."""
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "fc":
        return ()
    return tuple(np.argwhere(_bad(value, made))[0].tolist())


def _bad(value: np.ndarray[Any, Any], made: int) -> Any:
    return np.isnan(value) if made & NAN_STATE else np.isinf(value)


def _is_left_out(value: Any, read: tuple[Any, ...], made: int) -> bool:
    """Whether what was made is no part of the value of the program: a cotangent is zero there."""
    if not made & NAN_STATE:
        return False
    if not isinstance(value, np.ndarray):
        return any(isinstance(x, float) and x == 0.0 for x in read)
    bad = _bad(value, made)
    return any(isinstance(x, np.ndarray) and x.shape == value.shape and bool((x[bad] == 0).all()) for x in read)


_ZERO_TIMES_INFINITY = (
    "What comes of it is multiplied by 0 later (in a product, by a mask), and 0 * infinity is NaN.\n"
    "  Give the operation only numbers at which its derivative is finite."
)


def _hint(text: str, left_out: Location) -> str:
    """The way out where `np.where` is to leave out what is not defined."""
    operand, inside = _made_safe(text)
    condition = _condition(left_out)
    return (
        f"np.where in line {left_out.line} leaves out entries of the value, but not of the derivative, where it is 0 * inf.\n"
        f"  Give the operation harmless numbers at these entries, by another np.where inside of it:\n"
        f"      safe = np.where({condition}, {operand}, 1.0)\n"
        f"      np.where({condition}, {inside}, ...)"
    )


def _condition(left_out: Location) -> str:
    try:
        node = ast.parse(text_of(left_out), mode="eval").body
    except (SyntaxError, ValueError):
        return "condition"
    return ast.unparse(node.args[0]) if isinstance(node, ast.Call) and node.args else "condition"


def _made_safe(text: str) -> tuple[str, str]:
    """The operand that makes an operation dangerous, and the operation with `safe` in its place."""
    try:
        node: ast.expr = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError):
        return "x", "f(safe)"
    safe = ast.Name("safe")
    match node:
        case ast.BinOp(left=left, op=ast.Div() | ast.Mod() | ast.FloorDiv() as sign, right=operand):
            new: ast.expr = ast.BinOp(left, sign, safe)
        case ast.BinOp(left=operand, op=sign, right=right):
            new = ast.BinOp(safe, sign, right)
        case ast.Call(func=ast.Attribute(attr="divide" | "true_divide") as function, args=[first, operand, *rest]):
            new = ast.Call(function, [first, safe, *rest], node.keywords)
        case ast.Call(func=function, args=[operand, *rest]):
            new = ast.Call(function, [safe, *rest], node.keywords)
        case _:
            return "x", "f(safe)"
    return ast.unparse(operand), ast.unparse(new)


# Values in a few words

_MOST_PLACES = 3


def short_form(value: Any) -> str:
    """A number as it is; of an array its shape, dtype and range, and where it is not finite."""
    match value:
        case np.ndarray():
            return _array(value)
        case np.generic():
            return f"{value} ({value.dtype})"
        case bool() | int() | float() | complex() | None:
            return repr(value)
        case list() | tuple() | dict():
            return f"a {type(value).__name__} of {len(value)}"
    return f"a {type(value).__name__}"


def _array(value: np.ndarray[Any, Any]) -> str:
    kind = f"{value.dtype} of shape {value.shape}"
    if value.size == 0 or value.dtype.kind not in "biufc":
        return kind
    finite = np.isfinite(value)
    parts = [kind]
    if finite.any() and value.dtype.kind != "c":
        parts.append(f"from {value[finite].min()} to {value[finite].max()}")
    for word, places in (("NaN", np.isnan(value)), ("infinite", np.isinf(value))):
        if places.any():
            parts.append(f"{word} at {_places(places)}")
    return ", ".join(parts)


def _places(found: np.ndarray[Any, Any]) -> str:
    places = np.argwhere(found)
    shown = ", ".join(str(place.tolist()) for place in places[:_MOST_PLACES]) or "[]"
    rest = len(places) - _MOST_PLACES
    return shown + (f" and {rest} more" if rest > 0 else "")
