"""What becomes of the exceptions of a command: a line for a refusal, a traceback for what the user's program raised."""

from __future__ import annotations

import argparse
import sys
import traceback
from pathlib import Path

from microgradpy.cli.commands import COMMANDS
from microgradpy.cli.output import UsageError, refusal_text, refusal_values, show_json, user_traceback
from microgradpy.errors import CompilerBug, DifferentiationError

REFUSED = 2


def run(options: argparse.Namespace, name: str) -> int:
    """Run a command, called `name` in messages, and return the exit status."""
    try:
        return COMMANDS[options.command](options)
    except UsageError as error:
        print(f"{name}: error: {error}", file=sys.stderr)
        _tell(options, "usage", str(error))
    except DifferentiationError as error:
        _forget_place_in_shell(error)
        print(refusal_text(error), file=sys.stderr)
        if options.json:
            show_json(refusal_values(error))
    except CompilerBug:
        traceback.print_exc()
    except BrokenPipeError:
        raise
    except SystemExit as left:  # silence, and a status of 0, would look as if the command had been done
        advice = "call `sys.exit` under `if __name__ == '__main__':`"
        print(f"{name}: error: the program ended itself ({left!r}): {advice}.", file=sys.stderr)
        _tell(options, "SystemExit", f"the program ended itself: {advice}")
    except Exception as error:
        print(user_traceback(error), file=sys.stderr)
        _tell(options, type(error).__name__, str(error))
    return REFUSED


def _tell(options: argparse.Namespace, error: str, message: str) -> None:
    """Say for other programs what went wrong, if they are who asks."""
    if options.json:
        show_json({"error": error, "message": message})


def _forget_place_in_shell(error: DifferentiationError) -> None:
    """A refusal that no line of the user's is to blame for has the place of the call of this package, which is in one of those
    parts of it that call for the user."""
    place = Path(getattr(error.where, "file", None) or "")
    root = Path(__file__).parents[1]
    if place.is_relative_to(root) and place.relative_to(root).parts[0] in _CALLING and place.name != "demo.py":
        error.locate(None)


_CALLING = ("cli", "testing", "explaining", "exporting", "tracking")
