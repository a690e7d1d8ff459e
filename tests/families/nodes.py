"""Objects that refer to each other or to nothing, and lists that others take the place of, under several names.

Nodes stand in variables and in each other's fields, lists in variables; they are exchanged, replaced, shared and written
into, in loops and branches.
"""

from __future__ import annotations

from contextlib import nullcontext

from tests.families.family import HEAD, USUAL_PARAMETERS, Family, usual_point
from tests.program_writer import ProgramWriter

HEAD_OF_NODES = f"""\
{HEAD}class Node:
    def __init__(self, value, left=None, right=None):
        self.value = value
        self.left = left
        self.right = right

    def turn(self, x):
        self.value = math.sin(self.value + x)
        return self

    @property
    def both(self):
        return 0.0 if self.left is None else self.value * self.left.value


class Pair:
    def __init__(self, node, rate):
        self.node, self.rate = node, rate


"""
NODES, LISTS = ("a", "b", "c", "e"), ("p", "q", "r")


def write(writer: ProgramWriter) -> None:
    draw = writer.random
    with writer.indented(f"def program({USUAL_PARAMETERS}):"):
        for name in NODES:
            writer.write(f"{name} = {draw.choice(('None', 'Node(x)', 'Node(y, Node(0.5))', 'Node(u[0], None, Node(x))'))}")
        for name in LISTS:
            writer.write(f"{name} = {draw.choice(('[x, y, 0.5]', '[v * y for v in items]', '[0.25] * 3', 'list(items)'))}")
        writer.write("total, nodes, pair = 0.0, [], Pair(Node(y), x)")
        statements(writer, draw.randint(2, 4), 0)
        for name in (*NODES, "pair.node"):
            writer.write(f"if {name} is not None: total += {name}.value + {name}.both")
        writer.write(f"return total + {' + '.join(f'sum({name}) * {k + 1}.0' for k, name in enumerate(LISTS))} + u[1] * d['p']")


def statements(writer: ProgramWriter, count: int, depth: int) -> None:
    draw = writer.random
    for _ in range(count):
        shape = draw.random() if depth < 2 else 1.0
        if shape < 0.35:
            with writer.indented(draw.choice(("for i in range(3):", "for i in (2, 0, 1):", "for i, v in enumerate(list(p)):"))):
                statements(writer, draw.randint(1, 3), depth + 1)
        elif shape < 0.5:
            with writer.indented(f"if {condition(writer)}:"):
                statements(writer, draw.randint(1, 2), depth + 1)
            with writer.indented("else:") if writer.chance(0.5) else nullcontext():
                statements(writer, 1, depth + 1)
        elif shape < 0.6:
            walk(writer)
        else:
            (of_nodes if writer.chance(0.7) else of_lists)(writer)


def condition(writer: ProgramWriter) -> str:
    draw = writer.random
    one, other = draw.choice(NODES), draw.choice(NODES)
    texts = [
        f"{one} is None",
        f"{one} is {other}",
        f"{one}",
        f"x * {draw.choice(('x', 'y'))} < 0.4",
        f"len({draw.choice(LISTS)}) > 3",
    ]
    return draw.choice(texts)


def number(writer: ProgramWriter) -> str:
    draw = writer.random
    return draw.choice(
        ("x", "y", "0.3", "x * y", "items[1]", "total * 0.1", f"{draw.choice(LISTS)}[{draw.choice((0, 1, -1))}]")
    )


def walk(writer: ProgramWriter) -> None:
    draw = writer.random
    name, side = draw.choice(NODES), draw.choice(("left", "right"))
    writer.write(f"n, k = {name}, 0")
    with writer.indented(f"while {draw.choice(('n', 'n is not None'))} and k < 4:"):
        writer.write(draw.choice((f"n.value += 0.2 * {number(writer)}", f"total += n.value * {number(writer)}", "n.turn(y)")))
        writer.write(f"n, k = n.{side}, k + 1")
    if writer.chance(0.3):
        writer.write(f"{draw.choice(NODES)} = n")


def of_nodes(writer: ProgramWriter) -> None:
    draw = writer.random
    one, other, third = (draw.choice(NODES) for _ in range(3))
    side = draw.choice(("left", "right"))
    kind = draw.randint(0, 10)
    if kind == 0:
        writer.write(f"{one} = {other}")
    elif kind == 1:
        writer.write(f"{one} = Node(math.sin({number(writer)}), {other}, {third})")
    elif kind == 2:
        writer.write(f"{one}, {other} = {other}, {one}" if one != other else f"{one} = None")
    elif kind == 3:
        writer.write(f"nodes.append({one} if {one} is not None else Node({number(writer)}))")
        with writer.indented("for n in nodes:"):
            writer.write(f"n.value = 0.5 * n.value + {number(writer)}")
    elif kind == 4:
        writer.write("pair.node, pair.rate = Node(pair.rate * x), pair.node.value * 0.5")
    else:
        with writer.indented(f"if {one} is not None:"):
            choices = (
                f"{one}.value += math.sin({number(writer)})",
                f"{one}.value = 0.4 * {one}.value * {number(writer)}",
                f"{one}.{side} = {other}",
                f"{one} = {one}.{side}",
                f"{one}.turn({number(writer)})",
                f"total += {one}.both",
                f"pair.node = {one}",
                f"{one} = Node(0.5 * {one}.value, {one}.{side}, {other})",
            )
            writer.write(draw.choice(choices))


def of_lists(writer: ProgramWriter) -> None:
    draw = writer.random
    one, other = draw.choice(LISTS), draw.choice(LISTS)
    choices = (
        f"{one} = {other}" if writer.chance(0.3) else f"{one} = [v * y for v in {other}]",
        f"{one}, {other} = {other}, {one}" if one != other else f"{one} = list({other})",
        f"{one} = [0.5 * v + {number(writer)} for v in {other}]",
        f"{one}[{draw.choice((0, 1, -1))}] += math.sin({number(writer)})",
        f"{one}[1] = {number(writer)}",
        f"{one}[0] = {other}[-1] * x",
        f"if len({one}) < 6: {one}.append({number(writer)})",
        f"if len({one}) < 6: {one} = {one} + [{number(writer)}]",
        f"{one} = {other} if {condition(writer)} else [{number(writer)}, x, y]",
        f"{one} = list({other})",
    )
    writer.write(draw.choice(choices))


FAMILY = Family("nodes", write, refused=0.002, point=usual_point, head=HEAD_OF_NODES)
