"""The gradients of the programs of the tables in a process of its own:

    python -m tests.disk_cache_programs OUTPUT [--all] [--attack]

What is written says of each call what it gave, and whether the cache on disk gave it. With `--attack` the code of each function
that an entry was made from is changed in many ways, and what its names mean, and it is counted how often the cache gave what it
had given before.
"""

from __future__ import annotations

import contextlib
import copy
import dis
import io
import pickle
import sys
import types
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from microgradpy import grad, value_and_grad, value_and_gradient
from microgradpy.disk import front, store
from microgradpy.disk.guards import meaning
from microgradpy.rules.registry import rrule
from tests.exporting.corpus import EXPORTED
from tests.programs import Program

SHARE = 24
"""One in so many programs is taken, unless all are."""


class Row(NamedTuple):
    """What a call printed and warned of, what it gave, and whether the cache on disk gave it."""

    said: str
    result: Any
    is_hit: bool


def programs(is_whole: bool) -> list[Program]:
    """Those whose functions have names, some of them or all."""
    named = [row for row in EXPORTED if row.function.__name__.isidentifier() and row.function.__closure__ is None]
    return named if is_whole else named[::SHARE]


def calls_of(program: Program) -> Iterator[tuple[str, types.FunctionType, Callable[..., Any]]]:
    """What is called for a program, and the names of that: the function itself, and the sum of what it returns."""
    f: Any = program.function
    count = len(program.args)
    yield "itself", f, lambda *args: value_and_gradient(f, *args)
    if count:
        yield "first", f, lambda *args: grad(f)(*args)
        yield "all", f, lambda *args: value_and_grad(f, tuple(range(count)))(*args)
    if getattr(sys.modules[f.__module__], f.__name__, None) is f:
        summed = function_of_sum(program)
        yield "sum", summed, lambda *args: value_and_gradient(summed, *args)


def function_of_sum(program: Program) -> Any:
    """A function of a file of its own that returns the sum of what the program returns."""
    folder = Path(sys.argv[1]).parent / "sums"
    folder.mkdir(exist_ok=True)
    f = program.function
    parameters = ", ".join(f"x{number}" for number in range(len(program.args)))
    text = f"import numpy as np\nfrom {f.__module__} import {f.__name__} as f\n\n"
    text += f"def total({parameters}):\n    return np.sum(f({parameters}))\n"
    file = folder / f"{program.id}.py"
    if not file.exists():
        file.write_text(text)
    namespace: dict[str, Any] = {"__name__": f"sum_{program.id}", "__file__": str(file)}
    exec(compile(text, str(file), "exec"), namespace)
    return namespace["total"]


def hits() -> int:
    """How many calls the cache has answered."""
    return front._CACHE.hits


def row_of(call: Callable[..., Any], program: Program) -> Row:
    before = hits()
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown), warnings.catch_warnings(record=True) as warned, np.errstate(all="warn"):
        warnings.simplefilter("always")
        try:
            result: Any = call(*copy.deepcopy(program.args))
        except Exception as error:
            result = f"{type(error).__name__}: {error}"
    return Row(f"{shown.getvalue()}{[str(each.message) for each in warned]}", result, hits() > before)


# The attack


class Attack(NamedTuple):
    """How many changed functions were tried, and of which the cache still gave what it had given before."""

    tried: int
    survived: list[str]


def attack(f: Any, args: tuple[Any, ...]) -> Attack:
    """Change the functions that the entry for a gradient was made from, one after the other, each in many ways, and what the
    names mean that they read."""
    entry = loaded_for(f, args)
    if entry is None:
        return Attack(0, [])
    functions = [f]
    for sort, number, path, *_ in entry.guards:
        if sort == "function":
            functions.append(meaning(functions[number], path))
    tried, survived = 0, []
    for function in dict.fromkeys(functions):
        before = function.__code__
        for changed in changed_codes(before):
            function.__code__ = changed
            tried += 1
            if loaded_for(f, args) is not None:
                survived.append(f"{f.__name__}: {function.__name__}")
            function.__code__ = before
    for function, name in dict.fromkeys(names_in(entry.guards, f)):
        with rebound(function.__globals__, name):
            tried += 1
            if loaded_for(f, args) is not None:
                survived.append(f"{f.__name__}: {name}")
    return Attack(tried, survived)


def names_in(guards: Any, f: Any) -> Iterator[tuple[Any, str]]:
    """The names of modules that guards start at, with the functions that read them."""
    functions = [f]
    for sort, number, path, *_ in guards:
        if sort != "uses":
            yield functions[number], path.partition(".")[0]
        if sort == "function":
            functions.append(meaning(functions[number], path))


@contextlib.contextmanager
def rebound(namespace: dict[str, Any], name: str) -> Iterator[None]:
    """Inside the block a name means nothing that anybody knows."""
    before = namespace.get(name, namespace)
    namespace[name] = object()
    try:
        yield
    finally:
        if before is namespace:
            del namespace[name]
        else:
            namespace[name] = before


def loaded_for(f: Any, args: tuple[Any, ...]) -> Any:
    """The entry that answers for a gradient in a process that has seen nothing of it; None if there is none."""
    cache = front.Cache()
    state = cache.state(f)
    if cache.call(state, f, copy.deepcopy(args), None) is None:
        return None
    return next(iter(state.known.values()))


def changed_codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """Code with another constant, or another operator, also in functions inside."""
    for place, constant in enumerate(code.co_consts):
        if isinstance(constant, types.CodeType):
            others: Iterator[Any] = changed_codes(constant)
        else:
            others = iter([constant + 1] if isinstance(constant, float | int) and not isinstance(constant, bool) else [])
        for other in others:
            yield code.replace(co_consts=(*code.co_consts[:place], other, *code.co_consts[place + 1 :]))
    raw = code.co_code
    for place in range(0, len(raw), 2):
        if dis.opname[raw[place]] in ("BINARY_OP", "COMPARE_OP", "LOAD_FAST"):
            yield code.replace(co_code=raw[: place + 1] + bytes([raw[place + 1] ^ 1]) + raw[place + 2 :])


def main() -> None:
    found: dict[tuple[str, str], Row] = {}
    attacks = []
    store._MOST_FILES = 10_000
    rrule.declared = 0  # the tables declare some rules, for programs of their own
    for program in programs("--all" in sys.argv):
        for name, f, call in calls_of(program):
            found[program.id, name] = row = row_of(call, program)
            if "--attack" in sys.argv and row.is_hit and name in ("itself", "sum"):
                attacks.append(attack(f, program.args))
    rows = {key: pickle.dumps(tuple(row)) for key, row in found.items() if _is_picklable(row)}
    total = Attack(sum(each.tried for each in attacks), [name for each in attacks for name in each.survived])
    Path(sys.argv[1]).write_bytes(pickle.dumps((rows, tuple(total))))


def _is_picklable(row: Row) -> bool:
    try:
        pickle.dumps(tuple(row))
    except Exception:
        return False
    return True


if __name__ == "__main__":
    main()
