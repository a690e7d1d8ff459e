"""What becomes of an operation: those on something in sight read and write its fields, others stay what they are."""

from __future__ import annotations

import copy
import dataclasses
import functools
import operator
import types
from collections.abc import Callable
from typing import Any

from microgradpy.ad.instrument import OUT_OF_PLACE
from microgradpy.dataclasses import replace
from microgradpy.frontend.closures import ClosureBody
from microgradpy.frontend.exceptions import caught
from microgradpy.frontend.generators import iterator_of
from microgradpy.ir.kinds import Sequence
from microgradpy.ir.nodes import RAISED, SELF, Const, Op, Opcode, Value, Var, operator_constant
from microgradpy.promotion import classes, keying
from microgradpy.promotion.class_members import member_of_class
from microgradpy.promotion.comparing import COMPARE, compared, instance, is_among
from microgradpy.promotion.containers import KEYS
from microgradpy.promotion.contexts import CONTEXTS
from microgradpy.promotion.entries import Entering
from microgradpy.promotion.findings import Escapes, Nests, Origin, Shrinks, Writes
from microgradpy.promotion.functions import Functions, Named, is_followed
from microgradpy.promotion.held import WRITING, check_item_written
from microgradpy.promotion.inlining import Inlining, is_only_in_sight
from microgradpy.promotion.iterated import delegate, is_own, iterated, taken_apart
from microgradpy.promotion.managed import function_managed, manager
from microgradpy.promotion.object_keys import check_dict_asked, may_be_key
from microgradpy.promotion.objects import NONE, OPERATORS
from microgradpy.promotion.partials import new_partial, partial_of_module
from microgradpy.promotion.places import (
    AnyOf,
    Cell,
    ClassMethod,
    Closure,
    DictOf,
    Display,
    Element,
    Frame,
    Iterated,
    Known,
    ListOf,
    Method,
    Object,
    OfFunction,
    Packed,
    Partial,
    Table,
    Values,
    View,
    first_origin,
    is_thing,
    origin_of,
)
from microgradpy.promotion.raising import make_exception, shows_exception
from microgradpy.promotion.spread import applied
from microgradpy.promotion.stores import is_array
from microgradpy.promotion.writers import written_captures
from microgradpy.rules.registry import is_non_differentiable, rrule
from microgradpy.runtime.heaps import LISTS
from microgradpy.runtime.keyed import Grouped, Keyed, Nested
from microgradpy.runtime.keys import constant_key
from microgradpy.runtime.making import tie
from microgradpy.runtime.suspension import delegate_to, is_generator
from microgradpy.runtime.variables import new_cell, read_captured, read_local, set_contents

_NUMBERED = (Element, AnyOf, Packed)
_LISTED = (ListOf, DictOf, *_NUMBERED)
_TAKE_KEYS = (list, sorted, tuple, set, frozenset)
_BUILTIN = (types.BuiltinFunctionType, type)
_KEEP_NOTHING = frozenset({len, sum, print, min, max, any, all, repr, str, list, tuple, dict, sorted, operator.not_})
_KEEP_NOTHING |= {operator.getitem, operator.contains, operator.eq, operator.ne}
"""After these, nobody has what they were given."""
_WRITE = (operator.delitem, operator.iadd, operator.imul)


class Calls(Inlining):
    """What is done with operations, and where one goes."""

    def operation(self, op: Op, frame: Frame) -> None:
        if isinstance(op.callee, Opcode):
            self.structure(op, op.callee, frame)
            return
        callee = self.known(op.callee, frame)
        if not is_thing(callee):
            op = replace(op, callee=callee)  # type: ignore[arg-type]  # what a function calls may be what it was given
        arguments = tuple(self.known(value, frame) for value in op.arguments)
        keywords = {name: self.known(value, frame) for name, value in op.keywords}
        if not self.by_class(op, callee, arguments, frame):
            self.called_as(op, callee, arguments, keywords, frame)

    def with_records(self, op: Op, function: Any, arguments: tuple[Known, ...]) -> tuple[Known, ...]:
        """What an operator is given, with the namedtuples that were read from containers as such if their class says what the
        operator means."""
        names = OPERATORS[function]

        def has_own(known: Known) -> bool:
            cls = known.form.cls if isinstance(known, Packed) else None
            return cls is not None and any(isinstance(self.member(cls, name), types.FunctionType) for name in names)

        return tuple(self.as_record(each, op) if has_own(each) else each for each in arguments)  # type: ignore[arg-type]

    def called_as(self, op: Op, callee: Known, arguments: tuple[Known, ...], keywords: Named, frame: Frame) -> None:
        """Append what becomes of a call of something that is known, with what it is given."""
        self.check_called(callee, (*arguments, *keywords.values()))
        check_dict_asked(self, callee, arguments)
        found = self.call(op, callee, arguments, keywords, frame)
        if found is None:
            self.emit(op, callee, arguments, keywords, frame)
        else:
            self.bind(op.results[0], found, frame)
        self.bind_made(op, frame)
        if found is None and op.payload == RAISED:
            make_exception(self, op, callee, arguments, keywords, frame)

    def bind_made(self, op: Op, frame: Frame) -> None:
        """Let the result of an operation be what it has made that is in sight."""
        if self.made is not None:
            self.bind(op.results[0], self.made, frame)
            self.made = None

    def inline(
        self,
        op: Op,
        function: types.FunctionType,
        arguments: tuple[Known, ...],
        keywords: Named,
        frame: Frame,
        origin: Origin,
    ) -> Known:
        """The body of a function, in the place of its call; functions made inside that it is given are in sight then."""
        if function_managed(function) is not None:
            found = self.generator(op, function, arguments, keywords, frame)
            if found is None:
                raise Escapes(origin)
            return found
        for each in (*arguments, *keywords.values()):
            self.check_given(each)
        return super().inline(op, function, arguments, keywords, frame, origin)

    def generator(
        self, op: Op, function: types.FunctionType, arguments: tuple[Known, ...], keywords: Named, frame: Frame
    ) -> Known | None:
        """What a call of a function that yields gives, or the context that is made of it."""
        makes = manager if function_managed(function) is not None else Functions.generator
        return makes(self, op, function, arguments, keywords, frame)

    def emit(self, op: Op, callee: Known, arguments: tuple[Known, ...], keywords: Named, frame: Frame) -> None:
        """The operation as it is, on values."""
        head = self.plain(callee)
        hands = not (isinstance(head, Const) and isinstance(head.value, _BUILTIN) and head.value in _KEEP_NOTHING)
        shows = self.shows(head) or "copy" in keywords  # `np.array(x, copy=None)` may be `x`
        arguments, kept = self.lent_to_call(op, arguments, not hands or self.gives_numbers(head), not shows, frame)
        given = tuple(
            self.plain(
                known,
                shows=not (is_array(known) and known in kept) and (shows or not isinstance(known, View)),
                hands=hands and (shows or not _is_order(known)),
            )
            for known in arguments
        )
        named = tuple((name, self.plain(known, hands=hands)) for name, known in keywords.items())
        results = tuple(self.define(result, frame) for result in op.results)
        if isinstance(head, Const) and head.value is len:
            self.lengths.update(results)
        for result in results:
            self.contents.pop(result, None)
        made = replace(op, callee=head, arguments=given, keywords=named, results=results)
        self.add(made)
        if len(results) == 1:
            self.note_made(made, head, results[0], (*frame.path, op.results[0]), frame)
            self.note_given_back(head, results[0])

    def note_given_back(self, head: Value, result: Var) -> None:
        """Note what a function of the user's gives: if that is written into, the function is written where it is called, as it
        may have made it (`log = record(x)`, then `log.append(y)`)."""
        function = head.value if isinstance(head, Const) else None
        if not isinstance(function, types.FunctionType) or self.facts.beside_writes or is_generator(function.__code__):
            return
        origin = "factory", function.__code__
        if origin not in self.facts.written and is_followed(function, self.function) and not rrule.has(function):
            self.fresh[result] = origin

    def lent_to_call(
        self, op: Op, arguments: tuple[Known, ...], lends: bool, lends_arrays: bool, frame: Frame
    ) -> tuple[tuple[Known, ...], frozenset[Known]]:
        """The arguments of a call which keeps none of them, or no array; and those that may be written into afterwards, as
        what it has been given of them stays what it was."""
        if not (lends or lends_arrays):
            return arguments, frozenset()
        given = tuple(self.apart(known, op, frame) if lends or is_array(known) else known for known in arguments)
        arrays = frozenset(known for known in given if is_array(known))
        kept = arrays if arrays and self.stays() else frozenset()
        lent = {known for known in given if isinstance(known, ListOf)} if lends else arrays
        self.lent |= lent - kept - self.shown  # type: ignore[arg-type]
        return given, kept

    def structure(self, op: Op, opcode: Opcode, frame: Frame) -> None:
        origin = (*frame.path, *op.results[:1])
        arguments = tuple(self.known(value, frame) for value in op.arguments)
        is_kept = origin in self.facts.kept or (opcode is Opcode.LIST and self.facts.beside_writes)
        if not is_kept and self.makes(op, opcode, arguments, frame):
            return
        if opcode is Opcode.APPEND and isinstance(arguments[0], ListOf | Table | Object | Display):
            self.collect(op, arguments[0], arguments[1], frame)
        elif opcode is Opcode.APPLY and applied(self, op, arguments, frame):
            self.helped = True
        elif opcode is Opcode.UNPACK and self.takes_apart(op, arguments[0], frame):
            pass
        elif opcode is Opcode.SUSPEND and frame.step is not None:
            if len(self.trying) != frame.attempts:
                raise Escapes(frame.path, is_tried=True)  # its `try` would catch what the loop raises
            self.bind(op.results[0], frame.step(arguments[0]) or NONE, frame)
        elif opcode is Opcode.MARK:
            attempt = next(each for each in self.trying if each.scope == self.known(op.payload, frame))
            self.out.append(attempt.mark(arguments, self.fields, op.where))
        else:
            _check_module(op, frame)
            given = tuple(map(self.plain, arguments))
            results = tuple(self.define(result, frame) for result in op.results)
            self.add(made := replace(op, arguments=given, results=results))
            if opcode is Opcode.DICT:
                self.note_made(made, None, results[0], origin, frame)
                self.bind_made(op, frame)
            if opcode is Opcode.CLOSURE and origin not in self.facts.kept:
                self.fresh[results[0]] = origin

    def makes(self, op: Op, opcode: Opcode, arguments: tuple[Known, ...], frame: Frame) -> bool:
        """Make a list, dict or function that is in sight; whether it is one."""
        origin = (*frame.path, *op.results[:1])
        if self.makes_arranged(op, opcode, arguments, frame):
            return True
        is_display = opcode is Opcode.LIST or (opcode is Opcode.TUPLE and any(map(self.is_function_known, arguments)))
        arguments = self.all_among_functions(arguments) if is_display else arguments
        if opcode is Opcode.LIST and self.is_table(origin, arguments):
            self.new_table(op, origin, arguments, frame)
        elif opcode is Opcode.LIST and (unlike := _object_among_numbers(arguments)) is not None:
            raise Escapes(unlike.origin)  # it may be a number as well
        elif opcode is Opcode.LIST and all(map(_may_be_listed, arguments)):
            self.new_list_of(op, arguments, frame)
        elif opcode is Opcode.DICT:
            return self.makes_dict(op, origin, arguments, frame)
        elif opcode is Opcode.TUPLE:
            return self.makes_tuple(op, origin, arguments, frame)
        elif opcode is Opcode.GLOBAL:
            found = partial_of_module(self, op, frame)
            if found is not None:
                self.bind(op.results[0], found, frame)
            return found is not None
        elif opcode is Opcode.CLOSURE and self.follows(op, origin, arguments):
            self.bind(op.results[0], self.made_function(op, Closure(origin, op.payload, arguments)), frame)
        else:
            return False
        return True

    def makes_tuple(self, op: Op, origin: Origin, arguments: tuple[Known, ...], frame: Frame) -> bool:
        """Make a tuple that is in sight; whether it is one."""
        if not any(isinstance(each, Iterated) for each in arguments):
            return self.new_tuple(op, arguments, frame)
        self.bind(op.results[0], Display(origin, arguments), frame)  # a key and a group
        return True

    def makes_dict(self, op: Op, origin: Origin, arguments: tuple[Known, ...], frame: Frame) -> bool:
        """Make a dict that is in sight; whether it is one. What is empty, or holds values only, is made as it stands."""
        if op.arguments and origin not in self.facts.written and any(may_be_key(self, key) for key in arguments[::2]):
            raise Writes(origin)
        if op.arguments and origin in self.facts.written - self.facts.barred:
            self.new_filled_dict(op, arguments, frame)
        elif _has_own_keys(op.arguments[::2]):
            self.new_dict(op, arguments, frame)
        else:
            return False
        return True

    def follows(self, op: Op, origin: Origin, arguments: tuple[Known, ...]) -> bool:
        """Whether a function that is made inside is in sight."""
        has_things = self.captures_things(op, arguments)
        calls_itself = any(isinstance(each, Const) and each.value is SELF for each in op.arguments)
        is_followed = has_things or calls_itself or origin in self.facts.written or _is_apart(op)
        is_followed |= self.facts.functions.get(op.payload.code) in self.facts.pools
        return is_followed or self.has_names(op.payload.code)

    def has_names(self, code: types.CodeType) -> bool:
        """Whether code names variables of the module that are in sight."""
        return False

    def captures_things(self, op: Op, arguments: tuple[Known, ...]) -> bool:
        """Whether a function made inside has captured something in sight. What it writes into has to be that."""
        if isinstance(op.payload, ClosureBody):
            for number in sorted(written_captures(op.payload, self.written_by)):
                self.check_written(arguments[number])
        return any(map(is_thing, arguments))

    def collect(self, op: Op, place: ListOf | Table | Object | Display, item: Known, frame: Frame) -> None:
        """What a comprehension does with each item."""
        if isinstance(place, Display):
            self.bind(op.results[0], replace(place, items=(*place.items, item)), frame)
            return
        self.bind(op.results[0], place, frame)
        if isinstance(place, Object):
            self.add_to(op, place, item, frame)
        else:
            self.append(op, place, item)

    def takes_apart(self, op: Op, known: Known, frame: Frame) -> bool:
        """Take an object, or a tuple that was made in sight, apart; whether it is one."""
        if isinstance(known, Object) and known.cls in LISTS:
            results = tuple(self.define(result, frame) for result in op.results)
            self.add(replace(op, arguments=(self.plain(known, shows=False, hands=False),), results=results))
            return True
        if is_own(known) and op.payload is None and taken_apart(self, op, known, frame):
            return True
        if isinstance(known, Object):
            self.unpack(op, known, frame)
            return True
        items: tuple[Known, ...] = known.items if isinstance(known, Display) else ()
        if isinstance(known, Packed):
            items = self.items_of_packed(op, known) if op.payload is None else ()
        elif not items and op.payload is None:
            items = self.items_of_tuple(known) or self.objects_listed(known)
        for result, item in zip(op.results, items, strict=False) if len(items) == len(op.results) else ():
            self.bind(result, item, frame)
        return len(items) == len(op.results)

    # Calls

    def call(self, op: Op, callee: Known, arguments: tuple[Known, ...], keywords: Named, frame: Frame) -> Known | None:
        """What a call gives; None if it is made as it stands."""
        match callee:
            case Method():
                return self.method(op, callee, arguments, keywords, frame)
            case Closure():
                self.helped = True
                return self.closure(op, callee, arguments, keywords, frame)
            case Partial():
                return self.of_partial(op, callee, arguments, keywords, frame)
            case ClassMethod(origin=origin, cls=cls, function=function):
                self.helped = True
                return self.inline(op, function, (cls, *arguments), keywords, frame, origin)
            case Object() | Element():
                return self.call_object(op, callee, arguments, keywords, frame)
            case Const(value=types.FunctionType() as function) if function in _OF_FRONT_END:
                return _OF_FRONT_END[function](self, op, arguments, frame)
            case Var():
                return self.drawn(op, callee, arguments, keywords, frame)
            case Const(value=function) if op.payload != RAISED:
                found = self.of_library(op, function, arguments, keywords, frame)
                found = self.drawn(op, callee, arguments, keywords, frame) if found is None else found
                return self.call_of_constant(op, callee, arguments, keywords, frame) if found is None else found
        return None

    def call_of_constant(
        self, op: Op, callee: Const, arguments: tuple[Known, ...], keywords: Named, frame: Frame
    ) -> Known | None:
        """What a call of a function or a class gives that has no text."""
        if any(map(is_thing, (*arguments, *keywords.values()))):
            return self.call_with_things(op, callee.value, arguments, keywords, frame)
        return self.call_that_makes(op, callee, arguments, keywords, frame)

    def call_object(
        self, op: Op, callee: Object | Element, arguments: tuple[Known, ...], keywords: Named, frame: Frame
    ) -> Known | None:
        """What a call of an object gives, which may stand for a function."""
        if isinstance(callee, Element) and issubclass(callee.cls, OfFunction):
            return self.call_function(op, callee, arguments, keywords, frame)
        self.check_there(callee)
        function = self.member_function(callee, "__call__")
        return self.inline(op, function, (callee, *arguments), keywords, frame, origin_of(callee))

    def run_over_by(self, op: Op, arguments: tuple[Known, ...], frame: Frame) -> Known | None:
        """What a generator expression gets to run over, which is in sight if that is."""
        source, function = arguments
        found = iterated(self, op, (source,), frame)
        if found is not None and function in self.fresh:
            raise Writes(self.fresh[function])  # type: ignore[index]
        return found if isinstance(function, Closure) else None

    def check_called(self, callee: Known, given: tuple[Known, ...]) -> None:
        """Let functions that are made inside be in sight where one of them is called; or one, if it yields or is given what is
        in sight only."""
        ways = self.either.get(callee, ()) if isinstance(callee, Var) else ()
        if ways and not self.facts.beside_writes and all(map(self.is_function_known, ways)):
            self.all_among_functions(ways)
        made = self.kinds.builder.producers.get(callee) if isinstance(callee, Var) and callee in self.fresh else None
        code = made.payload.code if made is not None and isinstance(made.payload, ClosureBody) else None
        yields = code is not None and is_generator(code) and code.co_name != "<genexpr>"
        if yields or (code is not None and any(map(is_only_in_sight, given))):
            raise Writes(self.fresh[callee])  # type: ignore[index]

    def called_as_known(self, op: Op, callee: Const, arguments: tuple[Known, ...], keywords: Named, frame: Frame) -> Known:
        """What a call of a constant gives."""
        found = self.call(op, callee, arguments, keywords, frame)
        if found is None:
            self.emit(op, callee, arguments, keywords, frame)
            return self.known_result(op, frame)
        return found

    def of_partial(self, op: Op, callee: Partial, arguments: tuple[Known, ...], keywords: Named, frame: Frame) -> Known | None:
        """What a call of a `functools.partial` gives."""
        self.helped = True
        head = callee.function if isinstance(callee.function, Const) else op.callee
        op = replace(op, callee=head, arguments=(), keywords=())
        given, named = (*callee.arguments, *arguments), {**callee.keywords, **keywords}
        found = self.call(op, callee.function, given, named, frame)
        if found is None:
            self.emit(op, callee.function, given, named, frame)
            return self.known_result(op, frame)
        return found

    def call_that_makes(
        self, op: Op, callee: Const, arguments: tuple[Known, ...], keywords: Named, frame: Frame
    ) -> Known | None:
        """A call that may give something in sight."""
        function = callee.value
        if function in OUT_OF_PLACE and (changed := self.in_place(op, arguments, frame)) is not None:
            return changed
        if function is caught and arguments[0] in self.caught:
            return self.caught[arguments[0]]  # type: ignore[index]
        self.check_call(op, function, (*arguments, *keywords.values()))
        if (*frame.path, op.results[0]) in self.facts.kept and function is not iter:  # which may be two things
            return None
        if isinstance(function, types.BuiltinFunctionType) and function in _OF_VALUES and not keywords:
            return _OF_VALUES[function](self, op, arguments, frame)
        if function is new_cell and not arguments:
            cell = Cell((*frame.path, op.results[0]), op.results[0].hint.removesuffix("_cell"))
            self.made_in[cell] = self.out
            return cell
        if function is functools.partial:
            return new_partial(self, op, arguments, keywords, frame)
        if isinstance(function, type) and not (rrule.has(function) or is_non_differentiable(function)):
            return self.make(op, callee, arguments, keywords, frame)
        if isinstance(function, types.FunctionType) and _gives_items(function):
            return self.generator(op, function, arguments, keywords, frame)
        if isinstance(function, types.FunctionType) and self.is_written_here(function, arguments, (*keywords.values(),)):
            return self.inline(op, function, arguments, keywords, frame, (*frame.path, op.results[0]))
        return self.compared(function, arguments)

    def compared(self, function: Any, arguments: tuple[Known, ...]) -> Known | None:
        """`a is b` and `isinstance(a, B)`, as far as that is known."""
        if function is isinstance and len(arguments) == 2:
            found = instance(self, *arguments)
            self.helped |= found is not None
            return found
        if function is constant_key and isinstance(arguments[0], Const) and type(arguments[0].value) in (str, int):
            return arguments[0]
        if (function is operator.is_ or function is operator.is_not) and all(isinstance(each, Const) for each in arguments):
            first, second = arguments
            return Const((first.value is second.value) is (function is operator.is_))  # type: ignore[union-attr]
        if (function is operator.is_ or function is operator.is_not) and arguments[1] == NONE and arguments[0] in self.raised:
            return Const(function is operator.is_not)
        return None

    def check_call(self, op: Op, function: Any, given: tuple[Known, ...]) -> None:
        """Let what a call writes into be in sight, and functions that another one of the module gets."""
        check_item_written(self, function, given)
        is_method = function is getattr and isinstance(given[1], Const) and given[1].value in WRITING
        if is_method and given[0] in self.read_from_dict:
            raise Shrinks(self.read_from_dict[given[0]].origin, Grouped)  # type: ignore[index]
        self.check_written_within(function, given)
        if (is_method or function in _WRITE) and self.is_list_made(given[0]):
            self.check_written(given[0])
        if function in OUT_OF_PLACE and self.is_array_made(given[0], op):
            self.check_written(given[0])
        is_method = function is getattr and isinstance(given[1], Const) and given[1].value in keying.WRITING
        if (is_method or function is operator.delitem) and self.is_dict_made(given[0]):
            self.check_written(given[0])
        if function is operator.setitem:
            self.check_written(given[0])
            if given[0] in self.read_from:
                place, depth = self.read_from[given[0]]  # type: ignore[index]
                raise Nests(place.origin, depth)
        elif isinstance(function, types.FunctionType) and is_followed(function, self.function):
            written = self.written_by(function)
            for number, each in enumerate(given):
                self.check_given(each)
                if number in written:
                    self.check_written(each)

    def check_written_within(self, function: Any, given: tuple[Known, ...]) -> None:
        """Let the dicts in a dict be in sight if they are written into."""
        is_method = function is getattr and isinstance(given[1], Const) and given[1].value in keying.WRITING
        if not given or is_thing(given[0]) or not (is_method or function in (operator.setitem, operator.delitem)):
            return
        read = self.kinds.builder.producers.get(given[0]) if isinstance(given[0], Var) else None
        if read is not None and read.callee == operator_constant("getitem") and self.is_dict_made(read.arguments[0]):
            self.check_written(read.arguments[0])
        place: Any = self.read_from_dict.get(given[0])  # type: ignore[arg-type]
        if place is None and given[0] in self.read_from:
            items = self.read_from[given[0]][0]  # type: ignore[index]
            place = next((each for (each, _), known in self.fields.items() if known is items and is_keyed(each)), None)
        kind = self.kinds.of(given[0])
        if place is not None and isinstance(kind, Sequence) and kind.name in ("dict", "list"):
            raise Shrinks(place.origin, Nested if kind.name == "dict" else Grouped)

    def make(self, op: Op, callee: Const, arguments: tuple[Known, ...], keywords: Named, frame: Frame) -> Known | None:
        if classes.is_record(callee.value):
            return self.record(op, callee, callee.value, arguments, keywords, frame)
        if classes.is_in_sight(callee.value):
            return self.construct(op, callee, callee.value, arguments, keywords, frame)
        return None

    def call_with_things(
        self, op: Op, function: Any, arguments: tuple[Known, ...], keywords: Named, frame: Frame
    ) -> Known | None:
        """A call that gets something in sight."""
        if function is super and len(arguments) == 2:
            return self.super_of(arguments)
        if function is dataclasses.replace and len(arguments) == 1 and isinstance(arguments[0], Object | Element):
            return self.replaced_dataclass(op, arguments[0], keywords, frame)
        if function is copy.copy and len(arguments) == 1 and not keywords and isinstance(arguments[0], Object | Element):
            return self.copied(op, arguments[0], frame)
        found = self.known_function(op, function, arguments, frame) if not keywords else None
        if found is not None:
            return found
        if not keywords and shows_exception(self, op, function, arguments, frame):
            return self.known_result(op, frame)
        if isinstance(function, type):
            return self.call_that_makes(op, op.callee, arguments, keywords, frame)  # type: ignore[arg-type]
        if isinstance(function, types.FunctionType):
            return self.function_with_things(op, function, arguments, keywords, frame)
        return None

    def function_with_things(
        self, op: Op, function: types.FunctionType, arguments: tuple[Known, ...], keywords: Named, frame: Frame
    ) -> Known | None:
        """The same of a function of the user's."""
        if _gives_items(function):
            return self.generator(op, function, arguments, keywords, frame)
        given, origin = (*arguments, *keywords.values()), (*frame.path, op.results[0])
        for each in given if is_followed(function, self.function) else ():
            self.check_given(each)
        if origin not in self.facts.kept and self.is_better_here(function, given):
            self.helped = True
            return self.inline(op, function, arguments, keywords, frame, origin)
        if self.is_followed(function, given):
            return self.inline(op, function, arguments, keywords, frame, first_origin(given))
        return None

    def known_function(self, op: Op, function: Any, arguments: tuple[Known, ...], frame: Frame) -> Known | None:
        """What a builtin or an operator gives for something in sight; None if it is called as it stands."""
        if not isinstance(function, types.BuiltinFunctionType | types.FunctionType | type):
            return None
        known = Entering.in_place if function in OUT_OF_PLACE else _KNOWN.get(function)
        found = None if known is None else known(self, op, arguments, frame)
        if found is None and function is operator.contains:
            found = is_among(self, op, arguments, frame)
        if found is not None:
            return found
        if function in OPERATORS:
            arguments = self.with_records(op, function, arguments)
        if function in OPERATORS and any(isinstance(each, Object | Element) for each in arguments):
            return self.operator(op, function, arguments, frame)
        first = arguments[0] if arguments else None
        if function is sorted and isinstance(first, ListOf | Table) and (isinstance(first, Table) or first.of is not None):
            raise Escapes(first.origin)  # it compares the objects, and not their numbers
        if isinstance(first, Values) and function is list and len(arguments) == 1:
            return self.list_of_values(op, first, frame)
        if isinstance(first, ListOf) and first.sort == "dict" and function in _TAKE_KEYS and len(arguments) == 1:
            self.emit(op, op.callee, (self.now(first),), {}, frame)  # type: ignore[arg-type]
            return self.known_result(op, frame)
        return self.made_of_list(op, function, first, arguments, frame) if isinstance(first, ListOf) else None


def _is_order(known: Known) -> bool:
    """Whether something is a list whose items change places, of which others get a copy."""
    return isinstance(known, Object) and known.cls in LISTS


def is_keyed(known: Known) -> bool:
    """Whether something is a dict of which keys are taken away."""
    return isinstance(known, Object) and known.cls is Keyed


def _object_among_numbers(items: tuple[Known, ...]) -> Object | None:
    """An object beside others that have numbers."""
    if not any(isinstance(each, _NUMBERED) for each in items):
        return None
    return next((each for each in items if isinstance(each, Object) and not classes.is_record(each.cls)), None)


def _may_be_listed(item: Known) -> bool:
    """Whether something may be in a list in sight."""
    return isinstance(item, _LISTED) or not is_thing(item) or (isinstance(item, Object) and classes.is_record(item.cls))


def _is_apart(op: Op) -> bool:
    """Whether an operation makes a function of another module than that of the function it is written into."""
    return op.callee is Opcode.CLOSURE and getattr(op.payload, "is_of_other_module", False)


def _check_module(op: Op, frame: Frame) -> None:
    """Let a call escape that makes a function of another module, which would see the variables of this one."""
    if _is_apart(op):
        raise Escapes(frame.followed_for)


def _gives_items(function: types.FunctionType) -> bool:
    """Whether a call of a function runs nothing of it yet: it yields, or a context is made of one that does."""
    return is_generator(function.__code__) or function_managed(function) is not None


def _has_own_keys(keys: tuple[Value, ...]) -> bool:
    """Whether the keys of a dict are different literals."""
    literals = [key.value for key in keys if isinstance(key, Const) and type(key.value) in KEYS]
    return bool(keys) and len(set(literals)) == len(keys)


_OF_VALUES: dict[Any, Callable[[Calls, Op, tuple[Known, ...], Frame], Known | None]] = {
    getattr: member_of_class,
    iter: iterated,
}
"""What gives something in sight for values."""
_OF_FRONT_END: dict[Any, Callable[[Calls, Op, tuple[Known, ...], Frame], Known | None]] = {
    tie: Calls.tied,
    delegate_to: delegate,
    iterator_of: Calls.run_over_by,
}
"""What lowering calls."""
_KNOWN: dict[Any, Callable[[Calls, Op, tuple[Known, ...], Frame], Known | None]] = {
    getattr: Calls.read_attribute,
    setattr: Calls.write_attribute,
    operator.getitem: Calls.read_item,
    operator.setitem: Calls.write_item,
    operator.delitem: Calls.delete_item,
    len: Calls.length,
    operator.contains: Calls.contains,
    operator.or_: Calls.joined,
    operator.is_: Calls.is_same,
    operator.is_not: Calls.is_other,
    isinstance: Calls.is_of,
    type: Calls.class_of,
    set_contents: Calls.write_cell,
    read_local: Calls.read_cell,
    read_captured: Calls.read_cell,
    iter: iterated,
    list: Calls.collected,
    dict: Calls.gathered,
    bool: Calls.negated,
    operator.not_: Calls.negated,
    **dict.fromkeys(COMPARE, compared),
    **dict.fromkeys((sum, max, min, tuple, sorted), Calls.summed),
    **CONTEXTS,
}
