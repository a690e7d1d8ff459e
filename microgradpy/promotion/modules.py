"""Functions of the user's other modules: what they name is that of their own module, wherever they are written.

    # model.py                    # main.py
    GRAVITY = 9.81                def height(x, n):
    class Ball:                       ball = Ball(x)
        def step(self, dt):           for _ in range(n):
            self.v -= GRAVITY * dt        ball_v = ball_v - model.GRAVITY * 0.01
"""

from __future__ import annotations

import sys
import types

from microgradpy.dataclasses import replace
from microgradpy.frontend.closures import ClosureBody
from microgradpy.ir.nodes import Const, Function, Location, Op, Opcode, Region, Statement
from microgradpy.ir.rewrite import map_statements
from microgradpy.runtime.libraries import library_of

_PACKAGE = __name__.partition(".")[0]


def module_of(function: types.FunctionType) -> types.ModuleType | None:
    """The module of a function, if it is one of the user's: none of Python's, of this package or of an installed library."""
    name = function.__globals__.get("__name__")
    if not isinstance(name, str) or name.partition(".")[0] in (_PACKAGE, *sys.builtin_module_names):
        return None
    if name.partition(".")[0] in sys.stdlib_module_names and name != "__main__":
        return None
    module = sys.modules.get(name)
    is_module = type(module) is types.ModuleType and vars(module) is function.__globals__
    return module if is_module and library_of(function) is None else None


def of_module(function: Function, module: types.ModuleType) -> Function:
    """A function as it may be written into one of another module: variables of the module are read there."""
    return replace(function, body=_of_module(function.body, Const(module, module.__name__.rpartition(".")[2], module)))


def called_at(region: Region, where: Location) -> Region:
    """The same, with the call that leads to it: a traceback has lines of one file for one function."""
    return map_statements(region, lambda old: (replace(old, where=replace(old.where, called_at=where)),))


def _of_module(region: Region, module: Const) -> Region:
    def rewrite(statement: Statement) -> tuple[Statement, ...]:
        match statement:
            case Op(callee=Opcode.GLOBAL, arguments=()):
                return (replace(statement, arguments=(module,)),)
            case Op(callee=Opcode.CLOSURE, payload=ClosureBody(function=function) as body):
                inside = replace(function, body=_of_module(function.body, module))
                return (replace(statement, payload=replace(body, function=inside, is_of_other_module=True)),)
        return (statement,)

    return map_statements(region, rewrite)
