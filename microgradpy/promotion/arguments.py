"""Functions of arguments in sight: reading them is reading their parts, which become inputs.

    def loss(model, x):                         loss(w, b, x)
        for layer in model.layers:
            x = layer(x)                        x = np.tanh(x @ w + b)
        return np.sum(x)                        return np.sum(x)

Methods are written where they are called, and loops over items one after the other. What is not followed (a part is returned,
given to code that is not in sight) raises `Escapes`, and the argument it belongs to stays an input as it is. What becomes of
those that are written into is in `written_arguments`.
"""

from __future__ import annotations

import copy
import dataclasses
import operator
import types
from collections.abc import Mapping
from typing import Any, final

from microgradpy.dataclasses import replace
from microgradpy.ir.nodes import (
    Const,
    For,
    Function,
    If,
    Op,
    Opcode,
    Raise,
    Region,
    Return,
    Terminator,
    Yield,
    fresh,
    function_constant,
    operator_constant,
)
from microgradpy.promotion import classes
from microgradpy.promotion.apart import call_apart, flattened
from microgradpy.promotion.classes import ABSENT
from microgradpy.promotion.findings import Changes, Escapes, Facts, NotInSight, Origin
from microgradpy.promotion.functions import Lower, Named, is_in_file
from microgradpy.promotion.given import STATIC, folded_call, objects_named
from microgradpy.promotion.objects import NONE, OPERATORS
from microgradpy.promotion.parts import READ, Parts
from microgradpy.promotion.places import Chosen, Display, Frame, Known, Method, Part, first_origin, is_thing
from microgradpy.rules.registry import is_non_differentiable, rrule
from microgradpy.runtime.suspension import is_generator

_MOST_INSIDE_ITSELF, _SURELY_FEW = 8, 3
_MOST_CALLS = 300
"""Functions inside of themselves, as layers in layers are, are written out that deep, and if there are not many of them."""
_EQ, _KEY_ERROR = operator_constant("eq"), function_constant(KeyError)
_SHARED = ("members", "leaves", "inside", "kinds", "functions", "checks", "appended", "variables", "converted", "naming")
_SHARED_OF_WRITES = ("written_out", "roots", "containers", "places", "unread", "real", "reached")


@final
class Arguments(Parts):
    """`examples` are arguments that may be in sight, by the number of the input."""

    def __init__(self, function: types.FunctionType, lower: Lower, facts: Facts, examples: Mapping[int, Any]) -> None:
        super().__init__(function, lower, facts)
        self.examples = examples
        self.naming: dict[types.FunctionType, bool] = {}
        self.inside: list[types.FunctionType] = []
        self.written_out = [0]
        """How many calls have been written out."""
        self.helped = True
        self.is_within = False
        self.returned: Part | Display | None = None

    def whole(self, function: Function, frame: Frame) -> Function:
        """The function with the inputs standing for their examples."""
        for number, example in self.examples.items():
            var = function.inputs[number]
            part = Part((number,), (number,), var.hint, example)
            if part.origin not in self.facts.kept and (known := self.enter(part)) is not None:
                self.roots[number] = part
                self.bind(var, known, frame)
        if not any(is_thing(part.known) for part in self.roots.values() if part.known is not None):
            if not self.has_names(self.function.__code__):
                raise NotInSight
        begun = self.begin_writes(function, frame)
        made = super().whole(function, frame)
        self.note_shadowed()
        made = replace(made, body=replace(made.body, statements=(*begun, *made.body.statements)))
        return flattened(made, self.roots, [each.part for each in self.variables.values()])

    def within(self, function: types.FunctionType) -> Arguments:
        """The walker over a function of another module, which shares what is found out."""
        inner = Arguments(function, self.lower, self.facts, {})
        for name in (*_SHARED, *_SHARED_OF_WRITES):
            setattr(inner, name, getattr(self, name))
        inner.is_within = True
        return inner

    def terminator(self, terminator: Terminator, frame: Frame) -> Terminator:
        known = self.known(terminator.value, frame) if self.is_within and isinstance(terminator, Return) else None
        if isinstance(known, Part | Display) and frame.is_root:
            self.returned = known
            return Return(NONE)
        return super().terminator(terminator, frame)

    def first_root(self) -> Origin:
        known = (*self.roots.values(), *(variable.part for variable in self.variables.values()))
        return known[0].origin if known else ()

    # Calls

    def by_class(self, op: Op, callee: Known, arguments: tuple[Known, ...], frame: Frame) -> bool:
        """A call of a function that is chosen when the program runs, too, is a branch for each."""
        if not isinstance(callee, Chosen):
            return super().by_class(op, callee, arguments, frame)
        self.branch(self.by_key(op, callee, callee.functions, frame), frame)
        return True

    def by_key(self, op: Op, callee: Chosen, left: tuple[tuple[Any, Const], ...], frame: Frame) -> If:
        """The call of the function under one key, or else of those that are left; Python's error for another key."""
        (key, function), *others = left
        asked, missed = fresh("is_chosen"), fresh("error")
        self.add(Op(_EQ, (callee.key, Const(key)), (asked,), from_user=False, where=op.where))
        results, other = (tuple(fresh(each.hint) for each in op.results) for _ in range(2))
        then = Region((replace(op, callee=function, results=results),), Yield(results))
        if others:
            rest = fresh("chosen")
            frame.values[rest] = replace(callee, functions=tuple(others))
            orelse = Region((replace(op, callee=rest, results=other),), Yield(other))
        else:
            orelse = Region((Op(_KEY_ERROR, (callee.key,), (missed,), where=op.where),), Raise(missed, None, op.where))
        return If(asked, then, orelse, op.results, op.where)

    def call(self, op: Op, callee: Known, arguments: tuple[Known, ...], keywords: Named, frame: Frame) -> Known | None:
        given = (*arguments, *keywords.values())
        if isinstance(callee, Part):
            function = self.function_of_class(callee, "__call__")
            return self.inline(op, function, (callee, *arguments), keywords, frame, callee.origin)
        if isinstance(callee, Method) and isinstance(callee.receiver, Part | Display):
            return self.method_of_part(op, callee, arguments, keywords, frame)
        if isinstance(callee, Const):
            self.check_changes(callee.value, arguments)
            if callee.value is getattr and len(arguments) == 2 and (found := self.of_module(arguments)) is not None:
                return found
            folded = folded_call(callee.value, arguments, self.leaves) if not keywords else None
            if folded is not None:
                return folded
            if any(isinstance(each, Part | Display) for each in given):
                return self.call_with_parts(op, callee, arguments, keywords, frame)
            if isinstance(callee.value, types.FunctionType) and self.names_objects(callee.value):
                return self.inline(op, callee.value, arguments, keywords, frame, ("call", callee.value))
        return super().call(op, callee, arguments, keywords, frame)

    def has_names(self, code: types.CodeType) -> bool:
        return objects_named(code, self.function.__globals__)

    def names_objects(self, function: types.FunctionType) -> bool:
        """Whether a function of the module is to be written where it is called, as it names objects in sight."""
        if function not in self.naming:
            is_own = is_in_file(function, self.function) and not is_generator(function.__code__)
            is_known = rrule.has(function) or is_non_differentiable(function)
            self.naming[function] = is_own and not is_known and self.has_names(function.__code__)
        return self.naming[function] and ("call", function) not in self.facts.kept

    def call_with_parts(
        self, op: Op, callee: Const, arguments: tuple[Known, ...], keywords: Named, frame: Frame
    ) -> Known | None:
        """A call that gets parts of arguments."""
        function = callee.value
        is_hashable = isinstance(function, types.BuiltinFunctionType | types.FunctionType | type)
        known = READ.get(function) if is_hashable and not keywords else None
        is_whole = function in (getattr, setattr, operator.setitem) or len(arguments) <= 2
        if function is operator.setitem and not (isinstance(arguments[0], Part) and arguments[0].is_container):
            known = None
        if known is not None and isinstance(arguments[0], Part | Display) and is_whole:
            return known(self, op, arguments, frame)
        if function is super:
            return self.super_of(arguments)
        if is_hashable and function in (dataclasses.replace, copy.copy) and isinstance(arguments[0], Part):
            return super().call(op, callee, (self.as_object(arguments[0]), *arguments[1:]), keywords, frame)
        first = arguments[0] if arguments else None
        if is_hashable and function in OPERATORS and isinstance(first, Part) and not first.is_container:
            return self.operator_of_part(op, function, arguments, frame)
        if isinstance(function, types.FunctionType) and not is_generator(function.__code__):
            parts = [each for each in (*arguments, *keywords.values()) if isinstance(each, Part | Display)]
            is_own = is_in_file(function, self.function)
            is_own = is_own or any(isinstance(each, Part) and not each.is_container for each in parts)
            if is_own and not rrule.has(function) and not is_non_differentiable(function):
                return self.inline(op, function, arguments, keywords, frame, parts[0].origin)
        return super().call(op, callee, arguments, keywords, frame)

    def inline(
        self,
        op: Op,
        function: types.FunctionType,
        arguments: tuple[Known, ...],
        keywords: Named,
        frame: Frame,
        origin: Origin,
    ) -> Known:
        """A function that walks down objects which differ from call to call is not written out."""
        depth = self.inside.count(function)
        if depth >= _MOST_INSIDE_ITSELF or (depth >= _SURELY_FEW and self.written_out[0] > _MOST_CALLS):
            raise Escapes(origin)
        self.inside.append(function)
        self.written_out[0] += 1
        try:
            things = [each for each in (*arguments, *keywords.values()) if is_thing(each)]
            is_read = bool(things) and all(isinstance(each, Part | Display) for each in things)
            if is_read and function.__globals__ is not self.function.__globals__:
                return call_apart(self, op, function, arguments, keywords, frame, origin)
            return super().inline(op, function, arguments, keywords, frame, origin)
        finally:
            self.inside.pop()

    def method_of_part(
        self, op: Op, method: Method, arguments: tuple[Known, ...], keywords: Named, frame: Frame
    ) -> Known | None:
        receiver = method.receiver
        if method.name == "_replace" and isinstance(receiver, Part) and classes.is_record(receiver.cls) and not arguments:
            return self.replaced(Method(self.as_object(receiver), None, "_replace"), keywords)
        if method.function is not None:
            return self.inline(op, method.function, (receiver, *arguments), keywords, frame, receiver.origin)
        if isinstance(receiver, Part) and receiver.cls is list and method.name in ("append", "extend"):
            raise Changes(receiver.path)
        if keywords or not isinstance(receiver, Part) or receiver.cls is not dict:
            return self.escape(receiver)
        if method.name == "get" and 1 <= len(arguments) <= 2 and isinstance(arguments[0], Const):
            return self.gotten(receiver, arguments[0].value, *arguments[1:])
        if method.name not in ("items", "values", "keys") or arguments:
            return self.escape(receiver)
        pairs = self.pairs(receiver)
        if pairs is None:
            raise Escapes(receiver.origin)
        found: dict[str, tuple[Known, ...]] = {
            "keys": tuple(Const(key) for key, _ in pairs),
            "values": tuple(value for _, value in pairs),
            "items": tuple(Display(receiver.origin, (Const(key), value)) for key, value in pairs),
        }
        return Display(receiver.origin, found[method.name])

    # Control flow

    def structure(self, op: Op, opcode: Opcode, frame: Frame) -> None:
        is_own = opcode is Opcode.GLOBAL and not op.arguments  # and not read by a function of another module
        if is_own and (variable := self.variable(str(op.payload))) is not None:
            self.bind(op.results[0], variable, frame)
            return
        arguments = tuple(self.known(value, frame) for value in op.arguments)
        if opcode in (Opcode.LIST, Opcode.TUPLE) and any(isinstance(each, Part | Display) for each in arguments):
            origin = next(each.origin for each in arguments if isinstance(each, Part | Display))
            self.bind(op.results[0], Display(origin, arguments), frame)
            return
        items = self.items(arguments[0]) if opcode is Opcode.UNPACK else None
        if items is None:
            super().structure(op, opcode, frame)
            return
        if len(items) != len(op.results) or op.payload is not None:
            raise Escapes(first_origin(arguments))
        for result, known in zip(op.results, items, strict=True):
            self.bind(result, known, frame)

    def branch(self, statement: If, frame: Frame) -> None:
        condition = self.known(statement.condition, frame)
        if isinstance(condition, Const) and type(condition.value) in STATIC:
            statement = replace(statement, condition=Const(bool(condition.value)))
        elif isinstance(condition, Part | Display):
            items = self.items(condition)
            has_own = isinstance(condition, Part) and any(
                self.member(condition.cls, name) is not ABSENT for name in ("__bool__", "__len__") if items is None
            )
            if has_own:
                raise Escapes(condition.origin)
            statement = replace(statement, condition=Const(items is None or bool(items)))
        super().branch(statement, frame)

    def is_written_out(self, statement: For, frame: Frame) -> bool:
        return True
