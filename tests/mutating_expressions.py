"""What random programs that write are made of: types, scopes, places, and expressions over them."""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.program_writer import ProgramWriter

FEATURES = ("views", "out", "lists", "dicts", "objects", "calls", "closures", "cells", "try", "generators")
SIZE = 4  # of the arrays that fit everywhere


@dataclass(frozen=True)
class Type:
    """What a place holds: "float", "array" (of a shape; perhaps read-only), "list" and "dict" of floats, "rows" (a list of
    arrays of `SIZE`), "box", "count"."""

    kind: str
    shape: tuple[int, ...] = ()
    writable: bool = True


FLOAT, LIST, DICT, ROWS, BOX_TYPE, COUNT = (Type(kind) for kind in ("float", "list", "dict", "rows", "box", "count"))
ARRAY = Type("array", (SIZE,))


@dataclass
class Scope:
    """The names that are certainly bound. `fixed` ones are not bound again here, because a closure has them or another
    function owns them."""

    names: dict[str, Type]
    fixed: list[str] = field(default_factory=list)
    functions: list[str] = field(default_factory=list)  # nested, of one float, with a float as result
    loops: int = 0

    def inner(self, **more: Type) -> Scope:
        return Scope({**self.names, **more}, [*self.fixed, *more], self.functions.copy(), self.loops)


@dataclass(frozen=True)
class Helper:
    """A function of the module; `result` is None if it returns nothing, and of what is yielded if it is a generator."""

    name: str
    parameters: tuple[Type, ...]
    result: Type | None
    raises: bool = False


class Expressions(ProgramWriter):
    """Writes lines and expressions; every choice is drawn from one generator of random numbers."""

    def __init__(self, number: int, features: tuple[str, ...]) -> None:
        super().__init__(number)
        self.attempts = 0  # the `try` statements around what is being written
        self.helpers: list[Helper] = []
        self.generators: list[Helper] = []
        wanted = self.random.randint(1, max(1, len(features)))
        chosen = self.random.sample(features, min(wanted, len(features)))
        self.features = tuple(name for name in features if name in chosen)

    # Text and choices

    def has(self, feature: str) -> bool:
        return feature in self.features

    def number(self) -> str:
        value = self.random.uniform(-1.2, 1.2)
        return f"{value:.2f}" if value >= 0 else f"({value:.2f})"

    # Places

    def places(self, scope: Scope, wanted: Type) -> list[str]:
        """The texts of all places that hold exactly this."""
        found = []
        for name, held in scope.names.items():
            found += [text for text, type_ in self.inside(name, held) if type_ == wanted]
        return found

    def inside(self, text: str, held: Type) -> list[tuple[str, Type]]:
        """A place and the places inside it."""
        match held.kind:
            case "list":
                return [(text, held), (f"{text}[0]", FLOAT), (f"{text}[-1]", FLOAT)]
            case "dict":
                return [(text, held), (f'{text}["p"]', FLOAT), (f'{text}["q"]', FLOAT)]
            case "rows":
                return [(text, held), (f"{text}[0]", ARRAY), (f"{text}[-1]", ARRAY)]
            case "box":
                return [(text, held), (f"{text}.a", FLOAT), (f"{text}.v", ARRAY), *self.inside(f"{text}.items", LIST)]
        return [(text, held)]

    def pick(self, scope: Scope, wanted: Type) -> str | None:
        found = self.places(scope, wanted)
        return self.random.choice(found) if found else None

    def array_places(self, scope: Scope) -> list[tuple[str, Type]]:
        """All places that hold an array."""
        found = [place for name, held in scope.names.items() for place in self.inside(name, held)]
        return [(text, held) for text, held in found if held.kind == "array"]

    def writable(self, scope: Scope) -> tuple[str, tuple[int, ...]]:
        """An array to write into; there always is one."""
        text, held = self.random.choice([place for place in self.array_places(scope) if place[1].writable])
        return text, held.shape

    def can_bind(self, scope: Scope, place: str) -> bool:
        """Whether the place may be assigned here: names unless they are fixed, items and fields if they are written at all."""
        if place.isidentifier():
            return place not in scope.fixed
        return self.has("objects" if "." in place else "dicts" if '"' in place else "lists")

    # Expressions

    def expression(self, scope: Scope, depth: int = 2) -> str:
        """A float."""
        if depth == 0 or self.chance(0.2):
            return self.atom(scope)
        a, b = self.expression(scope, depth - 1), self.expression(scope, depth - 1)
        forms = [
            f"(0.6 * {a} + 0.4 * {b})",
            f"math.sin({a} + {b})",
            f"math.tanh({a} * {b})",
            f"(math.cos({a}) * {b})",
            f"({a} / (1.0 + {b} * {b}))",
            f"({a} if {self.condition(scope)} else {b})",
        ]
        rare = [f"{name}({a})" for name in scope.functions]
        rare += [call for helper in self.helpers if helper.result == FLOAT for call in [self.call(scope, helper)] if call]
        box = self.pick(scope, BOX_TYPE)
        if box:
            rare.append(f"{box}.bump({a})")
        return self.random.choice(rare if rare and self.chance(0.2) else forms)

    def atom(self, scope: Scope) -> str:
        forms = [self.number(), self.pick(scope, FLOAT) or self.number(), self.pick(scope, FLOAT) or self.number()]
        a, held = self.random.choice(self.array_places(scope))
        place = ", ".join(str(self.random.randrange(-n, n)) for n in held.shape)
        forms += [f"{a}[{place}]"] * 2 + [f"math.tanh(np.sum({a}))", f"math.sin(np.mean({a} * {a}))"]
        items = self.pick(scope, LIST)
        if items:
            forms += [f"{items}[{self.random.randint(-2, 1)}]", f"math.sin(sum({items}))"]
        d = self.pick(scope, DICT)
        if d:
            forms += [f'{d}.get("s", {self.number()})', f"(sum({d}.values()) / len({d}))"]
        return self.random.choice(forms)

    def condition(self, scope: Scope) -> str:
        forms = [f"{self.atom(scope)} > {self.number()}"] * 2
        i = self.pick(scope, COUNT)
        if i:
            forms += [f"{i} % 2 == {self.random.randint(0, 1)}", f"{i} > 0"]
        return self.random.choice(forms)

    def array(self, scope: Scope, shape: tuple[int, ...]) -> str:
        """A new array of the shape."""
        same = [text for text, held in self.array_places(scope) if held.shape == shape]
        x = self.expression(scope, 1)
        if not same:
            return self.random.choice([f"np.full({shape}, {x})", f"np.zeros({shape})", f"np.ones({shape}) * {x}"])
        a, b = self.random.choice(same), self.random.choice(same)
        return self.random.choice(
            [
                f"np.tanh({a} * {b} + {x})",
                f"0.6 * {a} - 0.4 * {b}",
                f"np.sin({a}) * math.cos({x})",
                f"{a} / (1.0 + {b} ** 2)",
                f"{a}[::-1] * 0.5 + 0.3 * {b}",
                f"np.where({b} > {self.number()}, {a}, 0.5 * {b})",
                f"{a}.copy()",
                f"np.zeros_like({a})",
                f"np.full({shape}, {x})",
            ]
        )

    def view(self, scope: Scope) -> tuple[str, Type]:
        """A view of an array, or a copy where NumPy has to make one."""
        a, held = self.random.choice(self.array_places(scope))
        n, keep = held.shape[0], held.writable
        forms: list[tuple[str, tuple[int, ...], bool]] = [
            (f"{a}[::-1]", held.shape, keep),
            (f"{a}[:]", held.shape, keep),
            (f"np.asarray({a})", held.shape, keep),
            (f"np.broadcast_to({a}, {(2, *held.shape)})", (2, *held.shape), False),
        ]
        if n > 1:
            forms += [(f"{a}[{text}]", (n - 1, *held.shape[1:]), keep) for text in ("1:", ":-1")]
            forms.append((f"{a}[::2]", ((n + 1) // 2, *held.shape[1:]), keep))
        if len(held.shape) == 1 and n > 2:
            forms.append((f"np.lib.stride_tricks.sliding_window_view({a}, 2)", (n - 1, 2), False))
        if len(held.shape) == 1 and n == SIZE:
            forms.append((f"{a}.reshape(2, 2)", (2, 2), keep))
        if len(held.shape) == 2:
            forms += [(f"{a}.T", held.shape[::-1], keep)] * 3 + [(f"{a}[0]", held.shape[1:], keep)]
            forms += [(f"{a}[:, -1]", held.shape[:1], keep)]
            if keep:  # what it gives is writable whether it copies or not
                forms += [(f"{a}.reshape(-1)", (held.shape[0] * held.shape[1],), True)]
        text, shape, writable = self.random.choice([form for form in forms if len(form[1]) <= 2])
        return text, Type("array", shape, writable)

    def value(self, scope: Scope, wanted: Type) -> str:
        """Something of that type: often what has another name already."""
        place = self.pick(scope, wanted)
        if place and wanted != FLOAT and self.chance(0.5):
            return place
        match wanted.kind:
            case "float":
                return self.expression(scope)
            case "array":
                return self.array(scope, wanted.shape)
            case "list":
                items = ", ".join(self.expression(scope, 1) for _ in range(self.random.randint(2, 3)))
                return self.random.choice([f"[{items}]", f"{place}[:]" if place else f"[{items}]", f"list(({items}))"])
            case "dict":
                return self.random.choice(
                    [
                        f'{{"p": {self.expression(scope, 1)}, "q": {self.atom(scope)}}}',
                        f"dict({place})" if place else "dict(p=0.3, q=0.2)",
                    ]
                )
            case "rows":
                return f"[{self.value(scope, ARRAY)}, {self.value(scope, ARRAY)}]"
        assert wanted == BOX_TYPE
        return f"Box({self.expression(scope, 1)}, {self.value(scope, ARRAY)}, {self.value(scope, LIST)})"

    def call(self, scope: Scope, helper: Helper) -> str | None:
        """A call with what the scope has for its parameters; one thing may be given twice. None if it has not got it, or
        if the function raises and nobody here would catch that."""
        if helper.raises and not self.attempts:
            return None
        arguments = []
        for wanted in helper.parameters:
            found = self.places(scope, wanted)
            if wanted == ARRAY and self.has("views"):
                found += [f"{text}[::-1]" for text in found[:2]]
            if wanted == FLOAT:
                found = [self.atom(scope)]
            if not found:
                return None
            arguments.append(self.random.choice(found))
        return f"{helper.name}({', '.join(arguments)})"
