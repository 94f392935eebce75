"""How a command ends: its verdict's exit code, or an error's message instead of a traceback."""

from __future__ import annotations

import functools
import os
import sys
import traceback
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any, ParamSpec

import typer

from streamproof.checker.counterexample import BrokenModel
from streamproof.cli.options import OutputRefused, chosen, replay_command
from streamproof.cli.render import error_console, only_json, print_json, print_trace
from streamproof.installed import NotInstalled, remedy, require
from streamproof.lang import StreamproofError
from streamproof.models.kit.verdict import ExitCode, Json
from streamproof.paths import why_not_local

P = ParamSpec("P")


def with_exit_code(
    command: Callable[P, ExitCode], *, name: str = "", extra: str = ""
) -> Callable[P, None]:
    """Make a function that gives an exit code a command that ends with it.

    Parameters
    ----------
    command : the function
    name, extra : the command's name, and the extra without which it is refused, if there is one
    """

    @functools.wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> None:
        _open_closed_streams()
        try:
            code = _code_of(functools.partial(command, *args, **kwargs), name, extra)
            sys.stdout.flush()
        except BrokenPipeError:
            code = ExitCode.UNDETERMINED  # whoever read the report went away before its end
            nowhere = os.open(os.devnull, os.O_WRONLY)
            for stream in (sys.stdout, sys.stderr):
                os.dup2(nowhere, stream.fileno())
        raise typer.Exit(int(code))

    return run


def _open_closed_streams() -> None:
    """Let output go nowhere where the shell has closed it: a verdict is an exit code, too."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            nowhere = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - to the end
            setattr(sys, name, nowhere)


def _code_of(command: functools.partial[ExitCode], name: str, extra: str) -> ExitCode:
    """Run a command; report how it failed, if it did."""
    asked = command.keywords
    as_json = bool(asked.get("as_json"))
    try:
        with only_json() if as_json else nullcontext():
            _refuse_urls(asked)
            if extra:
                require(extra, f"streamproof {name}")
            return command()
    except StreamproofError as error:
        report(error, asked, as_json=as_json)
        return ExitCode.WRONG_USE
    except (BrokenPipeError, typer.BadParameter):
        raise  # of the latter Typer tells which option, and how it is used
    except (SystemExit, GeneratorExit) as left:
        # Python's exit code of `sys.exit()` is 0, which would be a green verdict on nothing.
        _tell(
            f"The model ended the program ({left!r}), so nothing is known about it. Put what "
            'its file does as a script under: if __name__ == "__main__"'
        )
        return ExitCode.WRONG_USE
    except OSError as error:
        _tell(f"A file could not be used: {error}. Nothing else is known. Give another path")
        return ExitCode.WRONG_USE
    except KeyboardInterrupt:
        _tell("Interrupted before there was anything to report.")
        return ExitCode.UNDETERMINED
    except Exception as error:  # noqa: BLE001  Python's own exit code for it, 1, means REFUTED
        if install := remedy(error):
            report(
                NotInstalled(f"{error}. Nothing else is known. {install}"), asked, as_json=as_json
            )
            return ExitCode.WRONG_USE
        traceback.print_exc()
        _tell("This is a mistake in streamproof, not in your model.")
        return ExitCode.INTERNAL_ERROR


def _refuse_urls(asked: Mapping[str, Any]) -> None:
    """Refuse what is no path of this machine, in whichever argument, before anything is made.

    Raises
    ------
    OutputRefused : if there is one
    """
    for name, given in asked.items():
        why = why_not_local(given) if isinstance(given, Path) else ""
        if why:
            raise OutputRefused(f"{name} was given {str(given)!r}, {why}. Nothing was done")


def report(error: StreamproofError, asked: Mapping[str, Any], *, as_json: bool) -> None:
    """Print what was wrong, and the path to it where a model failed in some state.

    Parameters
    ----------
    error, asked : what went wrong, and the command's arguments by name
    as_json : say so as JSON
    """
    trace = error.trace if isinstance(error, BrokenModel) else None
    command = None
    if trace is not None and trace.key and asked.keys() >= {"target", "size", "settings"}:
        sized = chosen(asked["target"], asked["size"], asked["settings"])
        command = replay_command(trace, sized)
    message = ". ".join(filter(None, (str(error), remedy(error.__cause__))))
    if as_json:
        what: Json = {"error": type(error).__name__, "message": message}
        what["trace"] = None if trace is None else trace.to_json()
        what["replay"] = command
        print_json(what)
        return
    _tell(f"{type(error).__name__}: {message}")
    if trace is not None:
        print_trace(error_console(), trace)
    if command is not None:
        _tell(f"run it again: {command}")


def _tell(message: str) -> None:
    """Print a message as it is: brackets in it are no markup, and a pipe gets it in one line."""
    error_console().print(message, markup=False, soft_wrap=True)
