"""What a loop in segments runs over: whole numbers that count its steps, from which the items come by their places.

    for x in checkpointed(xs):                  n = len(xs)
        y = f(y, x)                             for step in range(first, last):
                                                    x = xs[step]
"""

from __future__ import annotations

from typing import Any, final

from microgradpy.ad.segment_checks import refusal
from microgradpy.dataclasses import replace
from microgradpy.ir.nodes import (
    KEPT,
    Const,
    DictItems,
    Each,
    Enumerate,
    For,
    Items,
    Location,
    Op,
    Opcode,
    Range,
    Reversed,
    Statement,
    Value,
    Var,
    While,
    Zip,
    fresh,
    function_constant,
    operator_constant,
)
from microgradpy.runtime.checkpoints import Schedule, check_items, checkpointed

CHECKPOINTED, _CHECK_ITEMS = function_constant(checkpointed), function_constant(check_items)
_RANGE, _LEN, _MIN = function_constant(range), function_constant(len), function_constant(min)
_ENUMERATE, _ZIP, _REVERSED = function_constant(enumerate), function_constant(zip), function_constant(reversed)
_ADD, _SUB, _MUL, _GETITEM = map(operator_constant, ("add", "sub", "mul", "getitem"))


def is_checkpoint(op: Op) -> bool:
    match op:
        case Op(callee=Const(value=callee), arguments=(Const(value=module), Const(value=str(name)))) if callee is getattr:
            return getattr(module, name, None) is checkpointed
    return op.callee == CHECKPOINTED


def _is_count(every: Value) -> bool:
    return isinstance(every, Const) and (every.value is None or (type(every.value) is int and every.value > 0))


@final
class Out:
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


@final
class Steps:
    """What the operations of a function say of its loops: `producers` are those that made its variables. `iterables` are the
    variables that were made to be run over."""

    def __init__(self) -> None:
        self.producers: dict[Var, Op] = {}
        self.iterables: set[Var] = set()

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
        is_made = made is not None and len(made.arguments) == 1 and self.makes_checkpoint(made.callee)
        return made if is_made else None

    def makes_checkpoint(self, callee: Opcode | Value) -> bool:
        if isinstance(callee, Var):
            read = self.producers.get(callee)
            return read is not None and read.callee != CHECKPOINTED and is_checkpoint(read)
        return callee == CHECKPOINTED

    def of(self, loop: For, out: Out) -> tuple[Var, Value, Value, tuple[Statement, ...]]:
        """The variable that counts the steps, where it starts and ends, and what binds the items for it."""
        items = self.items_of(loop)
        match items:
            case Range(arguments=(stop,), item=item):
                return item, Const(0), stop, ()
            case Range(arguments=(start, stop), item=item):
                return item, start, stop, ()
        step, inside = fresh("step"), Out(loop.where)
        length = self.bind(items, step, out, inside)
        return step, Const(0), length, tuple(inside.statements)

    def items_of(self, loop: For) -> Items:
        """What a loop runs over, without `checkpointed` around it."""
        checkpoint = self.checkpoint_of(loop)
        if checkpoint is None or not isinstance(loop.items, Each):
            return loop.items
        given, item = checkpoint.arguments[0], loop.items.item
        if all(_is_count(value) for _, value in checkpoint.keywords):  # or else the call raises
            self.iterables.add(checkpoint.result)
        made = self.producers.get(given) if isinstance(given, Var) else None
        if made is not None and made.callee == _RANGE and not made.keywords and 0 < len(made.arguments) < 4:
            self.iterables.add(made.result)
            return Range(made.arguments, item)
        return Each(given, item)

    def bind(self, items: Items, step: Var, out: Out, inside: Out) -> Value:
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
                lengths = [self.bind(inner, step, out, inside) for inner in inners]
                return out.call(_MIN, *lengths) if len(lengths) > 1 else lengths[0]
            case Reversed(inner=inner):
                back = fresh("back")
                length = self.bind(inner, back, out, late := Out(inside.where))
                inside.call(_SUB, out.call(_SUB, length, Const(1)), step, result=back)
                inside.statements += late.statements
                return length
        raise refusal(f"a loop over {'dict items' if isinstance(items, DictItems) else 'zip(strict=True)'}", inside.where)

    def bind_range(self, arguments: tuple[Value, ...], item: Var, step: Var, out: Out, inside: Out) -> Value:
        start = arguments[0] if len(arguments) > 1 else Const(0)
        by = arguments[2] if len(arguments) == 3 else Const(1)
        length = out.call(_LEN, out.call(_RANGE, *arguments))
        inside.call(_ADD, start, inside.call(_MUL, step, by), result=item)
        return length

    def bind_value(self, source: Value, item: Var, step: Var, out: Out, inside: Out) -> Value:
        made = self.producers.get(source) if isinstance(source, Var) else None
        given = () if made is None or any(value != Const(False) for _, value in made.keywords) else made.arguments
        callee = None if made is None else made.callee
        if given and callee == _RANGE:
            return self.bind_range(given, item, step, out, inside)
        if given and callee == _REVERSED:
            return self.bind(Reversed(Each(given[0], item)), step, out, inside)
        if given and callee in (_ENUMERATE, _ZIP):
            inners = tuple(Each(each, fresh()) for each in (given if callee == _ZIP else given[:1]))
            parts = tuple(each.item for each in inners)
            together: Items = Zip(inners)
            if callee == _ENUMERATE:
                parts = fresh(), *parts
                together = Enumerate(inners[0], (*given, Const(0))[1], parts[0])
            length = self.bind(together, step, out, inside)
            inside.operation(Opcode.TUPLE, parts, item)
            return length
        out.operation(_CHECK_ITEMS, (source,), fresh(), payload=KEPT)
        inside.call(_GETITEM, source, step, result=item)
        return out.call(_LEN, source)
