"""What can be typed, and the help. Nothing of the compiler is imported here: `--help` is at once."""

from __future__ import annotations

import argparse
import contextlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import final

PROGRAM = "python -m microgradpy"
STAGES = ("lowered", "instrumented", "primal", "adjoint", "pushforward")
_DEMO = "demo:root"

DESCRIPTION = """\
Look at what microgradpy makes of a function, check its gradient, and write its derivative to a file.

TARGET is `file.py:function`, `package.module:function`, or `file.py:Class.method`. The file or module is
imported: what stands in it at the outermost level runs."""

EPILOG = """\
Start with:
  {program} explain {demo} --at 2.0 -o root.html
  {program} check {demo} --at 2.0

`COMMAND --help` has what a command is for, and an example that runs as it stands.
Exit status: 0 all is well, 1 a gradient is wrong, 2 refused, or the command does not make sense."""

VALUES = """\
values of --at, by position and then by name (--at 1.0 scale=2.0), are never evaluated as code:
  2.0  -3  inf  True  None  'text'  [1.0]  {'w': 1.0}     Python literals
  points.npy                                              an array in a file of NumPy's (`np.save`)
  array([[1.0, 2.0]])  ones(3, 4)  zeros(3)               arrays, written out or by their shape;
  arange(6)  linspace(0, 1, 5)  normal(3, 4)              `normal` draws the same numbers each time
  {'w': normal(2, 3), 'b': zeros(3)}                      arrays in lists, tuples and dicts
Quote what has spaces or brackets for the shell. What is given by name is not differentiated."""


@final
@dataclass(frozen=True, slots=True)
class Command:
    """A subcommand: one line and a paragraph of help, the arguments of an example after its name, and its options."""

    name: str
    summary: str
    text: str
    example: str
    options: tuple[Callable[[argparse.ArgumentParser], object], ...]

    @property
    def takes_values(self) -> bool:
        return _at in self.options or _at_required in self.options


def _target(parser: argparse.ArgumentParser) -> None:
    text = "`file.py:function` or `module:function`, which is imported; `demo:root` is there to try"
    parser.add_argument("target", metavar="TARGET", help=text)


def _at(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--at", nargs="+", default=[], metavar="VALUE", help="example arguments, to specialise for")


def _at_required(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--at", nargs="+", required=True, metavar="VALUE", help="the arguments of the call")


def _argnums(parser: argparse.ArgumentParser) -> None:
    text = "the arguments to differentiate by, counted from 0 or by name (all, if not given)"
    parser.add_argument("--argnums", nargs="+", type=_argnum, metavar="N", help=text)


def _argnum(text: str) -> int | str:
    return text if text.isidentifier() else int(text)


def _stage(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--stage", choices=STAGES, default=STAGES[0], help="how far to compile (%(default)s)")


def _names(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--names", action="store_true", help="show the names that variables have in the program: %%3/y")


def _tolerance(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rtol", type=_positive, help="the relative error that is accepted (1e-6; 2e-3 in single precision)")
    parser.add_argument("--seed", type=_count, default=0, help="of the random directions and seeds (%(default)s)")


def _depth(parser: argparse.ArgumentParser) -> None:
    text = "how many levels of calls inside of calls to show: 1 is the call itself (%(default)s; 0 for all)"
    parser.add_argument("--depth", type=_count, default=2, help=text)


def _output(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="the file to write")


def _overwrite(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--overwrite", action="store_true", help="replace a file that `export` has not written")


def _positive(text: str) -> float:
    with contextlib.suppress(ValueError):
        if 0.0 < float(text) < math.inf:
            return float(text)
    raise argparse.ArgumentTypeError(f"{text.strip()!r} is no positive number")


def _count(text: str) -> int:
    if text.strip().isdecimal():
        return int(text)
    raise argparse.ArgumentTypeError(f"{text.strip()!r} is no whole number from 0 on")


def _drawing(parser: argparse.ArgumentParser) -> None:
    text = "the file to write: `.svg`, `.dot` or `.mmd`; without it, DOT is printed"
    parser.add_argument("-o", "--output", metavar="FILE", help=text)


def _pattern(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("pattern", metavar="PATTERN", nargs="?", default="*", help="of names, such as 'np.lin*'")
    text = "a module or file to import before, as its rules and libraries count too"
    parser.add_argument("--import", dest="imports", action="append", default=[], metavar="MODULE", help=text)


COMMANDS: tuple[Command, ...] = (
    Command(
        "ir",
        "the SSA form of a function, block by block",
        "Print the intermediate representation: numbered blocks with arguments, one operation a line.\n"
        "`--stage` shows it after each step of the compiler. docs/ir.md has the grammar.",
        f"{_DEMO} --names",
        (_target, _stage, _names),
    ),
    Command(
        "primal",
        "the generated forward pass, as Python",
        "Print the text that runs instead of the function: it returns the value, and what the adjoint needs.\n"
        "With example values it is specialised to their kinds, as in a call; without them nothing is known of the arguments.",
        f"{_DEMO} --at 2.0",
        (_target, _at, _argnums),
    ),
    Command(
        "adjoint",
        "the generated reverse pass, as Python",
        "Print the text that computes the gradient from what the primal saved. Your lines stand as comments above what is\n"
        "made from them. With example values it is specialised to their kinds.",
        f"{_DEMO} --at 2.0 --argnums 0",
        (_target, _at, _argnums),
    ),
    Command(
        "check",
        "compare the gradient with finite differences",
        "Print a table with a row for each number or array in the arguments, the worst first. The exit status is 1 if a\n"
        "component is wrong.",
        f"{_DEMO} --at 2.0",
        (_target, _at_required, _argnums, _tolerance),
    ),
    Command(
        "track",
        "run a function and list every step it executed",
        "Print what one call did: every operation and jump in order, with its values, and the calls inside of it.",
        f"{_DEMO} --at 2.0 --depth 2",
        (_target, _at_required, _depth),
    ),
    Command(
        "graph",
        "draw the data and control flow of a function",
        "Draw the blocks of the intermediate representation, how control goes between them, and which operation uses the\n"
        "value of which. The file's ending decides: SVG to look at, DOT for Graphviz, Mermaid for Markdown.",
        f"{_DEMO} -o root.svg",
        (_target, _stage, _drawing),
    ),
    Command(
        "export",
        "write the derivative to a module that needs NumPy only",
        "Write a stand-alone Python module with primal, adjoint and a driver: `value_and_gradient(*args)`, `pullback(*args)`.",
        f"{_DEMO} --at 2.0 -o root_gradient.py",
        (_target, _at, _argnums, _output, _overwrite),
    ),
    Command(
        "explain",
        "a page with source, IR, primal and adjoint side by side",
        "Write one HTML file that shows, for the line under the mouse, what is made of it at each stage. It needs no network\n"
        "and can be sent to others. With example values it is specialised to their kinds, and has value and gradient on it.",
        f"{_DEMO} --at 2.0 -o root.html",
        (_target, _at, _argnums, _output),
    ),
    Command(
        "rules",
        "which functions have rules, and where these are",
        "List the functions that are differentiated by a rule, by a pattern of names. Rules for SciPy are there once\n"
        "the part of SciPy is imported, which a pattern such as 'scipy.special.*' does.",
        "'np.lin*'",
        (_pattern,),
    ),
)


def build_parser() -> argparse.ArgumentParser:
    """The parser of the whole command line; `command` is what was chosen."""
    formatter = argparse.RawDescriptionHelpFormatter
    epilog = EPILOG.format(program=PROGRAM, demo=_DEMO)
    parser = argparse.ArgumentParser(PROGRAM, description=DESCRIPTION, epilog=epilog, formatter_class=formatter)
    parser.add_argument("--version", action="store_true", help="print the versions of microgradpy, Python and NumPy")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    for command in COMMANDS:
        notes = [f"example:\n  {PROGRAM} {command.name} {command.example}"]
        if command.takes_values:
            notes.append(VALUES)
        sub = commands.add_parser(
            command.name,
            usage=f"{PROGRAM} {command.name} {'[PATTERN]' if _pattern in command.options else 'TARGET'} [OPTION ...]",
            help=command.summary,
            description=command.text,
            epilog="\n\n".join(notes),
            formatter_class=formatter,
        )
        for add in command.options:
            add(sub)
        sub.add_argument("--json", action="store_true", help="print one JSON object, for other programs")
    return parser


def protected(arguments: list[str]) -> list[str]:
    """The arguments with negative numbers such as `-1e-3` marked, which would be taken for options."""
    return [f" {text}" if text.startswith("-") and _is_number(text) else text for text in arguments]


def _is_number(text: str) -> bool:
    try:
        complex(text)
    except ValueError:
        return False
    return True
