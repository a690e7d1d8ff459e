"""The two printed forms of the IR, on functions built by hand."""

from __future__ import annotations

import math
import operator
from pathlib import Path
from textwrap import dedent
from typing import Any

import numpy as np
import pytest

from microgradpy.ir.block_nodes import Branch
from microgradpy.ir.blocks import blocks
from microgradpy.ir.nodes import (
    UNDEFINED,
    Break,
    Const,
    Continue,
    DictItems,
    Each,
    Enumerate,
    For,
    Function,
    Handler,
    If,
    Items,
    Op,
    Opcode,
    Parameter,
    ParameterKind,
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
    fresh,
)
from microgradpy.ir.notation import describe_constant
from microgradpy.ir.printer import print_blocks, print_structured
from microgradpy.ir.verifier import verify

ONE = Const(1)
RAND = Const(np.random.rand, "np.random.rand", np)


def variables(names: str) -> list[Var]:
    """One variable per word; `_` has no name."""
    return [fresh("" if name == "_" else name) for name in names.split()]


def op(
    callee: Opcode | Value, *arguments: Value, to: Var | None = None, payload: object = None, **keywords: Value
) -> Op:
    return Op(callee, arguments, () if to is None else (to,), tuple(keywords.items()), payload)


def infix(result: Var, left: Value, symbol: str, *right: Value) -> Op:
    return op(Opcode.INFIX, left, *right, to=result, payload=symbol)


def region(*statements: Statement, end: Terminator) -> Region:
    return Region(statements, end)


def function(
    name: str, inputs: list[Var], *statements: Statement, end: Terminator, captured: tuple[Var, ...] = ()
) -> Function:
    parameters = tuple(Parameter(var, var.hint) for var in inputs)
    return verify(Function(name, parameters, captured, Region(statements, end)))


def expect(printed: str, expected: str) -> None:
    assert printed == dedent(expected).strip()


def geom() -> Function:
    n, b, drawn, stops, more, result = variables("n b drawn stops more result")
    return function(
        "geom",
        [n, b],
        op(RAND, to=drawn),
        infix(stops, drawn, "<", b),
        If(
            stops,
            region(end=Return(n)),
            region(infix(more, n, "+", ONE), op(Const(geom, "geom", geom), more, b, to=result), end=Return(result)),
            (),
        ),
        end=Unreachable(),
    )


def root() -> Function:
    """The worked example of docs/ir.md."""
    x, tol, y, k, go, square, r, small, double, step, y_next, k_next, y_out, k_out = variables(
        "x tol y k _ _ r _ _ _ y k y k"
    )
    newton = (
        infix(double, Const(2.0), "*", y),
        infix(step, r, "/", double),
        infix(y_next, y, "-", step),
        infix(k_next, k, "+", ONE),
    )
    body = (
        infix(square, y, "*", y),
        infix(r, square, "-", x),
        infix(small, r, "<", tol),
        If(small, region(end=Break((y, k))), region(*newton, end=Continue((y_next, k_next))), ()),
    )
    loop = While(
        region(infix(go, k, "<", Const(50)), end=Yield((go,))),
        region(*body, end=Unreachable()),
        (y, k),
        (x, Const(0)),
        (y_out, k_out),
    )
    return function("root", [x, tol], loop, end=Return(y_out))


ROOT_BLOCKS = """
    1: (%1, %2, %3)
      br 2 (%2, 0)
    2: (%4, %5)
      %6 = %5 < 50
      br 5 unless %6
      br 3
    3:
      %7 = %4 * %4
      %8 = %7 - %2
      %9 = %8 < %3
      br 4 unless %9
      br 5
    4:
      %10 = 2.0 * %4
      %11 = %8 / %10
      %12 = %4 - %11
      %13 = %5 + 1
      br 2 (%12, %13)
    5:
      return %4
"""

ROOT_STRUCTURED = """
    root: (%1, %2, %3)
      while with %4 = %2, %5 = 0:
        %6 = %5 < 50
        yield %6
      do:
        %7 = %4 * %4
        %8 = %7 - %2
        %9 = %8 < %3
        if %9:
          break %4, %5
        else:
          %10 = 2.0 * %4
          %11 = %8 / %10
          %12 = %4 - %11
          %13 = %5 + 1
          continue %12, %13
        end
        unreachable
      end %14, %15
      return %14
"""


def test_an_arm_that_only_returns_is_a_branch_of_its_block() -> None:
    expect(
        print_blocks(geom()),
        """
        1: (%1, %2, %3)
          %4 = np.random.rand()
          %5 = %4 < %3
          br 2 unless %5
          return %2
        2:
          %6 = %2 + 1
          %7 = geom(%6, %3)
          return %7
        """,
    )


def test_a_loop_in_both_forms() -> None:
    expect(print_blocks(root()), ROOT_BLOCKS)
    expect(print_structured(root()), ROOT_STRUCTURED)


def test_names_show_at_definitions() -> None:
    lines = print_blocks(root(), names=True).splitlines()
    assert lines[:3] == ["1: (%1/root, %2/x, %3/tol)", "  br 2 (%2, 0)", "2: (%4/y, %5/k)"]
    assert "  %8/r = %7 - %2" in lines
    assert "  while with %4/y = %2, %5/k = 0:" in print_structured(root(), names=True).splitlines()


def test_the_documented_example_is_what_is_printed() -> None:
    document = (Path(__file__).parents[2] / "docs" / "ir.md").read_text(encoding="utf-8")
    assert dedent(ROOT_BLOCKS).strip() in document
    assert dedent(ROOT_STRUCTURED).strip() in document


def test_text_and_view_do_not_vary_between_builds_and_calls() -> None:
    assert print_blocks(root()) == print_blocks(root())
    assert print_structured(geom()) == print_structured(geom())
    same = root()
    assert blocks(same) == blocks(same)


def test_only_a_result_with_different_values_is_a_block_argument() -> None:
    x, flag, left, right, a, b, out = variables("x flag left right a b out")
    choice = If(
        flag,
        region(infix(left, x, "+", ONE), end=Yield((left, x))),
        region(infix(right, x, "-", ONE), end=Yield((right, x))),
        (a, b),
    )
    expect(
        print_blocks(function("f", [x, flag], choice, infix(out, a, "*", b), end=Return(out))),
        """
        1: (%1, %2, %3)
          br 3 unless %3
          br 2
        2:
          %4 = %2 + 1
          br 4 (%4)
        3:
          %5 = %2 - 1
          br 4 (%5)
        4: (%6)
          %7 = %6 * %2
          return %7
        """,
    )


def test_exceptions_go_to_handlers_with_the_values_of_the_marks() -> None:
    x, scope, seen, error, y, out = variables("x scope seen error y out")
    tried = Try(
        region(
            op(Opcode.MARK, UNDEFINED, payload=scope),
            infix(y, x, "*", x),
            op(Opcode.MARK, y, payload=scope),
            end=Yield((y,)),
        ),
        (
            Handler((Const(ValueError), Const(KeyError)), None, region(end=Yield((seen,)))),
            Handler(None, error, region(end=Raise(None))),
        ),
        scope,
        (seen,),
        (out,),
    )
    tried_function = function("f", [x], tried, end=Return(out))
    expect(
        print_structured(tried_function),
        """
        f: (%1, %2)
          try %3 with %4:
            mark %3(undefined)
            %6 = %2 * %2
            mark %3(%6)
            yield %6
          except (ValueError, KeyError):
            yield %4
          except as %5:
            raise
          end %7
          return %7
        """,
    )
    expect(
        print_blocks(tried_function),
        """
        1: (%1, %2)
          br 3 on ValueError, KeyError in %7
          br 4 on in %7
          br 2
        2:
          mark %7(undefined)
          %3 = %2 * %2
          mark %7(%3)
          br 5 (%3)
        3: (%4)
          br 5 (%4)
        4: (%4, %5)
          raise
        5: (%6)
          return %6
        """,
    )


def test_arms_without_statements_branch_straight_to_the_join() -> None:
    x, flag, y = variables("x flag y")
    choice = If(flag, region(end=Yield((x,))), region(end=Yield((UNDEFINED,))), (y,))
    expect(
        print_blocks(function("f", [x, flag], choice, end=Return(y))),
        """
        1: (%1, %2, %3)
          br 2 (undefined) unless %3
          br 2 (%2)
        2: (%4)
          return %4
        """,
    )


def test_a_block_goes_on_where_nothing_else_joins_it() -> None:
    x, flag, error, left, y, out = variables("x flag error left y out")
    choice = If(
        flag,
        region(op(Const(ValueError), Const("no"), to=error), end=Raise(error)),
        region(infix(left, x, "+", ONE), end=Yield((left,))),
        (y,),
    )
    expect(
        print_blocks(function("f", [x, flag], choice, infix(out, y, "*", y), end=Return(out))),
        """
        1: (%1, %2, %3)
          br 3 unless %3
          br 2
        2:
          %4 = ValueError('no')
          raise %4
        3:
          %5 = %2 + 1
          %6 = %5 * %5
          return %6
        """,
    )


def test_an_endless_loop_has_neither_condition_nor_exit() -> None:
    x, y, next_y, done, out = variables("x y y done out")
    body = region(
        infix(done, y, ">", ONE),
        If(done, region(end=Return(y)), region(end=Yield(())), ()),
        infix(next_y, y, "+", x),
        end=Continue((next_y,)),
    )
    loop = While(region(end=Yield((Const(True),))), body, (y,), (x,), (out,))
    expect(
        print_blocks(function("f", [x], loop, end=Unreachable())),
        """
        1: (%1, %2)
          br 2 (%2)
        2: (%3)
          %4 = %3 > 1
          br 3 unless %4
          return %3
        3:
          %5 = %3 + %2
          br 2 (%5)
        """,
    )


def test_a_loop_left_with_different_values_has_a_block_argument() -> None:
    xs, total, item, stop, more, out = variables("xs total x stop more out")
    body = region(
        infix(stop, item, "<", Const(0)),
        If(stop, region(end=Break((item,))), region(end=Yield(())), ()),
        infix(more, total, "+", item),
        end=Continue((more,)),
    )
    loop = For(Each(xs, item), body, (total,), (Const(0.0),), (out,))
    summed = function("f", [xs], loop, end=Return(out))
    expect(
        print_blocks(summed),
        """
        1: (%1, %2)
          %3 = iter(%2)
          br 2 (0.0)
        2: (%4)
          %5, %6 = next(%3)
          br 5 (%4) unless %5
          br 3
        3:
          %7 = %6 < 0
          br 4 unless %7
          br 5 (%6)
        4:
          %8 = %4 + %6
          br 2 (%8)
        5: (%9)
          return %9
        """,
    )
    expect(
        print_structured(summed),
        """
        f: (%1, %2)
          for %4 in %2 with %3 = 0.0:
            %5 = %4 < 0
            if %5:
              break %4
            else:
              yield
            end
            %6 = %3 + %4
            continue %6
          end %7
          return %7
        """,
    )


def loops_over(make: Any) -> tuple[str, str]:
    """The line of the iterator and that of its next item, with three parameters %2, %3, %4."""
    a, b, c = variables("a b c")
    loop = For(make(a, b, c), region(end=Continue(())), (), (), ())
    lines = print_blocks(function("f", [a, b, c], loop, end=Return(Const(None)))).splitlines()
    return lines[1].strip(), lines[4].strip()


def pair(make: Any) -> Any:
    return lambda a, b, c: make(a, b, c, *variables("i x"))


ITERATIONS: list[tuple[Any, str, str]] = [
    (pair(lambda a, b, c, i, x: Range((a, b), i)), "range(%2, %3)", "%7"),
    (pair(lambda a, b, c, i, x: Enumerate(Each(a, x), Const(0), i)), "enumerate(%2)", "(%7, %8)"),
    (pair(lambda a, b, c, i, x: Enumerate(Each(a, x), b, i)), "enumerate(%2, %3)", "(%7, %8)"),
    (pair(lambda a, b, c, i, x: Zip((Each(a, i), Each(b, x)))), "zip(%2, %3)", "(%7, %8)"),
    (pair(lambda a, b, c, i, x: Zip((Each(a, i),))), "zip(%2)", "(%7,)"),
    (pair(lambda a, b, c, i, x: Reversed(Range((a,), i))), "reversed(range(%2))", "%7"),
    (pair(lambda a, b, c, i, x: DictItems(a, i, x)), "%2.items()", "(%7, %8)"),
    (pair(lambda a, b, c, i, x: Records(a, (i, x))), "reversed(%2)", "(%7, %8)"),
    (pair(lambda a, b, c, i, x: Records(a, (i,))), "reversed(%2)", "%7"),
    (pair(lambda a, b, c, i, x: Records(a, ())), "reversed(%2)", "()"),
]


@pytest.mark.parametrize(
    ("make", "iterable", "target"), ITERATIONS, ids=lambda value: value if isinstance(value, str) else ""
)
def test_every_kind_of_iteration(make: Any, iterable: str, target: str) -> None:
    assert loops_over(make) == (f"%5 = iter({iterable})", f"%6, {target} = next(%5)")


X, Y, Z, R = variables("x y z r")
OPERATIONS = [
    (infix(R, X, "is not", Y), "%5 = %2 is not %3"),
    (infix(R, X, "not"), "%5 = not %2"),
    (infix(R, X, "-x"), "%5 = -%2"),
    (infix(R, X, "~"), "%5 = ~%2"),
    (infix(R, Const(-1), "-x"), "%5 = -(-1)"),
    (infix(R, X, "*", Const(-1.5)), "%5 = %2 * -1.5"),
    (op(Const(operator.lt, "operator.lt", operator), X, Y, to=R), "%5 = operator.lt(%2, %3)"),
    (op(Const(operator.lt), X, Y, to=R), "%5 = operator.lt(%2, %3)"),
    (op(Const(np.sum, "np.sum", np), X, to=R, axis=Const(0)), "%5 = np.sum(%2, axis=0)"),
    (op(X, Y, Const("a"), to=R), "%5 = %2(%3, 'a')"),
    (op(Opcode.GETATTR, X, to=R, payload="shape"), "%5 = %2.shape"),
    (op(Opcode.GETATTR, Const(2), to=R, payload="real"), "%5 = (2).real"),
    (op(Opcode.GETITEM, X, Y, to=R), "%5 = %2[%3]"),
    (op(Opcode.TUPLE, X, Y, to=R), "%5 = tuple(%2, %3)"),
    (op(Opcode.LIST, to=R), "%5 = list()"),
    (op(Opcode.SET, X, to=R), "%5 = set(%2)"),
    (op(Opcode.DICT, Const("a"), X, Y, Z, to=R), "%5 = dict('a': %2, %3: %4)"),
    (Op(Opcode.UNPACK, (X,), (R, fresh())), "%5, %6 = unpack(%2)"),
    (op(Opcode.JOIN, Const("x="), X, to=R), "%5 = join('x=', %2)"),
    (op(Opcode.APPEND, X, Y, to=R), "%5 = append(%2, %3)"),
    (op(Opcode.APPLY, X, Y, Z, to=R), "%5 = %2(*%3, **%4)"),
    (op(Opcode.GLOBAL, to=R, payload="helper"), "%5 = global helper"),
    (op(Opcode.TAPE, to=R), "%5 = tape()"),
    (op(Opcode.RECORD, X, Y, Z), "record(%2, %3, %4)"),
]


@pytest.mark.parametrize(("operation", "line"), OPERATIONS, ids=[line for _, line in OPERATIONS])
def test_every_operation(operation: Op, line: str) -> None:
    one = function("f", [X, Y, Z], operation, end=Return(Const(None)))
    assert print_blocks(one).splitlines()[1] == f"  {line}"
    assert print_structured(one).splitlines()[1] == f"  {line}"


CONSTANTS = [
    (Const(None), "None"),
    (Const(...), "Ellipsis"),
    (Const(1j), "1j"),
    (Const("it's"), '"it\'s"'),
    (Const((1, 2.0)), "(1, 2.0)"),
    (Const(math.pi, "math.pi", math), "math.pi"),
    (Const(math.sin), "math.sin"),
    (Const(len), "len"),
    (Const(Path), f"{Path.__module__.lstrip('_')}.Path"),
    (Const(object()), "<object>"),
]


@pytest.mark.parametrize(("constant", "expected"), CONSTANTS, ids=[expected for _, expected in CONSTANTS])
def test_every_constant(constant: Const, expected: str) -> None:
    assert describe_constant(constant) == expected


LEAVING = [
    (Return(X), "return %2"),
    (Raise(X), "raise %2"),
    (Raise(X, Y), "raise %2 from %3"),
    (Raise(X, Const(None)), "raise %2 from None"),
    (Raise(None), "raise"),
]


@pytest.mark.parametrize(("terminator", "line"), LEAVING, ids=[line for _, line in LEAVING])
def test_every_way_of_leaving(terminator: Terminator, line: str) -> None:
    one = function("f", [X, Y], end=terminator)
    assert print_blocks(one) == f"1: (%1, %2, %3)\n  {line}"
    assert print_structured(one) == f"f: (%1, %2, %3)\n  {line}"


def test_kinds_of_parameters() -> None:
    a, rest, scale, options = variables("a rest scale options")
    kinds = (ParameterKind.POSITIONAL, ParameterKind.VARIADIC, ParameterKind.KEYWORD, ParameterKind.KEYWORDS)
    parameters = tuple(
        Parameter(var, var.hint, kind) for var, kind in zip((a, rest, scale, options), kinds, strict=True)
    )
    shown = print_blocks(Function("f", parameters, (), region(end=Return(a))))
    assert shown.splitlines()[0] == "1: (%1, %2, *%3, scale=%4, **%5)"


def test_captured_variables_are_fields_and_closures_follow() -> None:
    x, scale, made = variables("x scale inner")
    y, captured_scale, out = variables("y scale out")
    inner = function("inner", [y], infix(out, y, "*", captured_scale), end=Return(out), captured=(captured_scale,))
    again = function("inner", [y], end=Return(y))
    other = fresh("other")
    outer = function(
        "outer",
        [x],
        op(Opcode.CLOSURE, scale, to=made, payload=inner),
        op(Opcode.CLOSURE, to=other, payload=again),
        end=Return(made),
        captured=(scale,),
    )
    expect(
        print_blocks(outer),
        """
        1: (%1, %2)
          %3 = %1.scale
          %4 = closure inner(%3)
          %5 = closure inner#2()
          return %4

        inner:
        1: (%1, %2)
          %3 = %1.scale
          %4 = %2 * %3
          return %4

        inner#2:
        1: (%1, %2)
          return %2
        """,
    )
    assert print_structured(outer).split("\n\n")[1].splitlines()[0] == "inner: (%1, %2)"


def test_free_variables_have_the_last_numbers() -> None:
    x, outside, y = variables("x outside y")
    open_function = Function("f", (Parameter(x, "x"),), (), region(infix(y, x, "*", outside), end=Return(y)))
    verify(open_function, free={outside})
    expect(print_blocks(open_function), "1: (%1, %2)\n  %3 = %2 * %4\n  return %3")


def test_what_cannot_be_reached_has_no_block() -> None:
    x, flag, y = variables("x flag y")
    both_leave = If(flag, region(end=Return(x)), region(end=Return(flag)), ())
    shown = blocks(function("f", [x, flag], both_leave, infix(y, x, "+", ONE), end=Return(y)))
    assert [block.number for block in shown] == [1, 2]


def check_view(one: Function) -> None:
    """Branches go to blocks that exist, with a value for every parameter; only the last one is unconditional."""
    view = blocks(one)
    assert [block.number for block in view] == list(range(1, len(view) + 1))
    for block in view:
        *conditional, last = block.branches
        assert all(isinstance(branch, Branch) and branch.unless is not None for branch in conditional)
        assert not isinstance(last, Branch) or last.unless is None
        for branch in block.branches:
            if isinstance(branch, Branch):
                assert len(branch.arguments) == len(view[branch.target - 1].parameters)


@pytest.mark.parametrize("make", [geom, root])
def test_the_view_is_well_formed(make: Any) -> None:
    check_view(make())


def test_loops_in_loops_keep_their_branches_apart() -> None:
    xs, row, item, found, stop, inner_out, outer_out = variables("xs row item found stop inner outer")
    inner_body = region(
        infix(stop, item, ">", ONE),
        If(stop, region(end=Break((item,))), region(end=Continue((found,))), ()),
        end=Unreachable(),
    )
    state = fresh("found")
    inner = For(Each(row, item), inner_body, (found,), (state,), (inner_out,))
    items: Items = Each(xs, row)
    outer = For(items, region(inner, end=Continue((inner_out,))), (state,), (Const(0.0),), (outer_out,))
    nested = function("f", [xs], outer, end=Return(outer_out))
    check_view(nested)
    expect(
        print_blocks(nested),
        """
        1: (%1, %2)
          %3 = iter(%2)
          br 2 (0.0)
        2: (%4)
          %5, %6 = next(%3)
          br 7 unless %5
          br 3
        3:
          %7 = iter(%6)
          br 4 (%4)
        4: (%8)
          %9, %10 = next(%7)
          br 6 (%8) unless %9
          br 5
        5:
          %11 = %10 > 1
          br 4 (%8) unless %11
          br 6 (%10)
        6: (%12)
          br 2 (%12)
        7:
          return %4
        """,
    )
