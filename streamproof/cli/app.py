"""The application: which commands there are. A new one is a file, and a line here."""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version
from typing import Annotated

import typer

from streamproof.cli import (
    certify,
    check,
    conform,
    forecast,
    graph,
    list_models,
    mttf,
    mutate,
    prove,
    replay,
    run,
    show,
    simulate,
    snapshot,
    status,
    vacuum,
    verify,
)
from streamproof.cli.command import Command, Group
from streamproof.cli.errors import with_exit_code
from streamproof.models.kit.verdict import ExitCode

MODELS, PIPELINES, PROJECT = "Models", "Pipelines", "Project"
"""The groups of commands, in the order of `streamproof --help`."""

app = typer.Typer(
    name="streamproof",
    cls=Group,
    help="Protocols for streams: checked, proven, and run in PySpark from one text.",
    epilog="Exit codes: 0 PROVED or EXHAUSTED, 1 REFUTED, 2 wrong use, 3 UNDETERMINED or SAMPLED.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def _tell_version(asked: bool) -> None:
    if asked:
        typer.echo(f"streamproof {version('streamproof')}")
        raise typer.Exit


@app.callback()
def _main(
    *,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_tell_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Protocols for streams: checked, proven, and run in PySpark from one text."""


def _add(group: str, name: str, command: Callable[..., ExitCode], extra: str = "") -> None:
    """Add a command, and the extra without which it is refused."""
    run_it = with_exit_code(command, name=name, extra=extra)
    app.command(name, cls=Command, rich_help_panel=group)(run_it)


_add(MODELS, "check", check.check)
_add(MODELS, "forecast", forecast.forecast, "check")
_add(MODELS, "simulate", simulate.simulate)
_add(MODELS, "replay", replay.replay)
_add(MODELS, "show", show.show)
_add(MODELS, "graph", graph.graph)
_add(MODELS, "mutate", mutate.mutate)
_add(MODELS, "prove", prove.prove, "prove")
_add(MODELS, "list", list_models.list_models)
_add(PIPELINES, "run", run.run, "spark")
_add(PIPELINES, "status", status.status, "spark")
_add(PIPELINES, "conform", conform.conform, "spark")
_add(PIPELINES, "vacuum", vacuum.vacuum, "spark")
_add(PIPELINES, "mttf", mttf.mttf)
app.add_typer(snapshot.snapshot_app, name="snapshot", rich_help_panel=PIPELINES)
_add(PROJECT, "verify", verify.verify)
_add(PROJECT, "certify", certify.certify, "check")
