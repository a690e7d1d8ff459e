"""Loops whose tape would be long, run in segments: the adjoint keeps what the loop carries from one segment to the next, and runs
a segment again to have its tape.

    for i in checkpointed(range(n)):            every = int(n ** 0.5) + 1
        x = f(x, w)                             for start in range(0, n, every):
                                                    x = f_loop(x, w, start, min(start + every, n))

`f_loop` is a function of its own, whose calls are checkpointed: it has the loop, from `start` to there. What the body leaves the
loop by is a number that it returns besides. The schedule "log" has segments of segments: `f_loop` calls itself for each of 32
parts, unless there are few steps. Of a `while` loop nobody knows how many steps it has: its segments become longer and longer.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from types import FunctionType
from typing import Any, final

from microgradpy.ad.calls import Apart
from microgradpy.ad.unassigned import bind_all
from microgradpy.dataclasses import dataclass, replace
from microgradpy.errors import UnsupportedSyntaxError
from microgradpy.ir.nodes import (
    CHANGING,
    KEPT,
    Break,
    Const,
    Continue,
    DictItems,
    Each,
    Enumerate,
    For,
    Function,
    If,
    Items,
    Location,
    Op,
    Opcode,
    Parameter,
    Range,
    Region,
    Return,
    Reversed,
    Statement,
    Try,
    Unreachable,
    Value,
    Var,
    While,
    Yield,
    Zip,
    fresh,
    function_constant,
    operator_constant,
)
from microgradpy.ir.rewrite import map_regions, map_statements
from microgradpy.ir.traversal import definitions, item_sources, item_variables, regions, terminator_values, terminators, uses, walk
from microgradpy.runtime.checkpoints import Schedule, check_items, checkpointed

_CHECKPOINTED, _CHECK_ITEMS = map(function_constant, (checkpointed, check_items))
_ADD, _SUB, _MUL, _EQ, _LE = map(operator_constant, ("add", "sub", "mul", "eq", "le"))
_RANGE, _LEN, _MIN, _MAX, _INT, _ENUMERATE, _ZIP, _REVERSED = map(
    function_constant, (range, len, min, max, int, enumerate, zip, reversed)
)
_SQRT = Const(math.sqrt, "math.sqrt", math)
_GETITEM, _FLOORDIV = map(operator_constant, ("getitem", "floordiv"))
_LEAF, _PARTS, _FIRST = 128, 32, 16
"""With "log": how many steps need no parts, and how many parts there are; how many steps the first segment of a `while` has."""
_GOES_ON, _BROKEN, _RETURNED = map(Const, (0, 1, 2))
_REMEDY = "Leave this loop as it is, or let it carry numbers, arrays and tuples only, and leave it by break."


def segmented(function: Function, owner: FunctionType, schedule: Schedule | None, repeats: bool) -> Function:
    """The function with the loops over what `checkpointed` gives in segments, and with a `schedule` the outermost ones.
    UnsupportedSyntaxError of a loop that cannot be run again piece by piece. Where nothing `repeats` them, they are the same
    loops over the items themselves."""
    found = any(_is_checkpoint(statement) for statement in walk(function.body) if isinstance(statement, Op))
    if not found and (schedule is None or not repeats):
        return function
    rewriting = _Segmenting(function.name, owner, repeats)
    body = bind_all(function).body if repeats else function.body
    made = rewriting.region(body, schedule if repeats else None, frozenset())
    return replace(function, body=rewriting.without_iterables(made)) if rewriting.count else function


def _is_checkpoint(op: Op) -> bool:
    match op:
        case Op(callee=Const(value=callee), arguments=(Const(value=module), Const(value=str(name)))) if callee is getattr:
            return getattr(module, name, None) is checkpointed
    return op.callee == _CHECKPOINTED


@final
class _Segmenting:
    """The walk over one function; `producers` are the operations that made the variables."""

    def __init__(self, name: str, owner: FunctionType, repeats: bool) -> None:
        self.name = name
        self.owner = owner
        self.repeats = repeats
        self.producers: dict[Var, Op] = {}
        self.count = 0
        self.iterables: set[Var] = set()

    def without_iterables(self, region: Region) -> Region:
        """The region without what was made to be run over, if nobody else reads it."""
        for _ in range(2):
            read = {value for statement in walk(region) for value in uses(statement)}
            read |= {value for end in terminators(region) for value in terminator_values(end)}
            gone = self.iterables - read
            region = map_statements(region, lambda each: () if not gone.isdisjoint(definitions(each)) else (each,))
        return region

    def region(self, region: Region, schedule: Schedule | None, scopes: frozenset[Var]) -> Region:
        """`scopes` are those of the attempts around, whose marks may be inside."""
        return Region(tuple(new for old in region.statements for new in self.statement(old, schedule, scopes)), region.terminator)

    def statement(self, statement: Statement, schedule: Schedule | None, scopes: frozenset[Var]) -> Iterator[Statement]:
        match statement:
            case Op(results=results):
                self.producers.update(dict.fromkeys(results, statement))
                yield statement
            case While() | For():
                found = self.schedule_of(statement) or schedule
                inner = map_regions(statement, lambda region: self.region(region, None, scopes))
                assert isinstance(inner, While | For)
                if found is not None and not self.repeats:
                    self.count += 1
                    assert isinstance(inner, For)
                    yield replace(inner, items=self.items_of(inner))
                elif found is None or not (statement.results or _returns(statement.body)):
                    yield inner
                else:
                    self.count += 1
                    yield from self.loop(inner, found, scopes)
            case If():
                yield map_regions(statement, lambda region: self.region(region, schedule, scopes))
            case Try():
                yield map_regions(statement, lambda region: self.region(region, schedule, scopes | {statement.scope}))

    def schedule_of(self, loop: While | For) -> Schedule | None:
        """That of a loop over what `checkpointed` gives."""
        made = self.checkpoint_of(loop)
        if made is None:
            return None
        every = dict(made.keywords).get("every")
        return Schedule("sqrt") if every is None or every == Const(None) else Schedule("every", every)

    def checkpoint_of(self, loop: While | For) -> Op | None:
        if not isinstance(loop, For) or not isinstance(loop.items, Each):
            return None
        made = self.producers.get(loop.items.source) if isinstance(loop.items.source, Var) else None
        is_made = made is not None and len(made.arguments) == 1 and self.is_checkpoint(made.callee)
        return made if is_made else None

    def is_checkpoint(self, callee: Opcode | Value) -> bool:
        if isinstance(callee, Var):
            read = self.producers.get(callee)
            return read is not None and read.callee != _CHECKPOINTED and _is_checkpoint(read)
        return callee == _CHECKPOINTED

    def loop(self, loop: While | For, schedule: Schedule, scopes: frozenset[Var]) -> Iterator[Statement]:
        _check(loop, scopes)
        out = _Out(loop.where)
        body = loop.body
        if isinstance(loop, While):
            if schedule.name == "parts":
                found = "a while loop, of which nobody knows how many steps it has, keeps no given number of them"
                raise UnsupportedSyntaxError(found, loop.where, 'Use checkpoint="sqrt" or "log".')
            condition = loop.condition.terminator
            assert isinstance(condition, Yield)
            leave = Region((), Break(loop.parameters))
            asked = If(condition.values[0], Region((), Yield(())), leave, (), loop.where)
            body = replace(body, statements=(*loop.condition.statements, asked, *body.statements))
            step, first, bounds = fresh("_"), Const(0), None
        else:
            step, first, bounds, before = self.steps(loop, out)
            body = replace(body, statements=(*before, *body.statements))
        segment = self.segment(loop, body, step, schedule)
        yield from out.statements
        yield from _outer(loop, segment, schedule, first, bounds)

    # What a loop runs over

    def steps(self, loop: For, out: _Out) -> tuple[Var, Value, Value, tuple[Statement, ...]]:
        """The variable that counts the steps, where it starts and ends, and what binds the items for it."""
        items = self.items_of(loop)
        match items:
            case Range(arguments=(stop,), item=item):
                return item, Const(0), stop, ()
            case Range(arguments=(start, stop), item=item):
                return item, start, stop, ()
        step, inside = fresh("step"), _Out(loop.where)
        length = self.bind(items, step, out, inside)
        return step, Const(0), length, tuple(inside.statements)

    def items_of(self, loop: For) -> Items:
        """What a loop runs over, without `checkpointed` around it."""
        checkpoint = self.checkpoint_of(loop)
        if checkpoint is None or not isinstance(loop.items, Each):
            return loop.items
        given, item = checkpoint.arguments[0], loop.items.item
        self.iterables.add(checkpoint.result)
        made = self.producers.get(given) if isinstance(given, Var) else None
        if made is not None and made.callee == _RANGE and not made.keywords and 0 < len(made.arguments) < 4:
            self.iterables.add(made.result)
            return Range(made.arguments, item)
        return Each(given, item)

    def bind(self, items: Items, step: Var, out: _Out, inside: _Out) -> Value:
        """How many items there are, asked before the loop; inside of it they are bound for a step."""
        match items:
            case Each(source=source, item=item):
                return self.bind_value(source, item, step, out, inside)
            case Range(arguments=arguments, item=item):
                return self.bind_range(arguments, item, step, out, inside)
            case Enumerate(inner=inner, start=start, index=index):
                inside.call(_ADD, start, step, result=index)
                return self.bind(inner, step, out, inside)
            case Zip(inners=inners, strict=False):
                return out.call(_MIN, *(self.bind(inner, step, out, inside) for inner in inners))
            case Reversed(inner=inner):
                back = fresh("back")
                length = self.bind(inner, back, out, late := _Out(inside.where))
                inside.call(_SUB, out.call(_SUB, length, Const(1)), step, result=back)
                inside.statements += late.statements
                return length
        raise refusal(f"a loop over {'dict items' if isinstance(items, DictItems) else 'zip(strict=True)'}", inside.where)

    def bind_range(self, arguments: tuple[Value, ...], item: Var, step: Var, out: _Out, inside: _Out) -> Value:
        start, by = (*arguments, Const(1))[:2] if len(arguments) > 1 else (Const(0), Const(1))
        by = arguments[2] if len(arguments) == 3 else Const(1)
        length = out.call(_LEN, out.call(_RANGE, *arguments))
        inside.call(_ADD, start, inside.call(_MUL, step, by), result=item)
        return length

    def bind_value(self, source: Value, item: Var, step: Var, out: _Out, inside: _Out) -> Value:
        made = self.producers.get(source) if isinstance(source, Var) else None
        given = () if made is None or any(value != Const(False) for _, value in made.keywords) else made.arguments
        callee = None if made is None else made.callee
        if callee == _RANGE and given:
            return self.bind_range(given, item, step, out, inside)
        if callee == _ENUMERATE and given:
            index, inner = fresh(), fresh()
            length = self.bind(Enumerate(Each(given[0], inner), (*given, Const(0))[1], index), step, out, inside)
            inside.operation(Opcode.TUPLE, (index, inner), item)
            return length
        if callee == _ZIP and given:
            inners = tuple(Each(each, fresh()) for each in given)
            length = self.bind(Zip(inners), step, out, inside)
            inside.operation(Opcode.TUPLE, tuple(each.item for each in inners), item)
            return length
        if callee == _REVERSED and given:
            return self.bind(Reversed(Each(given[0], item)), step, out, inside)
        out.operation(_CHECK_ITEMS, (source,), fresh(), payload=KEPT)
        inside.call(_GETITEM, source, step, result=item)
        return out.call(_LEN, source)

    # The segment

    def segment(self, loop: While | For, body: Region, step: Var, schedule: Schedule) -> _Segment:
        """The function that runs the steps from one to another."""
        states = tuple(fresh(var.hint, var.user_named) for var in loop.parameters)
        first, last = fresh("first"), fresh("last")
        leaves, returns = isinstance(loop, While) or _breaks(body), _returns(body)
        free = tuple(var for var in _free_in(body, {*loop.parameters, step}))
        hints = [*(var.hint or "state" for var in loop.parameters), *(var.hint or "value" for var in free), "first", "last"]
        parameters = tuple(map(Parameter, (*states, *free, first, last), _distinct(hints)))
        extra = _extra(leaves, returns)
        ends = tuple(fresh(var.hint, var.user_named) for var in (*loop.results, *extra))
        inner = For(
            Range((first, last), step),
            _left_by_number(body, loop.parameters, extra),
            (*loop.parameters, *extra),
            (*states, *_starts(extra)),
            ends,
            loop.where,
        )
        name = f"{self.name}_loop" if self.name.isidentifier() else "loop"
        owner = FunctionType(self.owner.__code__, self.owner.__globals__, name, None, self.owner.__closure__)
        apart = Apart(owner, Function(name, parameters, (), Region((), Unreachable()), loop.where), again=True)
        made = _Segment(Const(apart, name, apart), free, extra)
        out = _Out(loop.where)
        if schedule.name == "log":
            apart.function = replace(apart.function, body=_in_parts(made, inner, states, ends, first, last, out))
        else:
            out.statements.append(inner)
            apart.function = replace(apart.function, body=_returning(out, ends))
        return made


@final
@dataclass(frozen=True, slots=True)
class _Segment:
    """A function that runs some steps of a loop: what calls it gives what the loop carries, the `free` variables of its body,
    and the first and the last step. `extra` are the number by which the loop was left and the value that was returned, as far as
    it has them, behind what the loop carries."""

    callee: Const
    free: tuple[Var, ...]
    extra: tuple[Var, ...]

    def call(self, out: _Out, states: tuple[Value, ...], ends: tuple[Var, ...], first: Value, last: Value) -> None:
        given = (*states, *self.free, first, last)
        if len(ends) == 1:
            out.operation(self.callee, given, ends[0])
        else:
            packed = fresh("carried")
            out.operation(self.callee, given, packed)
            out.unpack(packed, ends)


@final
class _Out:
    """Statements that are being put together."""

    def __init__(self, where: Location) -> None:
        self.where = replace(where, text="")
        self.statements: list[Statement] = []

    def operation(self, callee: Opcode | Value, arguments: tuple[Value, ...], result: Var, payload: Any = None) -> Var:
        self.statements.append(Op(callee, arguments, (result,), payload=payload, from_user=False, where=self.where))
        return result

    def call(self, callee: Value, *arguments: Value, hint: str = "", result: Var | None = None) -> Var:
        return self.operation(callee, arguments, fresh(hint) if result is None else result)

    def unpack(self, packed: Value, results: tuple[Var, ...]) -> None:
        self.statements.append(Op(Opcode.UNPACK, (packed,), results, from_user=False, where=self.where))


def _outer(
    loop: While | For, segment: _Segment, schedule: Schedule, first: Value, bounds: Value | None
) -> Iterator[Statement]:
    """The loop over the segments, in the place of a loop."""
    out = _Out(loop.where)
    ends = (*loop.results, *(fresh(var.hint) for var in segment.extra))
    if schedule.name == "log" and bounds is not None:
        segment.call(out, loop.initial, ends, first, bounds)
    else:
        states = tuple(fresh(var.hint, var.user_named) for var in loop.parameters)
        carried = tuple(fresh(var.hint) for var in segment.extra)
        inside = _Out(loop.where)
        news = tuple(fresh(var.hint, var.user_named) for var in (*loop.parameters, *segment.extra))
        if bounds is None:
            size, none = fresh("size"), fresh("_")
            segment.call(inside, states, news, Const(0), size)
            longer = inside.call(_MUL if schedule.name == "log" else _ADD, size, _growth(schedule), hint="size")
            body = _left(inside, segment, news, (longer,))
            start: Value = schedule.count if schedule.name == "every" else Const(_LEAF if schedule.name == "log" else _FIRST)
            results = (*ends, none)
            condition = Region((), Yield((Const(True),)))
            whole = While(condition, body, (*states, *carried, size), (*loop.initial, *_starts(carried), start), results)
            out.statements.append(replace(whole, where=loop.where))
        else:
            every = _every(schedule, first, bounds, out)
            begin = fresh("start")
            end = inside.call(_MIN, inside.call(_ADD, begin, every), bounds)
            segment.call(inside, states, news, begin, end)
            body = _left(inside, segment, news, ())
            initial = (*loop.initial, *_starts(carried))
            out.statements.append(
                For(Range((first, bounds, every), begin), body, (*states, *carried), initial, ends, loop.where)
            )
    yield from out.statements
    if len(segment.extra) == 2:
        left, value = ends[-2:]
        is_left = fresh("is_returned")
        yield Op(_EQ, (left, _RETURNED), (is_left,), from_user=False, where=out.where)
        yield If(is_left, Region((), Return(value)), Region((), Yield(())), (), loop.where)


def _growth(schedule: Schedule) -> Value:
    match schedule.name:
        case "log":
            return Const(2)
        case "every":
            return Const(0)
    return Const(1)


def _every(schedule: Schedule, first: Value, last: Value, out: _Out) -> Value:
    """How many steps a segment has."""
    if schedule.name == "every":
        return schedule.count
    steps = last if first == Const(0) else out.call(_SUB, last, first)
    if schedule.name == "sqrt":
        root = out.call(_SQRT, out.call(_MAX, steps, Const(0)))
        return out.call(_ADD, out.call(_INT, root), Const(1), hint="every")
    parts = out.call(_FLOORDIV, out.call(_SUB, steps, Const(1)), schedule.count)
    return out.call(_ADD, out.call(_MAX, parts, Const(0)), Const(1), hint="every")


def _left(out: _Out, segment: _Segment, news: tuple[Var, ...], others: tuple[Var, ...]) -> Region:
    """The end of the body of a loop over segments: it goes on, unless the segment was left."""
    goes_on = Region((), Continue((*news, *others)))
    if not segment.extra:
        return replace(goes_on, statements=tuple(out.statements))
    left = news[len(news) - len(segment.extra)]
    goes = out.call(_EQ, left, _GOES_ON)
    out.statements.append(If(goes, goes_on, Region((), Break((*news, *others))), (), out.where))
    return Region(tuple(out.statements), Unreachable())


def _in_parts(
    segment: _Segment, inner: For, states: tuple[Var, ...], ends: tuple[Var, ...], first: Var, last: Var, out: _Out
) -> Region:
    """The segment as the loop itself, of few steps, or as a loop over its parts."""
    is_short = out.call(_LE, out.call(_SUB, last, first), Const(_LEAF))
    parts = _Out(out.where)
    every = _every(Schedule("parts", Const(_PARTS)), first, last, parts)
    count = len(states)
    own = tuple(fresh(var.hint, var.user_named) for var in ends)
    news = tuple(fresh(var.hint, var.user_named) for var in ends)
    begin, inside = fresh("start"), _Out(out.where)
    end = inside.call(_MIN, inside.call(_ADD, begin, every), last)
    segment.call(inside, own[:count], news, begin, end)
    body = _left(inside, segment, news, ())
    whole = tuple(fresh(var.hint, var.user_named) for var in ends)
    loop = For(Range((first, last, every), begin), body, own, (*states, *_starts(own[count:])), whole, inner.where)
    # What is proven of the steps is likely to be so of the parts.
    then, parts.statements = _Out(out.where), [*parts.statements, loop]
    then.statements.append(inner)
    out.statements.append(If(is_short, _returning(then, ends), _returning(parts, whole), (), out.where))
    return Region(tuple(out.statements), Unreachable())


def _returning(out: _Out, ends: tuple[Var, ...]) -> Region:
    value = ends[0] if len(ends) == 1 else out.operation(Opcode.TUPLE, ends, fresh("carried"))
    return Region(tuple(out.statements), Return(value, out.where))


def _extra(leaves: bool, returns: bool) -> tuple[Var, ...]:
    if returns:
        return fresh("left"), fresh("returned")
    return (fresh("left"),) if leaves else ()


def _starts(extra: tuple[Var, ...]) -> tuple[Value, ...]:
    return (_GOES_ON, Const(None))[: len(extra)]


def _left_by_number(region: Region, states: tuple[Var, ...], extra: tuple[Var, ...]) -> Region:
    """The body of a loop that says by a number how it is left."""

    def ended(inner: Region) -> Region:
        statements = tuple(map_regions(each, ended) if isinstance(each, If | Try) else each for each in inner.statements)
        match inner.terminator:
            case Continue(values=values):
                return Region(statements, Continue((*values, *_starts(extra))))
            case Break(values=values):
                return Region(statements, Break((*values, *(_BROKEN, Const(None))[: len(extra)])))
            case Return(value=value):
                return Region(statements, Break((*states, _RETURNED, value)))
        return Region(statements, inner.terminator)

    return ended(region)


def _own_ends(region: Region) -> Iterator[Any]:
    """The terminators in a loop's body that are not those of loops inside of it."""
    for statement in region.statements:
        if isinstance(statement, If | Try):
            for inner in regions(statement):
                yield from _own_ends(inner)
    yield region.terminator


def _breaks(body: Region) -> bool:
    return any(isinstance(end, Break) for end in _own_ends(body))


def _returns(body: Region) -> bool:
    return any(isinstance(end, Return) for end in _own_ends(body))


def _check(loop: While | For, scopes: frozenset[Var]) -> None:
    """Refuse a loop that cannot be run again piece by piece."""
    inside = set(_defined_in(loop.body)) | set(loop.parameters)
    for statement in (*loop.body.statements, *walk(loop.body)):
        where = statement.where if statement.where.line else loop.where
        match statement:
            case Op(callee=Opcode.SUSPEND):
                raise refusal("a generator", where)
            case Op(callee=Opcode.MARK, payload=scope) if scope in scopes:
                raise refusal("a loop in a `try` whose handlers read what it changes", where)
            case Op(callee=callee, arguments=(Var() as changed, *_)) if callee in CHANGING:
                if changed not in inside or _flows_from(changed, loop):
                    raise refusal("a loop that changes a list or dict", where)
            case While(body=body) | For(body=body) if _returns(body):
                raise refusal("a return from a loop inside of a loop", where)


def _flows_from(changed: Var, loop: While | For) -> bool:
    """Whether a list that is changed in a loop may be one that the loop carries: it is, unless it was made in the same turn."""
    made = {each.result for each in walk(loop.body) if isinstance(each, Op) and each.callee in (Opcode.LIST, Opcode.DICT)}
    return not _made_here(changed, loop, made, set())


def _made_here(var: Var, loop: While | For, made: set[Var], met: set[Var]) -> bool:
    if var in made or var in met:
        return True
    met.add(var)
    sources = list(_sources(var, loop.body))
    return bool(sources) and all(isinstance(each, Var) and _made_here(each, loop, made, met) for each in sources)


def _sources(var: Var, body: Region) -> Iterator[Value]:
    """What a variable of a loop's body may be, one step back; nothing for what is not known."""
    for statement in walk(body):
        match statement:
            case Op(callee=callee, arguments=(source, *_), results=(result,)) if callee in CHANGING and result == var:
                yield source
            case If(then=then, orelse=orelse, results=results) if var in results:
                for arm in (then, orelse):
                    if isinstance(arm.terminator, Yield):
                        yield arm.terminator.values[results.index(var)]
            case While(body=inner, parameters=own) | For(body=inner, parameters=own):
                for place, (parameter, result) in enumerate(zip(own, statement.results, strict=True)):
                    if var in (parameter, result):
                        yield statement.initial[place]
                        ends = (end for end in _own_ends(inner) if isinstance(end, Continue | Break))
                        yield from (end.values[place] for end in ends)


def _defined_in(region: Region) -> Iterator[Var]:
    for statement in walk(region):
        yield from definitions(statement)
        match statement:
            case While(parameters=parameters):
                yield from parameters
            case For(parameters=parameters, items=items):
                yield from (*parameters, *item_variables(items))
            case Try(parameters=parameters, handlers=handlers):
                yield from (*parameters, *(handler.exception for handler in handlers if handler.exception is not None))


def _free_in(region: Region, bound: set[Var]) -> tuple[Var, ...]:
    """The variables from around that a region reads, in the order in which it does."""
    bound = bound.union(_defined_in(region))
    read: list[Value] = []
    for statement in walk(region):
        read += uses(statement)
        read += item_sources(statement.items) if isinstance(statement, For) else ()
        for inner in regions(statement):
            read += terminator_values(inner.terminator)
    read += terminator_values(region.terminator)
    return tuple(dict.fromkeys(value for value in read if isinstance(value, Var) and value not in bound))


def _distinct(hints: list[str]) -> list[str]:
    met: dict[str, int] = {}
    names = []
    for hint in hints:
        met[hint] = met.get(hint, -1) + 1
        names.append(f"{hint}_{met[hint]}" if met[hint] else hint)
    return names


def refusal(what: str, where: Location) -> UnsupportedSyntaxError:
    return UnsupportedSyntaxError(f"{what} cannot be run in checkpointed segments", where, _REMEDY)

