"""The rewrites that the passes share: of statements, of the values they read, of names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import assert_never

from microgradpy.dataclasses import replace
from microgradpy.ir.nodes import (
    Break,
    Continue,
    DictItems,
    Each,
    Enumerate,
    For,
    Handler,
    If,
    Items,
    Op,
    Opcode,
    Raise,
    Range,
    Records,
    Region,
    Return,
    Reversed,
    Statement,
    Terminator,
    Try,
    Unreachable,
    Value,
    Var,
    While,
    Yield,
    Zip,
)


def map_statements(region: Region, rewrite: Callable[[Statement], tuple[Statement, ...]]) -> Region:
    """Rewrite every statement, innermost first; a statement may become several, or none."""
    return Region(
        tuple(new for old in region.statements for new in rewrite(map_regions(old, lambda r: map_statements(r, rewrite)))),
        region.terminator,
    )


def map_regions(statement: Statement, rewrite: Callable[[Region], Region]) -> Statement:
    """The statement with each region nested directly in it rewritten."""
    match statement:
        case Op():
            return statement
        case If(then=then, orelse=orelse):
            return replace(statement, then=rewrite(then), orelse=rewrite(orelse))
        case While(condition=condition, body=body):
            return replace(statement, condition=rewrite(condition), body=rewrite(body))
        case For(body=body):
            return replace(statement, body=rewrite(body))
        case Try(body=body, handlers=handlers):
            rewritten = tuple(replace(handler, body=rewrite(handler.body)) for handler in handlers)
            return replace(statement, body=rewrite(body), handlers=rewritten)
    assert_never(statement)


def substitute(region: Region, values: Mapping[Var, Value]) -> Region:
    """Replace uses of variables (definitions stay). Chains are followed."""

    def of(value: Value) -> Value:
        while isinstance(value, Var) and value in values:
            value = values[value]
        return value

    def statement_of(statement: Statement) -> Statement:
        return map_regions(map_uses(statement, of), region_of)

    def region_of(inner: Region) -> Region:
        return Region(tuple(map(statement_of, inner.statements)), map_terminator(inner.terminator, of))

    return region_of(region)


def map_uses(statement: Statement, of: Callable[[Value], Value]) -> Statement:
    """The statement with each value that it itself reads replaced."""
    match statement:
        case Op(callee=callee, arguments=arguments, keywords=keywords):
            return Op(
                callee if isinstance(callee, Opcode) else of(callee),
                tuple(map(of, arguments)),
                statement.results,
                tuple([(name, of(value)) for name, value in keywords]) if keywords else (),
                statement.payload,
                statement.from_user,
                statement.where,
            )
        case If(condition=condition):
            return replace(statement, condition=of(condition))
        case While(initial=initial):
            return replace(statement, initial=tuple(map(of, initial)))
        case For(items=items, initial=initial):
            return replace(statement, items=map_items(items, of), initial=tuple(map(of, initial)))
        case Try(handlers=handlers):
            return replace(statement, handlers=tuple(_map_types(handler, of) for handler in handlers))
    assert_never(statement)


def _map_types(handler: Handler, of: Callable[[Value], Value]) -> Handler:
    return handler if handler.types is None else replace(handler, types=tuple(map(of, handler.types)))


def map_items(items: Items, of: Callable[[Value], Value], bind: Callable[[Var], Var] = lambda var: var) -> Items:
    """The items with the values they read, and the variables they bind, replaced."""
    match items:
        case Each(source=source, item=item):
            return Each(of(source), bind(item))
        case Range(arguments=arguments, item=item):
            return Range(tuple(map(of, arguments)), bind(item))
        case Enumerate(inner=inner, start=start, index=index):
            return Enumerate(map_items(inner, of, bind), of(start), bind(index))
        case Zip(inners=inners, strict=strict):
            return Zip(tuple(map_items(inner, of, bind) for inner in inners), strict)
        case Reversed(inner=inner):
            mapped = map_items(inner, of, bind)
            assert isinstance(mapped, Each | Range)
            return Reversed(mapped)
        case DictItems(source=source, key=key, value=value):
            return DictItems(of(source), bind(key), bind(value))
        case Records(tape=tape, fields=fields):
            return Records(of(tape), tuple(map(bind, fields)))
    assert_never(items)


def map_terminator(terminator: Terminator, of: Callable[[Value], Value]) -> Terminator:
    match terminator:
        case Yield(values=values):
            return Yield(tuple(map(of, values)))
        case Continue(values=values):
            return Continue(tuple(map(of, values)))
        case Break(values=values):
            return Break(tuple(map(of, values)))
        case Return(value=value, where=where):
            return Return(of(value), where)
        case Raise(exception=exception, cause=cause, where=where):
            return Raise(
                None if exception is None else of(exception), None if cause is None else of(cause), where
            )
        case Unreachable():
            return terminator
    assert_never(terminator)


def rename(region: Region, names: Mapping[Var, str]) -> Region:
    """Give variables without a hint a name, where operations define them and records bind them."""

    def named(var: Var) -> Var:
        return var if var.hint or var not in names else Var(var.id, names[var])

    def rewrite(statement: Statement) -> tuple[Statement, ...]:
        match statement:
            case Op(results=results):
                if all(var.hint or var not in names for var in results):
                    return (statement,)
                return (replace(statement, results=tuple(map(named, results))),)
            case For(items=items):
                return (replace(statement, items=map_items(items, lambda value: value, named)),)
        return (statement,)

    return map_statements(region, rewrite)
