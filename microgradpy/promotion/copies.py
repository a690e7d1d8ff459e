"""Copies of objects in sight: other objects with the same fields."""

from __future__ import annotations

import types

from microgradpy.dataclasses import replace
from microgradpy.ir.nodes import Const, Op, fresh
from microgradpy.promotion import classes
from microgradpy.promotion.base import fields_of
from microgradpy.promotion.classes import ABSENT
from microgradpy.promotion.findings import Escapes
from microgradpy.promotion.functions import Named
from microgradpy.promotion.objects import NONE, Objects
from microgradpy.promotion.places import THERE, Element, Frame, Known, Object, origin_of
from microgradpy.runtime.queues import CLASSES

_WAYS_OF_COPYING = tuple(
    f"__{name}__" for name in ("copy", "getnewargs", "getnewargs_ex", "getstate", "reduce", "reduce_ex", "setstate")
)


class Copies(Objects):
    """What `copy.copy` and `dataclasses.replace` make."""

    def replaced_dataclass(self, op: Op, before: Object | Element, keywords: Named, frame: Frame) -> Known:
        """`dataclasses.replace(x, y=z)`: the constructor is called with the other fields."""
        constructor = self.member(before.cls, "__init__")
        fields = classes.generated_fields(before.cls, constructor) if isinstance(constructor, types.FunctionType) else None
        own = self.fields_now(op, before, frame)
        if not fields or not all(each.init and each.name in own for each in fields):
            raise Escapes(origin_of(before))
        given = {each.name: own[each.name] for each in fields} | dict(keywords)
        found = self.construct(op, Const(before.cls, before.cls.__name__, before.cls), before.cls, (), given, frame)
        assert found is not None
        return found

    def copied(self, op: Op, before: Object | Element, frame: Frame) -> Known:
        """`copy.copy(x)`: another object with the same fields, unless its class knows better."""
        ways = [self.member(before.cls, name) is vars(object).get(name, ABSENT) for name in _WAYS_OF_COPYING]
        is_plain = not classes.is_record(before.cls) and before.cls not in CLASSES and all(ways)
        if not is_plain or classes.has_slots(before.cls) or (*frame.path, op.results[0]) in self.facts.kept:
            raise Escapes(origin_of(before))
        constructor = Const(before.cls, before.cls.__name__, before.cls)
        place = Object((*frame.path, op.results[0]), before.cls, constructor, op.results[0].hint)
        self.made_in[place] = self.out
        self.fields[place, THERE] = NONE
        self.fields |= {(place, name): known for name, known in self.fields_now(op, before, frame).items()}
        self.helped = True
        return self.made_object(op, place)

    def fields_now(self, op: Op, target: Object | Element, frame: Frame) -> dict[str, Known]:
        """All fields of an object as they are now."""
        if isinstance(target, Object):
            return fields_of(self.fields, target)
        if not self.is_there(target):
            raise Escapes(origin_of(target))
        found: dict[str, Known] = {}
        for name, column in target.table.columns.items():
            read = replace(op, arguments=(), results=(fresh(name, True),), keywords=())
            known = self.read_item(read, (column, target.index), Frame((*frame.path, op.results[0])))
            assert known is not None
            found[name] = known
        return found
