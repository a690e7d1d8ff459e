"""Operators, methods and functions that make containers of what other containers hold, which is then written into.

The writer knows how many things each container holds and never how they are named elsewhere; Python knows that.
"""

from __future__ import annotations

from dataclasses import dataclass

from tests.families.family import USUAL_PARAMETERS, Family, usual_point
from tests.mutable_things import HEAD_OF_THINGS, IMMUTABLE, THINGS_AND_NUMBERS, made, number, read, written
from tests.program_writer import ProgramWriter

KEYS = "abcdefghijklmnopqrstuvwxyz"
MOST = 12  # things in a container


@dataclass(frozen=True)
class Held:
    """A variable that holds things, and nothing else: a "list", "tuple" or "deque" of so many, or a "dict" with these keys."""

    name: str
    type: str
    size: int
    keys: tuple[str, ...] = ()

    def item(self, place: int) -> str:
        return f"{self.name}[{self.keys[place]!r}]" if self.type == "dict" else f"{self.name}[{place}]"


DISPLAYS = {"list": "[{}]", "tuple": "({},)", "deque": "collections.deque([{}])"}
# Of one sequence of size n: a text, and the size of what it gives.
OF_ONE = {
    "{a} * 2": 2, "2 * {a}": 2, "{a} + {a}": 2, "operator.add({a}, {a})": 2, "operator.mul({a}, 2)": 2, "copy.copy({a})": 1,
}  # fmt: skip
OF_LISTS_AND_TUPLES = {
    "{a}[:]": 1, "{a}[::-1]": 1, "[*{a}]": 1, "[*{a}, *{a}]": 2, "(*{a},)": 1, "operator.concat({a}, {a})": 2,
    "sum([{a}, {a}], type({a})())": 2, "functools.reduce(operator.add, [{a}, {a}])": 2,
}  # fmt: skip
OF_SEQUENCES = {
    "list({a})": 1, "tuple({a})": 1, "list(reversed({a}))": 1, "tuple(itertools.chain({a}, {a}))": 2, "[t for t in {a}]": 1,
    "list(map(lambda t: t, {a}))": 1, "sorted({a}, key=lambda t: 0)": 1, "[t for t, _ in zip({a}, {a})]": 1,
    "[t for _, t in enumerate({a})]": 1, "list(filter(lambda t: t is not None, {a}))": 1,
    "list(itertools.islice({a}, None))": 1, "max([{a}], key=len)": 1, "({a} or None)": 1, "({a} if x * x < 9.0 else None)": 1,
}  # fmt: skip
OF_DICTS = (
    "dict({a})", "{a}.copy()", "copy.copy({a})", "{{**{a}}}", "{a} | {a}", "dict({a}.items())", "dict(**{a})",
    "dict(zip({a}, {a}.values()))", "operator.or_({a}, {{}})", "collections.OrderedDict({a})",
    "{{k: t for k, t in {a}.items()}}",
)  # fmt: skip
VALUES = (
    "list({a}.values())", "[*{a}.values()]", "[t for _, t in {a}.items()]", "tuple({a}.values())", "[{a}[k] for k in {a}]",
)  # fmt: skip
KEEPS_TYPE = ("{a}", "({a}", "operator", "sum", "functools", "max")


class Writer:
    def __init__(self, writer: ProgramWriter) -> None:
        self.writer, self.draw = writer, writer.random
        self.kind = self.draw.choice(list(THINGS_AND_NUMBERS))
        self.things = 0
        self.held: list[Held] = []

    def new_thing(self) -> str:
        self.things += 1
        self.writer.write(f"t{self.things} = {made(self.draw, self.kind)}")
        return f"t{self.things}"

    def some_thing(self, in_container: float = 0.4) -> str:
        if self.held and self.writer.chance(in_container):
            held = self.draw.choice(self.held)
            return held.item(self.draw.randrange(held.size))
        return f"t{self.draw.randint(1, self.things)}"

    def add(self, type: str, text: str, size: int, keys: tuple[str, ...] = ()) -> None:
        """A container with a name."""
        name = self.writer.fresh("g")
        self.writer.write(f"{name} = {text}")
        self.held.append(Held(name, type, size, keys))

    def display(self) -> None:
        items = [self.some_thing() for _ in range(self.draw.randint(1, 3))]
        type = self.draw.choice(["list", "tuple", "deque", "dict"])
        if type == "dict":
            keys = tuple(self.draw.sample(KEYS, len(items)))
            inside = ", ".join(f"{key!r}: {item}" for key, item in zip(keys, items, strict=True))
            self.add("dict", f"{{{inside}}}", len(items), keys)
        else:
            self.add(type, DISPLAYS[type].format(", ".join(items)), len(items))

    def operation(self) -> None:
        """A container made of one, or of two."""
        held = self.draw.choice(self.held)
        if held.type == "dict":
            self.of_dict(held)
            return
        others = [other for other in self.held if other.type == held.type]
        if self.writer.chance(0.25):
            other = self.draw.choice(others)
            if held.size + other.size <= MOST:
                self.add(held.type, f"{held.name} + {other.name}", held.size + other.size)
            return
        table = OF_ONE | OF_SEQUENCES | (OF_LISTS_AND_TUPLES if held.type != "deque" else {})
        text, times = self.draw.choice(list(table.items()))
        if held.size * times > MOST:
            return
        keeps = text in OF_ONE or text.startswith(KEEPS_TYPE)
        type = held.type if keeps else "tuple" if text.startswith(("tuple", "(*")) else "list"
        self.add(type, text.format(a=held.name), held.size * times)

    def of_dict(self, held: Held) -> None:
        others = [other for other in self.held if other.type == "dict"]
        if self.writer.chance(0.3):
            other = self.draw.choice(others)
            keys = tuple(dict.fromkeys((*held.keys, *other.keys)))
            text = self.draw.choice(["{a} | {b}", "{{**{a}, **{b}}}", "dict({a}, **{b})", "dict([*{a}.items(), *{b}.items()])"])
            self.add("dict", text.format(a=held.name, b=other.name), len(keys), keys)
        elif self.writer.chance(0.4):
            text = self.draw.choice(VALUES)
            self.add("tuple" if text.startswith("tuple") else "list", text.format(a=held.name), held.size)
        else:
            self.add("dict", self.draw.choice(OF_DICTS).format(a=held.name), held.size, held.keys)

    def in_place(self) -> None:
        """An operator or method in place; all names of the container show what it holds now, so it is used no more."""
        held = self.draw.choice(self.held)
        if sum(one.size for one in self.held if one.type == held.type) > MOST:
            return
        thing = self.some_thing()
        if held.type == "dict":
            texts = ["{a} |= {{'z': {t}}}", "{a}.update(z={t})", "{a}['z'] = {t}", "{a}.setdefault('z', {t})"]
            self.writer.write(self.draw.choice([*texts, "{a} |= [('z', {t})]"]).format(a=held.name, t=thing))
            self.replace(held, Held(held.name, "dict", len({*held.keys, "z"}), tuple(dict.fromkeys((*held.keys, "z")))))
        elif held.type == "tuple":
            self.writer.write(f"{held.name} += ({thing},)")
            self.replace(held, Held(held.name, "tuple", held.size + 1))
        else:
            texts = ["{a} += [{t}]", "{a} *= 2", "{a}.append({t})", "{a}.extend(({t},))", "{a}.insert(0, {t})", "{a} += ({t},)"]
            text = self.draw.choice(texts)
            self.writer.write(text.format(a=held.name, t=thing))
            self.replace(held, Held(held.name, held.type, held.size * 2 if "*=" in text else held.size + 1))

    def replace(self, old: Held, new: Held) -> None:
        self.held = [new if one is old else one for one in self.held]

    def write_into(self) -> None:
        """Into a thing, or another thing into a place."""
        held = self.draw.choice(self.held)
        if held.type != "tuple" and self.writer.chance(0.3):
            self.writer.write(f"{held.item(self.draw.randrange(held.size))} = {self.some_thing()}")
        elif self.kind not in IMMUTABLE:
            self.writer.write(written(self.draw, self.kind, self.some_thing(in_container=0.9)))
        elif held.type != "tuple":
            self.writer.write(written(self.draw, self.kind, held.item(self.draw.randrange(held.size))))

    def loop(self) -> None:
        held = self.draw.choice(self.held)
        name = held.name if held.type != "dict" else f"{held.name}.values()"
        texts = ["for t in {a}:", "for t in reversed({a}):", "for _, t in enumerate({a}):", "for t, _ in zip({a}, range(3)):"]
        with self.writer.indented(self.draw.choice(texts).format(a=name)):
            self.writer.write(written(self.draw, self.kind, "t"))

    def program(self) -> None:
        for _ in range(self.draw.randint(1, 3)):
            self.new_thing()
        self.display()
        for _ in range(self.draw.randint(3, 8)):
            makes = self.writer.chance(0.7)
            step = self.draw.choice(
                [self.display, *[self.operation] * 3, self.in_place] if makes else [self.write_into, self.write_into, self.loop]
            )
            step()
        self.write_into()
        names = [f"t{k}" for k in range(1, self.things + 1)]
        names += [held.item(self.draw.randrange(held.size)) for held in self.held[-2:]]
        reads = " + ".join(read(self.kind, name) for name in names)
        self.writer.write(f"return {reads} + {number(self.draw)} * y + u[0] * x + d['p']")


def write(writer: ProgramWriter) -> None:
    with writer.indented(f"def program({USUAL_PARAMETERS}):"):
        Writer(writer).program()


FAMILY = Family("containers", write, refused=0.005, point=usual_point, head=HEAD_OF_THINGS)
