"""What becomes of the exceptions of a command: a line for a refusal, a traceback for what the user's program raised."""

from __future__ import annotations

import argparse
import sys
import traceback

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
    except Exception as error:
        print(user_traceback(error), file=sys.stderr)
    return REFUSED


def _forget_place_in_shell(error: DifferentiationError) -> None:
    """A refusal that no line of the user's is to blame for has the place of the call of this package, which is none here."""
    frame = sys._getframe(1).f_back
    while frame is not None:
        if frame.f_code.co_filename == getattr(error.where, "file", None) and frame.f_lineno == getattr(error.where, "line", 0):
            error.locate(None)
        frame = frame.f_back
