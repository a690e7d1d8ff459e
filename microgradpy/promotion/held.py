"""Lists, dicts and sets in fields of objects, and lists in lists, that are written into where they are.

    self.history.append(x)          order = particle_history[k];  values.append(x);  order.append(len(values) - 1)
    buckets[k].append(v)            order = buckets[k];           values.append(v);  order.append(len(values) - 1)

The field has an order (`runtime/arranged.py`): an ordinary list, dict or set of the places that the values have in one list,
which all of them share. It is changed in place, so that two names of one list are one, and another list that is assigned is
another one. That a list is written into is found out there (`Refers`), and the walk starts again.
"""

from __future__ import annotations

import heapq
import operator
from typing import Any

from microgradpy.ir.kinds import Sequence, is_list, is_proven
from microgradpy.ir.nodes import NOWHERE, Const, Op, Opcode, Value, Var, fresh, function_constant
from microgradpy.promotion.findings import HELD, Escapes, Form, Origin, Refers, Shrinks, Writes
from microgradpy.promotion.object_keys import join_keys
from microgradpy.promotion.places import CONTENTS, THERE, DictOf, Frame, Held, Known, ListOf, Object
from microgradpy.runtime.arranged import Arranged, new_order
from microgradpy.runtime.heaps import Heap
from microgradpy.runtime.keyed import ITEMS, ORDER, Grouped, Keyed, Members, Nested, new_dict
from microgradpy.runtime.queues import Shrinking

WRITING = frozenset({"append", "extend", "insert", "remove", "pop", "clear", "sort", "reverse"})
"""The methods of lists that write."""
_OF_DICTS = frozenset({"setdefault", "update", "popitem"})
_WRITE = (operator.setitem, operator.delitem, operator.iadd, operator.imul, operator.ior)
_OF_HEAPS = (heapq.heappush, heapq.heappop, heapq.heapify, heapq.heapreplace, heapq.heappushpop)
_NEW: dict[type, Any] = {Arranged: new_order, Heap: new_order, Keyed: new_dict, Grouped: new_dict, Nested: new_dict}


def hold(walker: Any, place: ListOf, cls: type) -> None:
    """Let a container, or a field, hold the orders of lists, dicts or sets."""
    is_known = place.key in walker.facts.refers or (*place.key, HELD) in walker.facts.kept
    if is_known or place.depth or place.sort != "list" or walker.facts.beside_writes or walker.is_users(place):
        raise Escapes(place.origin)
    raise Refers(place.key, (HELD, place.key, cls))


def check_may_be_held(walker: Any, place: ListOf, item: Object) -> None:
    """Let the field of objects in a pool hold what it gets, if that is a list, dict or set whose order is known."""
    if item.cls not in (*_NEW, Members):
        raise Escapes(item.origin)
    if place.of is None:
        hold(walker, place, item.cls)


def check_item_written(walker: Any, function: Any, given: tuple[Known, ...]) -> None:
    """Let the lists and dicts in a container be held there if one of them is written into."""
    item = given[0] if given else None
    if not isinstance(item, Var):
        return
    for each in walker.either.get(item, ()):
        check_item_written(walker, function, (each, *given[1:]))
    if item not in walker.read_from:
        return
    name = given[1].value if function is getattr and isinstance(given[1], Const) else ""
    if name not in WRITING | _OF_DICTS and not any(function is each for each in (*_WRITE, *_OF_HEAPS)):
        return
    place, depth = walker.read_from[item]
    if function is operator.setitem and not place.field:
        return  # the lists in a list may be followed with it
    kind = walker.kinds.of(item)
    if not (is_list(kind) or isinstance(kind, Sequence)) and (name == "" or is_proven(kind)):
        return  # a number, or an array
    is_dict = (isinstance(kind, Sequence) and kind.name == "dict") or (not is_list(kind) and name in _OF_DICTS)
    is_nested = place.depth or walker.facts.nested.get(place.origin)
    if depth == 1 and not is_nested and place.sort == "list" and not walker.facts.beside_writes:
        if place.key not in walker.facts.refers and (*place.key, HELD) not in walker.facts.kept and not walker.is_users(place):
            raise Refers(place.key, (HELD, place.key, Keyed if is_dict else Arranged))


def held_by(walker: Any, form: Form) -> Held | None:
    """What a container that holds orders refers to."""
    _, key, cls = form
    origin = (*key, HELD)
    if origin in walker.facts.kept:
        return None
    if key not in walker.held_made:
        cls = walker.facts.shrinking.get(origin, cls)
        walker.held_made[key] = Held(Object(origin, cls, Const(cls, cls.__name__, cls), _hint_of(key)))
    return walker.held_made[key]  # type: ignore[no-any-return]


def _hint_of(key: Origin) -> str:
    last = key[-1]
    return last.lstrip("_") if isinstance(last, str) else getattr(last, "hint", "") or "items"


def make_held(walker: Any, place: ListOf) -> None:
    """Make the list that all values are in, where the container is made."""
    owner = place.of.owner if isinstance(place.of, Held) else None
    if owner is None or (owner, ORDER) in walker.fields:
        return
    walker.fields[owner, THERE] = walker.fields[owner, ORDER] = Const(None)
    walker.made_in[owner] = walker.out
    if owner.cls is Members:
        return
    items = walker.list_at(owner.origin, f"{place.hint}_items")
    made = fresh(items.hint, True)
    walker.add(Op(Opcode.LIST, (), (made,), from_user=False))
    walker.fields[items, CONTENTS], walker.fields[owner, ITEMS] = made, items
    walker.made_in[items] = walker.out


def held_object(walker: Any, owner: Object, order: Value) -> Object:
    """One of the lists, dicts or sets, by its order."""
    place = Object(owner.origin, owner.cls, owner.constructor, owner.hint)
    walker.made_in[place] = walker.out
    walker.fields[place, THERE], walker.fields[place, ORDER] = Const(None), order
    if owner.cls is not Members:
        if (owner, ITEMS) not in walker.fields:
            raise Escapes(owner.origin)
        walker.fields[place, ITEMS] = walker.fields[owner, ITEMS]
    walker.owners[place] = owner
    walker.helped = True
    return place


def is_held(walker: Any, known: tuple[Known, ...], owner: Object) -> bool:
    """Whether some are lists, dicts or sets of one container, any of which may be meant then."""
    return owner.origin[-1:] == (HELD,) and all(
        isinstance(each, Object) and each.cls is owner.cls and walker.owners.get(each) is owner for each in known
    )


def order_given(walker: Any, held: Held, item: Known) -> Value:
    """What a container gets for a list, dict or set, which is one of those that it holds from here on."""
    owner = held.owner
    item = walker.standing.get(item) or item
    if isinstance(item, Object) and walker.owners.get(item) is owner:
        return walker.fields[item, ORDER]  # type: ignore[no-any-return]
    walker.check_written(item)
    if isinstance(item, DictOf):
        raise Writes(item.origin)
    if isinstance(item, Object) and item.cls is Shrinking and owner.cls is Arranged:
        raise Shrinks(item.origin, Arranged)
    _check_own(walker, held, item)
    order = _order_of(walker, owner, item)
    walker.stands(item, held_object(walker, owner, order))
    return order


def _check_own(walker: Any, held: Held, item: Known) -> None:
    """Refuse what somebody else has, or what is not known to be of that class."""
    owner = held.owner
    is_own = isinstance(item, Object | ListOf) and not any(
        item in known for known in (walker.shown, walker.handed, walker.standing, walker.running, walker.owners, walker.real)
    )
    if is_own and isinstance(item, Object):
        is_own = item.cls is owner.cls and owner.cls in (Members, Arranged, Keyed)
    elif is_own and isinstance(item, ListOf):
        sort = "list" if issubclass(owner.cls, Arranged) else "dict"
        is_empty = walker.contents_known(item) == () or owner.cls in (Arranged, Keyed)
        is_own = item.sort == sort and is_empty and not item.depth and item.default is None and item.picks is None
        is_own = is_own and not item.field and item not in walker.unread
    if not is_own:
        raise Escapes(owner.origin)


def _order_of(walker: Any, owner: Object, item: Any) -> Value:
    """The order of a list or dict: its values are put behind those of the others. A set has nothing but that."""
    statement = walker.at and walker.at.statement
    results = statement.results[:1] if isinstance(statement, Op) else ()
    # What it is known by is the same in each walk.
    op = Op(Opcode.LIST, (), results or (fresh(owner.hint),), where=getattr(statement, "where", NOWHERE))
    if owner.cls is Members:
        join_keys(walker, item.origin, walker.keys_of_place(owner))
        return walker.fields[item, ORDER]  # type: ignore[no-any-return]
    if isinstance(item, ListOf) and walker.contents_known(item) == ():
        made = fresh("order")
        walker.add(Op(function_constant(_NEW[owner.cls]), (), (made,), from_user=False, where=op.where))
        return made
    return walker.of_text(op, owner, "order_of", (item,), Frame((*item.origin, ORDER)))  # type: ignore[no-any-return]
