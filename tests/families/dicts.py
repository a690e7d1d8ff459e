"""Dicts whose keys are texts that stand in the program, under several names and in lists and dicts: they get keys later, on one
path only, are copied, joined, replaced and asked what they have.
"""

from __future__ import annotations

from tests.families.family import HEAD, USUAL_PARAMETERS, Family, usual_point
from tests.program_writer import ProgramWriter

HEAD_OF_DICTS = f"""\
from collections import Counter, defaultdict
{HEAD}def bumped(d, x):
    d["p"] = d["p"] * 0.5 + x
    return d


def made(x, k):
    return {{"p": x, "q": k * 0.25}}


def weighed(p, q=0.5, s=0.1, **rest):
    return p * q + s + sum(rest.values())


"""
NAMES = ("a", "b", "c")
TABLES = (
    "table = defaultdict(dict)",
    "table = defaultdict(lambda: defaultdict(float))",
    "table = {i: {j: x * j for j in range(3)} for i in range(3)}",
)
DISPLAYS = (
    '{"p": x, "q": y}',
    '{"p": y * y, "q": 0.5}',
    '{"p": 0.25, "q": x, "s": y}',
    '{"p": u[0], "q": u[1], "inner": {"p": x}}',
    "dict(p=y, q=u[1])",
    "made(x, 2)",
)


def write(writer: ProgramWriter) -> None:
    draw = writer.random
    with writer.indented(f"def program({USUAL_PARAMETERS}):"):
        for name in NAMES:
            writer.write(f"{name} = {draw.choice(DISPLAYS)}")
        writer.write("total, rows, named, graph, counts = 0.0, [], {}, {}, Counter()")
        writer.write(draw.choice(TABLES))
        statements(writer, draw.randint(2, 5), 0)
        with writer.indented("for row in rows:"):
            writer.write('total += row["p"] * row["q"] + row.get("s", x) + row.get("t", 0.5)')
        with writer.indented("for i, inner in table.items():"):
            writer.write("total += sum(inner.values()) * (i + 1) + len(inner)")
        with writer.indented("for key, inner in graph.items():"):
            with writer.indented("for k, value in enumerate(inner.values()):"):
                writer.write("total += value * (k + len(key))")
        writer.write("total += sum(v * (k + 1) for k, (_, v) in enumerate(counts.most_common()))")
        with writer.indented("for key, row in named.items():"):
            writer.write('total += row["p"] * key')
        writer.write('return total + a["p"] * 2.0 + b["p"] * 3.0 + c["q"]' + " + a.get('s', y)" * writer.chance(0.5))


def statements(writer: ProgramWriter, count: int, depth: int) -> None:
    draw = writer.random
    for _ in range(count):
        shape = draw.random() if depth < 2 else 1.0
        if shape < 0.3:
            loops = (
                "for i in range(3):",
                "for i in (2, 0, 1):",
                "for i, row in enumerate(list(rows)):",
                "for i in range(len(rows)):",
            )
            with writer.indented(draw.choice(loops)):
                statements(writer, draw.randint(1, 3), depth + 1)
        elif shape < 0.45:
            with writer.indented(f"if {condition(writer)}:"):
                statements(writer, draw.randint(1, 2), depth + 1)
            if writer.chance(0.4):
                with writer.indented("else:"):
                    statements(writer, 1, depth + 1)
        elif shape < 0.5:
            with writer.indented("try:"):
                statements(writer, draw.randint(1, 2), depth + 1)
                writer.write(f'total += {draw.choice(NAMES)}["{draw.choice("pst")}"]')
            with writer.indented("except KeyError:"):
                writer.write("total += x * 0.5")
        elif shape < 0.7 or (depth == 2 and writer.chance(0.4)):
            of_tables(writer)
        else:
            statement(writer)


def condition(writer: ProgramWriter) -> str:
    draw = writer.random
    one = draw.choice(NAMES)
    return draw.choice((
        f'"{draw.choice("pst")}" in {one}', f'"s" not in {one}', f'{one}["p"] > 0.4', "x > 0.3", "rows", "len(rows) > 1",
        f"{one} is not {draw.choice(NAMES)}", f"len({one}) == 2",
    ))  # fmt: skip


def of_tables(writer: ProgramWriter) -> None:
    """Write a statement about dicts in a dict, or about what is counted."""
    draw = writer.random
    number = draw.choice(("x", "y", "0.5", 'a["p"] * 0.5', "sum(counts.values())", "len(table)"))
    u, v, key = draw.choice("uvw"), draw.choice("uvw"), draw.randint(0, 2)
    writer.write(draw.choice((
        f"table[{key}][{draw.randint(0, 2)}] = {number}",
        f"table[{key}][0] = table[{key}].get(0, y) * {number}",
        f"total += table[{key}].get({draw.randint(0, 2)}, {number})",
        f'graph.setdefault("{u}", {{}})["{v}"] = {number}',
        f'if "{u}" not in graph: graph["{u}"] = {{}}',
        f'if "{u}" in graph: graph["{u}"]["{v}"] = graph["{u}"].get("{v}", x) * y + {number}',
        f'graph["{u}"] = {{"{v}": {number}, "w": x}}',
        f'inner = graph["{u}"] = {{"u": x}}; inner["{v}"] = {number}',
        f'inner = graph.setdefault("{u}", {{}}); inner["{v}"] = {number}; total += sum(graph["{u}"].values())',
        f'gone = graph.pop("{u}", None); total += 0.5 if gone is None else sum(gone.values())',
        f'for key in graph: graph[key]["{v}"] = {number}',
        "for inner in graph.values(): total += sum(inner.values()) * len(inner)",
        'for key, inner in graph.items(): counts[key] += len(inner) * x',
        f'counts["{u}"] += {number}',
        'total += sum(v for _, v in counts.most_common(2))',
        f'named[{key}] = {{"p": counts["{u}"], "q": {number}}}',
    )))  # fmt: skip


def statement(writer: ProgramWriter) -> None:
    draw = writer.random
    one, other, key = draw.choice(NAMES), draw.choice(NAMES), draw.choice("pqpqst")
    number = draw.choice(("x", "y", "0.5", f'{other}["p"] * 0.5', f'{other}.get("s", x)', 'sum(r["p"] for r in rows)'))
    writer.write(draw.choice((
        f'{one}["{key}"] = {number}',
        f'{one}["{draw.choice("pq")}"] += {number}',
        f"{one} = {draw.choice(DISPLAYS)}",
        f"{one} = {other}",
        f"{one} = dict({other})",
        f"{one} = {other}.copy()",
        f'{one} = {{**{other}, "{key}": {number}}}',
        f'{one} = {{"q": {number}, **{other}}}',
        f'{one}.update({{"{key}": {number}}})',
        f"{one}.update({key}={number})",
        f'{one} |= {{"{key}": {number}}}',
        f"rows.append({one})",
        f"rows.append({draw.choice(DISPLAYS)})",
        'rows = [{"p": r["p"] * y, "q": r["q"]} for r in rows]',
        f'for row in rows: row["{key}"] = row["p"] * {number}',
        f'for row in rows: total += row.get("{key}", {number})',
        f"named[{draw.randint(0, 2)}] = {one}",
        f"named[len(rows)] = {draw.choice(DISPLAYS)}",
        f'for row in named.values(): row["{key}"] = {number}',
        f"{one} = rows[-1] if rows else {other}",
        f"{one} = bumped({other}, {number})",
        f"total += weighed(**{{k: v for k, v in {one}.items() if k != 'inner'}})",
        f'total += weighed({one}["p"], q={number})',
        f"total += weighed(**made({number}, 1))",
        f'total += {one}.setdefault("{key}", {number})',
        f'total += {one}.pop("{draw.choice("st")}", {number})' if writer.chance(0.2) else f'total += {one}["p"]',
        'total += max(rows, key=lambda r: r["p"])["q"] if rows else x',
    )))  # fmt: skip


FAMILY = Family("dicts", write, refused=0.03, point=usual_point, head=HEAD_OF_DICTS)
