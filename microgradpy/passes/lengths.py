"""Which length a whole number is: that of an axis, a constant, or one that has a symbol of its own.

    len(x), x.shape[0], n, m = x.shape        the symbols of the axes of x
    n - 1                                     an axis without one of its entries
    n                                         any other number n, where less than nothing counts as nothing
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from microgradpy.ir.axes import Axes, Axis, constant_length, shortened
from microgradpy.ir.builder import Builder
from microgradpy.ir.kinds import INT, Array, TupleOf
from microgradpy.ir.nodes import Const, Op, Opcode, Value, Var


def length_of(value: Value, builder: Builder) -> Axis:
    """The symbol of what is as long as a whole number; None for what is none. One below zero counts as zero."""
    read = axis_read(value, builder)
    if read is not None or not isinstance(value, Var) or builder.kind(value) != INT:
        return read
    made = _made_by(value, builder)
    if made is not None and made.callee == _SUB:
        of, less = made.arguments
        if isinstance(less, Const) and type(less.value) is int and less.value >= 0 and builder.kind(of) == INT:
            return shortened(length_of(of, builder), less.value)
    return (value.id, -1)


def axis_read(value: Value, builder: Builder) -> Axis:
    """The symbol of the axis whose length a whole number was read as, or of a constant; None for any other."""
    match value:
        case Const(value=bool()):
            return None
        case Const(value=int(constant)):
            return constant_length(constant)
        case Var() if (made := _made_by(value, builder)) is not None:
            return _axis_read_by(made, value, builder)
    return None


def lengths_of(shape: Value, builder: Builder, of: Any = length_of) -> Axes | None:
    """The symbols that the lengths in a shape have, None for those without one; None if it is not known how many there are."""
    kind = builder.kind(shape)
    if kind == INT:
        return (of(shape, builder),)
    if not isinstance(kind, TupleOf):
        return None
    if isinstance(shape, Const):
        return tuple(of(Const(length), builder) for length in shape.value)
    made = _made_by(shape, builder)
    if made is not None and made.callee in (Opcode.TUPLE, Opcode.LIST):
        return tuple(of(length, builder) for length in made.arguments)
    owner = None if made is None else _owner_of_shape(made, builder)
    return _axes_of(owner) if owner is not None and owner.ndim == len(kind.items) else (None,) * len(kind.items)


def _axis_read_by(made: Op, value: Var, builder: Builder) -> Axis:
    match made:
        case Op(callee=Opcode.UNPACK, arguments=(shape,)):
            place: Any = made.results.index(value)
            axes = lengths_of(shape, builder)
            return axes[place] if axes is not None and len(axes) == len(made.results) else None
        case Op(callee=Const(value=function), arguments=(x,)) if function is len:
            kind = builder.kind(x)
            return _axes_of(kind)[0] if isinstance(kind, Array) and kind.ndim else None
        case Op(callee=callee, arguments=(shape, Const(value=int(place)))) if callee == _GETITEM:
            axes = lengths_of(shape, builder) if builder.kind(shape) != INT else None
            return axes[place] if axes is not None and -len(axes) <= place < len(axes) else None
        case Op(callee=Const(value=function), arguments=(x, Const(value="size"))) if function is getattr:
            kind = builder.kind(x)
            return _axes_of(kind)[0] if isinstance(kind, Array) and kind.ndim == 1 else None
    return None


def _made_by(value: Value, builder: Builder) -> Op | None:
    return builder.producers.get(value) if isinstance(value, Var) else None


def _owner_of_shape(made: Op, builder: Builder) -> Array | None:
    """The array whose shape an operation reads."""
    match made:
        case Op(callee=Const(value=function), arguments=(x, Const(value="shape"))) if function is getattr:
            kind = builder.kind(x)
        case Op(callee=Const(value=function), arguments=(x,)) if function is np.shape:
            kind = builder.kind(x)
        case _:
            return None
    return kind if isinstance(kind, Array) and kind.ndim is not None else None


def _axes_of(array: Array) -> Axes:
    return array.shape or (None,) * (array.ndim or 0)


_SUB, _GETITEM = Const(operator.sub), Const(operator.getitem)
