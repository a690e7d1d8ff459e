"""The entry of a call that has just been differentiated: the text of what was run, and all that it relies on."""

from __future__ import annotations

import ast
import types
from typing import Any, final

from microgradpy.binding import bind
from microgradpy.boundary import GENERATED
from microgradpy.cache import Unit, reached_units
from microgradpy.disk.handlers import is_from_outside
from microgradpy.disk.pure import Impure, taken_by
from microgradpy.disk.reading import Reading, Unsayable
from microgradpy.errors import DifferentiationError
from microgradpy.exporting.collect import Collector
from microgradpy.exporting.entries import Entry, give_names
from microgradpy.exporting.module import texts_of
from microgradpy.exporting.target import Target
from microgradpy.frontend.source import place_of
from microgradpy.linking import bind_awaited, finish, waiting_units
from microgradpy.plans import Plan, known_plan
from microgradpy.quiet import without_warnings
from microgradpy.runtime.collector import resting
from microgradpy.runtime.dispatch import Wanted
from microgradpy.runtime.modes import Mode

_MOST_WAITING = 16
"""So many callees that were not reached are compiled for an entry; of formulas that choose among many, it would be hundreds."""
_LONGEST = 200_000
STRICT = False
"""Whether mistakes of this package are raised, as the tests want it."""


def entry_of(f: types.FunctionType, args: tuple[Any, ...], wanted: Wanted) -> dict[str, Any] | None:
    """The entry for calls like this one; None if there cannot be one."""
    bound = bind(f, args, {})
    plan = known_plan(f, bound, wanted)
    if plan is None or not _is_usual(plan):
        return None
    try:
        with resting(), without_warnings():
            reading = Reading.of(f)
            return _entry(f, plan, reading, bound.captured) if reading.covers(plan.unit.guards) else None
    except Exception as error:  # the user has got what he asked for, and nothing is to disturb him
        if is_from_outside(error) or (STRICT and not isinstance(error, (Unsayable, Impure, DifferentiationError))):
            raise
        return None


def _is_usual(plan: Plan) -> bool:
    unit = plan.unit
    if unit.tracks or unit.writes or unit.guards.makes_text or plan.exotic or unit.mode._replace(assumes_real=False) != Mode():
        return False
    return waiting_units(unit) <= _MOST_WAITING


def _entry(f: types.FunctionType, plan: Plan, reading: Reading, captured: int) -> dict[str, Any] | None:
    taken = plan.adjoint_of_gradient()
    if taken is None:
        return None
    adjoint, fresh, _ = taken
    unit = plan.unit
    made = [each for each in (unit.made, *unit.at_one.values()) if each is not None and each.run is adjoint]
    if not made:
        return None
    collector = _Texts(Target(f, unit, (), (), None, (), None, True), adjoint)
    halves = collector.half(unit, False), collector.generated(adjoint, made[0].text, True)
    entries = list(collector.entries.values())
    give_names(entries, set())
    before, definitions = texts_of(entries, collector.target, halves[0])
    text = _bare("\n\n\n".join([before, *definitions]))
    modules = {entry.name: entry.text for entry in entries if entry.sort == "import" and entry.text}
    data = {entry.name: reading.data[key] for key, entry in collector.data.items() if key in reading.data}
    if len(data) < len(collector.data) or len(text) > _LONGEST:
        return None
    return {
        "text": text,
        "halves": tuple(half.name for half in halves),
        "modules": modules,
        "data": data,
        "guards": [*reading.guards, *taken_by(text, modules, set(data))],
        "places": plan.unit.places[captured:],
        "fresh": fresh[captured:],
        "single": plan.unit.is_single,
        "selects": unit.selects,
    }


def _bare(text: str) -> str:
    """A text without what is for readers only."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.arg):
            node.annotation = None
        elif isinstance(node, ast.FunctionDef):
            node.returns = None
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and ast.get_docstring(node, clean=False) is not None:
            node.body[:1] = [] if len(node.body) > 1 else [ast.Pass()]
    return f"{ast.unparse(tree)}\n"


@final
class _Texts(Collector):
    """The texts of a unit's primal and of one adjoint. What they read of the user's modules they get when they run."""

    def __init__(self, target: Target, adjoint: Any) -> None:
        unit = target.unit
        self.target, self.where = target, place_of(target.function)
        self.primal = None
        self.entries = {}
        self.halves: dict[int, tuple[Unit, bool]] = {}
        self.data: dict[tuple[int, str], Entry] = {}
        bind_awaited(unit.primal, adjoint)
        for each in reached_units(unit):
            finish(each)
            self.halves[id(each.primal)] = each, False
            if each.made is not None:
                self.halves[id(each.made.run)] = each, True

    def _variable(self, value: Any, name: str, namespace: Any) -> Entry:
        if namespace is None or not _is_of_users(namespace):
            return super()._variable(value, name, namespace)
        key = ("variable", id(namespace), name)
        if key not in self.entries:
            self.entries[key] = self.data[id(namespace), name] = Entry(name, "import")
        return self.entries[key]

    def _definition(self, value: Any) -> Entry:
        if isinstance(value, type) and _is_of_users({"__name__": value.__module__}):
            raise Impure(value.__qualname__)
        return super()._definition(value)


def _is_of_users(namespace: Any) -> bool:
    """Whether a namespace is that of a module of the user's."""
    return GENERATED not in namespace and str(namespace.get("__name__")).partition(".")[0] != __name__.partition(".")[0]
