"""`streamproof show`: a model as guarded commands, which proofs and certificates are about."""

from __future__ import annotations

import sys
from typing import Any

from streamproof.cli.options import Target
from streamproof.lang.show import show_model
from streamproof.lang.trace import trace_model
from streamproof.models.registry import find
from streamproof.models.verdict import ExitCode


def show(target: Target) -> ExitCode:
    """Print a model's traced form."""
    model: Any = find(target)  # a class is hashable, which mypy does not see
    sys.stdout.write(show_model(trace_model(model)) + "\n")
    return ExitCode.GREEN
