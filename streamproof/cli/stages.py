"""What a long command is doing: a live line on a terminal, a line for each stage in a pipe."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from streamproof.cli.render import error_console

if TYPE_CHECKING:
    from streamproof.verification import OnStage


@contextmanager
def stage_line() -> Iterator[OnStage]:
    """Report each stage as it begins."""
    console = error_console()
    began = time.monotonic()
    if not sys.stderr.isatty():
        yield lambda stage: console.print(
            f"[{time.monotonic() - began:4.0f} s] {stage}", markup=False
        )
        return
    with console.status("starting") as status:
        yield lambda stage: status.update(f"{stage} ({time.monotonic() - began:.0f} s so far)")
