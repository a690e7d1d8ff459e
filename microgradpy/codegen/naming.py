"""Deterministic, readable names.

Variables that are copied to one another and want the same name are first joined to *webs*, as far as no member
interferes with a member of the other: inside a web the copies vanish. A loop parameter and the loop's result are
always one web. Then each web, in program order, takes the name it wants, or `name_1`, `name_2`, ... if a web it
interferes with has that one. A value that nothing names takes the name of what it is copied to, or is called after its
operation.
"""

from __future__ import annotations

import itertools
import keyword
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import Any

from microgradpy.codegen.liveness import Copy, Interference, Liveness, Vars
from microgradpy.codegen.nesting import Nesting
from microgradpy.codegen.notation import Attribute, Item, SliceOf, is_in_place, is_plain_name, notation, operator_name
from microgradpy.dataclasses import dataclass, field
from microgradpy.ir.nodes import CHANGING, Const, For, Function, If, Op, Opcode, Records, Region, Try, Var, While
from microgradpy.ir.traversal import item_variables, regions
from microgradpy.ir.words import OPERATORS

_UNUSED = "_"
# Functions of the run-time algebra that give a cotangent of one of their arguments, and which one.
_COTANGENTS_OF: Mapping[str, int] = {
    "unbroadcast": 1,
    "expand_reduced": 1,
    "any_or_zero": 1,
    "or_zero": 1,
    "item_cotangent": 0,
    "add_item": 1,
    "zero_cotangent": 0,
}
_DISPLAYS: Mapping[Opcode, str] = {
    Opcode.TUPLE: "items",
    Opcode.LIST: "items",
    Opcode.DICT: "table",
    Opcode.SET: "members",
    Opcode.UNPACK: "item",
    Opcode.JOIN: "text",
    Opcode.APPEND: "items",
    Opcode.STORE: "items",
    Opcode.TAPE: "tape",
    Opcode.APPLY: "result",
    Opcode.CLOSURE: "function",
}


def choose_names(
    function: Function,
    nesting: Nesting,
    liveness: Liveness,
    made: Sequence[Copy],
    fixed: Mapping[Var, str],
    entry: Sequence[Var],
    taken: Set[str],
) -> dict[Var, str]:
    """The name of every variable that is not nested. `fixed` are parameters, which keep their names; `entry` further
    variables assigned at entry; `taken` names that no variable may have."""
    order = [*fixed, *entry, *_assigned(function.body, nesting)]
    webs = _Webs(liveness.interference)
    for statement in _loops(function.body):
        for parameter, result in zip(statement.parameters, statement.results, strict=True):
            webs.join(parameter, result)
    hints = _hints(function, nesting, liveness, made, entry)
    for copy in made:
        if isinstance(copy.value, Var) and copy.value not in nesting.nested:
            _join_if_same(webs, hints, copy.target, copy.value)
    for result, operand in _continued(function.body, nesting):
        _join_if_same(webs, hints, result, operand)
    return _colour(order, webs, hints, fixed, taken)


def _join_if_same(webs: _Webs, hints: Mapping[Var, str], a: Var, b: Var) -> None:
    if hints.get(a, "") == hints.get(b, "") and not webs.interfere(a, b):
        webs.join(a, b)


def _colour(
    order: Sequence[Var], webs: _Webs, hints: Mapping[Var, str], fixed: Mapping[Var, str], taken: Set[str]
) -> dict[Var, str]:
    names: dict[Var, str] = {}
    holders: dict[str, tuple[Vars, Vars]] = {}
    """The bits of all that have a name, and of what is near to any of them."""

    def call(web: Var, name: str) -> None:
        names[web] = name
        (own, near), (others, near_others) = webs.bits(web), holders.get(name, (0, 0))
        holders[name] = own | others, near | near_others

    wanted = set(hints.values())
    candidates: dict[str, _Names] = {}

    def names_for(hint: str) -> _Names:
        if hint not in candidates:
            candidates[hint] = _Names(name for name in _candidates(hint, wanted) if name not in taken)
        return candidates[hint]

    for var, name in fixed.items():
        call(webs.find(var), name)
    for var in order:
        web = webs.find(var)
        if web in names:
            continue
        hint = next((hints[member] for member in webs.members(web) if hints.get(member)), "value")
        call(web, names_for(hint).free(holders, *webs.bits(web)))
    return {var: names[webs.find(var)] for var in order}


_BLOCK = 16


@dataclass(slots=True)
class _Names:
    """The names that variables with one wish may have, of which there is no end. Many of a long function want the same one and
    are alive at once; so that each need not be held against all names of those before it, one variable is kept for each name of
    a block, by which the one before could not have it: who interferes with all of these can have none of the names either."""

    more: Iterator[str]
    known: list[str] = field(default_factory=list)
    keepers: list[Vars] = field(default_factory=list)

    def free(self, holders: Mapping[str, tuple[Vars, Vars]], own: Vars, near: Vars) -> str:
        """The first of the names that nothing has which interferes with these bits."""
        for block in itertools.count():
            keepers = self.keepers[block] if block < len(self.keepers) else 0
            if keepers and near & keepers == keepers:
                continue
            keepers, is_kept = 0, True
            for name in self._block(block):
                held = holders.get(name)
                met = 0 if held is None else near & held[0]
                if not met and not (held is not None and held[1] & own):
                    return name
                keepers, is_kept = keepers | (met & -met), is_kept and met != 0
            self.keepers[block : block + 1] = [keepers if is_kept else 0]
        raise AssertionError("names do not end")

    def _block(self, block: int) -> list[str]:
        start, end = block * _BLOCK, (block + 1) * _BLOCK
        self.known += itertools.islice(self.more, max(0, end - len(self.known)))
        return self.known[start:end]


def _candidates(hint: str, wanted: Set[str]) -> Iterator[str]:
    """`x`, `x_1`, `x_2`, ... without those that are the wish of another variable."""
    stem = f"{hint}_" if keyword.iskeyword(hint) else hint
    yield stem
    stem = stem.rstrip("_") or "unused"
    yield from (name for name in (f"{stem}_{number}" for number in itertools.count(1)) if name not in wanted)


@dataclass(slots=True)
class _Webs:
    """Union-find over variables, with the interference of the sets: the bits of the members of each, and of what is near."""

    interference: Interference
    parents: dict[Var, Var] = field(default_factory=dict)
    sets: dict[Var, list[Var]] = field(default_factory=dict)
    joined: dict[Var, tuple[Vars, Vars]] = field(default_factory=dict)

    def find(self, var: Var) -> Var:
        while var in self.parents:
            var = self.parents[var]
        return var

    def members(self, web: Var) -> list[Var]:
        return self.sets.get(web, [web])

    def bits(self, web: Var) -> tuple[Vars, Vars]:
        found = self.joined.get(web)
        if found is None:
            found = self.joined[web] = self.interference.bit(web), self.interference.rows.get(web, 0)
        return found

    def interfere(self, a: Var, b: Var) -> bool:
        a, b = self.find(a), self.find(b)
        (own, near), (other, near_other) = self.bits(a), self.bits(b)
        return a == b or bool(near & other or near_other & own)

    def join(self, a: Var, b: Var) -> None:
        a, b = self.find(a), self.find(b)
        if a != b:
            (own, near), (other, near_other) = self.bits(a), self.bits(b)
            self.joined[a] = own | other, near | near_other
            self.sets[a] = self.members(a) + self.members(b)
            self.parents[b] = a


def _loops(region: Region) -> Iterator[While | For]:
    for statement in region.statements:
        if isinstance(statement, While | For):
            yield statement
        for inner in regions(statement):
            yield from _loops(inner)


def _assigned(region: Region, nesting: Nesting) -> Iterator[Var]:
    """Every variable that gets a name, in the order of the text."""
    for statement in nesting.roots(region):
        match statement:
            case Op():
                yield from statement.results
            case If():
                if not nesting.is_choice(statement):
                    yield from _assigned(statement.then, nesting)
                    yield from _assigned(statement.orelse, nesting)
                yield from statement.results
            case Try(body=body, handlers=handlers):
                yield from statement.parameters
                yield from _assigned(body, nesting)
                for handler in handlers:
                    if handler.exception is not None:
                        yield handler.exception
                    yield from _assigned(handler.body, nesting)
                yield from statement.results
            case While():
                yield from statement.parameters
                yield from _assigned(statement.condition, nesting)
                yield from _assigned(statement.body, nesting)
                yield from statement.results
            case For():
                yield from statement.parameters
                yield from item_variables(statement.items)
                yield from _assigned(statement.body, nesting)
                yield from statement.results


def _continued(region: Region, nesting: Nesting) -> Iterator[tuple[Var, Var]]:
    """(result, first operand) of the operations that read best as `x = x + d` and `x += d`."""
    for statement in nesting.roots(region):
        if isinstance(statement, Op) and len(statement.results) == 1 and statement.arguments:
            first = statement.arguments[0]
            inplace = statement.callee in CHANGING or is_in_place(statement)
            if inplace and isinstance(first, Var) and first not in nesting.nested:
                yield statement.result, first
        for inner in regions(statement):
            yield from _continued(inner, nesting)


def _hints(
    function: Function, nesting: Nesting, liveness: Liveness, made: Sequence[Copy], entry: Sequence[Var]
) -> dict[Var, str]:
    """The name each variable would like: its own, that of what it is copied to, of what is copied to it, or that of its
    operation."""
    pairs = [(copy.value, copy.target) for copy in made if isinstance(copy.value, Var)]
    slots = [pair for loop in _loops(function.body) for pair in zip(loop.parameters, loop.results, strict=True)]
    wish = _Wishes(nesting, liveness)
    wish.own((*(p.var for p in function.parameters), *function.captured, *entry))
    wish.region(function.body)
    # Backwards from the targets, then forwards from the values; chains of copies run in program order.
    wish.follow(reversed(pairs))
    wish.follow((target, value) for value, target in pairs)
    wish.follow(_continued(function.body, nesting))
    wish.follow(slots)
    wish.follow((result, parameter) for parameter, result in slots)
    wish.users = frozenset(wish.hints.values())
    wish.name_by_operation(function.body)
    # What is copied from a value that has just been named after its operation is named like it.
    wish.follow((target, value) for value, target in pairs)
    wish.follow((result, parameter) for parameter, result in slots)
    return wish.hints


@dataclass(slots=True)
class _Wishes:
    nesting: Nesting
    liveness: Liveness
    hints: dict[Var, str] = field(default_factory=dict)
    users: frozenset[str] = frozenset()
    words: dict[str, str] = field(default_factory=dict)
    """For the word of an operation, one that is no name of the user's."""

    def own(self, variables: Iterable[Var]) -> None:
        for var in variables:
            if is_plain_name(var.hint) or keyword.iskeyword(var.hint):
                self.hints[var] = var.hint

    def follow(self, pairs: Iterable[tuple[Var, Var]]) -> None:
        """The first of each pair, if it has no name in mind, would like that of the second."""
        for follower, leader in pairs:
            if follower not in self.hints and leader in self.hints:
                self.hints[follower] = self.hints[leader]

    def region(self, region: Region) -> None:
        for statement in region.statements:
            self.own(statement.results)
            match statement:
                case Try(handlers=handlers):
                    self.own(statement.parameters)
                    self.own(handler.exception for handler in handlers if handler.exception is not None)
                case While():
                    self.own(statement.parameters)
                case For():
                    self.own(statement.parameters)
                    self._items(statement)
                case Op() if len(statement.results) > 1 or statement.callee is Opcode.UNPACK:
                    self._drop_unused(statement.results)
            for inner in regions(statement):
                self.region(inner)

    def _items(self, loop: For) -> None:
        self.own(item_variables(loop.items))
        if isinstance(loop.items, Records):
            for var in loop.items.fields:
                if var not in self.liveness.live:
                    self.hints[var] = _UNUSED
        else:
            self._drop_unused(item_variables(loop.items))

    def _drop_unused(self, variables: Iterable[Var]) -> None:
        for var in variables:
            if var not in self.liveness.live and not (var.user_named and var.hint):
                self.hints[var] = _UNUSED

    def name_by_operation(self, region: Region) -> None:
        for statement in region.statements:
            for inner in regions(statement):
                self.name_by_operation(inner)
            match statement:
                case Op():
                    for result in statement.results:
                        self.hints.setdefault(result, self._free_word(statement))
                case For():
                    for var in item_variables(statement.items):
                        self.hints.setdefault(var, "item")
                case Try(handlers=handlers):
                    for handler in handlers:
                        if handler.exception is not None:
                            self.hints.setdefault(handler.exception, "exception")

    def _free_word(self, op: Op) -> str:
        """A word for an operation that is no name of the user's."""
        word = self._word(op)
        if word not in self.words:
            others = (name for name in _candidates(word, self.users) if name != word)
            self.words[word] = word if word not in self.users else next(others)
        return self.words[word]

    def _word(self, op: Op) -> str:
        sign = notation(op)
        match sign:
            case Attribute(name=name):
                return name if is_plain_name(name) else "value"
            case Item(index=Const(value=str() as key)) if is_plain_name(key):
                return key
            case Item(operand=Var() as operand):
                return f"{self._short(operand)}_item".lstrip("_")
            case None:
                return self._word_of_call(op)
            case SliceOf():
                return "places"
            case Item():
                return "value"
        return OPERATORS.get(operator_name(sign.sign), "value")

    def _word_of_call(self, op: Op) -> str:
        match op.callee:
            case Opcode.GLOBAL:
                return str(op.payload)
            case Opcode.UNPACK:
                return self._word_of_unpacked(op.arguments[0])
            case Opcode.CLOSURE:
                name = getattr(op.payload, "name", "")
                return name if is_plain_name(name) else "function"
            case Opcode():
                return _DISPLAYS.get(op.callee, "value")
            case Const(value=value, path=path):
                name = path.rpartition(".")[2] or getattr(value, "__name__", "")
                return self._word_of_function(name, op)
            case Var(hint=hint):
                return f"{hint}_result" if hint else "result"
        return "value"

    def _word_of_unpacked(self, value: object) -> str:
        """A value and what its pullback needs are unpacked together from a call of `f_primal` or of `pullback_of`."""
        statement = self.nesting.nested.get(value) if isinstance(value, Var) else None
        match statement:
            case Op(callee=Const(path=path)) if path.endswith("_primal"):
                return f"{path.removesuffix('_primal')}_value"
            case Op(callee=Const(path="pullback_of"), arguments=(callee, *_)):
                name = getattr(callee, "path", "").rpartition(".")[2] or self._short(callee, 20)
                return f"{name}_value" if is_plain_name(name) else "value"
        return "item"

    def _word_of_function(self, name: Any, op: Op) -> str:
        if not isinstance(name, str) or not is_plain_name(name):
            return "result"
        if name in _COTANGENTS_OF and not op.from_user:
            operand = self._short(op.arguments[_COTANGENTS_OF[name]], 20)
            return f"{operand}_bar" if operand else "value_bar"
        short = self._short(op.arguments[0]) if len(op.arguments) == 1 else ""
        return f"{name}_{short}" if short and len(name) <= 8 else f"{name}_result"

    def _short(self, value: object, longest: int = 8) -> str:
        """The name of an operand, if it has one that is short enough to be part of another."""
        if isinstance(value, Var) and value not in self.nesting.nested:
            hint = self.hints.get(value, "")
            return hint if len(hint) <= longest and hint != _UNUSED else ""
        return ""
