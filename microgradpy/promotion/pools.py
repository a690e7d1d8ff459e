"""Objects that refer to each other, followed by numbers: all that are made of a class are in one pool, a list for each field.

    head = Node(x, head)                node_value.append(x); node_next.append(head); head = len(node_value) - 1
    while node is not None:             while node != -1:
        total += node.value                 total += node_value[node]
        node = node.next                    node = node_next[node]

A class gets a pool where its objects cannot be variables: an object is carried by a loop that makes another one, or may be
None. What takes an object as a whole and is not followed, or a class of which an object has other fields, ends that.
"""

from __future__ import annotations

from microgradpy.dataclasses import replace
from microgradpy.ir.nodes import Const, Location, Op, Opcode, Statement, fresh, function_constant, operator_constant
from microgradpy.promotion.base import column_hint
from microgradpy.promotion.containers import Containers
from microgradpy.promotion.findings import Escapes
from microgradpy.promotion.held import make_held
from microgradpy.promotion.places import CONTENTS, NO_OBJECT, Element, Frame, Known, Object, Picked, Table, origin_of_pool
from microgradpy.runtime.keys import check_object

_CHECK_OBJECT = function_constant(check_object)
_IS_OTHER = operator_constant("ne")


class Pools(Containers):
    """What is done with the objects of pools."""

    def make_pools(self) -> tuple[Statement, ...]:
        """The statements that make the lists of all pools."""
        for cls in self.facts.pools:
            origin = origin_of_pool(cls)
            self.tables_made[origin] = Table(origin, cls.__name__.lower().lstrip("_"), cls, {}, is_pool=True)
        for cls, names in self.facts.pools.items():
            table = self.tables_made[origin_of_pool(cls)]
            for name in names:
                hint = column_hint(table.hint, name)
                field = *table.origin, name
                column = replace(self.list_at(table.origin, hint, field=field), picks=self.picks_of(field))
                table.columns[name] = column
                make_held(self, column)
                made = fresh(hint, True)
                self.add(Op(Opcode.LIST, (), (made,), from_user=False))
                self.fields[column, CONTENTS] = made
        made_so_far, self.out = tuple(self.out), []
        return made_so_far

    def pooled(self, op: Op, place: Object) -> Known:
        """An object that has just been made, as one of those in the pool of its class."""
        table = self.tables_made.get(origin_of_pool(place.cls))
        if table is None:  # in a function of another module, which is a unit of its own
            raise Escapes(origin_of_pool(place.cls))
        number = self.append_fields(op, table, place)
        for key in [key for key in self.fields if key[0] is place]:
            del self.fields[key]
        self.appended.add(table.origin)
        self.helped = True
        return Element(table, number)

    def there(self, op: Op, target: Element, name: str) -> Element:
        """One of the objects of a pool, of which an attribute is asked: Python's error if it is None."""
        if not target.may_be_none or target.index in self.present:
            return target
        if self.trying:
            raise Escapes(target.table.origin, is_tried=True)  # who catches the error would see another one raised
        self.add(Op(_CHECK_OBJECT, (target.index, Const(name)), (fresh(""),), where=op.where))
        self.present |= {target.index}
        return target

    def check_there(self, *known: Known) -> None:
        """Let objects escape that may be None."""
        for each in known:
            if isinstance(each, Element) and each.may_be_none and each.index not in self.present:
                raise Escapes(each.table.origin)

    def truth(self, known: Known, where: Location, frame: Frame) -> Known:
        """What `if` asks: of an object whose class says nothing of that, whether it is one."""
        if isinstance(known, Picked):
            return known.numbers  # a list, which is true if there is anything in it
        if not isinstance(known, Element) or self.has_truth(known.cls):
            return super().truth(known, where, frame)
        if not known.may_be_none or known.index in self.present:
            return Const(True)
        asked = fresh("is_there")
        self.add(Op(_IS_OTHER, (known.index, NO_OBJECT), (asked,), from_user=False, where=where))
        self.tests[asked] = frozenset((known.index,)), frozenset()
        return asked
