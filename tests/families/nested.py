"""Comprehensions and generator expressions nested in each other, over rows, pairs, zips and views of dicts, with and without
writes beside them."""

from __future__ import annotations

from tests.families.family import HEAD, USUAL_PARAMETERS, Family, usual_point
from tests.program_writer import ProgramWriter

_DEEPEST = 3
_ROWS = (
    "m", "m.T", "m * x", "reversed(m)", "m[::-1]", "[u, items]", "m.tolist()", "(items, d.values())", "zip(*m)",
    "zip(u, items)",
)  # fmt: skip
_PLAIN = ("{0}", "{0}", "list({0})", "tuple({0})", "d.values()", "m[0]", "m[:, 1]", "m.flat", "items[1:]", "reversed(items)")
_REDUCTIONS = ("sum({0}) * 0.3", "sum({0}) * 0.3", "max({0})", "min({0})", "sum({0}, {1}) * 0.2", "np.tanh(sum({0}))")


class _Writer:
    """Expressions over the numbers and the rows that are in scope."""

    def __init__(self, writer: ProgramWriter) -> None:
        self.writer = writer
        self.draw = writer.random
        self.numbers = ["x", "y", "u[1]", "m[1, 2]", "d['q']"]
        self.rows = ["u", "items"]

    def number(self, depth: int) -> str:
        """A bounded number."""
        draw = self.draw
        kind = draw.random()
        if depth <= 0 or kind < 0.3:
            return draw.choice(self.numbers[-4:] if draw.random() < 0.8 else self.numbers)
        if kind < 0.5:
            return f"{self.number(depth - 1)} * {self.number(depth - 1)}"
        if kind < 0.6:
            return f"math.sin({self.number(depth - 1)} + {self.number(depth - 1)})"
        if kind < 0.65:
            return f"({self.number(depth - 1)} if {draw.choice(self.numbers[-3:])} > 0.0 else {self.number(depth - 1)})"
        return self.reduced(depth)

    def reduced(self, depth: int) -> str:
        """A number made of many."""
        items = self.made(depth)
        form = self.draw.choice(_REDUCTIONS)
        if form.startswith("sum"):
            items = self.draw.choice([f"[{items}]", f"({items})"])
            return form.format(items, self.draw.choice(self.numbers))
        return form.format(self.draw.choice([f"[{items}]", items, f"({items})"]))

    def made(self, depth: int) -> str:
        """What a comprehension has in its brackets, of numbers."""
        known = len(self.numbers), len(self.rows)
        clauses = [self.clause(depth)]
        if self.draw.random() < 0.25:
            clauses.append(self.clause(depth - 1))
        if self.draw.random() < 0.2:
            clauses.append(f"if {self.numbers[-1]} < 999.0")
        text = f"{self.number(depth - 1)} {' '.join(clauses)}"
        del self.numbers[known[0] :], self.rows[known[1] :]
        return text

    def clause(self, depth: int) -> str:
        draw, fresh = self.draw, self.writer.fresh
        a, b = fresh("a"), fresh("b")
        kind = draw.random()
        if kind < 0.4:
            source = self.sequence(depth)
            self.numbers.append(a)
            return f"for {a} in {source}"
        if kind < 0.6:
            source = draw.choice(_ROWS)
            if depth > 1 and draw.random() < 0.4:
                source = f"[[{self.made(depth - 1)}] for {fresh('c')} in {self.sequence(1)}]"
            self.rows.append(a)
            return f"for {a} in {source}"
        if kind < 0.8:
            source = f"{draw.choice(['zip', 'zip', 'itertools.zip_longest'])}({self.sequence(depth)}, {self.sequence(depth)})"
            if source.startswith("itertools"):
                source = source[:-1] + f", fillvalue={draw.choice(['y', '0.7'])})"
            if draw.random() < 0.3:
                source = draw.choice(["itertools.pairwise({0})", "itertools.combinations({0}, 2)"]).format(self.sequence(1))
            self.numbers += [a, b]
            return f"for {a}, {b} in {source}"
        if kind < 0.9:
            source = draw.choice(["enumerate({0})", "enumerate({0}, 1)", "d.items()"])
            source = source.format(self.sequence(depth))
            self.numbers.append(b)
            return f"for {a}, {b} in {source}"
        source = f"zip({draw.choice(['m', '[u, items]', 'reversed(m)'])}, {self.sequence(1)})"
        self.rows.append(a)
        self.numbers.append(b)
        return f"for {a}, {b} in {source}"

    def sequence(self, depth: int) -> str:
        """Something that gives numbers."""
        draw = self.draw
        if depth <= 1 or draw.random() < 0.5:
            row = self.rows[-1] if draw.random() < 0.6 else draw.choice(self.rows)
            return draw.choice(_PLAIN).format(row)
        kind = draw.random()
        if kind < 0.35:
            return f"[{self.made(depth - 1)}]"
        if kind < 0.7:
            return f"({self.made(depth - 1)})"
        if kind < 0.8:
            return f"{{{self.writer.fresh('k')!r}: {self.number(depth - 1)}, 'z': y}}.values()"
        if kind < 0.9:
            return f"map(lambda t: t * {draw.choice(self.numbers)}, {self.sequence(depth - 1)})"
        return f"filter(lambda t: t > -999.0, {self.sequence(depth - 1)})"


def _statement(writer: ProgramWriter, text: _Writer, forms: int) -> None:
    depth = writer.random.randint(1, _DEEPEST)
    name = writer.fresh("r")
    match writer.random.randrange(forms):
        case 0:
            writer.write(f"{name} = {text.reduced(depth)}")
        case 1:
            writer.write(f"{name}s = [{text.made(depth)}]")
            writer.write(f"{name} = sum({name}s) * 0.3 + 0.1 * len({name}s)")
            text.rows.append(f"{name}s")
        case 2:
            writer.write(f"{name} = sum({{i: v for i, v in enumerate([{text.made(depth)}])}}.values()) * 0.3")
        case 3:
            writer.write(f"out.append({text.reduced(depth)})")
            writer.write(f"{name} = out[-1]")
        case 4:
            row, a = writer.fresh("row"), writer.fresh("a")
            source = writer.random.choice([row, f"reversed({row})", f"[t * x for t in {row}]"])
            with writer.indented(f"for {row} in m:"), writer.indented(f"for {a} in {source}:"):
                text.numbers.append(a)
                text.rows.append(row)
                writer.write(f"box[0] = 0.5 * box[0] + math.sin({text.number(depth)})")
                text.numbers.pop()
                text.rows.pop()
            writer.write(f"{name} = box[0]")
        case _:
            source = writer.random.choice(["enumerate(row)", "zip(range(3), row)"])
            writer.write("table = {}")
            with writer.indented("for i, row in enumerate(m):"), writer.indented(f"for j, a in {source}:"):
                text.numbers.append("a")
                text.rows.append("row")
                writer.write(f"table[i, j] = {text.number(depth)}")
                text.numbers.pop()
                text.rows.pop()
            writer.write(f"{name} = sum(v * 0.3 for v in table.values())")
    text.numbers.append(name)


def write(writer: ProgramWriter) -> None:
    text = _Writer(writer)
    writes = writer.chance(0.5)
    with writer.indented(f"def program({USUAL_PARAMETERS}):"):
        if writes:
            writer.write("out, box = [x], [y]")
        for _ in range(writer.random.randint(1, 3)):
            _statement(writer, text, 6 if writes else 3)
        names = [name for name in text.numbers if name.startswith("r")]
        parts = [*(f"math.sin({name})" for name in names), *(["sum(out) * box[0]"] if writes else [])]
        writer.write(f"return {' + '.join(parts)} + x * y + u[0] * items[1] + m[0, 1] * d['p']")


FAMILY = Family("nested", write, refused=0.0, point=usual_point, head="import itertools\n" + HEAD)
