"""Options that several commands have, with the same name and meaning in each."""

from __future__ import annotations

import os
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from streamproof.checker.engines import THREADS_MAX, EngineName
from streamproof.checker.limits import Limits, cores, threads_useful
from streamproof.cli.render import error_console
from streamproof.installed import require
from streamproof.lang import StreamproofError
from streamproof.models.kit.registry import Sized, choose
from streamproof.models.kit.sizes import UnknownSize
from streamproof.models.kit.trace import Trace

if TYPE_CHECKING:
    from streamproof.checker.native.checkpoint.checkpoint import Checkpoint


def _useful(threads: int | None) -> int | None:
    """Refuse what is no power of two; where there are fewer cores, use as many threads as cores."""
    if threads is None:
        return None
    if threads < 1 or threads & (threads - 1) or threads > THREADS_MAX:
        raise typer.BadParameter(f"{threads} is no power of two up to {THREADS_MAX}")
    useful = threads_useful()
    if threads > useful:
        error_console().print(
            f"--threads {threads}: there are {cores()} cores for this process, and more threads "
            f"than cores only wait for each other. {useful} threads are used",
            markup=False,
            soft_wrap=True,
        )
    return min(threads, useful)


Target: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="MODEL",
        help="A model of streamproof (see streamproof list), or a file of your own: path/x.py."
        " Add :ClassName to choose one of several. A mutant is named like dpc/no-undo.",
    ),
]
SizeName: TypeAlias = Annotated[
    str,
    typer.Option(
        "--size",
        metavar="NAME",
        help="A size that the model names; its default one, or that of a mutant, if left out.",
    ),
]
Settings: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="A setting, instead of a named size: --set messages=1,1 --set graph=ring."
        " Settings that are left out have the defaults of the model's `sized`.",
    ),
]
StatesMax: TypeAlias = Annotated[
    int | None, typer.Option(min=1, metavar="N", help="Stop when so many states are kept.")
]
DepthMax: TypeAlias = Annotated[
    int | None,
    typer.Option(
        min=1, metavar="N", help="Do not expand states with so many states on their path."
    ),
]
Memory: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--memory",
        metavar="MIB",
        min=1,
        help="Stop when this process holds so many MiB; default: three quarters of the machine's.",
    ),
]
ENGINES = "|".join(engine.value for engine in EngineName)
EngineChoice: TypeAlias = Annotated[
    EngineName,
    typer.Option(
        "--engine",
        metavar=ENGINES,
        help="native compiles a model that can be traced; reference runs any, slowly; auto uses"
        " the reference engine for small models and the native one for others.",
    ),
]
Threads: TypeAlias = Annotated[
    int | None,
    typer.Option(
        callback=_useful,
        metavar="N",
        help="Threads of the native engine, a power of two; default, and at most: as many as there"
        " are cores.",
    ),
]
UseSymmetry: TypeAlias = Annotated[
    bool | None,
    typer.Option(
        "--symmetry/--no-symmetry",
        help="Keep one state for all that differ in the order of elements that nothing tells apart;"
        " default: where no liveness is asked.",
    ),
]
CheckpointDirectory: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--checkpoint",
        metavar="DIR",
        help="Keep the search in a new directory, so that --resume goes on after it was ended.",
    ),
]
ResumeDirectory: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        "--resume",
        metavar="DIR",
        help="Go on from what --checkpoint has kept there, and keep it there. Limits and threads"
        " may be others.",
    ),
]
CheckpointSeconds: TypeAlias = Annotated[
    float, typer.Option(min=0, metavar="SECONDS", help="How often a search is kept.")
]
AsPytest: TypeAlias = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Write a counterexample into this file, as a test."),
]
AsJson: TypeAlias = Annotated[
    bool, typer.Option("--json", help="Print everything as JSON instead.")
]


Yes: TypeAlias = Annotated[bool, typer.Option("--yes", "-y", help="Do it without asking.")]


class NotConfirmed(StreamproofError, RuntimeError):
    """Nobody has said yes to what cannot be undone."""


def confirm(what: str, *, is_confirmed: bool) -> None:
    """Ask whether to do what cannot be undone; without a terminal, demand ``--yes``.

    Parameters
    ----------
    what : what will happen, as a sentence without its end
    is_confirmed : whether ``--yes`` was given

    Raises
    ------
    NotConfirmed : if the answer is no, or nobody can be asked
    """
    if is_confirmed:
        return
    if not sys.stdin.isatty():
        raise NotConfirmed(
            f"{what}, which cannot be undone, and there is no terminal to ask at. Nothing was "
            "done. Add --yes"
        )
    if not typer.confirm(f"{what}, which cannot be undone. Go on?"):
        raise NotConfirmed("Nothing was done, as you said")


class OutputRefused(StreamproofError, FileExistsError):
    """A file that a command was to write is there already, or cannot be made."""

    def __str__(self) -> str:
        """Return the message, without an error number."""
        return str(self.args[0])


def new_file(path: Path | None) -> None:
    """Refuse, before any work is done, a place where a file cannot be made or one is already.

    Raises
    ------
    OutputRefused : the message says which of the two
    """
    if path is None:
        return
    if path.exists():
        raise OutputRefused(
            f"{path} is there already, and would be lost. Nothing was done. Name a new file"
        )
    writable_file(path)


def writable_file(path: Path | None) -> None:
    """Refuse, before any work is done, a place where a file cannot be written.

    Raises
    ------
    OutputRefused : if it is a directory, or its directory is not there or not ours to write in
    """
    if path is None:
        return
    place = path.absolute().parent
    if path.is_dir() or not place.is_dir() or not os.access(place, os.W_OK):
        raise OutputRefused(
            f"{path} cannot be written, so a long run would be for nothing. Nothing was done. Name "
            "a file in a directory that is there and that you may write in"
        )


def chosen(target: str, size: str, settings: list[str] | None) -> Sized:
    """Build the model that the options describe.

    Raises
    ------
    UnknownSize : if both a size and settings are given, or a setting is not NAME=VALUE
    """
    if not settings:
        return choose(target, size)
    if size:
        raise UnknownSize(
            f"--size {size} and --set {settings[0]} both say how large the model is, and may "
            "contradict each other. Give one of the two"
        )
    pairs = [setting.partition("=") for setting in settings]
    for name, equals, value in pairs:
        if not (name and equals and value):
            raise UnknownSize(f"--set {name}{equals}{value} gives no value. Write --set NAME=VALUE")
    for name, times in Counter(name for name, _, _ in pairs).items():
        if times > 1:
            raise UnknownSize(
                f"--set {name}=... is given {times} times, and only one of them can be meant. Give "
                "each setting once"
            )
    return choose(target, {name: value for name, _, value in pairs})


def checkpoint_of(
    checkpoint: Path | None, resume: Path | None, seconds: float
) -> Checkpoint | None:
    """Return where a search is kept; None if nowhere.

    Raises
    ------
    OutputRefused : if it is to begin in one directory and to go on from another
    NotInstalled : if the native engine, which alone keeps searches, is not installed
    """
    directory = checkpoint or resume
    if directory is None:
        return None
    if checkpoint and resume:
        raise OutputRefused(
            f"--checkpoint {checkpoint} begins a search and --resume {resume} goes on with one. "
            "Nothing was done. Give one of the two: --resume keeps the search too"
        )
    require("check", "the native engine, which keeps searches,")
    from streamproof.checker.native.checkpoint.checkpoint import (
        Checkpoint,  # LLVM takes a while to load
    )

    return Checkpoint(directory, resume=resume is not None, every_seconds=seconds)


def limits_of(states_max: int | None, depth_max: int | None, memory: int | None) -> Limits:
    """Collect the limits of a search."""
    return Limits(states_max=states_max, depth_max=depth_max, memory_mb_max=memory)


def replay_command(trace: Trace, sized: Sized) -> str:
    """Return the command that runs a trace again."""
    target, _, size = sized.options.partition(" ")
    return f"streamproof replay {target} {trace.key} {size}".rstrip()
