"""Structured SSA -> the source text of a Python function.

    While (%3/y = x):  c = %3 < 50        ->    y = x
        %5/y = %3 * 2.0                         while y < 50:
        continue (%5)                               y = y * 2.0

The stages: what is written inside what (`nesting`), who may share a name (`liveness`), the names (`naming`), syntax
trees (here and in `expressions`), lines and comments (`layout`).
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, final

from microgradpy.codegen.bindings import bind
from microgradpy.codegen.expressions import GLOBALS_NAME, Expressions
from microgradpy.codegen.layout import lay_out
from microgradpy.codegen.liveness import Copy, Liveness, analyse_liveness, copies
from microgradpy.codegen.naming import choose_names
from microgradpy.codegen.nesting import Nesting, plan_nesting
from microgradpy.codegen.order_check import OrderCheck
from microgradpy.codegen.placement import place
from microgradpy.codegen.statements import Statements
from microgradpy.codegen.undefined import filled_variables
from microgradpy.dataclasses import dataclass, field
from microgradpy.ir.nodes import For, Function, Location, Parameter, ParameterKind, Region, Try, Var, While
from microgradpy.ir.traversal import item_variables, regions, walk

# Each round writes values inside of copies that naming could not make vanish; more than a few never help.
_ROUNDS = 3


@final
@dataclass(frozen=True, slots=True)
class Emitted:
    """Text of one function. `bindings` are the global names that it mentions and their objects; with `needs_globals`
    it also mentions `module_globals`, the globals of the user's function. `line_map` gives the place in the user's
    source that a line of the text is from; `names` what each variable is called. `tree` is the same function as a syntax
    tree, if it was to have positions in the user's file."""

    text: str
    bindings: dict[str, Any]
    line_map: dict[int, Location]
    needs_globals: bool = False
    names: Mapping[Var, str] = field(default_factory=dict)
    tree: ast.FunctionDef | None = None


def emit(
    function: Function,
    *,
    name: str | None = None,
    comments: bool = False,
    reserved: frozenset[str] = frozenset(),
    unpack_first: tuple[str, tuple[Var, ...]] | None = None,
    stands_for: tuple[str, int] | None = None,
    writes: type[Statements] = Statements,
    spells: type[Expressions] = Expressions,
) -> Emitted:
    """The source text of a function, called `name`; the captured variables are its first parameters.

    `comments` puts the user's lines above what is made from them. `reserved` are names that no variable may get.
    `unpack_first=("saved", variables)` gives the function a first parameter `saved` that holds these variables: the
    one itself if there is only one, otherwise a tuple which the first statement takes apart. `stands_for` are the file and
    the first line of a function of the user's in whose place this one runs: its tree has positions in that file. `writes` and
    `spells` print statements and expressions, for a dialect of Python."""
    signature = _signature(function, unpack_first)
    names_of_users = frozenset(_user_names(function))
    bindings = bind(function, names_of_users | reserved | frozenset(signature.fixed.values()))
    taken = reserved | bindings.names.keys() | bindings.builtin_names | {GLOBALS_NAME} | signature.taken
    nesting, liveness, made, names = _settle_names(function, signature, frozenset(taken))
    expressions = spells(nesting, names, bindings, function.kinds)
    filled = filled_variables(function, nesting, made, names)
    statements = writes(expressions, liveness, filled, OrderCheck(nesting, names))
    body = [*signature.first_statements(names), *statements.function_body(function.body)]
    tree = ast.parse("def f(): pass").body[0]
    assert isinstance(tree, ast.FunctionDef)
    tree.name, tree.args, tree.body = name or function.name, signature.arguments(names), body or [ast.Pass()]
    if stands_for is not None:
        place(tree, expressions.places | statements.places, *stands_for)
    text, line_map = lay_out(tree, statements.places, comments, expressions.places)
    placed = None if stands_for is None else tree
    return Emitted(text, dict(bindings.used), line_map, expressions.needs_globals, names, placed)


def _settle_names(
    function: Function, signature: _Signature, taken: frozenset[str]
) -> tuple[Nesting, Liveness, list[Copy], dict[Var, str]]:
    """Nesting, liveness, copies and names. A value whose copy naming could not avoid (`a, b = b, a + b`) is written inside the
    copy in the next round."""
    into_copies: frozenset[Var] = frozenset()
    for _ in range(_ROUNDS):
        nesting = plan_nesting(function, into_copies)
        liveness = analyse_liveness(function, nesting, signature.entry)
        made = copies(function, nesting, liveness)
        names = choose_names(function, nesting, liveness, made, signature.fixed, signature.unpacked, taken)
        more = into_copies | frozenset(_avoidable(function, made, nesting, names))
        if more == into_copies:
            break
        into_copies = more
    return nesting, liveness, made, names


def _avoidable(function: Function, made: Iterable[Copy], nesting: Nesting, names: dict[Var, str]) -> Iterator[Var]:
    """Values that are copied under another name in the region that defines them."""
    # In the body of a `try` a copy is all there is between two operations that may raise: nothing is written inside of it.
    tried = {id(region) for region in _tried(function.body, False)}
    for copy in made:
        if id(copy.region) in tried:
            continue
        if isinstance(copy.value, Var) and copy.value not in nesting.nested:
            named_otherwise = copy.value.user_named and copy.value.hint != copy.target.hint
            if names[copy.value] != names[copy.target] and not named_otherwise:
                yield copy.value


def _tried(region: Region, inside: bool) -> Iterator[Region]:
    """The bodies of `Try`s and the regions in them."""
    if inside:
        yield region
    for statement in region.statements:
        for inner in regions(statement):
            yield from _tried(inner, inside or (isinstance(statement, Try) and inner is statement.body))


def _user_names(function: Function) -> Iterator[str]:
    for statement in walk(function.body):
        variables = statement.results
        if isinstance(statement, While | For):
            variables += statement.parameters
        if isinstance(statement, For):
            variables += item_variables(statement.items)
        if isinstance(statement, Try):
            variables += statement.parameters
            variables += tuple(handler.exception for handler in statement.handlers if handler.exception is not None)
        yield from (var.hint for var in variables if var.user_named)


@dataclass(frozen=True, slots=True)
class _Signature:
    """The parameters of the text. `packed` is the first one if it holds other variables."""

    captured: tuple[Var, ...]
    parameters: tuple[Parameter, ...]
    packed: str = ""
    unpacked: tuple[Var, ...] = ()

    @property
    def fixed(self) -> dict[Var, str]:
        """The variables whose names are given."""
        names = {var: var.hint for var in self.captured}
        return names | {parameter.var: parameter.name for parameter in self.parameters}

    @property
    def entry(self) -> tuple[Var, ...]:
        return (*self.captured, *self.unpacked, *(parameter.var for parameter in self.parameters))

    @property
    def taken(self) -> set[str]:
        return {self.packed} if self.packed and len(self.unpacked) != 1 else set()

    def arguments(self, names: dict[Var, str]) -> ast.arguments:
        of_kind = {kind: [p.name for p in self.parameters if p.kind is kind] for kind in ParameterKind}
        first = []
        if self.packed:
            first = [names[self.unpacked[0]] if len(self.unpacked) == 1 else self.packed]
        positional = [*first, *(var.hint for var in self.captured), *of_kind[ParameterKind.POSITIONAL]]
        variadic = [ast.arg(name) for name in of_kind[ParameterKind.VARIADIC]]
        keywords = [ast.arg(name) for name in of_kind[ParameterKind.KEYWORDS]]
        only_by_keyword = [ast.arg(name) for name in of_kind[ParameterKind.KEYWORD]]
        return ast.arguments(
            posonlyargs=[],
            args=[ast.arg(name) for name in positional],
            vararg=variadic[0] if variadic else None,
            kwonlyargs=only_by_keyword,
            kw_defaults=[None for _ in only_by_keyword],
            kwarg=keywords[0] if keywords else None,
            defaults=[],
        )

    def first_statements(self, names: dict[Var, str]) -> list[ast.stmt]:
        """`a, b = saved`, if there is something to take apart."""
        if len(self.unpacked) < 2:
            return []
        targets: list[ast.expr] = [ast.Name(names[var], ast.Store()) for var in self.unpacked]
        return [ast.Assign([ast.Tuple(targets, ast.Store())], ast.Name(self.packed, ast.Load()))]


def _signature(function: Function, unpack_first: tuple[str, tuple[Var, ...]] | None) -> _Signature:
    if unpack_first is None:
        return _Signature(function.captured, function.parameters)
    packed, unpacked = unpack_first
    parameters = tuple(parameter for parameter in function.parameters if parameter.var not in unpacked)
    return _Signature(function.captured, parameters, packed, unpacked)
