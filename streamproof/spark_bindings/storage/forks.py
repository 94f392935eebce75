"""Forked processes: Delta's threads stay in the parent, so a child cannot read or write a channel.

`multiprocessing` forks by default on Linux. A child that came to Delta would hang or panic.
"""

from __future__ import annotations

import os

from streamproof.spark_bindings.errors import ForkedProcess

_state = {"opened": False, "forked": False}


def note_opened() -> None:
    """Remember that this process has opened a table."""
    _state["opened"] = True


def require_no_fork() -> None:
    """Refuse to use Delta in a child of a process that has used it.

    Raises
    ------
    ForkedProcess : if this is one
    """
    if _state["forked"]:
        raise ForkedProcess(
            f"process {os.getpid()} was forked from one that had opened a channel. Delta's threads "
            "are not in it, so it would hang. Nothing was read or written. Start it with "
            'multiprocessing.get_context("spawn"), and open the pipeline in it'
        )


def _in_child() -> None:
    _state["forked"] = _state["opened"]


os.register_at_fork(after_in_child=_in_child)
