"""Why the derivative of a line costs more than it might, as a record that texts, pages and tables print.

    line 12: `s += e` is tracked: it may write in place, as the kind of `s` is not proven
    line 3: `Box(x)` stays memory: it escapes in line 7, where it is returned
    line 5: `f(x)` is dispatched: `f` is an argument
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import final

from microgradpy.dataclasses import dataclass
from microgradpy.ir.nodes import Location

TRACKED, MEMORY, DISPATCHED = "is tracked", "stays memory", "is dispatched"
"""What becomes of a line: the function keeps cotangents of what is mutable in shadows; an object is not made into variables; a
call is resolved when it is made."""
_ORDER = (TRACKED, MEMORY, DISPATCHED)
_MOST = {MEMORY: 3, DISPATCHED: 6}
_LONGEST = 60


@final
@dataclass(frozen=True, slots=True)
class Reason:
    """What becomes of the expression `text` at a place, `why`, and what to write instead, if that can be said."""

    effect: str
    where: Location
    text: str
    why: str
    remedy: str = ""


@final
@dataclass(frozen=True, slots=True)
class MayWrite:
    """Of a function: that it may write into what others have, so that cotangents have to be kept with the objects. `what` was
    found first."""

    what: str
    reasons: tuple[Reason, ...] = ()


def reason_at(effect: str, where: Location, why: str, remedy: str = "") -> Reason:
    """The reason at a place, with the expression that stands there."""
    return Reason(effect, where, expression_at(where), why, remedy)


def expression_at(where: Location) -> str:
    """The expression at a place, as the user has written it; of one of several lines the first."""
    ends_there = where.end_line == where.line
    found = where.source.encode()[where.column : where.end_column if ends_there else None].decode(errors="ignore").strip()
    text = found or where.text
    if where.end_line > where.line:
        text += " ..."
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 4].rstrip()} ..."


def in_order(reasons: Iterable[Reason]) -> tuple[Reason, ...]:
    """Reasons by what they say and by line: one for all that a line has of the same, with the longest of the expressions."""
    found: dict[tuple[str, str, int, str], Reason] = {}
    for reason in reasons:
        key = reason.effect, reason.where.file, reason.where.line, reason.why
        if key not in found or len(found[key].text) < len(reason.text):
            found[key] = reason
    return tuple(sorted(found.values(), key=lambda reason: (_ORDER.index(reason.effect), reason.where.line)))


def sentence(reason: Reason, function: str = "") -> str:
    """A reason as a sentence, for who reads about a function of this name."""
    other = reason.where.function
    place = f"line {reason.where.line}" + (f" of {other}" if other not in ("", function) else "")
    return f"{place}: `{reason.text}` {reason.effect}: {reason.why}"


def advice(reason: Reason, function: str = "") -> str:
    """The same with what to write instead."""
    return sentence(reason, function) + (f" ({reason.remedy})" if reason.remedy else "")


def commented(text: str, reasons: tuple[Reason, ...], function: str) -> str:
    """A generated text with the reasons above it."""
    return "".join(f"# {line}\n" for line, _ in comment_lines(reasons, function)) + text


def comment_lines(reasons: tuple[Reason, ...], function: str) -> Iterator[tuple[str, Reason | None]]:
    """One line for each reason, of many of a sort the first; with the reason."""
    for effect in _ORDER:
        own = [reason for reason in reasons if reason.effect == effect]
        shown = own[: _MOST.get(effect, len(own))]
        yield from ((sentence(reason, function), reason) for reason in shown)
        if len(own) > len(shown):
            yield f"and {len(own) - len(shown)} more", None
