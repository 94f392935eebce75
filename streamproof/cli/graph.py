"""`streamproof graph`: the reachable states of a small model, for Graphviz or another tool."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from streamproof.cli.options import Settings, SizeName, Target, chosen, new_file
from streamproof.models.kit.verdict import ExitCode


class Format(StrEnum):
    """How a graph is written."""

    DOT = "dot"
    GRAPHML = "graphml"


def graph(
    target: Target,
    size: SizeName = "",
    settings: Settings = None,
    states_max: Annotated[
        int, typer.Option(min=1, metavar="N", help="Refuse a graph of more states.")
    ] = 10_000,
    *,
    form: Annotated[
        Format, typer.Option("--format", metavar="dot|graphml", help="How to write it.")
    ] = Format.DOT,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The file; standard output if left out.")
    ] = None,
) -> ExitCode:
    """Write the graph of all reachable states."""
    from streamproof.checker.graph import state_graph, to_dot, to_graphml  # networkx loads slowly

    new_file(out)
    states = state_graph(chosen(target, size, settings).model, states_max=states_max)
    text = to_dot(states) if form is Format.DOT else to_graphml(states)
    if out is None:
        sys.stdout.write(text)
    else:
        out.write_text(text, encoding="utf-8")
    return ExitCode.GREEN
