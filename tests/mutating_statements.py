"""The statements of random programs that write."""

from __future__ import annotations

from collections.abc import Callable

from tests.mutating_expressions import ARRAY, BOX_TYPE, COUNT, DICT, FLOAT, LIST, ROWS, Expressions, Scope, Type
from tests.program_writer import INDENT


class Statements(Expressions):
    """Writes statements; a scope learns what they certainly bind."""

    def block(self, scope: Scope, size: int, depth: int) -> None:
        for _ in range(size):
            self.statement(scope, depth)

    def statement(self, scope: Scope, depth: int) -> None:
        simple: list[Callable[[Scope], None]] = [self.write_item, self.write_item, self.in_place, self.rebind, self.rebind]
        simple += [self.swap, self.new_name]
        for feature, more in (
            ("views", [self.name_view] * 3),
            ("out", [self.output, self.output]),
            ("lists", [self.change_list] * 3 + [self.change_rows]),
            ("dicts", [self.change_dict] * 3),
            ("objects", [self.change_box] * 3),
            ("calls", [self.call_helper] * 3),
            ("generators", [self.next_of_generator]),
        ):
            simple += more if self.has(feature) else []
        compound = [self.branch] * 3 + [self.loop, self.loop_over] * 2 + [self.while_loop]
        compound += [self.attempt] * 3 if self.has("try") else []
        compound += [self.consume] * 3 if self.generators else []
        if not scope.loops:
            compound += [self.closure] * 2 if self.has("closures") else []
            compound += [self.cell] * 2 if self.has("cells") else []
        else:
            compound += [self.leave_loop] * 3
        if depth > 0 and self.chance(0.35):
            self.random.choice(compound)(scope, depth)
        else:
            self.random.choice(simple)(scope)

    def new_name(self, scope: Scope) -> None:
        kinds = [FLOAT, ARRAY, ARRAY, Type("array", (2, 3))]
        kinds += [LIST, ROWS] if self.has("lists") else []
        kinds += [DICT] if self.has("dicts") else []
        kinds += [BOX_TYPE] * 2 if self.has("objects") else []
        wanted = self.random.choice(kinds)
        name = self.fresh(wanted.kind[0])
        self.write(f"{name} = {self.value(scope, wanted)}")
        scope.names[name] = wanted

    def rebind(self, scope: Scope) -> None:
        """Assign a place of any type: a name, an item, a field."""
        places = [place for name, held in scope.names.items() for place in self.inside(name, held)]
        places = [(text, held) for text, held in places if held.kind != "count" and self.can_bind(scope, text)]
        text, held = self.random.choice(places)
        if held == FLOAT and self.chance(0.3):
            self.write(f"{text} {self.random.choice(['+=', '-='])} 0.3 * {self.expression(scope, 1)}")
        elif held == FLOAT and self.chance(0.2):
            self.write(f"{text} *= math.cos({self.expression(scope, 1)})")
        else:
            self.write(f"{text} = {self.value(scope, held)}")

    def name_view(self, scope: Scope) -> None:
        text, held = self.view(scope)
        same = [name for name, other in scope.names.items() if other == held and name not in scope.fixed]
        name = self.random.choice(same) if same and self.chance(0.3) else self.fresh("w")
        self.write(f"{name} = {text}")
        scope.names[name] = held

    def index(self, shape: tuple[int, ...]) -> tuple[str, tuple[int, ...]]:
        """An index and the shape of what it takes out."""
        n, rest = shape[0], shape[1:]
        forms = [(str(self.random.randrange(-n, n)), rest), ("...", shape), (":", shape), ("::-1", shape)]
        forms += [("[0, -1, 0]", (3, *rest)), (f"[{n - 1}, 0]", (2, *rest))]
        if n > 1:
            forms += [("1:", (n - 1, *rest)), (":-1", (n - 1, *rest)), ("::2", ((n + 1) // 2, *rest))]
        if rest:
            forms += [(":, 0", (n,)), (f"{n - 1}, -1", ()), ("0, ::-1", rest), (":, [0, 0]", (n, 2))]
        return self.random.choice(forms)

    def write_item(self, scope: Scope) -> None:
        a, shape = self.writable(scope)
        if self.chance(0.15):
            mask = f"{a} > {self.number()}"
            self.write(self.random.choice([f"{a}[{mask}] = {self.expression(scope, 1)}", f"{a}[{mask}] *= 0.6"]))
            return
        index, taken = self.index(shape)
        value = self.array(scope, taken) if taken and self.chance(0.6) else self.expression(scope)
        forms = [f"{a}[{index}] = {value}"] * 3 + [f"{a}[{index}] += 0.3 * {value}", f"{a}[{index}] *= {self.damped(value)}"]
        self.write(self.random.choice(forms))

    def damped(self, value: str) -> str:
        return f"np.cos({value})"

    def in_place(self, scope: Scope) -> None:
        a, shape = self.writable(scope)
        b = self.array(scope, shape) if self.chance(0.7) else self.expression(scope, 1)
        forms = [
            f"{a} += 0.3 * np.sin({b})",
            f"{a} *= {self.damped(b)}",
            f"{a} -= np.sin({a}[::-1])",
            f"{a} /= 1.0 + 0.2 * ({b}) ** 2",
        ]
        # `name += ...` binds the name again, which a nested function may not do with a name of another function.
        self.write(self.random.choice(forms if self.can_bind(scope, a) else [f"{a}[:] = 0.5 * {a} + 0.3 * np.sin({b})"]))

    def output(self, scope: Scope) -> None:
        a, shape = self.writable(scope)
        b, x, n = self.array(scope, shape), self.expression(scope, 1), shape[0]
        rows = self.array(scope, (3, *shape[1:]))
        self.write(
            self.random.choice(
                [
                    f"np.sin({b}, out={a})",
                    f"np.tanh({b}, {a})",
                    f"np.add(0.5 * {a}, {b}, out={a})",
                    f"np.multiply({a}, math.sin({x}), out={a})",
                    f"np.cumsum(0.3 * {b}, axis=0, out={a})",
                    f"np.clip({a}, -1.1, 1.1, out={a})",
                    f"{a}.fill({x})",
                    f"{a}.sort(axis=0)",
                    f"np.copyto({a}, {b})",
                    f"np.copyto({a}, {x}, where={a} > {self.number()})",
                    f"np.add.at({a}, [0, {n - 1}, 0], 0.2 * {rows})",
                    f"np.putmask({a}, {a} > {self.number()}, {b})",
                    f"np.multiply.at({a}, [{n - 1}, 0, 0], np.cos({rows}))",
                    f"np.negative.at({a}, [0, {n - 1}, 0])",
                    f"np.add.accumulate(0.3 * {b}, axis=0, out={a})",
                    f"{a}.flat[{self.random.randrange(n)}] = {x}",
                    f"{a}.flat[1:3] = {x}",
                    f"{a}.flat = 0.7 * {b}",
                    f"np.random.default_rng({n}).shuffle({a})",
                ]
            )
        )

    def swap(self, scope: Scope) -> None:
        """Exchange what two places of one type hold."""
        kinds = [FLOAT, ARRAY, ARRAY, LIST, BOX_TYPE]
        found = [place for place in self.places(scope, self.random.choice(kinds)) if self.can_bind(scope, place)]
        if len(found) < 2:
            a, shape = self.writable(scope)
            self.write(f"{a}[0], {a}[{shape[0] - 1}] = {a}[{shape[0] - 1}], {a}[0]")
            return
        p, q = self.random.sample(found, 2)
        self.write(f"{p}, {q} = {q}, {p}")

    def change_list(self, scope: Scope) -> None:
        items = self.pick(scope, LIST)
        if items is None:
            return self.new_name(scope)
        x, other = self.expression(scope, 1), self.pick(scope, LIST)
        forms = [
            f"{items}.append({x})",
            f"{items}.append({self.number()})",
            f"{items}[0] = {self.number()}",
            f"{items}[1:3] = map(lambda t: t * {x}, {items}[:2])",
            f"{items}.insert({self.random.randint(-1, 1)}, {x})",
            f"{items}[1] = {x}",
            f"{items}[-2] += 0.2 * {x}",
            f"{items}[0], {items}[-1] = {items}[-1], {items}[0]",
            f"{items}[1:2] = [{x}, {self.atom(scope)}]",
            f"{items}.reverse()",
            f"{items}.sort()",
            f"{items}[:] = [0.9 * t for t in {items}]",
        ]
        if self.can_bind(scope, items):
            forms.append(f"{items} += [{x}]")
            forms.append(f"{items} += reversed([{self.number()}, {x}])")
        guarded = [f"del {items}[0]", f"{items}.pop()", f"{items}.append(0.5 * {items}.pop(0) * {items}.pop())"]
        floats = [place for place in self.places(scope, FLOAT) if self.can_bind(scope, place) and "[" not in place]
        if floats:
            guarded.append(f"{self.random.choice(floats)} = {items}.pop({self.random.randint(-1, 1)})")
        if self.chance(0.35):
            with self.indented(f"if len({items}) > 3:"):
                self.write(self.random.choice(guarded))
        elif self.chance(0.1):
            with self.indented(f"if len({items}) < 8:"):
                self.write(f"{items}.extend({other})")
        else:
            self.write(self.random.choice(forms))

    def change_rows(self, scope: Scope) -> None:
        rows = self.pick(scope, ROWS)
        if rows is None:
            return self.new_name(scope)
        with self.indented(f"if len({rows}) < 6:"):
            self.write(f"{rows}.append({self.value(scope, ARRAY)})")
        self.write(
            self.random.choice([f"{rows}.reverse()", f"{rows}[1][2] = {self.expression(scope, 1)}", f"{rows}[0] *= 0.8"])
        )

    def change_dict(self, scope: Scope) -> None:
        d = self.pick(scope, DICT)
        if d is None:
            return self.new_name(scope)
        x = self.expression(scope, 1)
        self.write(
            self.random.choice(
                [
                    f'{d}["p"] = {x}',
                    f'{d}["q"] += 0.3 * {x}',
                    f'{d}["s"] = {d}.get("s", 0.2) * 0.5 + {x}',
                    f"{d}.update(p={x}, t={self.atom(scope)})",
                    f'{d}.setdefault("t", {x})',
                    f'{d}["q"] = {d}.pop("s", {x})',
                    f'{d}["p"], {d}["q"] = {d}["q"], {d}["p"]',
                ]
            )
        )
        if self.chance(0.2):
            with self.indented(f'if "t" in {d}:'):
                self.write(f'del {d}["t"]')

    def change_box(self, scope: Scope) -> None:
        box = self.pick(scope, BOX_TYPE)
        if box is None:
            return self.new_name(scope)
        x = self.expression(scope, 1)
        forms = [
            f"{box}.a = {x}",
            f"{box}.a *= math.cos({x})",
            f"{box}.v[2] = {x}",
            f"{box}.v *= 0.9",
            f"{box}.bump({x})",
            f"{box}.keep({self.value(scope, ARRAY)})",
            f"{box}.give()[0] += 0.2 * {x}",
            f"{box}.part()[:] = {x}",
            f"{box}.push({x}).reverse()",
        ]
        self.write(self.random.choice(forms))

    def call_helper(self, scope: Scope) -> None:
        if self.chance(0.15) and (whole := self.pick(scope, ARRAY)):
            return self.write(f"halve({whole}, {self.expression(scope, 1)})")
        helper = self.random.choice(self.helpers) if self.helpers else None
        call = self.call(scope, helper) if helper else None
        if call is None:
            return self.write_item(scope)
        if helper.result is None or self.chance(0.2):
            self.write(call)
        else:
            name = self.fresh("r")
            self.write(f"{name} = {call}")
            scope.names[name] = helper.result

    def next_of_generator(self, scope: Scope) -> None:
        generator = self.random.choice(self.generators) if self.generators else None
        call = self.call(scope, generator) if generator else None
        if call is None:
            return self.write_item(scope)
        name, value = self.fresh("g"), self.fresh("r")
        self.write(f"{name} = {call}")
        self.write(f"{value} = next({name})")
        scope.names[value] = generator.result
        self.statement(scope, 0)
        if self.chance(0.5):
            self.write(f"next({name}, None)")

    # Statements with blocks

    def branch(self, scope: Scope, depth: int) -> None:
        with self.indented(f"if {self.condition(scope)}:"):
            self.block(scope.inner(), self.random.randint(1, 3), depth - 1)
        if self.chance(0.5):
            with self.indented("else:"):
                self.block(scope.inner(), self.random.randint(1, 2), depth - 1)

    def loop_body(self, scope: Scope, head: str, depth: int, first: str = "", **bound: Type) -> None:
        inner = scope.inner(**bound)
        inner.loops += 1
        with self.indented(head):
            if first:
                with self.indented(first):
                    self.write("break")
            self.block(inner, self.random.randint(1, 3), depth - 1)

    def loop(self, scope: Scope, depth: int) -> None:
        i = self.fresh("i")
        self.loop_body(scope, f"for {i} in range({self.random.randint(0, 3)}):", depth, **{i: COUNT})

    def loop_over(self, scope: Scope, depth: int) -> None:
        """A loop over what the body may change."""
        i, v = self.fresh("i"), self.fresh("e")
        a, held = self.random.choice(self.array_places(scope))
        sources = [(a, Type("array", held.shape[1:], held.writable) if held.shape[1:] else FLOAT)]
        sources += [(items, FLOAT) for items in self.places(scope, LIST)]
        sources += [(rows, ARRAY) for rows in self.places(scope, ROWS)]
        sources += [(f"list({d}.values())", FLOAT) for d in self.places(scope, DICT)]
        boxes = self.places(scope, BOX_TYPE)
        if boxes:
            sources.append((f"[{self.random.choice(boxes)}, {self.random.choice(boxes)}]", BOX_TYPE))
        text, item = self.random.choice(sources)
        self.loop_body(scope, f"for {i}, {v} in enumerate({text}):", depth, f"if {i} >= 3:", **{i: COUNT, v: item})

    def while_loop(self, scope: Scope, depth: int) -> None:
        n = self.fresh("n")
        self.write(f"{n} = 0")
        inner = scope.inner(**{n: COUNT})
        inner.loops += 1
        with self.indented(f"while {n} < {self.random.randint(1, 3)} and {self.condition(scope)}:"):
            self.write(f"{n} += 1")
            self.block(inner, self.random.randint(1, 3), depth - 1)

    def leave_loop(self, scope: Scope, depth: int) -> None:
        with self.indented(f"if {self.condition(scope)}:"):
            self.statement(scope.inner(), 0)
            self.write(self.random.choice(["break", "continue"]))

    def consume(self, scope: Scope, depth: int) -> None:
        generator = self.random.choice(self.generators)
        call = self.call(scope, generator)
        if call is None:
            return self.branch(scope, depth)
        v = self.fresh("e")
        self.loop_body(scope, f"for {v} in {call}:", depth, **{v: generator.result})

    def attempt(self, scope: Scope, depth: int) -> None:
        """A `try` whose body may raise after some of its writes."""
        self.attempts += 1
        with self.indented("try:"):
            inner = scope.inner()
            self.block(inner, self.random.randint(1, 2), depth - 1)
            a, shape = self.writable(inner)
            raising = [
                f"if {self.condition(inner)}:\n{INDENT * (self.depth + 1)}raise ValueError",
                f"{a}[{shape[0]}] = {self.expression(inner, 1)}",
                f"{a}[0] = {{'p': {self.atom(inner)}}}['q']",
            ]
            if self.chance(0.7):
                self.write(self.random.choice(raising))
                self.block(inner, 1, 0)
        self.attempts -= 1
        with self.indented("except (ValueError, IndexError, KeyError):"):
            self.block(scope.inner(), self.random.randint(1, 2), depth - 1)
        for head, probability in (("else:", 0.25), ("finally:", 0.25)):
            if self.chance(probability):
                with self.indented(head):
                    self.block(scope.inner(), 1, 0)

    def closure(self, scope: Scope, depth: int) -> None:
        """A nested function that writes into what it captured; nobody binds the captured names again."""
        name, t, held = self.fresh("f"), self.fresh("t"), {}
        for kind in (ARRAY, LIST, BOX_TYPE, DICT, FLOAT):
            place = self.pick(scope, kind)
            if place:
                own = self.fresh("c")
                self.write(f"{own} = {place}")
                held[own] = kind
        with self.indented(f"def {name}({t}):"):
            inner = Scope({**held, t: FLOAT}, list(held), scope.functions.copy())
            self.block(inner, self.random.randint(1, 2), min(depth - 1, 1))
            self.write(f"return math.sin({self.expression(inner, 1)})")
        scope.names.update(held)
        scope.fixed += list(held)
        self.call_nested(scope, name)

    def cell(self, scope: Scope, depth: int) -> None:
        """A nested function that binds variables of this one, which binds them again too."""
        name, t, x, a = self.fresh("f"), self.fresh("t"), self.fresh("x"), self.fresh("a")
        self.write(f"{x}, {a} = {self.expression(scope, 1)}, {self.value(scope, ARRAY)}")
        with self.indented(f"def {name}({t}):"):
            self.write(f"nonlocal {x}, {a}")
            inner = Scope({x: FLOAT, a: ARRAY, t: FLOAT}, [], scope.functions.copy())
            self.block(inner, self.random.randint(1, 2), min(depth - 1, 1))
            self.write(f"{x} = math.tanh({x} + {self.expression(inner, 1)})")
            self.write(f"return {x}")
        scope.names.update({x: FLOAT, a: ARRAY})
        self.call_nested(scope, name)

    def call_nested(self, scope: Scope, name: str) -> None:
        """From now on the function may be called; mostly it is at once, or after another statement."""
        scope.functions.append(name)
        if self.chance(0.5):
            self.statement(scope, 0)
        if self.chance(0.7):
            value = self.fresh("r")
            self.write(f"{value} = {name}({self.expression(scope, 1)})")
            scope.names[value] = FLOAT
