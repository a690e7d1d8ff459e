"""What the text of some functions writes into, as far as it shows: which objects, lists and dicts that stand at several places
may have a copy to stand in at each (`microgradpy.state.twins`).

It is a guess which of two ways is taken, and both are safe: what stands in cannot be written into, and what has nothing to
stand in for it is one object.
"""

from __future__ import annotations

import ast
import types
from collections import ChainMap
from collections.abc import Iterable, Iterator, Mapping
from typing import final

from microgradpy.dataclasses import dataclass, field
from microgradpy.errors import DifferentiationError
from microgradpy.frontend.source import find_source
from microgradpy.runtime.bytecode import WRITERS, names_in

_MAKERS = frozenset({"__init__", "__post_init__", "__new__"})
"""Methods whose first argument has just been made, or is about to be."""
_MAKE = frozenset({
    "list", "dict", "set", "deque", "defaultdict", "array", "zeros", "ones", "empty", "full", "zeros_like", "ones_like",
    "empty_like", "full_like", "copy", "deepcopy", "arange", "eye", "linspace", "range", "sum", "float", "int", "len",
})  # fmt: skip
"""The names of functions that make something new."""
_UNSEEN = frozenset({"setattr", "delattr", "exec", "eval", "vars", "__dict__", "__setattr__", "__delattr__", "__setstate__"})
"""By these, code writes into fields that it does not name."""
_BY_IDENTITY = frozenset({"hash", "set", "frozenset", "dict", "fromkeys", "Counter", "groupby", "weakref", "unique", "pickle"})
"""By these, code may ask who is who without a call of its own for it."""


@final
@dataclass
class Writes:
    """Into which `fields` some functions write, of objects they did not make; whether into `items`, and into fields they do not
    name (`unseen`); the `variables` they write into, by identity; whether they may compare objects `by_identity`."""

    fields: set[str] = field(default_factory=set)
    items: bool = False
    unseen: bool = False
    by_identity: bool = False
    variables: set[int] = field(default_factory=set)


def writes_in(function: types.FunctionType, others: Iterable[types.FunctionType]) -> Writes:
    """What a function and others that it may call write into that others may know. Methods that nobody names are not called."""
    found = Writes()
    functions = [function, *others]
    named = {function.__name__, *(name for f in functions for name in names_in(f.__code__))}
    for f in functions:
        is_special = f.__name__[:2] == f.__name__[-2:] == "__"
        if is_special or f.__name__ in named or "." not in f.__qualname__.rpartition(">")[2]:
            _note(f, found)
    return found


def _note(function: types.FunctionType, found: Writes) -> None:
    names = names_in(function.__code__)
    is_generated = function.__code__.co_filename == "<string>" and function.__name__[:2] == "__"  # of a dataclass
    if is_generated:
        return
    found.by_identity |= not _BY_IDENTITY.isdisjoint(names)
    if function.__name__ not in _MAKERS:
        found.unseen |= not _UNSEEN.isdisjoint(names)
    cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
    captured = {name: cell.cell_contents for name, cell in cells if _is_filled(cell)}
    variables = ChainMap(captured, function.__globals__)
    text = _text(function, frozenset(name for name in names if isinstance(variables.get(name), types.ModuleType)))
    if text is None:
        found.unseen = found.by_identity = True
        return
    found.fields |= text.fields
    found.items |= text.items
    found.by_identity |= text.by_identity
    found.variables |= {id(variables.get(name)) for name in text.variables}


@final
@dataclass
class _Text:
    """What the text of one function writes into: of `Writes` what depends on nothing else, and the names of the variables."""

    fields: set[str] = field(default_factory=set)
    items: bool = False
    by_identity: bool = False
    variables: set[str] = field(default_factory=set)


_SIZE = 1024
_texts: dict[tuple[types.CodeType, frozenset[str]], _Text | None] = {}


def _text(function: types.FunctionType, modules: frozenset[str]) -> _Text | None:
    """What the text of a function writes into, some names in which are those of modules; None if there is no text. Every call
    of a run asks for it, so it is remembered."""
    key = function.__code__, modules
    if key not in _texts:
        if len(_texts) >= _SIZE:
            _texts.clear()
        tree = _tree(function)
        text = None if tree is None else _Text()
        if tree is not None and text is not None:
            _Reader(modules, text).read(tree, ())
        _texts[key] = text
    return _texts[key]


def _is_filled(cell: types.CellType) -> bool:
    try:
        cell.cell_contents  # noqa: B018 - an empty cell raises
    except ValueError:
        return False
    return True


def _tree(function: types.FunctionType) -> ast.FunctionDef | ast.Lambda | None:
    try:
        return find_source(function).tree
    except DifferentiationError:
        return None


Scopes = tuple[Mapping[str, bool], ...]
"""The names bound in a function and those it is in, with whether each is of something new; the innermost is the last."""


@final
@dataclass(frozen=True, slots=True)
class _Reader:
    modules: frozenset[str]
    found: _Text

    def read(self, tree: ast.FunctionDef | ast.Lambda, outer: Scopes) -> None:
        scopes = (*outer, _scope(tree))
        for node in _own_nodes(tree):
            if isinstance(node, ast.FunctionDef | ast.Lambda):
                self.read(node, scopes)
            else:
                self.node(node, scopes)

    def node(self, node: ast.AST, scopes: Scopes) -> None:
        match node:
            case ast.Attribute(value=value, attr=name, ctx=ast.Store() | ast.Del()):
                if not self.is_new(value, scopes):
                    self.found.fields.add(name)
            case ast.Subscript(value=value, ctx=ast.Store() | ast.Del()):
                self.items(value, scopes)
            case ast.AugAssign(target=ast.Name() as target):
                self.items(target, scopes)
            case ast.Call():
                for written in self.written_by(node, scopes):
                    self.items(written, scopes)
            case ast.Set() | ast.SetComp() | ast.DictComp():
                self.found.by_identity = True
            case ast.Dict(keys=keys):
                self.found.by_identity |= not all(isinstance(key, ast.Constant) for key in keys)

    def items(self, target: ast.expr, scopes: Scopes) -> None:
        self.found.items |= not self.is_new(target, scopes)

    def written_by(self, call: ast.Call, scopes: Scopes) -> Iterator[ast.expr]:
        yield from (keyword.value for keyword in call.keywords if keyword.arg == "out")
        match call.func:
            case ast.Attribute(value=value, attr=name) if name in WRITERS:
                of_module = isinstance(value, ast.Name) and value.id in self.modules
                yield call.args[0] if of_module and call.args else value
            case ast.Name(id=name) if name in WRITERS and not any(name in scope for scope in scopes):
                yield call.args[0] if call.args else call.func

    def is_new(self, target: ast.expr, scopes: Scopes) -> bool:
        """Whether what is written into was made by the function, or is a variable, which is noted."""
        root: ast.expr = target
        while isinstance(root, ast.Attribute | ast.Subscript):
            root = root.value
        if not isinstance(root, ast.Name):
            return isinstance(root, ast.List | ast.Dict | ast.ListComp | ast.DictComp)
        for scope in reversed(scopes):
            if root.id in scope:
                return scope[root.id]
        self.found.variables.add(root.id)
        return target is root


def _own_nodes(tree: ast.FunctionDef | ast.Lambda) -> Iterator[ast.AST]:
    """The nodes of a function, and the functions in it, but not what is in these."""
    waiting: list[ast.AST] = [*tree.body] if isinstance(tree, ast.FunctionDef) else [tree.body]
    while waiting:
        node = waiting.pop()
        yield node
        if isinstance(node, ast.FunctionDef | ast.Lambda):
            waiting += [*node.args.defaults, *filter(None, node.args.kw_defaults)]
        else:
            waiting += ast.iter_child_nodes(node)


def _scope(tree: ast.FunctionDef | ast.Lambda) -> dict[str, bool]:
    given = tree.args
    names = [each.arg for each in (*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg) if each]
    scope = dict.fromkeys(names, False)
    if names and getattr(tree, "name", "") in _MAKERS:
        scope[names[0]] = True
    elsewhere: set[str] = set()
    made: set[int] = set()
    for node in _own_nodes(tree):  # a statement comes before the names in it
        match node:
            case ast.Global(names=others) | ast.Nonlocal(names=others):
                elsewhere |= set(others)
            case ast.Assign(targets=targets, value=value) if _is_made(value):
                made |= set(map(id, targets))
            case ast.AnnAssign(target=target, value=ast.expr() as value) if _is_made(value):
                made.add(id(target))
            case ast.For(target=target, iter=ast.Call(func=ast.Name(id="range"))) | ast.AugAssign(target=target):
                made.add(id(target))
            case ast.Name(id=name, ctx=ast.Store()):
                scope[name] = scope.get(name, True) and id(node) in made
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)) | ast.FunctionDef(name=name):
                scope[name] = False
    return {name: is_made for name, is_made in scope.items() if name not in elsewhere}


_NEW = (
    ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp, ast.Constant, ast.BinOp, ast.UnaryOp, ast.Compare,
    ast.JoinedStr,
)  # fmt: skip


def _is_made(value: ast.expr) -> bool:
    """Whether an expression gives something new, or a number."""
    if isinstance(value, ast.Call):
        name = value.func.attr if isinstance(value.func, ast.Attribute) else getattr(value.func, "id", "")
        return name in _MAKE or name[:1].isupper()
    return isinstance(value, _NEW)
