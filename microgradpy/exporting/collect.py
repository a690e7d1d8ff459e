"""From the generated functions to everything that their text needs: what is imported, what is copied, what is refused."""

from __future__ import annotations

import ast
import builtins
import sys
import types
from collections.abc import Callable, Mapping
from typing import Any, final

import numpy as np

from microgradpy.cache import Unit, reached_units
from microgradpy.errors import DifferentiationError, MissingRuleError
from microgradpy.exporting import parts
from microgradpy.exporting.calls import DISPATCHERS, Choice, call_place, check_is_everywhere, dispatcher_refusal, text_at
from microgradpy.exporting.entries import Entry, Reference
from microgradpy.exporting.halves import HalfReader
from microgradpy.exporting.scopes import MISSING, bound_names, lookup, meaning_of, outer_names
from microgradpy.exporting.sources import assignment, class_text, function_text
from microgradpy.exporting.specialise import Specialiser, is_refusal
from microgradpy.exporting.syntax import check_syntax, has_newer_texts, in_older_syntax, without_annotations
from microgradpy.exporting.target import Target, writes_refusal
from microgradpy.exporting.values import NotWritable, expression
from microgradpy.frontend.source import place_of
from microgradpy.ir.nodes import UNASSIGNED, Location, Unassigned
from microgradpy.linking import finish, finish_reached
from microgradpy.runtime.cotangents import attribute_cotangent
from microgradpy.runtime.rule_texts import importable
from microgradpy.state.snapshots import frozen
from microgradpy.tangents.fields import dict_of
from microgradpy.tangents.types import is_structural_zero

_PACKAGE = __name__.partition(".")[0]
_ERROR = parts.DifferentiationError.__name__
_REPLACED: dict[Any, Any] = {
    is_structural_zero: parts.is_nothing,
    Unassigned: parts.Unassigned,
    attribute_cotangent: parts.attribute_cotangent,
    frozen: parts.frozen,
    dict_of: parts.dict_of,
}


class Collector:
    """The entries of one module, by what they stand for."""

    def __init__(self, target: Target) -> None:
        root, self.target = target.unit, target
        self.where = place_of(target.function)
        self.primal: types.FunctionType | None = None  # the generated function that is being read, if it is a primal
        self.entries: dict[Any, Entry] = {}
        self.halves: dict[int, tuple[Unit, bool]] = {}
        for unit in reached_units(root):
            finish(unit)
        finish_reached(root)
        for unit in reached_units(root):
            self.halves[id(unit.primal)] = (unit, False)
            self.halves[id(unit.adjoint)] = (unit, True)

    # The halves of units

    def half(self, unit: Unit, is_adjoint: bool) -> Entry:
        """The entry of a generated function and, from it, of all that it needs."""
        assert unit.texts is not None
        function: Any = unit.adjoint if is_adjoint else unit.primal
        return self.generated(function, unit.texts[is_adjoint], is_adjoint)

    def generated(self, function: Any, text: str, is_adjoint: bool) -> Entry:
        """The same of a generated function and its text."""
        key = ("half", id(function))
        if key in self.entries:
            return self.entries[key]
        tree = ast.parse(text).body[0]
        assert isinstance(tree, ast.FunctionDef)
        entry = Entry(tree.name, "half", tree=tree, text=text)
        entry.own = bound_names(tree) - {tree.name}
        self.entries[key] = entry
        outer, self.primal = self.primal, None if is_adjoint else function
        HalfReader(entry, tree, function.__globals__, self.reference, self.chosen, self.refusal).read()
        self.primal = outer
        return entry

    # What a name stands for

    def reference(self, value: Any, name: str, namespace: Mapping[str, Any] | None = None) -> Reference:
        """What a name in some text becomes that stands for this object there; `namespace` is the module, if it is the name
        of a variable there. Raises a refusal for what a stand-alone module cannot have."""
        found = self._known(value)
        if found is not None:
            return found
        if isinstance(value, types.ModuleType):
            return Reference(self._import(value, name))
        if isinstance(value, types.FunctionType | type) and not _is_of_library(value):
            return Reference(self._definition(value))
        if callable(value) and not isinstance(value, np.generic):
            return self._imported(value, name)
        return Reference(self._variable(value, name, namespace))

    def _known(self, value: Any) -> Reference | None:
        unit = self.halves.get(id(value))
        if unit is not None:
            return Reference(self.half(*unit))
        if value is Any or value is Callable:
            return Reference(None, "Any" if value is Any else "Callable")
        for name in (getattr(value, "__name__", ""),):
            if isinstance(name, str) and name and getattr(builtins, name, MISSING) is value:
                return Reference(None, name)
        if is_refusal(value):
            return Reference(self._definition(parts.DifferentiationError))
        if value is NotImplemented or value is Ellipsis:
            return Reference(None, repr(value))
        if value is UNASSIGNED:
            return Reference(self._unassigned())
        if isinstance(value, types.FunctionType | type) and value in _REPLACED:
            return Reference(self._definition(_REPLACED[value]))
        return None

    def _unassigned(self) -> Entry:
        key = "UNASSIGNED"
        if key not in self.entries:
            made = Reference(self._definition(parts.Unassigned))
            tree = ast.parse("UNASSIGNED = Unassigned()").body[0]
            self.entries[key] = Entry(key, "variable", tree=tree, meanings={"Unassigned": made})
        return self.entries[key]

    def _import(self, module: types.ModuleType, name: str) -> Entry:
        check_is_everywhere(module.__name__, self.refusal)
        canonical = {"numpy": "np", "posixpath": "path", "ntpath": "path"}.get(module.__name__, module.__name__)
        stem = canonical if "." not in canonical else name
        key = ("import", module.__name__)
        if key not in self.entries:
            self.entries[key] = Entry(stem, "import", text=module.__name__)
        return self.entries[key]

    def _imported(self, value: Any, name: str) -> Reference:
        in_types = next((f"types.{each}" for each, found in vars(types).items() if found is value), "")
        path = in_types or importable(value, str(getattr(value, "__name__", name)).rpartition(".")[2])
        root = path.partition(".")[0].lstrip("_")
        if not path or (root != "numpy" and root not in sys.stdlib_module_names):
            raise self.refusal(f"{name}, {_described(value)}", "Write it as a function, or with NumPy's functions.")
        if "." not in path:
            return Reference(None, path)
        module_name = next(part for part in _prefixes(path) if part in sys.modules)
        rest = path[len(module_name) + 1 :]
        if module_name.startswith("numpy."):
            module_name, rest = "numpy", path.partition(".")[2]
        return Reference(self._import(sys.modules[module_name], module_name.rpartition(".")[2]), rest)

    # Functions and classes

    def _definition(self, value: Any) -> Entry:
        key = ("definition", id(value))
        if key in self.entries:
            return self.entries[key]
        refused = dispatcher_refusal(value, has_examples=self.target.has_examples)
        if refused is not None:
            known = self.primal is not None and (value in DISPATCHERS or self.target.unit.tracks)
            call = call_place(self.primal, value) if known else None  # type: ignore[arg-type]
            if self.target.unit.tracks:
                raise writes_refusal(self.target.function, call or self.where, call="" if call is None else text_at(call))
            raise self.refusal(*refused, call)
        is_class = isinstance(value, type)
        text = ""
        tree: ast.ClassDef | ast.FunctionDef
        if isinstance(value, type):
            tree, namespace = class_text(value, self.refusal)
        else:
            tree, text, namespace = function_text(value)
        if not _is_own(namespace):
            tree, text = self._in_older_syntax(tree, text)
        entry = Entry(tree.name.lstrip("_") or "function", "class" if is_class else "function", tree=tree)
        self.entries[key] = entry
        self._fill(entry, namespace, text)
        return entry

    def _in_older_syntax(self, tree: Any, text: str) -> tuple[Any, str]:
        """A definition of the user's, which need not be for the oldest Python that a module is for."""
        is_as_written = not without_annotations(ast.fix_missing_locations(tree))
        check_syntax(tree, self.refusal)
        if has_newer_texts(text) or has_newer_texts(ast.unparse(tree)):
            return in_older_syntax(tree, self.refusal), ""
        return tree, text if is_as_written else ""

    def _fill(self, entry: Entry, namespace: Mapping[str, Any], text: str = "") -> None:
        """Specialise the text of an entry and find what it needs."""
        assert entry.tree is not None
        if namespace is vars(parts):
            entry.text = text
        else:
            before = ast.dump(entry.tree)
            specialised = Specialiser(lambda node: meaning_of(node, namespace)).visit(entry.tree)
            if _is_own(namespace):
                entry.meanings["Any"] = Reference(None, "Any")
                specialised = _Flatten(namespace, self, entry).visit(specialised)
            entry.tree = ast.fix_missing_locations(specialised)
            if ast.dump(entry.tree) == before and not _has_defaults(entry.tree):
                entry.text = text
            if any(isinstance(node, ast.Name) and node.id == _ERROR for node in ast.walk(entry.tree)):
                entry.meanings[_ERROR] = Reference(self._definition(parts.DifferentiationError))
        own_name = getattr(entry.tree, "name", "")
        entry.own = bound_names(entry.tree) - {own_name}
        for name in outer_names(entry.tree):
            if name in entry.meanings:
                continue
            value = lookup(name, namespace)
            if value is MISSING:
                raise self.refusal(f"the name {name}, which {own_name or entry.stem} reads and nothing defines", "Define it.")
            entry.meanings[name] = self.reference(value, name, namespace)

    def chosen(self, rules: list[Choice], name: str) -> Reference:
        """The one rule of a call, or a function that chooses among several by the types of its operands."""
        if len(rules) == 1:
            return self.reference(rules[0][1], name)
        key = ("chosen", name)
        if key not in self.entries:
            entry = self.entries[key] = Entry(name, "function", own={"operands"})
            lines = [f"def {name}(*operands: Any) -> Any:"]
            lines.append('    """The value of a call and its pullback, by the types of the operands."""')
            for types_of_rule, rule in rules:
                tests = [f"isinstance(operands[{place}], {cls.__name__})" for place, cls in enumerate(types_of_rule)]
                reference = self.reference(rule, rule.__name__)
                entry.meanings[rule.__name__] = reference
                call = f"return {rule.__name__}(*operands)"
                lines += [f"    if {' and '.join(tests)}:", f"        {call}"] if tests else [f"    {call}"]
            entry.tree = ast.parse("\n".join(lines)).body[0]
        return Reference(self.entries[key])

    # Data

    def _variable(self, value: Any, name: str, namespace: Mapping[str, Any] | None) -> Entry:
        key = ("variable", id(namespace), name) if namespace is not None else ("variable", id(value), name)
        if key in self.entries:
            return self.entries[key]
        entry = Entry(name, "variable")
        self.entries[key] = entry
        if namespace is not None and _is_own(namespace) and not isinstance(value, int | float | str):
            entry.tree = assignment(namespace, name, self.refusal)
            self._fill(entry, namespace)
            entry.own = set()
            return entry
        try:
            text = expression(value)
        except NotWritable as error:
            raise self.refusal(f"the variable {name} ({error})", "Pass what is needed of it as an argument.") from None
        entry.tree = ast.parse(f"{name} = {text}").body[0]
        if "np." in text:
            entry.meanings["np"] = Reference(self._import(np, "np"))
        return entry

    def refusal(self, found: str, remedy: str, call: Location | None = None) -> DifferentiationError:
        name = self.target.function.__name__
        needs = "it needs" if call is None else f"the call `{text_at(call)}` needs"
        return MissingRuleError(f"{name} cannot be exported: {needs} {found}", call or self.where, remedy)


@final
class _Flatten(ast.NodeTransformer):
    """Writes names for `module.name` where the module is the package's own, and leaves out annotations that need imports."""

    def __init__(self, namespace: Mapping[str, Any], collector: Collector, entry: Entry) -> None:
        self.namespace, self.collector, self.entry = namespace, collector, entry

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.value, ast.Name):
            owner = self.namespace.get(node.value.id)
            if isinstance(owner, types.ModuleType) and owner.__name__.partition(".")[0] == _PACKAGE:
                self.entry.meanings[node.attr] = self.collector.reference(getattr(owner, node.attr), node.attr, vars(owner))
                return ast.Name(node.attr, ast.Load())
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        self.generic_visit(node)
        node.decorator_list = []
        node.returns = _plain_annotation(node.returns)
        for argument in ast.walk(node.args):
            if isinstance(argument, ast.arg) and argument.arg != "self":
                argument.annotation = _plain_annotation(argument.annotation)
        if not ast.get_docstring(node) and not node.name.startswith("__"):
            said = node.name.strip("_").replace("_", " ").removesuffix(" pullback")
            text = "The cotangents of the arguments." if node.name.endswith("_pullback") else f"{said.capitalize()}."
            node.body.insert(0, ast.Expr(ast.Constant(text)))
        return node

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        self.generic_visit(node)
        if node.value is None:
            return node
        return ast.Assign([node.target], node.value)


def _has_defaults(tree: ast.AST) -> bool:
    """Whether a function has defaults, whose expressions are not those of its text."""
    return isinstance(tree, ast.FunctionDef) and bool(tree.args.defaults or any(tree.args.kw_defaults))


def _is_own(namespace: Mapping[str, Any]) -> bool:
    """Whether a namespace is that of a module of the package."""
    return str(namespace.get("__name__", "")).partition(".")[0] == _PACKAGE


def _plain_annotation(node: ast.expr | None) -> ast.expr:
    if node is None:
        return ast.Name("Any", ast.Load())
    names = {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}
    known = {"Any", "np", "bool", "int", "float", "str", "list", "tuple", "dict"}
    return node if names <= known else ast.Name("Any", ast.Load())


def _is_of_library(value: Any) -> bool:
    root = str(getattr(value, "__module__", "")).partition(".")[0].lstrip("_")
    return root == "numpy" or root in sys.stdlib_module_names - {"__main__"}


def _prefixes(path: str) -> list[str]:
    """`a.b.c` -> "a.b", "a"."""
    pieces = path.split(".")
    return [".".join(pieces[:count]) for count in range(len(pieces) - 1, 0, -1)]


def _described(value: Any) -> str:
    return f"an object of type {type(value).__qualname__}"
