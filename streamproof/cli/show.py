"""`streamproof show`: the traced form, which proofs and certificates are about."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from streamproof.cli.options import Target
from streamproof.lang.digest import protocol_text
from streamproof.lang.show import show_model
from streamproof.lang.trace import trace_model
from streamproof.models.kit.registry import find, protocol_module
from streamproof.models.kit.verdict import ExitCode


def show(
    target: Target,
    *,
    protocol: Annotated[
        bool, typer.Option("--protocol", help="Print the protocol's machine, not the model.")
    ] = False,
) -> ExitCode:
    """Print a model's traced form, or that of the protocol alone."""
    if protocol:
        text = protocol_text(protocol_module(target))
    else:
        model: Any = find(target)  # a class is hashable, which mypy does not see
        text = show_model(trace_model(model))
    sys.stdout.write(text + "\n")
    return ExitCode.GREEN
