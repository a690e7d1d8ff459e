"""Things that are reached by many ways: through every kind of container, object, function and variable.

A *way* stores what an expression gives somewhere, and has an expression that gives it again. Ways are put after one another,
things are written into through some of them, and read through others.
"""

from __future__ import annotations

from tests.families.family import USUAL_PARAMETERS, Family, usual_point
from tests.mutable_things import HEAD_OF_THINGS, THINGS, made, number, read, written
from tests.program_writer import ProgramWriter

HEAD = f"""{HEAD_OF_THINGS}Pair = collections.namedtuple("Pair", "left right")


@dataclass
class Settings:
    thing: object
    rate: float = 1.0
    things: list = None


class Slots:
    __slots__ = ("thing", "other")


class Showing:
    def __init__(self, thing):
        self._thing = thing

    @property
    def thing(self):
        return self._thing

    @thing.setter
    def thing(self, thing):
        self._thing = thing

    @functools.cached_property
    def kept(self):
        return self._thing

    def get(self):
        return self._thing

    def __call__(self):
        return self._thing

    def __getitem__(self, key):
        return self._thing

    def __iter__(self):
        yield self._thing

    def __enter__(self):
        return self._thing

    def __exit__(self, *exception):
        return False


class Proxy:
    def __init__(self, target):
        self.__dict__["target"] = target

    def __getattr__(self, name):
        return getattr(self.target, name)


class Node:
    def __init__(self, thing, tail=None):
        self.thing, self.tail = thing, tail


class Base:
    def thing(self):
        return self.held


class Derived(Base):
    def thing(self):
        return super().thing()


class Shared:
    table = {{}}

    class Inner:
        table = {{}}

    @classmethod
    def get(cls, key):
        return cls.table[key]


KEPT = [None]
VARIABLE = None


def holder(*things, **named):
    return (*things, *named.values())


holder.table = {{}}


def same(thing):
    return thing


def second(first, thing=None, *others):
    return thing if first else others[0]


def stepwise(things):
    for thing in things:
        yield thing


def set_variable(thing):
    global VARIABLE
    VARIABLE = thing


def get_variable():
    return VARIABLE


"""
# What stores `{t}` under the fresh name `{n}`, and what gives it again.
WAYS = {
    "list": ("{n} = [1.0, {t}]", "{n}[1]"),
    "tuple": ("{n} = ({t}, 1.0)", "{n}[0]"),
    "dict": ("{n} = {{'k': {t}}}", "{n}['k']"),
    "nested": ("{n} = [{{'k': ({t}, [1.0])}}]", "{n}[0]['k'][0]"),
    "deque": ("{n} = collections.deque([{t}], 2)", "{n}[-1]"),
    "appended": ("{n} = []; {n}.append({t})", "{n}[0]"),
    "inserted": ("{n} = [1.0]; {n}.insert(0, {t})", "{n}[0]"),
    "slice": ("{n} = [1.0, 2.0]; {n}[:1] = [{t}]", "{n}[0]"),
    "extended": ("{n} = [1.0]; {n}.extend(({t},))", "{n}[-1]"),
    "updated": ("{n} = {{}}; {n}.update(k={t})", "{n}['k']"),
    "setdefault": ("{n} = {{}}; {n}.setdefault('k', {t})", "{n}['k']"),
    "fromkeys": ("{n} = dict.fromkeys('jk', {t})", "{n}['k']"),
    "field": ("{n} = Box({t}, 1.0)", "{n}.a"),
    "two fields": ("{n} = Box({t}, {t})", "{n}.b"),
    "field assigned": ("{n} = Box(None, 1.0); {n}.a = {t}", "{n}.a"),
    "setattr": ("{n} = Box(None, 1.0); setattr({n}, 'a', {t})", "getattr({n}, 'a')"),
    "vars": ("{n} = Box({t}, 1.0)", "vars({n})['a']"),
    "__dict__": ("{n} = Box(None, 1.0); {n}.__dict__['a'] = {t}", "{n}.a"),
    "slots": ("{n} = Slots(); {n}.thing = {t}", "{n}.thing"),
    "property": ("{n} = Showing({t})", "{n}.thing"),
    "setter": ("{n} = Showing(None); {n}.thing = {t}", "{n}.get()"),
    "cached property": ("{n} = Showing({t})", "{n}.kept"),
    "method": ("{n} = Showing({t}).get", "{n}()"),
    "called object": ("{n} = Showing({t})", "{n}()"),
    "item of an object": ("{n} = Showing({t})", "{n}['any']"),
    "iterated object": ("{n} = Showing({t})", "[*{n}][0]"),
    "proxy": ("{n} = Proxy(Box({t}, 1.0))", "{n}.a"),
    "inherited": ("{n} = Derived(); {n}.held = {t}", "{n}.thing()"),
    "linked": ("{n} = Node(1.0, Node({t}))", "{n}.tail.thing"),
    "ring": ("{n} = Node({t}); {n}.tail = {n}", "{n}.tail.tail.thing"),
    "named tuple": ("{n} = Pair({t}, 1.0)", "{n}.left"),
    "replaced": ("{n} = Pair(1.0, {t})._replace(left=2.0)", "{n}[1]"),
    "_asdict": ("{n} = Pair({t}, 1.0)", "{n}._asdict()['left']"),
    "dataclass": ("{n} = Settings({t}, things=[{t}])", "{n}.things[0]"),
    "replaced dataclass": ("{n} = replace(Settings({t}), rate=2.0)", "{n}.thing"),
    "shallow copy": ("{n} = copy.copy(Box({t}, 1.0))", "{n}.a"),
    "closure": ("def {n}(): return {t}", "{n}()"),
    "lambda": ("{n} = lambda: ({t}, 1.0)", "{n}()[0]"),
    "default": ("def {n}(thing={t}): return thing", "{n}()"),
    "partial": ("{n} = functools.partial(second, True, {t})", "{n}()"),
    "variable of the module": ("set_variable({t}); {n} = None", "get_variable()"),
    "list of the module": ("KEPT[0] = {t}; {n} = None", "KEPT[0]"),
    "table of a class": ("Shared.table['k'] = {t}; {n} = None", "Shared.get('k')"),
    "table of an inner class": ("Shared.Inner.table['k'] = {t}; {n} = None", "Shared.Inner.table['k']"),
    "table of a function": ("holder.table['k'] = {t}; {n} = None", "holder.table['k']"),
    "result": ("{n} = same({t})", "{n}"),
    "default of a call": ("{n} = second(True, {t})", "{n}"),
    "starred argument": ("{n} = second(0, 1.0, *[{t}])", "{n}"),
    "packed": ("{n} = holder(1.0, key={t})", "{n}[1]"),
    "generator": ("{n} = next(stepwise([{t}]))", "{n}"),
    "generator expression": ("{n} = list(t for t in ({t}, 1.0))", "{n}[0]"),
    "comprehension": ("{n} = {{k: t for k, t in [('k', {t})]}}", "{n}['k']"),
    "unpacked": ("{n}, *_ = {t}, 1.0", "{n}"),
    "starred": ("_, *{n} = [1.0, {t}]", "{n}[0]"),
    "chosen": ("{n} = {t} if x * x < 9.0 else None", "{n}"),
    "or": ("{n} = None or ({t}, 1.0)", "{n}[0]"),
    "getattr": ("{n} = getattr(x, 'nothing', {t})", "{n}"),
    "get": ("{n} = {{}}.get('k', {t})", "{n}"),
    "popped": ("{n} = [{t}].pop()", "{n}"),
    "min": ("{n} = min([{t}], key=lambda t: 0)", "{n}"),
    "sorted": ("{n} = sorted([{t}], key=lambda t: 0)", "{n}[0]"),
    "zip": ("{n} = list(zip([1.0], [{t}]))", "{n}[0][1]"),
    "map": ("{n} = list(map(same, [{t}]))", "{n}[0]"),
    "chain": ("{n} = list(itertools.chain([1.0], [{t}]))", "{n}[1]"),
    "islice": ("{n} = next(itertools.islice([{t}], 1))", "{n}"),
    "reduce": ("{n} = functools.reduce(lambda a, b: b, [1.0, {t}])", "{n}"),
    "itemgetter": ("{n} = operator.itemgetter(1)([1.0, {t}])", "{n}"),
    "attrgetter": ("{n} = operator.attrgetter('a')(Box({t}, 1.0))", "{n}"),
    "values": ("{n} = {{'k': {t}}}.values()", "list({n})[0]"),
    "items": ("{n} = [*{{'k': {t}}}.items()]", "{n}[0][1]"),
    "loop": ("for {n} in ({t},): pass", "{n}"),
    "with": ("with contextlib.nullcontext({t}) as {n}: pass", "{n}"),
    "with object": ("with Showing({t}) as {n}: pass", "{n}"),
}
OF_ARRAYS = {
    "whole": ("{n} = {t}[:]", "{n}"),
    "reversed": ("{n} = {t}[::-1]", "{n}"),
    "asarray": ("{n} = np.asarray({t})", "{n}"),
    "reshaped": ("{n} = {t}.reshape(2, 1)", "{n}[:, 0]"),
    "transposed": ("{n} = {t}[None].T", "{n}[:, 0]"),
    "view": ("{n} = {t}.view()", "{n}"),
    "swapped": ("{n} = np.atleast_2d({t})", "{n}[0]"),
    "split": ("{n} = np.split({t}, 1)", "{n}[0]"),
    "row": ("{n} = [*np.atleast_2d({t})]", "{n}[0]"),
    "ellipsis": ("{n} = {t}[..., None]", "{n}[..., 0]"),
}
SETTABLE = ("list", "dict", "deque", "field", "slots", "property", "linked", "ring", "dataclass", "list of the module")


def write(writer: ProgramWriter) -> None:
    draw = writer.random
    kind = draw.choice(list(THINGS))
    ways = WAYS | OF_ARRAYS if kind == "array" else WAYS
    with writer.indented(f"def program({USUAL_PARAMETERS}):"):
        things = [f"t{k}" for k in range(1, draw.randint(1, 2) + 1)]
        for name in things:
            writer.write(f"{name} = {made(draw, kind)}")
        writer.write("total = 0.0")
        found, places = list(things), []
        for _ in range(draw.randint(2, 5)):
            name = draw.choice(list(ways))
            store, access = ways[name]
            fresh = writer.fresh("n")
            for line in store.format(n=fresh, t=draw.choice(found)).split("; "):
                writer.write(line)
            found.append(access.format(n=fresh))
            if name in SETTABLE:
                places.append(found[-1])
            action(writer, kind, found, places)
        writer.write(written(draw, kind, found[-1] if writer.chance(0.7) else draw.choice(found)))
        reads = [*things, *draw.sample(found, min(2, len(found)))]
        writer.write(f"return {' + '.join(read(kind, e) for e in reads)} + total + x * y + u[0] * d['p']")


def action(writer: ProgramWriter, kind: str, found: list[str], places: list[str]) -> None:
    """Something between two ways: a write, a read, another thing at a place, a write by a function or in a loop."""
    draw = writer.random
    e = draw.choice(found)
    match draw.choice(["write", "read", "store", "call", "loop", "branch", *["nothing"] * 6]):
        case "write":
            writer.write(written(draw, kind, e))
        case "read":
            writer.write(f"total += {read(kind, e)}")
        case "store" if places:
            writer.write(f"{draw.choice(places)} = {e}")
        case "call":
            name = writer.fresh("write")
            with writer.indented(f"def {name}(t, v=1.0):"):
                writer.write(written(draw, kind, "t"))
                writer.write("return v")
            writer.write(f"total += {name}({e}, {number(draw)}) * {read(kind, draw.choice(found))}")
        case "loop":
            with writer.indented(f"for t in [{e}, {draw.choice(found)}]:"):
                writer.write(written(draw, kind, "t"))
        case "branch":
            with writer.indented("if x * y < 4.0:"):
                writer.write(written(draw, kind, e))


FAMILY = Family("aliases", write, refused=0.05, point=usual_point, head=HEAD)
