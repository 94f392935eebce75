"""How a command shows what it takes: in its help, and where something is missing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import typer
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

from streamproof.models.kit.registry import names


def _models() -> str:
    return f"Give one of {', '.join(names())}, or a file of your own: path/x.py"


def _protocols() -> str:
    from streamproof.proofs.find import invariant_names  # Z3 takes a while to load

    return (
        f"Give one of {', '.join(invariant_names())}, or a file of your own that has an INVARIANT: "
        "path/x.py"
    )


WHAT_TO_GIVE: Mapping[str, Callable[[], str]] = {
    "MODEL": _models,
    "PROTOCOL": _protocols,
    "PIPELINE": lambda: "Give the directory of a pipeline, as in Pipeline(directory, ...)",
    "FILE[:NAME]": lambda: "Give a pipeline's file, such as examples/takeover/standby.py",
    "SNAPSHOT": lambda: "Give the id of a snapshot; streamproof snapshot list PIPELINE has them",
    "KEY": lambda: "Give the key that a counterexample prints, such as 0/3/1",
}
"""By the name of an argument: the message if it is left out."""


def _as_read(params: list[Any]) -> list[Any]:
    """Leave Python's types out of what is shown of parameters."""
    for param in params:
        if isinstance(param, TyperOption) and param.is_flag:
            param.metavar = ""  # newer versions of Typer show <bool> beside each flag
        elif isinstance(param, TyperArgument):
            vars(param)["display_type_rich"] = lambda **_: None  # and <str> beside its name
    return params


class Group(TyperGroup):
    """Several commands."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters; Typer calls it for each help, and to parse."""
        return _as_read(super().get_params(ctx))


class Command(TyperCommand):
    """A command; where an argument is missing, it says what can be given."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters; Typer calls it for each help, and to parse."""
        return _as_read(super().get_params(ctx))

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse; Typer calls it with what stands behind the command's name."""
        try:
            return super().parse_args(ctx, args)
        except typer.BadParameter as error:
            what = WHAT_TO_GIVE.get(str(getattr(error.param, "metavar", "")))
            if type(error) is not typer.BadParameter and what is not None and not error.message:
                error.message = what()
            raise
