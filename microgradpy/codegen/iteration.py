"""What a `for` statement is written with: the iterable, and the target that its items are assigned to.

    Zip((Each(%2, %5), Range((%3,), %6)))      `for xs_item, k in zip(xs, range(n))`
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import assert_never

from microgradpy.ir.nodes import Const, DictItems, Each, Enumerate, Items, Range, Records, Reversed, Value, Var, Zip


def iterable(items: Items, read: Callable[[Value], ast.expr], builtin: Callable[[str], ast.expr]) -> ast.expr:
    """The expression after `in`; `read` writes a value, `builtin` the name of one of Python's functions."""

    def call(name: str, *arguments: ast.expr) -> ast.Call:
        return ast.Call(builtin(name), list(arguments), [])

    match items:
        case Each(source=source):
            return read(source)
        case Range(arguments=arguments):
            return call("range", *map(read, arguments))
        case Enumerate(inner=inner, start=start):
            counts_from_zero = isinstance(start, Const) and start == Const(0)
            rest = () if counts_from_zero else (read(start),)
            return call("enumerate", iterable(inner, read, builtin), *rest)
        case Zip(inners=inners, strict=strict):
            zipped = call("zip", *(iterable(inner, read, builtin) for inner in inners))
            if strict:
                zipped.keywords = [ast.keyword("strict", ast.Constant(True))]
            return zipped
        case Reversed(inner=inner):
            return call("reversed", iterable(inner, read, builtin))
        case DictItems(source=source):
            return ast.Call(ast.Attribute(read(source), "items", ast.Load()), [], [])
        case Records(tape=tape):
            return call("reversed", read(tape))
    assert_never(items)


def target_of(items: Items, assigned: Callable[[Var], ast.expr], unused: Callable[[], str]) -> ast.expr:
    """The expression after `for`; `assigned` writes a variable, `unused` gives a name that nobody reads."""

    def together(*targets: ast.expr) -> ast.Tuple:
        return ast.Tuple(list(targets), ast.Store())

    match items:
        case Each(item=item) | Range(item=item):
            return assigned(item)
        case Enumerate(inner=inner, index=index):
            return together(assigned(index), target_of(inner, assigned, unused))
        case Zip(inners=inners):
            return together(*(target_of(inner, assigned, unused) for inner in inners))
        case Reversed(inner=inner):
            return target_of(inner, assigned, unused)
        case DictItems(key=key, value=value):
            return together(assigned(key), assigned(value))
        case Records(fields=()):
            return ast.Name(unused(), ast.Store())
        case Records(fields=(field,)):
            return assigned(field)
        case Records(fields=fields):
            return together(*map(assigned, fields))
    assert_never(items)
