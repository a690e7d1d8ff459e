"""Functions written where they are called."""

from __future__ import annotations

import types
from abc import abstractmethod
from collections.abc import Callable, Mapping
from functools import partial
from itertools import repeat
from typing import Any

from microgradpy.ad.binding import Packed, bind_inputs
from microgradpy.ad.instrument import instrument_function
from microgradpy.dataclasses import replace
from microgradpy.errors import DifferentiationError
from microgradpy.frontend.closures import ClosureBody
from microgradpy.ir.kinds import Array, Sequence, TupleOf
from microgradpy.ir.nodes import (
    NOWHERE,
    SELF,
    UNDEFINED,
    Const,
    Function,
    If,
    Location,
    Op,
    Opcode,
    ParameterKind,
    Raise,
    Region,
    Return,
    Try,
    Unreachable,
    Var,
    Yield,
    fresh,
)
from microgradpy.ir.traversal import regions, terminators, walk
from microgradpy.promotion import classes, iterated
from microgradpy.promotion.class_members import defaults_of
from microgradpy.promotion.conditions import asked_at_once, asked_only
from microgradpy.promotion.findings import Escapes, Facts, Origin, Recurs, Writes
from microgradpy.promotion.library import is_text, placed
from microgradpy.promotion.modules import called_at, module_of, of_module
from microgradpy.promotion.names import gathered_by_dict
from microgradpy.promotion.partials import captured_by, cells_of, constant_in
from microgradpy.promotion.places import Closure, DictOf, Display, Frame, Generator, Known, Part, Partial, is_thing
from microgradpy.promotion.recursion import Recursion, call_recursive
from microgradpy.promotion.walker import Walker
from microgradpy.promotion.writers import may_write, returns_what_it_makes, written_parameters
from microgradpy.rules.registry import is_non_differentiable, rrule
from microgradpy.runtime.bytecode import names_in
from microgradpy.runtime.making import LATER
from microgradpy.runtime.suspension import is_generator

Lower = Callable[[types.FunctionType], tuple[Function, Any]]
Named = Mapping[str, Known]
MOST_CALLS = 12
_MOST_LEVELS = 6
"""How deep calls may be inside of each other."""
_ASK_FOR_FRAMES = frozenset({"warn", "_getframe", "currentframe", "stack", "extract_stack", "format_stack", "print_stack"})
"""By these, code finds out who has called it."""


def is_in_file(function: types.FunctionType, other: types.FunctionType) -> bool:
    """Whether a function is of the same module as another one, and has a text."""
    return function.__globals__ is other.__globals__ and not function.__closure__ and function.__code__.co_filename[:1] != "<"


def is_followed(function: types.FunctionType, other: types.FunctionType) -> bool:
    """The same, or of another module of the user's."""
    return is_in_file(function, other) or (is_in_file(function, function) and module_of(function) is not None)


class Functions(Walker):
    """`function` is the one that is promoted; `lower` gives the IR of others, and what that relies on."""

    def __init__(self, function: types.FunctionType, lower: Lower, facts: Facts) -> None:
        super().__init__(facts)
        self.function = function
        self.lower = lower
        self.kinds.variables = function.__globals__
        self.checks: list[Any] = []
        self.functions: list[types.FunctionType] = []
        self.codes: list[types.CodeType] = []
        """The code of what is being written where it is called, since the last function that calls itself."""
        self.calling: list[Closure] = []
        """The functions made inside that are being written where they are called, outermost first."""
        self.recursions: list[Recursion] = []
        self.levels: list[types.CodeType | None] = []
        """Of the calls that are written out around, the code, if the call was given a container."""
        self.inside_of: list[types.FunctionType] = []
        """The functions that are being written where they are called, outermost first."""
        self.written: dict[types.FunctionType, frozenset[int]] = {}
        self.known_bodies: dict[types.FunctionType, Function] = {}
        self.factories: dict[types.FunctionType, bool] = {}

    def inline(
        self,
        op: Op,
        function: types.FunctionType,
        arguments: tuple[Known, ...],
        keywords: Named,
        frame: Frame,
        origin: Origin,
    ) -> Known:
        """The body of a function, in the place of its call."""
        if is_generator(function.__code__):
            raise Escapes(origin)
        ir, values = self.bound(function, arguments, keywords, origin, op.where)
        self.inside_of.append(function)
        try:
            is_apart = function.__globals__ is not self.function.__globals__
            return self.called(op, function.__code__, lambda: function, ir, values, frame, origin, is_apart)
        finally:
            self.inside_of.pop()

    def lowered(self, function: types.FunctionType, origin: Origin) -> tuple[Function, Any]:
        """The IR of a function, and what it relies on."""
        try:
            return self.lower(function)
        except DifferentiationError:  # there is no text, or something in it is refused
            raise Escapes(origin) from None

    def bound(
        self,
        function: types.FunctionType,
        arguments: tuple[Known, ...],
        keywords: Named,
        origin: Origin,
        where: Location = NOWHERE,
    ) -> tuple[Function, dict[Var, Known]]:
        """A function that is called, and what its variables are when it starts."""
        ir = self.followed(function, origin)
        if is_text(function):
            ir = replace(ir, body=placed(ir.body, where))
        elif function.__globals__ is not self.function.__globals__:
            ir = replace(ir, body=called_at(ir.body, where))
        given = bind_inputs(function, arguments, keywords, defaults_of(function))  # type: ignore[arg-type]
        captured: dict[Var, Known] = {}
        for var, (name, cell) in zip(ir.captured, cells_of(function).items(), strict=True):
            found = constant_in(cell) if name != "__class__" else Const(cell.cell_contents, name, cell.cell_contents)
            if found is None:
                raise Escapes(origin)
            if name != "__class__":
                self.checks.append((captured_by(function), name, found.value))
            captured[var] = found
        if given is None:
            raise Escapes(origin)
        items = (self.packed(each, origin, where) if isinstance(each, Packed) else each for each in given)
        return ir, captured | {parameter.var: known for parameter, known in zip(ir.parameters, items, strict=True)}

    def packed(self, given: Packed, origin: Origin, where: Location) -> Known:
        """What a variadic parameter gets."""
        things = any(map(is_thing, given.items))
        if given.keys is None and things:
            return Display(origin, given.items)
        result = fresh("rest")
        if given.keys is None:
            self.add(Op(Opcode.TUPLE, given.items, (result,), from_user=False, where=where))
            return result
        pairs = tuple(part for key, value in zip(given.keys, given.items, strict=True) for part in (Const(key), value))
        made = Op(Opcode.DICT, () if things else pairs, (result,), from_user=False, where=where)
        if not given.keys:
            self.add(made)
            return result
        place = DictOf(origin, "options", made)
        for key, value in zip(given.keys, given.items, strict=True):
            self.fields[place, key] = value
        return place

    def followed(self, function: types.FunctionType, origin: Origin) -> Function:
        """The text of a function that is called, which is looked up and relied on once however often that is."""
        if function in self.known_bodies:
            return self.known_bodies[function]
        if is_text(function):
            ir, _ = self.lowered(function, origin)
            self.known_bodies[function] = ir
            return ir
        is_of_module = function.__globals__ is self.function.__globals__
        module = None if is_of_module else module_of(function)
        asks = not _ASK_FOR_FRAMES.isdisjoint(names_in(function.__code__))
        if (not is_of_module and module is None) or asks or rrule.has(function) or is_non_differentiable(function):
            raise Escapes(origin)
        ir, checks = self.lowered(function, origin)
        ir = ir if module is None else of_module(ir, module)
        self.checks += checks
        self.functions.append(function)
        self.known_bodies[function] = ir
        return ir

    def written_by(self, function: types.FunctionType) -> frozenset[int]:
        """Which of its parameters a function of the module may write into."""
        if function not in self.written:
            self.written[function] = frozenset()  # of one that calls itself
            if is_in_file(function, self.function) and may_write(function):
                try:
                    ir, _ = self.lowered(function, ())
                    self.written[function] = written_parameters(ir, self.written_by)
                except Escapes:
                    pass
        return self.written[function]

    def is_factory(self, function: types.FunctionType) -> bool:
        """Whether a function returns another one, or an object, that it has made."""
        if function not in self.factories:
            self.factories[function] = self._is_factory(function)
        return self.factories[function]

    def _is_factory(self, function: types.FunctionType) -> bool:
        if not is_followed(function, self.function) or rrule.has(function) or is_non_differentiable(function):
            return False
        if ("factory", function.__code__) in self.facts.written:
            return True
        try:
            ir, _ = self.lowered(function, ())
        except Escapes:
            return False
        made = {op.results[0]: op for op in walk(ir.body) if isinstance(op, Op) and op.results}
        ends = [end.value for end in terminators(ir.body) if isinstance(end, Return)]
        return any(self.is_made(made.get(value)) for value in ends) or returns_what_it_makes(ir)  # type: ignore[arg-type]

    def is_made(self, op: Op | None) -> bool:
        """Whether an operation makes a function, or an object."""
        if op is None:
            return False
        if isinstance(op.payload, ClosureBody):
            return True
        cls = op.callee.value if isinstance(op.callee, Const) else None
        return isinstance(cls, type) and classes.is_in_sight(cls)

    def iterator_of(self, thing: Any, item: Var, where: Location, frame: Frame) -> Known | None:
        return iterated.iterator_of(self, thing, item, where, frame)

    @abstractmethod
    def member(self, cls: type, name: str, after: type | None = None) -> Any:
        """What a class has under a name."""

    def generator(
        self, op: Op, function: types.FunctionType, arguments: tuple[Known, ...], keywords: Named, frame: Frame
    ) -> Known | None:
        """A generator, to be run by the loop that is over it."""
        origin = (*frame.path, op.results[0])
        if origin in self.facts.kept or len(frame.path) >= MOST_CALLS:
            return None
        ir, values = self.bound(function, arguments, keywords, origin, op.where)
        return Generator(origin, ir.body, Frame(origin, values), self.loop, len(self.trying))

    def closure(self, op: Op, closure: Closure, arguments: tuple[Known, ...], keywords: Named, frame: Frame) -> Known:
        body = closure.body
        if not isinstance(body, ClosureBody):
            raise Escapes(closure.origin)
        function = instrument_function(body.function)
        count = len(function.captured)
        names = [p.name for p in function.parameters if p.kind is ParameterKind.POSITIONAL]
        positional = closure.values[count : count + body.defaults]
        defaults = dict(zip(names[len(names) - len(positional) :], positional, strict=True))
        defaults |= dict(zip(body.keyword_defaults, closure.values[count + body.defaults :], strict=False))
        bound = bind_inputs(self.function_of(body.code, body.code.co_name), arguments, keywords, defaults)  # type: ignore[arg-type]
        if bound is None:
            raise Escapes(closure.origin)
        given = [self.packed(each, closure.origin, op.where) if isinstance(each, Packed) else each for each in bound]
        captured = (closure if isinstance(each, Const) and each.value is SELF else each for each in closure.values[:count])
        values: dict[Var, Known] = dict(zip(function.captured, captured, strict=True))
        values |= {parameter.var: known for parameter, known in zip(function.parameters, given, strict=True)}
        if is_generator(body.code):
            return self.generator_of(op, function, values, frame, closure.origin)
        name = body.code.co_name
        made_as, is_apart = partial(self.function_of, body.code, name), body.is_of_other_module
        is_inside = any(each.body.code is body.code and _holds(each, closure) for each in self.calling)
        self.calling.append(closure)
        try:
            return self.called(op, body.code, made_as, function, values, frame, closure.origin, is_apart, is_inside)
        finally:
            self.calling.pop()

    def tied(self, op: Op, arguments: tuple[Known, ...], frame: Frame) -> Known | None:
        """Functions made inside that name each other, if they are in sight."""
        names, *given = arguments
        closures = [each for each in given if isinstance(each, Closure)]
        if not closures or not isinstance(names, Const):
            return None
        for each in given:
            if isinstance(each, Var) and each in self.fresh:
                raise Writes(self.fresh[each])
        if len(closures) < len(given):
            return None
        made = [replace(each) for each in closures]
        by_name = dict(zip(names.value, made, strict=True))
        tied: dict[Any, Known] = dict(zip(closures, made, strict=True))
        for each in made:
            free = (*each.body.code.co_freevars, *repeat("", len(each.values)))
            values = (
                by_name.get(name, value) if isinstance(value, Const) and value.value is LATER else tied.get(value, value)
                for name, value in zip(free, each.values, strict=False)
            )
            object.__setattr__(each, "values", tuple(values))  # they hold each other
        return Display((*frame.path, op.results[0]), tuple(made))

    def function_of(self, code: types.CodeType, name: str) -> types.FunctionType:
        """A function made inside, as a name for it."""
        cells = tuple(types.CellType() for _ in code.co_freevars)
        return types.FunctionType(code, self.function.__globals__, name, None, cells)

    def called(
        self,
        op: Op,
        code: types.CodeType,
        callee: Callable[[], types.FunctionType],
        function: Function,
        values: dict[Var, Known],
        frame: Frame,
        origin: Origin,
        is_of_other_module: bool,
        is_inside: bool = False,
    ) -> Known:
        """A call: written where it is made, unless the function calls itself. `is_inside`: what is called is another function
        of the same text, which that in whose body the walk is has captured; they come to an end."""
        is_of_arguments = is_inside or any(isinstance(each, Part | Display) for each in values.values())
        is_first = code in self.facts.peeled and code not in self.codes and as_expression(function.body) is not None
        is_level = self.goes_down(code, tuple(values.values())) and as_expression(function.body) is not None
        is_of_arguments |= is_level
        if code in self.facts.recursive and not is_of_arguments and not is_first:
            if is_of_other_module:
                raise Escapes(origin)
            return call_recursive(self, op, code, callee, function, values, frame, origin)
        if not is_of_arguments and (code in self.codes or as_expression(function.body) is None):
            raise Escapes(origin) if self.facts.beside_writes else Recurs(code)
        self.codes.append(code)
        self.levels.append(code if is_level and any(map(self.has_structure, values.values())) else None)
        try:
            return self.body(op, function, values, frame, origin)
        finally:
            self.codes.pop()
            self.levels.pop()

    def goes_down(self, code: types.CodeType, given: tuple[Known, ...]) -> bool:
        """Whether a function that may call itself is given a container of which it is proven what it holds, or what one held
        that it was given: it ends with the numbers and arrays, which it tells by `isinstance`."""
        if code in self.facts.recursive or "isinstance" not in code.co_names or self.codes.count(code) >= _MOST_LEVELS:
            return False
        if any(map(self.has_structure, given)):
            return True
        return bool(self.levels) and self.levels[-1] is code

    def has_structure(self, known: Known) -> bool:
        """Whether something is a container of arrays, of which that is proven."""
        if isinstance(known, DictOf):
            return True
        kind = self.kinds.of(known) if isinstance(known, Var) else None
        if isinstance(kind, Sequence):
            items = [each for _, each in kind.entries] or [kind.item]
        else:
            items = list(kind.items) if isinstance(kind, TupleOf) else []
        return any(isinstance(each, Array | Sequence | TupleOf) for each in items)

    def generator_of(self, op: Op, function: Function, values: dict[Var, Known], frame: Frame, made: Origin) -> Generator:
        """What a call of a function inside gives that yields."""
        origin = (*frame.path, op.results[0])
        if origin in self.facts.kept or len(frame.path) >= MOST_CALLS:
            raise Escapes(made)
        return Generator(origin, function.body, Frame(origin, values, followed_for=made), self.loop, len(self.trying))

    def body(self, op: Op, function: Function, values: dict[Var, Known], frame: Frame, origin: Origin) -> Known:
        if len(frame.path) >= MOST_CALLS:
            raise Escapes(origin)
        inner = Frame((*frame.path, op.results[0]), values, followed_for=origin)
        region = as_expression(function.body)
        if region is None:
            raise Escapes(origin)
        self.asked_only |= asked_only(region)
        self.at_once |= asked_at_once(region)
        self.gathered_by_dict |= gathered_by_dict(region)
        for statement in region.statements:
            self.statement(statement, inner)
        if isinstance(region.terminator, Yield):
            (value,) = region.terminator.values
            return self.known(value, inner)
        raise Escapes(origin)  # it always raises


def _holds(closure: Closure, other: Closure) -> bool:
    """Whether a function made inside has captured another one, or something that holds it."""
    left: list[Any] = [*closure.values]
    seen: list[Any] = [closure]
    while left:
        each = left.pop()
        if each is other:
            return other is not closure
        if any(each is known for known in seen):
            continue
        match each:
            case Closure(values=inner) | Display(items=inner):
                seen.append(each)
                left += inner
            case Partial(function=function, arguments=arguments, keywords=keywords):
                left += (function, *arguments, *keywords.values())
    return False


def as_expression(region: Region) -> Region | None:
    """A body that ends with its value instead of returning it; None where it returns from within a loop."""
    returning = [number for number, statement in enumerate(region.statements) if _returns((statement,))]
    if len(returning) == 1 and isinstance(attempt := region.statements[returning[0]], Try):
        return _after_attempt(region, returning[0], attempt)
    match region.terminator:
        case Return(value=value):
            return Region(region.statements, Yield((value,))) if not returning else None
        case Unreachable() if region.statements and isinstance(last := region.statements[-1], If):
            then, orelse = _arm(last.then), _arm(last.orelse)
            if then is None or orelse is None or _returns(region.statements[:-1]):
                return None
            result = fresh("")
            made = replace(last, then=then, orelse=orelse, results=(result,))
            return Region((*region.statements[:-1], made), Yield((result,)))
    return None


def _after_attempt(region: Region, place: int, attempt: Try) -> Region | None:
    """The same where a `try` returns: it says whether it does, and what."""
    has_left, value, result = fresh("has_left"), fresh(""), fresh("")
    found = [_saying(arm, len(attempt.results)) for arm in regions(attempt)]
    arms = [arm for arm in found if arm is not None]
    ends = any(_falls(arm) for arm in regions(attempt))
    rest = as_expression(Region(region.statements[place + 1 :], region.terminator)) if ends else Region((), Yield((value,)))
    if rest is None or len(arms) < len(found):
        return None
    body, *bodies = arms
    handlers = tuple(replace(handler, body=arm) for handler, arm in zip(attempt.handlers, bodies, strict=True))
    made = replace(attempt, body=body, handlers=handlers, results=(*attempt.results, has_left, value))
    if not ends:
        return Region((*region.statements[:place], made), rest.terminator)
    asked = If(has_left, Region((), Yield((value,))), rest, (result,), attempt.where)
    return Region((*region.statements[:place], made, asked), Yield((result,)))


def _saying(region: Region, count: int) -> Region | None:
    """A way through a `try` of so many results that also yields whether it returns, and what."""
    returns = _returns(region.statements)
    match region.terminator:
        case Yield(values=values) if not returns:
            return replace(region, terminator=Yield((*values, Const(False), UNDEFINED)))
        case Return(value=value) if not returns:
            return replace(region, terminator=Yield((*(UNDEFINED,) * count, Const(True), value)))
        case Raise() if not returns:
            return region
        case Unreachable() if region.statements and not _returns(region.statements[:-1]):
            match region.statements[-1]:
                case If(then=then, orelse=orelse) as last:
                    arms = _saying(then, count), _saying(orelse, count)
                    if arms[0] is None or arms[1] is None:
                        return None
                    results = tuple(fresh("") for _ in range(count + 2))
                    made = replace(last, then=arms[0], orelse=arms[1], results=results)
                    return Region((*region.statements[:-1], made), Yield(results))
    return None


def _falls(region: Region) -> bool:
    """Whether a way through a `try` goes on after it."""
    return isinstance(region.terminator, Yield)


def _arm(region: Region) -> Region | None:
    return as_expression(region) if not _only_raises(region) else region


def _only_raises(region: Region) -> bool:
    return not isinstance(region.terminator, Return | Unreachable) and not _returns(region.statements)


def _returns(statements: tuple[Any, ...]) -> bool:
    return any(
        isinstance(inner.terminator, Return) or _returns(inner.statements)
        for statement in statements
        for inner in regions(statement)
    )
