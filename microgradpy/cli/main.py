"""One run of the command line, from the arguments to the exit status."""

from __future__ import annotations

import argparse
import importlib
import os
import platform
import sys
from collections.abc import Sequence

from microgradpy import __version__
from microgradpy.cli.parser import PROGRAM, build_parser, protected

OK, REFUSED = 0, 2


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; the exit status is 0, or 1 if a check failed, or 2 if something was refused."""
    parser = build_parser()
    try:
        options = parser.parse_args(protected(list(sys.argv[1:] if arguments is None else arguments)))
    except SystemExit as left:  # of argparse: after the help 0, otherwise 2
        return left.code if isinstance(left.code, int) else REFUSED
    try:
        return _run(options, parser)
    except BrokenPipeError:  # whoever read the output has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except OSError as error:  # a disk that is full
        print(f"{PROGRAM}: error: the output cannot be written: {error.strerror}", file=sys.stderr)
        return REFUSED
    except KeyboardInterrupt:
        return 130  # as shells say it


def _run(options: argparse.Namespace, parser: argparse.ArgumentParser) -> int:
    if options.version:
        numpy = importlib.import_module("importlib.metadata").version("numpy")
        print(f"microgradpy {__version__}, Python {platform.python_version()}, NumPy {numpy}")
        return OK
    if options.command is None:
        parser.print_help(sys.stderr)
        return REFUSED
    # What a command needs takes a moment to import.
    status: int = importlib.import_module("microgradpy.cli.guarded").run(options, f"{PROGRAM} {options.command}")
    return status
