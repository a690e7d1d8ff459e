"""Dicts, arrays and lists that a call has made, and that are written into by keys and indices.

    A = np.zeros((n, n))        A, of which every write makes another version
    A[i, j] = v                 the same place of the next version
    row = A[i]                  a copy: what is saved of it stays what it was
    A[i] -= f * A[k]            A[i] = A[i] - f * A[k]

A part of an array is read again where the array has been written into since, as it is a view in the program.
"""

from __future__ import annotations

import collections
import operator
from abc import abstractmethod
from typing import Any

import numpy as np

from microgradpy.ad.instrument import OUT_OF_PLACE
from microgradpy.dataclasses import replace
from microgradpy.frontend.closures import ClosureBody
from microgradpy.ir.kinds import (
    INT,
    Array,
    Inert,
    Kind,
    Scalar,
    Sequence,
    TupleOf,
    is_basic_index,
    is_key,
    is_list,
    is_picking_index,
    is_real,
    is_real_scalar,
    item_kind,
    join,
)
from microgradpy.ir.nodes import (
    FROM_FRONT,
    Const,
    Continue,
    Each,
    For,
    If,
    Op,
    Opcode,
    Region,
    Return,
    Value,
    Var,
    Yield,
    fresh,
    function_constant,
    operator_constant,
)
from microgradpy.passes.typed_builder import is_getattr
from microgradpy.promotion.findings import Escapes, Overwrites, Shrinks, Writes
from microgradpy.promotion.object_keys import may_be_key
from microgradpy.promotion.objects import NONE
from microgradpy.promotion.places import CONTENTS, Frame, Known, ListOf, Method, Table, Values, View, is_thing
from microgradpy.promotion.pools import Pools
from microgradpy.runtime.dict_objects import numbers_in
from microgradpy.runtime.in_place import kept_type
from microgradpy.runtime.keyed import Keyed
from microgradpy.runtime.keys import new_defaultdict

_MAKE_LISTS: tuple[Any, ...] = (list, sorted, operator.add, operator.mul)
_MAKE_DICTS: tuple[Any, ...] = (dict, dict.fromkeys)
_MAKE_ARRAYS: frozenset[Any] = frozenset({
    np.zeros, np.ones, np.empty, np.full, np.zeros_like, np.ones_like, np.empty_like, np.full_like, np.array, np.copy,
    np.eye, np.identity, np.arange, np.linspace, np.outer, np.cumsum, np.dot, np.concatenate, np.stack, np.vstack, np.hstack,
    np.tile, np.repeat, np.roll, np.where, np.kron, np.column_stack, np.append, np.block, np.tril, np.triu, np.clip, np.take,
    np.tensordot, np.convolve, np.sum, np.mean, np.cross, np.interp, np.inner, np.pad,
    *(getattr(operator, name) for name in ("add", "sub", "mul", "truediv", "pow", "matmul", "neg")),
})  # fmt: skip
"""What makes a new array, whatever it is given, which its derivative does not read."""
_MAKE_SAVED_ARRAYS: frozenset[Any] = frozenset({
    operator.truediv, operator.pow, np.cumprod, np.max, np.min, np.prod, np.std, np.var, np.sort, np.linalg.inv,
    np.linalg.solve, np.linalg.cholesky,
})  # fmt: skip
"""The same where the derivative may be computed of the array, as that of `x / y` is."""
_METHODS_THAT_MAKE_ARRAYS = frozenset("copy astype flatten dot cumsum sum mean repeat take clip round".split())
_METHODS_THAT_MAKE_SAVED_ARRAYS = frozenset("cumprod max min prod std var".split())
_GIVE_NUMBERS: frozenset[Any] = frozenset({
    np.sum, np.mean, np.prod, np.max, np.min, np.argmax, np.argmin, np.linalg.norm, np.dot, np.vdot, np.inner, np.any, np.all,
    len, float, sum, max, min, abs,
    *(getattr(operator, name) for name in ("lt", "le", "gt", "ge", "eq", "ne")),
})  # fmt: skip
_CONTAINS, _GETITEM = operator_constant("contains"), operator_constant("getitem")
_GETATTR, _NUMBERS_IN = function_constant(getattr), function_constant(numbers_in)
_DICT, _KEPT_TYPE = Const(dict, "dict", dict), function_constant(kept_type)
_NEW_DEFAULTDICT = function_constant(new_defaultdict)
_ARRAY = Const(np.array, "np.array", np)
_STEADY = ("shape", "ndim", "size", "dtype")
"""The attributes of an array that stay what they are when it is written into."""


class Stores(Pools):
    """What is done with dicts, arrays and lists that a call has made."""

    def note_made(self, op: Op, head: Any, result: Var, origin: Any, frame: Frame) -> None:
        """Note that an operation may have made something that is written into."""
        self.fresh.pop(result, None)
        sort = self.sort_made(op, head, result)
        if sort is None or origin in self.facts.barred or self.facts.beside_writes:
            return
        if sort == "list" and (origin in self.facts.grown or origin in self.facts.shrinking):
            self.made = self.copied_list(op, result, origin, frame)
            return
        default = self.default_of_dict(op, head)
        if sort == "dict" and origin in self.facts.shrinking:
            if self.method_called(head) == dict.fromkeys:
                op = replace(op, callee=_DICT, arguments=(self.filled_dict(op),))
                self.add(op)
            self.made = self.keyed_from(op, result, origin, default, frame)
            return
        if origin not in self.facts.written:
            self.note_fresh(sort, head, result, origin)
            return
        if self.method_called(head) == dict.fromkeys:
            result = self.filled_dict(op)
        if op.callee is Opcode.DICT and op.arguments:
            result = self.display(op)
        if sort == "array" and self.may_be_saved(head):
            result = self.unsaved(result)
        place = replace(self.list_at(origin, result.hint, sort=sort), default=default)
        if default is not None:  # a dict of which nothing is known but what is put there
            self.out[-1] = made = replace(op, callee=_NEW_DEFAULTDICT)
            self.kinds.note(made)
        self.fields[place, CONTENTS] = result
        self.made_in[place] = self.out
        self.made = place

    def note_fresh(self, sort: str, head: Any, result: Var, origin: Any) -> None:
        """Note what nobody else has, and where a function has made an array."""
        self.fresh[result] = origin
        if sort == "array":
            is_computed = isinstance(head, Const) and is_operator(head.value) and head.value is not operator.getitem
            (self.arrays_computed if is_computed else self.arrays_made).add(origin)

    @abstractmethod
    def lent_to_call(
        self, op: Op, arguments: tuple[Known, ...], lends: bool, lends_arrays: bool, frame: Frame
    ) -> tuple[tuple[Known, ...], frozenset[Known]]:
        """The arguments of a call that keeps none of them, or no array; and those that may be written into afterwards."""

    @abstractmethod
    def copied_list(self, op: Op, result: Known, origin: Any, frame: Frame) -> Known:
        """A list that a call has made, and that gets longer or shorter, as one of its own."""

    @abstractmethod
    def keyed_from(self, op: Op, result: Var, origin: Any, default: Const | None, frame: Frame) -> Known:
        """A dict that has just been made, and of which keys are taken away, as an object of a class."""

    def display(self, op: Op) -> Var:
        """`{key: value}` as an empty dict into which is written: so its kind is known."""
        self.out.pop()
        now = op.results[0]
        self.add(replace(op, arguments=()))
        for key, value in zip(op.arguments[::2], op.arguments[1::2], strict=True):
            after = fresh(now.hint, True)
            self.add(Op(Opcode.STORE, (now, key, value), (after,), payload=FROM_FRONT, where=op.where))
            now = after
        return now

    def filled_dict(self, op: Op) -> Var:
        """`dict.fromkeys(keys, value)` as a loop over the keys."""
        keys, value = (*op.arguments, Const(None))[:2]
        self.out.pop()
        key, before, after, result = fresh("key"), fresh(""), fresh(""), fresh(op.results[0].hint, True)
        self.add(Op(Opcode.DICT, (), op.results, where=op.where))
        put = Op(Opcode.STORE, (before, key, value), (after,), payload=FROM_FRONT, where=op.where)
        body = Region((put,), Continue((after,)))
        self.add(For(Each(keys, key), body, (before,), op.results, (result,), op.where))
        kinds = self.kinds
        kinds.set(result, lambda: Sequence("dict", kinds.of(value), (), item_kind(kinds.of(keys))))
        return result

    def default_of_dict(self, op: Op, head: Any) -> Const | None:
        """What is put under a key that a `defaultdict` does not have, if that is a number."""
        if not isinstance(head, Const) or head.value is not collections.defaultdict or op.keywords:
            return None
        match op.arguments:
            case (Const(value=factory),) if factory is float or factory is int:
                return Const(factory())
            case (Var() as factory,):
                made = made_by_call(self, factory)
                return made if isinstance(made, Const) and type(made.value) in (int, float) else None
        return None

    def sort_made(self, op: Op, head: Any, result: Var) -> str | None:
        """What an operation makes that nobody else has: a list, a dict or an array."""
        if isinstance(op.callee, Opcode):
            return "dict" if op.callee is Opcode.DICT else None
        function = head.value if isinstance(head, Const) else self.method_called(head)
        if isinstance(function, np.ufunc):
            is_known = len(op.arguments) == function.nin and not op.keywords
        else:
            may_copy = function != "astype" or len(op.arguments) == 1  # else it may be told not to
            is_known = (_makes_new(function) and may_copy) or self.picks(op, function)
        if _is_in(function, _MAKE_DICTS) or self.default_of_dict(op, head) is not None:
            return "dict"
        if is_known and not {"copy", "out"} & {name for name, _ in op.keywords}:
            match self.kinds.of(result):
                case Array(ndim=int(rank), dtype="float") if rank:
                    return "array"
        if _is_in(function, _MAKE_LISTS) or function == "copy" or _is_slice(self, op, function):
            return "list" if is_list(self.kinds.of(result)) else None
        return None

    def picks(self, op: Op, function: Any) -> bool:
        """Whether a copy of entries of an array gets a name: not the `x[places]` of `x[places] += y`."""
        is_named = function is operator.getitem and op.results[0].user_named
        if not is_named or not isinstance(self.kinds.of(op.arguments[0]), Array):
            return False
        return is_picking_index(self.kinds.of(op.arguments[1]))

    def method_called(self, head: Value) -> Any:
        """The method that is called: its name, or what a class has under that."""
        made = self.kinds.builder.producers.get(head) if isinstance(head, Var) else None
        name = made.arguments[1] if made is not None and is_getattr(made.callee) else None
        if not isinstance(name, Const) or made is None:
            return None
        return dict.fromkeys if made.arguments[0] == Const(dict) and name.value == "fromkeys" else name.value

    def may_be_saved(self, head: Value) -> bool:
        """Whether the derivative of what has made an array may be computed of the array: `np.exp(x)`, `x / y`."""
        function = head.value if isinstance(head, Const) else self.method_called(head)
        return isinstance(function, np.ufunc) or _is_in(function, _MAKE_SAVED_ARRAYS | _METHODS_THAT_MAKE_SAVED_ARRAYS)

    def unsaved(self, array: Var) -> Var:
        """What may be written into of an array whose derivative may be computed of it: a copy, if anybody writes entries."""
        return array if self.stays() else self.copy_of_array(array, fresh(array.hint, True))

    def stays(self) -> bool:
        """Whether what an array was stays what it was, since nobody writes entries: `u += v` makes another one."""
        if not self.facts.overwrites:
            self.keeps_arrays = True
            self.check_overwritten()
        return not self.facts.overwrites

    def check_overwritten(self) -> None:
        """Let it be known beforehand if entries are written into."""
        if self.keeps_arrays and self.writes_entries:
            raise Overwrites

    def check_written(self, target: Known) -> None:
        """Let what a call has made be in sight if it is written into."""
        if isinstance(target, Var) and target in self.fresh:
            raise Writes(self.fresh[target])

    def check_given(self, value: Known) -> None:
        """Let a function that is made inside be in sight if another function of the module gets it."""
        made = self.kinds.builder.producers.get(value) if isinstance(value, Var) else None
        if made is not None and made.callee is Opcode.CLOSURE and value in self.fresh:
            raise Writes(self.fresh[value])  # type: ignore[index]

    def check_key(self, place: ListOf, key: Known) -> None:
        """Let a dict that is asked for an object be one of which the keys may be objects."""
        if place.sort == "dict" and may_be_key(self, key) and not self.is_users(place):
            raise Shrinks(place.origin, Keyed)
        if is_thing(key):
            raise Escapes(place.origin)

    def index_given(self, place: ListOf, key: Known) -> Value:
        """What a dict or array is asked for: of an array the entries that a list or another array in sight says."""
        if place.sort == "array" and isinstance(key, ListOf) and key.of is None and key.sort in ("list", "array"):
            return self.plain(key)
        self.check_key(place, key)
        return key  # type: ignore[return-value]

    # Reading

    def read_part(self, op: Op, place: ListOf, index: Known, frame: Frame) -> Known:
        """`container[index]` of a dict or an array."""
        index = self.index_given(place, index)
        if place.default is not None:
            return self.get(op, place, index, place.default, frame, puts=True)
        version = self.plain(self.now(place))
        self.emit(replace(op, payload=None), op.callee, (version, index), {}, frame)  # type: ignore[arg-type]
        read = self.known_result(op, frame)
        kind = self.kinds.of(read)
        if place.of is not None:
            return self.as_item(place, read)  # type: ignore[arg-type]
        if place.sort == "dict":
            self.read_from_dict[read] = place  # type: ignore[index]
            return read
        if isinstance(kind, Scalar):
            return read
        if isinstance(kind, Array) and is_picking_index(self.kinds.of(index)):
            self.picked[read] = op.where  # type: ignore[index]  # a copy
            return read
        if not isinstance(kind, Array) or not isinstance(read, Var) or not is_basic_index(self.kinds.of(index)):
            raise Escapes(place.origin)
        self.out.pop()  # it is read as a copy
        copy = self.copy_of_part(version, index, fresh(read.hint, read.user_named))
        return View(place, index, version, copy)

    def read_part_of_view(self, op: Op, view: View, index: Known, frame: Frame) -> Known:
        """`A[i][j]`"""
        joined = self.joined_index(op, view, index)
        if joined is not None:
            return self.read_part(op, view.place, joined, frame)
        self.emit(op, op.callee, (view, index), {}, frame)  # type: ignore[arg-type]
        return self.known_result(op, frame)

    def joined_index(self, op: Op, view: View, index: Known) -> Var | None:
        """`i, j` for the `j` of `A[i][j]`, if `i` is a whole number and `j` one or a slice."""
        kind = self.kinds.of(index)
        if self.kinds.of(view.index) != INT or not (kind == INT or (isinstance(kind, Inert) and kind.name == "slice")):
            return None
        joined = fresh("")
        self.add(Op(Opcode.TUPLE, (view.index, index), (joined,), from_user=False, where=op.where))  # type: ignore[arg-type]
        return joined

    def get(self, op: Op, place: ListOf, key: Known, default: Known, frame: Frame, *, puts: bool = False) -> Known:
        """`d.get(key, default)`; with `puts`, what a `defaultdict` does."""
        self.check_key(place, key)
        version, other = self.plain(self.now(place)), self.given_to(place, default)
        is_there, read, result = fresh("is_there"), fresh(""), self.define(op.results[0], frame)
        self.add(Op(_CONTAINS, (version, key), (is_there,), from_user=False, where=op.where))  # type: ignore[arg-type]
        there = Op(_GETITEM, (version, key), (read,), where=op.where)  # type: ignore[arg-type]
        self.kinds.note(there)
        then, orelse = Region((there,), Yield((read,))), Region((), Yield((other,)))
        results: tuple[Var, ...] = (result,)
        if puts:
            put, after = fresh(place.hint, True), fresh(place.hint, True)
            stored = Op(Opcode.STORE, (version, key, other), (put,), payload=FROM_FRONT, where=op.where)  # type: ignore[arg-type]
            self.kinds.note(stored)
            then, orelse = Region((there,), Yield((read, version))), Region((stored,), Yield((other, put)))
            results = (result, after)
            self.kinds.set(after, lambda: join(self.kinds.of(version), self.kinds.of(put)))
        self.kinds.set(result, lambda: join(self.kinds.of(read), self.kinds.of(other)))
        self.add(If(is_there, then, orelse, results, op.where))
        if puts:
            self.write(place, CONTENTS, after)
        return self.as_item(place, result)

    def method_of_numbers(self, op: Op, place: ListOf, name: str, arguments: tuple[Known, ...], frame: Frame) -> Known | None:
        """A method of a dict of numbers, if it only reads."""
        version = self.plain(self.now(place))
        if name == "values" and not arguments and isinstance(place.of, Table):
            result = self.define(op.results[0], frame)
            self.add(Op(_NUMBERS_IN, (version,), (result,), where=op.where))
            return Values(place, version, result)
        if name == "keys" and not arguments:
            read = fresh("")
            self.add(Op(_GETATTR, (version, Const(name)), (read,), where=op.where))
            self.emit(op, read, (), {}, frame)
            return self.variable_of(op.results[0], frame)
        return None

    def contains(self, op: Op, arguments: tuple[Known, ...], frame: Frame) -> Known | None:
        """`key in d`"""
        place, key = arguments
        if not isinstance(place, ListOf) or place.sort != "dict":
            return None
        self.check_key(place, key)
        self.emit(op, op.callee, (self.now(place), key), {}, frame)  # type: ignore[arg-type]
        return self.known_result(op, frame)

    def read_of_array(self, op: Op, place: ListOf, name: str, frame: Frame) -> Known:
        """An attribute of an array in sight."""
        if _makes_new(name):
            return Method(place, None, name)
        given = (self.plain(place, shows=name not in _STEADY), Const(name))
        self.emit(op, op.callee, given, {}, frame)  # type: ignore[arg-type]
        return self.known_result(op, frame)

    def method_of_array(self, op: Op, method: Method, arguments: tuple[Known, ...], keywords: Any, frame: Frame) -> Known:
        """A method of an array in sight that gives a new one. It may have been read before the array was written into."""
        if _may_give_itself(method.name, len(arguments), keywords):
            given = self.plain(method.receiver)
        else:
            (array,), kept = self.lent_to_call(op, (method.receiver,), False, True, frame)
            given = self.plain(array, shows=array not in kept)
        read = fresh("")
        self.add(Op(_GETATTR, (given, Const(method.name)), (read,), where=op.where))
        self.emit(op, read, arguments, keywords, frame)
        return self.known_result(op, frame)

    def shows(self, head: Value) -> bool:
        """Whether others may have, after a call, what it is given: not if it gives something new."""
        function = head.value if isinstance(head, Const) else None
        return not (isinstance(function, np.ufunc) or _makes_new(function) or _is_in(function, _GIVE_NUMBERS))

    def gives_numbers(self, head: Value) -> bool:
        """Whether nobody has, after a call, the list that it is given, nor a part of it."""
        return isinstance(head, Const) and _is_in(head.value, _GIVE_NUMBERS)

    # Writing

    def write_part(self, op: Op, place: ListOf, index: Known, value: Known) -> Known:
        """`container[index] = value` on a dict or an array."""
        if isinstance(value, View) and value.place is place and value.index == index:
            return NONE  # it has been written in place
        index = self.index_given(place, index)
        if place.sort == "dict" and not is_key(self.kinds.of(index)) and not self.is_users(place):
            raise Shrinks(place.origin, Keyed)
        self.helped = True
        value = self.as_entries(op, place, value)
        # An array gets the entries of another one, or of a part of one: nobody has that afterwards.
        is_copied = place.sort == "array" and (is_array(value) or self.is_copied(place, index, value))
        given = self.plain(value, shows=False) if is_copied else self.given_to(place, value)
        after = fresh(place.hint, True)
        changed = (self.plain(self.now(place)), index, given)
        self.add(Op(Opcode.STORE, changed, (after,), payload=FROM_FRONT, where=op.where))
        self.writes_entries = self.writes_entries or place.sort == "array"
        self.check_overwritten()
        self.write(place, CONTENTS, after)
        self.put_too(place, index, given, op.where)
        return NONE

    def as_entries(self, op: Op, place: ListOf, value: Known) -> Known:
        """What is put into a part of an array of floats: a tuple or list of numbers as an array, as NumPy makes one anyway."""
        array = self.kinds.of(self.now(place)) if is_array(place) else None
        is_list = isinstance(value, ListOf) and value.sort == "list" and value.of is None and not value.depth
        if isinstance(array, Array) and array.dtype == "float" and (is_list or not is_thing(value)):
            given = self.plain(value, shows=False)
            kind = self.kinds.of(given)
            if isinstance(kind, TupleOf | Sequence) and is_real_scalar(item_kind(kind)):
                made = fresh("")
                self.add(Op(_ARRAY, (given,), (made,), from_user=False, where=op.where))
                return made
        return value

    def is_copied(self, place: ListOf, index: Known, view: Known) -> bool:
        """Whether `place[index] = view` gives what a copy of the view would: not if NumPy reads entries that it has written."""
        if not isinstance(view, View) or view.place is not place:
            return isinstance(view, View)
        kinds = map(self.kinds.of, (index, view.index))
        ours, theirs = (kind.items if isinstance(kind, TupleOf) else (kind,) for kind in kinds)
        return len(ours) == len(theirs) and all(map(_are_in_step, ours, theirs))

    def change_part(self, op: Op, view: View, other: Known, frame: Frame) -> Known:
        """`view += other` on a part of an array."""
        callee = OUT_OF_PLACE[op.callee.value]  # type: ignore[union-attr]
        self.emit(replace(op, callee=callee), callee, (view, other), {}, frame)
        self.write_part(op, view.place, view.index, self.known_result(op, frame))
        return View(view.place, view.index, None, view.value)

    def in_place(self, op: Op, arguments: tuple[Known, ...], frame: Frame) -> Known | None:
        """What an operator does that writes into its first operand."""
        target = arguments[0]
        if isinstance(target, View):
            return self.change_part(op, target, arguments[1], frame)
        if isinstance(target, ListOf) and target.sort == "array":
            self.change_array(op, target, arguments[1], frame)
            return target
        if isinstance(target, Var) and self.is_picked_for(op, target) and is_real(self.kinds.of(arguments[1])):
            callee = OUT_OF_PLACE[op.callee.value]  # type: ignore[union-attr]
            self.emit(replace(op, callee=callee), callee, arguments, {}, frame)
            return self.known_result(op, frame)
        return None

    def is_picked_for(self, op: Op, target: Var) -> bool:
        """Whether entries have just been picked for `u[places] += v`, so that nobody else has the copy."""
        at = self.picked.get(target)
        return at is not None and not target.user_named and (at.line, at.column) == (op.where.line, op.where.column)

    def change_array(self, op: Op, place: ListOf, other: Known, frame: Frame) -> None:
        """`array += other` as another array: nobody has seen the one that there was. NumPy has written all entries before it
        raises that one of them overflows, which a handler sees."""
        if self.trying:
            raise Escapes(place.origin, is_tried=True)
        function = op.callee.value  # type: ignore[union-attr]
        given = self.plain(other, shows=False)
        if function is operator.imatmul or is_thing(given):
            raise Escapes(place.origin)
        before, made, after = self.plain(self.now(place)), fresh(""), fresh(place.hint, True)
        callee = OUT_OF_PLACE[function]
        if _keeps_type(self.kinds.of(before), given):
            after = made = fresh(place.hint, True)
        self.add(Op(callee, (before, given), (made,), where=op.where))
        if after is not made:
            self.add(Op(_KEPT_TYPE, (op.callee, before, given, made), (after,), from_user=False, where=op.where))  # type: ignore[arg-type]
        if self.may_be_saved(callee):
            after = self.unsaved(after)
        self.helped = True
        self.write(place, CONTENTS, after)

    def is_array_made(self, value: Known, op: Op) -> bool:
        """Whether what an operation writes into is an array that has been made here and that nobody else has; not if that is
        the result of an operator and may be computed out of place as it is (`ad/accumulators.py`)."""
        if not isinstance(value, Var) or value not in self.fresh:
            return False
        origin = self.fresh[value]
        return origin in self.arrays_made or (origin in self.arrays_computed and op.results[0] not in self.own_sums)


def made_by_call(walker: Stores, factory: Known) -> Op | Const | None:
    """What a function without parameters does: the one operation that makes what it returns, or a literal."""
    if isinstance(factory, Const):
        return Op(factory, (), (fresh(""),))
    made = walker.kinds.builder.producers.get(factory) if isinstance(factory, Var) else None
    if made is None or not isinstance(made.payload, ClosureBody) or made.arguments or made.payload.function.parameters:
        return None
    match made.payload.function.body:
        case Region(statements=(), terminator=Return(value=Const() as value)) if not value.path:
            return value
        case Region(statements=(Op() as call,), terminator=Return(value=Var() as value)) if call.results == (value,):
            return call
    return None


def _keeps_type(array: Kind, other: Value) -> bool:
    """Whether it is proven that an operator gives an array of the same shape and dtype: Python's own numbers take that of an
    array of floats."""
    is_literal = isinstance(other, Const) and type(other.value) in (int, float)
    return is_literal and isinstance(array, Array) and array.dtype == "float"


def _are_in_step(one: Kind, other: Kind) -> bool:
    """Whether two indices are whole numbers, or slices of one entry after the other."""
    if one == INT and other == INT:
        return True
    slices = [kind for kind in (one, other) if isinstance(kind, Inert) and kind.name == "slice"]
    return len(slices) == 2 and all(kind.detail.isdigit() or kind.detail.endswith((":", ":1", ":None")) for kind in slices)


def is_array(known: Known) -> bool:
    """Whether something is an array in sight."""
    return isinstance(known, ListOf) and known.sort == "array"


def _makes_new(function: Any) -> bool:
    """Whether a function, or the method of an array that has this name, makes an array that nobody else has."""
    if isinstance(function, str):
        return function in _METHODS_THAT_MAKE_ARRAYS or function in _METHODS_THAT_MAKE_SAVED_ARRAYS
    return _is_in(function, _MAKE_ARRAYS) or _is_in(function, _MAKE_SAVED_ARRAYS)


def _may_give_itself(function: Any, count: int, keywords: Any) -> bool:
    """Whether a call with so many arguments, or these keywords, may have been told not to copy: `x.astype(t, copy=False)`."""
    return "copy" in keywords or (function == "astype" and count > 1)


def makes_array(function: Any) -> bool:
    """Whether a function makes an array, or a method may do so."""
    return function is getattr or _makes_new(function)


def is_operator(function: Any) -> bool:
    return getattr(function, "__module__", None) == "_operator"


def _is_slice(walker: Stores, op: Op, function: Any) -> bool:
    """Whether an operation reads a part of a list."""
    if function is not operator.getitem or not is_list(walker.kinds.of(op.arguments[0])):
        return False
    index = walker.kinds.of(op.arguments[1])
    return isinstance(index, Inert) and index.name == "slice"


def _is_in(function: Any, functions: Any) -> bool:
    try:
        return function in functions
    except TypeError:
        return False
