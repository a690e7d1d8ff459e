"""Which tests are run, and in which order.

Of the tests with parameters for forced ways of computing every other is run in one of them (`tests/ways.py`). All
tests of one program of the tables run one after the other in one process, so that it is compiled once for all of them.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import pytest

from microgradpy.runtime.modes import RUN, SPECIAL, Mode
from tests.other_process import OtherProcess, name_of
from tests.programs import Program
from tests.ways import FORCED, forced


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    left_out = set(left_out_ways(items))
    config.hook.pytest_deselected(items=[item for item in items if item in left_out])
    items[:] = [item for item in items if item not in left_out]
    group_by_program(items)


@pytest.fixture(autouse=True)
def nothing_left_behind() -> Iterator[None]:
    """How functions run afterwards does not depend on which tests were run before."""
    trace = sys.gettrace()
    yield
    left = {"mode": RUN.mode, "zeros": RUN.zeros, "inside": RUN.is_inside, "blocks": SPECIAL.blocks, "trace": sys.gettrace()}
    assert left == {"mode": Mode(), "zeros": None, "inside": False, "blocks": 0, "trace": trace}


@pytest.fixture(scope="session")
def elsewhere() -> Iterator[OtherProcess]:
    """Who can be asked for the texts of programs in another process."""
    process = OtherProcess()
    yield process
    process.close()


def parameters(item: pytest.Item) -> dict[str, Any]:
    return item.callspec.params if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}


def is_forced(value: Any) -> bool:
    return (isinstance(value, str) or callable(value)) and value.__hash__ is not None and value in FORCED


def left_out_ways(items: list[pytest.Item]) -> list[pytest.Item]:
    """The tests in forced ways for which another one is run."""
    in_forced_ways: dict[Any, list[pytest.Item]] = defaultdict(list)
    for item in items:
        others = [(name, id(value)) for name, value in parameters(item).items() if not is_forced(value)]
        if len(others) < len(parameters(item)):
            in_forced_ways[item.parent, item.originalname, tuple(others)].append(item)
    kept = {item for group in in_forced_ways.values() for item in forced(min(item.nodeid for item in group), group)}
    return [item for group in in_forced_ways.values() for item in group if item not in kept]


def group_by_program(items: list[pytest.Item]) -> None:
    groups: dict[str, int] = {}
    places = {}
    for item in items:
        program = next((value for value in parameters(item).values() if isinstance(value, Program)), None)
        group = item.nodeid if program is None else name_of(program)
        places[item] = groups.setdefault(group, len(groups))
        if program is not None:
            item.add_marker(pytest.mark.xdist_group(group))
    items.sort(key=places.__getitem__)
