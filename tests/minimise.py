"""Shrink a random program that fails: `python -m tests.minimise NUMBER`.

Statements are dropped, compound statements are replaced by their bodies and expressions by their parts, as long as the
program still runs by itself and still fails in the same way.
"""

from __future__ import annotations

import ast
import copy
import math
import re
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from tests.random_programs import random_program
from tests.test_random_programs import defect_at

SECONDS = 5.0  # for one text; a loop that lost its counter would run for ever


class Loadable(Protocol):
    """A random program of any kind."""

    @property
    def points(self) -> tuple[tuple[Any, ...], ...]: ...

    def load(self, source: str | None = None) -> Callable[..., Any]: ...


Judge = Callable[[Callable[..., Any], tuple[Any, ...]], str | None]


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise TimeoutError in the block after that time."""

    def stop(*_: object) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def failure(program: Loadable, source: str, judge: Judge = defect_at) -> str | None:
    """The kind of failure of this text of the program: an exception without its numbers, or the defect's first word.
    None too for a text that does not run by itself, or does not end."""
    try:
        with time_limit(SECONDS):
            return kind_of_failure(program, source, judge)
    except TimeoutError:
        return None


def kind_of_failure(program: Loadable, source: str, judge: Judge) -> str | None:
    try:
        function = program.load(source)
        if not all(math.isfinite(function(*copy.deepcopy(point))) for point in program.points):
            return None
    except TimeoutError:
        raise
    except Exception:
        return None  # not a program
    for point in program.points:
        try:
            defect = judge(function, point)
        except TimeoutError:
            raise
        except Exception as error:
            return f"{type(error).__name__} {re.sub('[0-9]+', '', str(error))[:60]}"
        if defect is not None:
            return defect.split()[0]
    return None


def smaller(tree: ast.Module) -> Iterator[ast.Module]:
    """Every tree that is one step smaller; big steps first."""
    nodes = list(ast.walk(tree))
    for i, node in enumerate(nodes):
        for name, value in ast.iter_fields(node):
            if isinstance(value, list) and value and isinstance(value[0], ast.stmt):
                for j, statement in enumerate(value):
                    yield with_statements(tree, i, name, j, [])
                    for part in ("body", "orelse"):
                        inside = getattr(statement, part, None)
                        if isinstance(inside, list) and not isinstance(statement, ast.FunctionDef):
                            yield with_statements(tree, i, name, j, inside)
    for i, node in enumerate(nodes):
        for name, value in ast.iter_fields(node):
            if isinstance(value, ast.expr) and not isinstance(value, ast.Name | ast.Constant):
                for part in [*ast.iter_child_nodes(value), ast.Constant(0.5)]:
                    if isinstance(part, ast.expr):
                        yield with_expression(tree, i, name, part)


def with_statements(tree: ast.Module, i: int, name: str, j: int, statements: list[ast.stmt]) -> ast.Module:
    twin = copy.deepcopy(tree)
    node = list(ast.walk(twin))[i]
    block = getattr(node, name)
    block[j : j + 1] = copy.deepcopy(statements)
    if not block and name == "body":
        block.append(ast.Pass())
    return twin


def with_expression(tree: ast.Module, i: int, name: str, part: ast.expr) -> ast.Module:
    twin = copy.deepcopy(tree)
    setattr(list(ast.walk(twin))[i], name, copy.deepcopy(part))
    return twin


def minimise(program: Loadable, source: str, judge: Judge = defect_at) -> str:
    """The smallest text reached that fails as `source` does."""
    kind = failure(program, source, judge)
    if kind is None:
        return source
    shrinking = True
    while shrinking:
        shrinking = False
        for tree in smaller(ast.parse(source)):
            text = ast.unparse(ast.fix_missing_locations(tree)) + "\n"
            if len(text) < len(source) and failure(program, text, judge) == kind:
                source, shrinking = text, True
                break
    return source


def main() -> None:
    for number in map(int, sys.argv[1:]):
        program = random_program(number)
        source = ast.unparse(ast.parse(program.source)) + "\n"
        kind = failure(program, source)
        print(f"# program {number}: {kind}, at {program.points}")
        print(minimise(program, source) if kind else "# does not fail")


if __name__ == "__main__":
    main()
