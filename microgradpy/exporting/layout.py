"""Lines of an exported module that are too long, in the way formatters break them; and trees as text."""

from __future__ import annotations

import ast
import re

WIDTH = 100


def joined(lines: list[str]) -> str:
    """The lines as a text; a line that is too long has the items of its outermost parentheses on lines of their own."""
    return "\n".join(piece for line in lines for piece in broken(line))


def broken(line: str) -> list[str]:
    """One line, or several if it is too long and has parentheses."""
    if len(line) <= WIDTH or line.lstrip().startswith(("#", '"""')):
        return [line]
    indent = line[: len(line) - len(line.lstrip())]
    if line.lstrip().startswith('"'):
        return [line]
    span = _outermost(line)
    if span is None:
        return [line]
    start, end = span
    items = _items(line[start + 1 : end])
    inside = [f"{indent}    {item}," for item in items]
    if len(items) == 1 and not line.lstrip().startswith("def "):
        inside = [f"{indent}    {items[0]}"]
    return [line[: start + 1], *(piece for each in inside for piece in broken(each)), f"{indent}{line[end:]}"]


def _outermost(line: str) -> tuple[int, int] | None:
    """The longest pair of parentheses that is in no other one."""
    best: tuple[int, int] | None = None
    depth, start, quote = 0, 0, ""
    for place, sign in enumerate(line):
        if quote:
            if sign == quote and line[place - 1] != "\\":
                quote = ""
        elif sign in "\"'":
            quote = sign
        elif sign in "([{":
            if depth == 0:
                start = place
            depth += 1
        elif sign in ")]}":
            depth -= 1
            if depth == 0 and line[start] == "(" and (best is None or place - start > best[1] - best[0]) and place - start > 1:
                best = (start, place)
    return best


def _items(text: str) -> list[str]:
    items: list[str] = []
    depth, quote, current = 0, "", ""
    for sign in text:
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "\"'":
            quote = sign
        elif sign in "([{":
            depth += 1
        elif sign in ")]}":
            depth -= 1
        if sign == "," and depth == 0 and not quote:
            items.append(current.strip())
            current = ""
        else:
            current += sign
    items += [current.strip()] if current.strip() else []
    return [text] if any(" for " in item for item in items) else items


def laid_out(tree: ast.stmt) -> str:
    """A definition as text, its docstring in lines that are not too long."""
    plain = ast.unparse(tree)
    lines = [piece for line in plain.splitlines() for piece in broken(_without_doubled(line))]
    text = _with_double_quotes("\n".join(lines))
    return text if _is_same(text, plain) else plain


def _without_doubled(line: str) -> str:
    """`all(x for x in items)` for `all((x for x in items))`."""
    for start in (found.start() for found in re.finditer(r"\w\(\(", line)):
        outer = _outermost(line[start + 1 :])
        if outer is None or outer[0]:
            continue
        inner = line[start + 2 : start + 1 + outer[1]]
        if _outermost(inner) == (0, len(inner) - 1) and " for " in inner:
            return _without_doubled(line[: start + 2] + inner[1:-1] + line[start + 1 + outer[1] :])
    return line


def _is_same(text: str, other: str) -> bool:
    try:
        return ast.dump(ast.parse(text)) == ast.dump(ast.parse(other))
    except SyntaxError:
        return False


def _with_double_quotes(text: str) -> str:
    """Texts in the quotes that people prefer, where nothing has to be changed in them."""
    text = re.sub(r"\bf'([^'\"\\\n]*)'(?!')", r'f"\1"', text)
    return re.sub(r"(?<![\"'\w])'([^'\"\\\n]*)'(?!')", r'"\1"', text)
