"""The commands. Each takes what was typed, prints, and returns the exit status."""

from __future__ import annotations

import argparse
import inspect
import io
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from microgradpy.argnums import numbered
from microgradpy.cli.calls import load_call
from microgradpy.cli.ir_graph import graph_of
from microgradpy.cli.output import UsageError, coloured, has_colour, plain, short_path, show, show_json
from microgradpy.cli.rule_list import rules_command
from microgradpy.cli.targets import load_target, place_of_target
from microgradpy.drawing.files import WRITERS, as_dot
from microgradpy.explaining import explained
from microgradpy.explaining.highlight import Piece, ir_pieces, python_pieces
from microgradpy.exporting.export import export
from microgradpy.forward_introspect import forward_differentiate
from microgradpy.introspect import (
    IR,
    code_adjoint,
    code_ir,
    code_primal,
    instrument,
    primal,
    reverse_differentiate,
)
from microgradpy.ir.printer import print_blocks
from microgradpy.testing import check_gradient
from microgradpy.tracking import format_levels, track

Options = argparse.Namespace
OK, FAILED = 0, 1

_STAGES: dict[str, Callable[[IR], IR]] = {
    "lowered": lambda ir: ir,
    "instrumented": instrument,
    "primal": primal,
    "adjoint": reverse_differentiate,
    "pushforward": forward_differentiate,
}


def ir_command(options: Options) -> int:
    """`ir`: the blocks of a function."""
    f = load_target(options.target)
    text = print_blocks(_STAGES[options.stage](code_ir(f)).function, names=options.names)
    if options.json:
        show_json({**_about(options, f), "stage": options.stage, "ir": text})
    else:
        show(_colour([ir_pieces(line) for line in text.splitlines()]))
    return OK


def _show_python(options: Options, name: str, code: Callable[..., str]) -> int:
    f, args, kwargs = load_call(options.target, options.at)
    text = code(f, *args, argnums=_argnums(options, f, args))
    if options.json:
        show_json({**_about(options, f), **_given(args, kwargs), name: text})
    else:
        show(_colour(python_pieces(text)))
    return OK


def primal_command(options: Options) -> int:
    """`primal`: the generated forward pass."""
    return _show_python(options, "primal", code_primal)


def adjoint_command(options: Options) -> int:
    """`adjoint`: the generated reverse pass."""
    return _show_python(options, "adjoint", code_adjoint)


def check_command(options: Options) -> int:
    """`check`: the gradient beside its difference quotients."""
    f, args, kwargs = load_call(options.target, options.at, wants_text=False)
    if not args:
        raise UsageError("What is given by name is constant: give the values to differentiate by by position.")
    with redirect_stdout(sys.stderr):  # the function is called again and again, and may print
        choices = {"argnums": _argnums(options, f, args), "rtol": options.rtol, "seed": options.seed}
        report = check_gradient(f, *args, **choices, file=io.StringIO())
    if options.json:
        rows = [
            {"argument": row.argument, "shape": list(row.shape), "place": row.place, "gradient": plain(row.gradient)}
            | {"difference": plain(row.quotient), "error": plain(row.error), "verdict": row.verdict}
            for row in report.rows
        ]
        said = {"ok": report.ok, "notes": list(report.notes), "rows": rows, "reasons": list(report.reasons)}
        show_json({**_about(options, f), **_given(args, kwargs), **said})
    else:
        show(str(report))
    return OK if report.ok else FAILED


def track_command(options: Options) -> int:
    """`track`: every step of one execution."""
    f, args, kwargs = load_call(options.target, options.at, wants_text=False)
    with redirect_stdout(sys.stderr):
        node = track(f, *args)
    printed = format_levels(node, options.depth or None)
    if options.json:
        show_json({**_about(options, f), **_given(args, kwargs), "trace": printed})
    else:
        show(printed)
    return OK


def graph_command(options: Options) -> int:
    """`graph`: data and control flow as a picture."""
    f = load_target(options.target)
    ir = _STAGES[options.stage](code_ir(f))
    graph = graph_of(ir)
    if options.output is None and not options.json:
        show(as_dot(graph).rstrip())
    if options.output is not None:
        write = WRITERS.get(Path(options.output).suffix)
        if write is None:
            raise UsageError(f"{options.output} should end in one of {', '.join(WRITERS)}.")
        _write(options.output, write(graph))
    if options.json:
        nodes = [{"name": node.name, "title": node.title, "rows": [row.text for row in node.rows]} for node in graph.nodes]
        edges = [
            {"kind": edge.kind, "from": [edge.source, edge.source_row], "to": [edge.target, edge.target_row]}
            | {"label": edge.label}
            for edge in graph.edges
        ]
        show_json({**_about(options, f), "stage": options.stage, "blocks": nodes, "edges": edges})
    elif options.output is not None:
        show(f"wrote {options.output} ({len(graph.nodes)} blocks of {ir.name})")
    return OK


def export_command(options: Options) -> int:
    """`export`: the derivative as a module of its own."""
    f, args, kwargs = load_call(options.target, options.at)
    with redirect_stdout(sys.stderr):
        try:
            export(f, options.output, *args, argnums=_argnums(options, f, args), overwrite=options.overwrite)
        except FileExistsError:
            advice = "give another file, or --overwrite"
            raise UsageError(f"{options.output} exists and was not written by export: {advice}.") from None
        except OSError as error:
            raise UsageError(f"{options.output} cannot be written: {error.strerror}.") from None
    return _wrote(options, f, args, kwargs)


def explain_command(options: Options) -> int:
    """`explain`: the page."""
    f, args, kwargs = load_call(options.target, options.at)
    with redirect_stdout(sys.stderr):
        page, refusal = explained(f, args, _argnums(options, f, args))
    _write(options.output, page)
    if refusal is not None:  # it is on the page, and said as by every command
        raise refusal
    return _wrote(options, f, args, kwargs)


def _wrote(options: Options, f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> int:
    if options.json:
        show_json({**_about(options, f), **_given(args, kwargs), "written": options.output})
    else:
        show(f"wrote {options.output}")
    return OK


def _write(file: str, text: str) -> None:
    try:
        Path(file).write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{file} cannot be written: {error.strerror}.") from None


def _about(options: Options, f: Callable[..., Any]) -> dict[str, Any]:
    file, line = place_of_target(f)
    return {"command": options.command, "target": options.target, "file": short_path(file), "line": line}


def _given(args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    return {"arguments": plain(args)} | ({"keywords": plain(kwargs)} if kwargs else {})


def _argnums(options: Options, f: Callable[..., Any], args: tuple[Any, ...]) -> int | tuple[int, ...] | None:
    if options.argnums is None:
        return None
    count = len(args) if options.at else _positions(f)
    try:
        numbers = numbered(f, tuple(options.argnums))
    except TypeError as error:
        raise UsageError(f"--argnums: {error}.") from None
    for number in numbers:
        if not -count <= number < count:
            given = f"--at has {count} values by position" if options.at else f"{options.target} takes {count} arguments"
            raise UsageError(f"--argnums has {number}, and {given}, counted from 0.")
    return tuple(number % count for number in numbers)


def _positions(f: Callable[..., Any]) -> int:
    parameters = inspect.signature(f).parameters.values()
    return sum(each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD, each.VAR_POSITIONAL) for each in parameters)


def _colour(lines: list[list[Piece]]) -> str:
    write = coloured if has_colour(sys.stdout) else _plain
    return "\n".join("".join(write(kind, text) for kind, text in line) for line in lines)


def _plain(kind: str, text: str) -> str:
    return text


COMMANDS: dict[str, Callable[[Options], int]] = {
    "ir": ir_command,
    "primal": primal_command,
    "adjoint": adjoint_command,
    "check": check_command,
    "track": track_command,
    "graph": graph_command,
    "export": export_command,
    "explain": explain_command,
    "rules": rules_command,
}
