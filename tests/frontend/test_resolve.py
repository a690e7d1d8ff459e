"""Which module-level names become constants, and what guards them."""

from __future__ import annotations

import builtins
import math

import numpy as np

from microgradpy.frontend.lower import lower_function
from microgradpy.frontend.resolve import Guard, Resolver
from microgradpy.ir.nodes import Const, Op, Opcode
from microgradpy.ir.traversal import walk

RATE = 0.5
WEIGHTS = np.ones(3)


class Layer:
    pass


def helper(x):
    return x


def test_modules_classes_and_functions_are_folded() -> None:
    resolver = Resolver(globals(), vars(builtins))
    for name, value in {"np": np, "math": math, "Layer": Layer, "helper": helper, "len": len, "float": float}.items():
        constant = resolver.name(name)
        assert constant is not None and constant.value is value and constant.path == name
    assert set(resolver.guards) == {(name,) for name in ("np", "math", "Layer", "helper", "len", "float")}


def test_data_and_missing_names_are_read_when_executed() -> None:
    resolver = Resolver(globals(), vars(builtins))
    assert [resolver.name(name) for name in ("RATE", "WEIGHTS", "missing", "__debug__")] == [None] * 4
    assert resolver.guards == {}


def test_attributes_of_modules_are_folded_along_the_path() -> None:
    def f(x):
        return np.linalg.norm(x) * math.pi + np.linalg.no_such_function(x) + Layer.width + RATE

    lowered = lower_function(f)
    operations = [s for s in walk(lowered.function.body) if isinstance(s, Op)]
    assert operations[0].callee == Const(np.linalg.norm, path="np.linalg.norm", root=np)
    assert [op.payload for op in operations if op.callee is Opcode.GETATTR] == ["no_such_function", "width"]
    assert [op.payload for op in operations if op.callee is Opcode.GLOBAL] == ["RATE"]
    paths = {(guard.name, guard.path) for guard in lowered.constants}
    assert {("np", ("linalg", "norm")), ("math", ("pi",)), ("Layer", ())} <= paths


def test_a_guard_notices_rebinding() -> None:
    namespace = {"helper": helper}
    guard = Guard("helper", (), helper)
    assert guard.holds(namespace, {})
    assert not guard.holds({"helper": len}, {})
    assert not guard.holds({}, {})
    assert Guard("len", (), len).holds({}, vars(builtins))
    assert not Guard("len", (), len).holds({"len": helper}, vars(builtins))
    assert not Guard("np", ("linalg", "norm"), helper).holds({"np": np}, {})


def test_local_names_hide_module_names() -> None:
    def f(np):
        return np.sin(helper) + [len for len in np]  # type: ignore[attr-defined]

    paths = {guard.name for guard in lower_function(f).constants}
    assert paths == {"helper"}
