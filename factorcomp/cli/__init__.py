"""The command line: parse, call, print. Whatever is heavy is imported by the command that needs it."""

import sys
import traceback
from collections.abc import Sequence

from factorcomp.cli import output
from factorcomp.cli.commands import app

__all__ = ["app", "main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit status (interface.md, "Commands").

    Input or calls that cannot be used end with status 2 and a line per problem on standard error; Ctrl-C with 130.
    """
    from cyclopts import CycloptsError

    output.prepare()
    words = list(sys.argv[1:] if arguments is None else arguments)
    try:
        if not words:
            app.help_print([])
            return 2
        status = app(words, exit_on_error=False, print_error=False, result_action="return_value")
        output.emit("")
        return status if isinstance(status, int) else 0
    except KeyboardInterrupt:
        output.say("interrupted")
        return 130
    except CycloptsError as error:
        output.complain([str(error)])
        command = words[0] if words[0] in app else None
        output.say(f"try: factorcomp {f'{command} ' if command else ''}--help")
        return 2
    except BrokenPipeError:
        output.silence(sys.stdout)
        return 0
    except (ValueError, OSError, MemoryError) as error:
        return _refuse(error)
    except Exception:
        return _fail()


def _refuse(error: ValueError | OSError | MemoryError) -> int:
    """Say what is wrong with the input or the call."""
    from factorcomp.certificates import KernelError
    from factorcomp.models.errors import InputError

    if isinstance(error, InputError):
        output.complain(error.problems)
    elif isinstance(error, KernelError):
        output.complain([str(error)])
    elif isinstance(error, OSError):
        place = f"{error.filename}: " if error.filename else ""
        output.complain([f"{place}{error.strerror or error}"])
    elif isinstance(error, MemoryError):
        output.complain(["not enough memory for models of this size; use a smaller --length"])
    else:
        return _fail()
    return 2


def _fail() -> int:
    """A fault of factorcomp itself is no verdict: never status 0 or 1."""
    traceback.print_exc()
    output.say(
        "error: factorcomp failed; this is a fault in it, not in your models: please report it with the lines above"
    )
    return 3
