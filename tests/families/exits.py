"""Names bound just before `break`, `continue`, `return` and exceptions, or in handlers, then written through.

Some things stand in a container; a loop looks for one of them, binds it in one of many ways and leaves in one of many ways;
what it found is written into afterwards, and the container is read.
"""

from __future__ import annotations

from contextlib import nullcontext

from tests.families.family import USUAL_PARAMETERS, Family, usual_point
from tests.mutable_things import HEAD_OF_THINGS, THINGS, made, read, written
from tests.program_writer import ProgramWriter

LOOPS = (
    "for i, t in enumerate(things):",
    "for i, t in zip(range(3), things):",
    "for t, i in [(t, i) for i, t in enumerate(things)]:",
    "for i, t in table.items():",
    "for i in range(3):",
    "for t in things:",
    "while True:",
    "while i < 3:",
)
BINDINGS = {
    "found = t": "found",
    "found = other = t": "found",
    "found, other = t, i": "found",
    "found = (i, t)": "found[1]",
    "found = [t, i]": "found[0]",
    "found = {'k': t}": "found['k']",
    "found = t if i >= 0 else None": "found",
    "found = things[i]": "found",
    "found = lambda: t": "found()",
    "holder.a = found = t": "holder.a",
    "slots[0] = found = t": "slots[0]",
    "(found := t)": "found",
    "found = Box(t, i)": "found.a",
    "found = t; t = None": "found",
}
STARTS = ("found = None", "found = 0.5", "found = things[2]", "found = ()")
RAISES = ("raise ValueError(i)", "things[7]", "table[-1]", "raise StopIteration")
CAUGHT = "except (ValueError, IndexError, KeyError, StopIteration):"


def write(writer: ProgramWriter) -> None:
    draw = writer.random
    kind = draw.choice(list(THINGS))
    with writer.indented(f"def program({USUAL_PARAMETERS}):"):
        writer.write(f"things = [{', '.join(made(draw, kind) for _ in range(3))}]")
        writer.write("table = dict(enumerate(things))")
        writer.write("holder, slots, other = Box(None, None), [None], None")
        bind, access = draw.choice(list(BINDINGS.items()))
        start = draw.choice(STARTS) if writer.chance(0.5) else None
        if start is not None and access in ("found", "holder.a", "slots[0]"):
            writer.write(start)
        search = draw.choice((by_break, by_break, by_continue, by_return, by_exception, by_handler, by_else, by_pattern))
        with writer.indented("for k in range(2):") if writer.chance(0.25) else nullcontext():
            access = search(writer, bind, access)
            for _ in range(draw.randint(1, 2)):
                e = access if writer.chance(0.85) else f"things[{draw.randint(0, 2)}]"
                writer.write(written(draw, kind, e))
        writer.write(f"return {' + '.join(read(kind, f'things[{i}]') for i in range(3))} + x * y + u[0] + d['p']")


def loop(writer: ProgramWriter) -> tuple[str, list[str]]:
    """The head of a loop, and what its body starts with so that `t` is the thing of number `i`."""
    head = writer.random.choice(LOOPS)
    if head == "for i in range(3):":
        return head, ["t = things[i]"]
    if head == "for t in things:" or head.startswith("while"):
        writer.write("i = -1")
        return head, ["i += 1", *(["t = things[i]"] if head.startswith("while") else [])]
    return head, []


def condition(writer: ProgramWriter) -> str:
    chosen = writer.random.randint(0, 2)
    texts = ["i == {}", "i == {} and x * x < 9.0", "t is things[{}]", "i >= {}"]
    return writer.random.choice(texts).format(chosen)


def in_loop(writer: ProgramWriter, bind: str, leave: str) -> None:
    """A loop with an `if` that binds and leaves, in various dress."""
    head, first = loop(writer)
    with writer.indented(head):
        for line in first:
            writer.write(line)
        dress = writer.random.choice(["plain", "plain", "finally", "suppress", "nested", "else"])
        if dress == "finally":
            with writer.indented("try:"):
                found(writer, bind, leave)
            with writer.indented("finally:"):
                writer.write("other = (other, i)")
        elif dress == "suppress":
            with writer.indented("with contextlib.suppress(IndexError):"):
                found(writer, bind, leave)
        elif dress == "nested" and leave == "break":
            with writer.indented("for j in range(2):"):
                found(writer, bind if writer.chance(0.5) else f"{bind}; other = j", leave)
            with writer.indented("else:"):
                writer.write("continue")
            writer.write("break")
        else:
            found(writer, bind, leave)
            if dress == "else":
                with writer.indented("elif i > 5:"):
                    writer.write("other = t")
        if head.startswith("while") and leave == "continue":
            with writer.indented("if i == 2:"):
                writer.write("break")


def found(writer: ProgramWriter, bind: str, leave: str) -> None:
    with writer.indented(f"if {condition(writer)}:"):
        writer.write(bind)
        writer.write(leave)


def by_break(writer: ProgramWriter, bind: str, access: str) -> str:
    in_loop(writer, bind, "break")
    return access


def by_continue(writer: ProgramWriter, bind: str, access: str) -> str:
    chosen = writer.random.randint(0, 2)
    with writer.indented("for i, t in enumerate(things):"):
        with writer.indented(f"if i == {chosen}:"):
            writer.write(bind)
            writer.write("continue")
        writer.write("other = t")
    return access if access not in ("found()",) else "things[2]"


def by_return(writer: ProgramWriter, bind: str, access: str) -> str:
    name = writer.fresh("search")
    with writer.indented(f"def {name}(other=None):"):
        in_loop(writer, bind, f"return {access}")
    writer.write(f"got = {name}()")
    return "got"


def by_exception(writer: ProgramWriter, bind: str, access: str) -> str:
    """Bound in the body of a `try`, before something raises."""
    with writer.indented("try:"):
        in_loop(writer, bind, writer.random.choice(RAISES))
    with writer.indented(CAUGHT):
        writer.write("other = 1.0")
    return access


def by_handler(writer: ProgramWriter, bind: str, access: str) -> str:
    """Bound in a handler inside a loop, which is left from there."""
    head, first = loop(writer)
    with writer.indented(head):
        for line in first:
            writer.write(line)
        with writer.indented("try:"):
            found(writer, "other = t", writer.random.choice(RAISES))
        with writer.indented(CAUGHT):
            writer.write(bind)
            writer.write("break")
    return access


def by_else(writer: ProgramWriter, bind: str, access: str) -> str:
    with writer.indented("for i, t in enumerate(things):"):
        with writer.indented(f"if i == {writer.random.randint(0, 5)}:"):
            writer.write(bind)
            writer.write("break")
    with writer.indented("else:"):
        writer.write(f"i, t = {writer.random.randint(0, 2)}, things[1]")
        writer.write(bind)
    return access


def by_pattern(writer: ProgramWriter, bind: str, access: str) -> str:
    chosen = writer.random.randint(0, 2)
    with writer.indented("for pair in enumerate(things):"), writer.indented("match pair:"):
        pattern = writer.random.choice([f"({chosen}, found)", f"[{chosen}, found]", f"(int(), found) if pair[0] >= {chosen}"])
        with writer.indented(f"case {pattern}:"):
            writer.write("break")
    return "found"


FAMILY = Family("exits", write, refused=0.002, point=usual_point, head=HEAD_OF_THINGS)
