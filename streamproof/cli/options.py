"""Options that several commands have, with the same name and meaning in each."""

from __future__ import annotations

from typing import Annotated, TypeAlias

import typer

from streamproof.checker.limits import Limits
from streamproof.models.registry import Sized, choose
from streamproof.models.sizes import UnknownSize

Target: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="MODEL",
        help="A model of streamproof (see streamproof list), or a file of your own: path/x.py."
        " Add :ClassName to choose one of several, or a mutant's name.",
    ),
]
SizeName: TypeAlias = Annotated[
    str, typer.Option("--size", help="A size that the model names; its default one if left out.")
]
Settings: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="A setting, instead of a named size: --set messages=1,1 --set graph=ring.",
    ),
]
StatesMax: TypeAlias = Annotated[
    int | None, typer.Option(min=1, help="Stop after so many distinct states.")
]
DepthMax: TypeAlias = Annotated[
    int | None, typer.Option(min=1, help="Do not expand states with so many states on their path.")
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
AsJson: TypeAlias = Annotated[
    bool, typer.Option("--json", help="Print everything as JSON instead.")
]


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
    return choose(target, {name: value for name, _, value in pairs})


def limits_of(states_max: int | None, depth_max: int | None, memory: int | None) -> Limits:
    """Collect the limits of a search."""
    return Limits(states_max=states_max, depth_max=depth_max, memory_mb_max=memory)
