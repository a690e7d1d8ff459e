"""Dicts whose keys are texts that stand in the program, under several names and in lists and dicts: they get keys later, on one
path only, are copied, joined, replaced and asked what they have.
"""

from __future__ import annotations

from tests.families.family import HEAD, USUAL_PARAMETERS, Family, usual_point
from tests.program_writer import ProgramWriter

HEAD_OF_DICTS = f"""\
{HEAD}def bumped(d, x):
    d["p"] = d["p"] * 0.5 + x
    return d


def made(x, k):
    return {{"p": x, "q": k * 0.25}}


def weighed(p, q=0.5, s=0.1, **rest):
    return p * q + s + sum(rest.values())


"""
NAMES = ("a", "b", "c")
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
        writer.write("total, rows, named = 0.0, [], {}")
        statements(writer, draw.randint(2, 5), 0)
        with writer.indented("for row in rows:"):
            writer.write('total += row["p"] * row["q"] + row.get("s", x) + row.get("t", 0.5)')
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
        else:
            statement(writer)


def condition(writer: ProgramWriter) -> str:
    draw = writer.random
    one = draw.choice(NAMES)
    return draw.choice((
        f'"{draw.choice("pst")}" in {one}', f'"s" not in {one}', f'{one}["p"] > 0.4', "x > 0.3", "rows", "len(rows) > 1",
        f"{one} is not {draw.choice(NAMES)}", f"len({one}) == 2",
    ))  # fmt: skip


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


FAMILY = Family("dicts", write, refused=0.01, point=usual_point, head=HEAD_OF_DICTS)
