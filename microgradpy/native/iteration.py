"""Loops in native code: what the variables of an iteration are, and whether there is anything to iterate over."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from microgradpy.dataclasses import replace
from microgradpy.ir.nodes import (
    Const,
    Each,
    Enumerate,
    If,
    Items,
    Location,
    Op,
    Range,
    Region,
    Reversed,
    Statement,
    Value,
    Var,
    While,
    Zip,
    fresh,
    operator_constant,
)
from microgradpy.ir.rewrite import map_terminator, map_uses
from microgradpy.native.calls import LEN, Lowering
from microgradpy.native.types import EXACT_BITS, FLOAT64, ArrayOf, Number, Type, Unsupported, whole, words

MOST_ITEMS_BITS = 48
_LE, _EQ = map(operator_constant, ("le", "eq"))
_TypeOf = Callable[[Value], Type | None]


def item_types(items: Items, type_of: _TypeOf) -> Iterator[tuple[Var, Type]]:
    """The types of the variables that an iteration binds. Unsupported if it is over something else than ranges and arrays."""
    match items:
        case Range(arguments=arguments, item=item):
            yield item, _item_of_range(arguments, type_of)
        case Reversed(inner=Range(arguments=(_,) | (_, _)) as inner):
            yield from item_types(inner, type_of)
        case Each(source=source, item=item):
            yield item, _item_of(type_of(source))
        case Enumerate(inner=inner, start=start, index=index):
            kind = type_of(start)
            if not (isinstance(kind, Number) and kind.is_whole and kind.bits < EXACT_BITS - 1):
                raise Unsupported("a count from what may not be a whole number")
            yield index, whole(max(kind.bits, MOST_ITEMS_BITS) + 1)
            yield from item_types(inner, type_of)
        case Zip(inners=inners, strict=False):
            for inner in inners:
                yield from item_types(inner, type_of)
        case _:
            raise Unsupported("a loop over something else than ranges and arrays")


def _item_of_range(arguments: tuple[Value, ...], type_of: _TypeOf) -> Type:
    kinds = [kind for kind in map(type_of, arguments) if isinstance(kind, Number) and kind.is_whole]
    if len(kinds) != len(arguments):
        raise Unsupported("a range of what may not be whole numbers")
    if len(arguments) == 3 and not (isinstance(arguments[2], Const) and arguments[2].value):
        raise Unsupported("a range with a step that is not known")
    return whole(max(kind.bits for kind in kinds))


def _item_of(kind: Type | None) -> Type:
    match kind:
        case ArrayOf(ndim=1, dtype="float"):
            return FLOAT64
        case ArrayOf(ndim=2, dtype="float"):
            return ArrayOf(1)
    raise Unsupported(f"a loop over {words(kind)}")


def test_of_items(lowering: Lowering, items: Items, where: Location) -> bool:
    """Give up if there are no items; whether that can be tested."""
    match items:
        case Range(arguments=(stop,)):
            lowering.test(_LE, (stop, Const(0)), where, gives_up=True)
        case Range(arguments=(start, stop)):
            lowering.test(_LE, (stop, start), where, gives_up=True)
        case Each(source=source):
            like = Op(LEN, (source,), (fresh(),), from_user=False, where=where)
            length = lowering.emit(LEN, (source,), whole(MOST_ITEMS_BITS), like)
            lowering.test(_EQ, (length, Const(0)), where, gives_up=True)
        case Enumerate(inner=inner):
            return test_of_items(lowering, inner, where)
        case Zip(inners=(_, *_) as inners):
            return all([test_of_items(lowering, inner, where) for inner in inners])
        case _:
            return False
    return True


def condition_before(loop: While, initial: tuple[Value, ...]) -> Region | None:
    """The condition of a loop once more, with other variables, as it is before the first turn; None if it has loops."""
    return _copied(loop.condition, dict(zip(loop.parameters, initial, strict=True)))


def _copied(region: Region, names: dict[Var, Value]) -> Region | None:
    def read(value: Value) -> Value:
        return names.get(value, value) if isinstance(value, Var) else value

    made: list[Statement] = []
    for statement in region.statements:
        copied = map_uses(statement, read)
        results = tuple(fresh(var.hint) for var in copied.results)
        if isinstance(copied, If):
            then, orelse = (_copied(arm, dict(names)) for arm in (copied.then, copied.orelse))
            if then is None or orelse is None:
                return None
            made.append(replace(copied, then=then, orelse=orelse, results=results))
        elif isinstance(copied, Op):
            made.append(replace(copied, results=results))
        else:
            return None
        names.update(zip(statement.results, results, strict=True))
    return Region(tuple(made), map_terminator(region.terminator, read))
