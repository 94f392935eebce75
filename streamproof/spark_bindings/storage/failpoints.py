"""Failpoints: named moments in the code, at which a test lets something happen.

A failpoint is a call of `reached` between two steps whose order a protocol relies on. In production
it finds an empty table and returns. A test arms a failpoint by its name, in one of two ways:

* in its own process with `armed`, and a function that is called there. The function may do what
  another process would do at that moment, wait, count, or raise;
* in a process of its own with the environment variable STREAMPROOF_FAILPOINT. The process dies
  there as by a power switch. With STREAMPROOF_FAILPOINT_FREEZE it is frozen instead.

A test cannot stop testing in silence. A name that no failpoint has is an error when it is armed,
and `armed` raises an error if its failpoint was not reached.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from threading import Lock
from typing import TypeAlias

VARIABLE = "STREAMPROOF_FAILPOINT"
"""Environment variable: a point's value, optionally ``@`` and the process or channel it is for."""

FREEZE = "STREAMPROOF_FAILPOINT_FREEZE"
"""Environment variable: if it is set, the process is frozen (SIGSTOP) instead of killed, once."""


class Failpoint(Enum):
    """The durable writes of a snapshot, in their order. The crash test runs them all."""

    REQUEST_WRITTEN = "request_written"
    FEED_STATE_SAVED = "feed_state_saved"
    FEED_MARKER_SENT = "feed_marker_sent"
    FEED_COMPLETED = "feed_completed"
    FEED_RECORDERS_WRITTEN = "feed_recorders_written"
    BATCH_BEGUN = "batch_begun"
    FILES_WRITTEN = "files_written"
    APPEND_CHECKED = "append_checked"
    ROWS_APPENDED = "rows_appended"
    STATE_SAVED = "state_saved"
    MARKER_SENT = "marker_sent"
    PROCESS_COMPLETED = "process_completed"
    RECORDERS_WRITTEN = "recorders_written"
    CHECKPOINT_LINKED = "checkpoint_linked"
    CHECKPOINT_IN_PLACE = "checkpoint_in_place"
    MANIFEST_WRITTEN = "manifest_written"


class PairFailpoint(Enum):
    """The steps of a pair's turn, in their order. The takeover test runs them all."""

    TURN_BEGUN = "turn_begun"
    OUTPUT_WRITTEN = "output_written"
    OUTPUT_KEPT = "output_kept"
    CLIENT_ASKED = "client_asked"
    OUTPUT_DELIVERED = "output_delivered"


class RaceFailpoint(Enum):
    """The moments between a look and what relies on it. Another process may act there."""

    SNAPSHOT_NUMBERED = "snapshot_numbered"
    """A request has chosen its number, and has not taken it."""
    CHECKPOINT_COPY_BEGUN = "checkpoint_copy_begun"
    """No copy of a checkpoint is in place, so one is begun."""
    CHECKPOINT_FILE_LINKED = "checkpoint_file_linked"
    """One file of a checkpoint is linked; `where` is its key."""
    SNAPSHOT_UNSETTLED = "snapshot_unsettled"
    """All parts of a snapshot are there, and its outcome is not settled."""
    CHANNEL_CLONED = "channel_cloned"
    """A restore has cloned one channel."""
    ROWS_FOUND = "rows_found"
    """A reader has seen that rows are not vacuumed, and has not read them."""
    COMMIT_TRIED = "commit_tried"
    """A commit to a Delta table is prepared, and Delta is asked next."""
    ROWS_TAKEN_OUT = "rows_taken_out"
    """A vacuum has taken rows out of the table, and their files are there."""
    ROWS_REMOVED = "rows_removed"
    """A vacuum has removed the files, and has not noted that it is done."""
    LOG_INDEXED = "log_indexed"
    """A log to be compacted has its checkpoint, and the floor is not noted."""
    COMMITS_REMOVED = "commits_removed"
    """The floor is noted and the commits are gone, and Delta's older checkpoints are there."""
    COPY_ACKNOWLEDGED = "copy_acknowledged"
    """One copy has answered a vacuum; the next one is asked then."""
    CATCH_UP_BEGUN = "catch_up_begun"
    """A copy is to be replaced, and its checkpoint still acknowledges."""
    SURVIVOR_TURN_CHOSEN = "survivor_turn_chosen"
    """The turn is chosen that a new copy begins behind, and nothing of it is copied."""
    TURN_CHOSEN = "turn_chosen"
    """A leader has chosen a turn, and has not written it into the order log."""
    QUERY_PLANNED = "query_planned"
    """A query is planned and checked, and Spark is to start it next."""
    QUERY_STOPPING = "query_stopping"
    """Spark is to stop a query next."""


AnyFailpoint: TypeAlias = Failpoint | PairFailpoint | RaceFailpoint
Action: TypeAlias = Callable[[str], object]


class NeverReached(AssertionError):
    """A test has armed a failpoint, and what it did never came there."""


@dataclass
class _Arming:
    """What happens at a point.

    Attributes
    ----------
    where : the process, channel or snapshot that it is for; None for any
    times : how often it happens; None for each time
    count : how often it has happened
    """

    action: Action
    where: str | None
    times: int | None
    count: int = 0


_armings: dict[AnyFailpoint, _Arming] = {}
_lock = Lock()


def reached(point: AnyFailpoint, where: str) -> None:
    """Let happen what a test has armed here; in production, nothing.

    Parameters
    ----------
    point : what was just done
    where : the process, channel or snapshot that is being worked on
    """
    if not _armings:
        return
    with _lock:
        arming = _armings.get(point)
        if arming is None or arming.where not in (None, where):
            return
        arming.count += 1
        if arming.count == arming.times:
            del _armings[point]  # first: what happens here may come here itself
    arming.action(where)


@contextmanager
def armed(
    point: AnyFailpoint, action: Action, *, where: str | None = None, times: int | None = 1
) -> Iterator[None]:
    """Let an action happen at a failpoint while the block runs.

    Parameters
    ----------
    point, action : where it happens, and what; it is given the `where` of `reached`
    where : the process, channel or snapshot that it is for; by default any
    times : how often it happens; None for each time

    Raises
    ------
    NeverReached : if the block ends without an error, and it has happened less often
    """
    assert isinstance(point, AnyFailpoint), f"{point!r} is no failpoint"
    arming = _Arming(action, where, times)
    with _lock:
        assert point not in _armings, f"{point} is armed already"
        _armings[point] = arming
    try:
        yield
    finally:
        with _lock:
            if _armings.get(point) is arming:
                del _armings[point]
    if arming.count < (times or 1):
        raise NeverReached(f"{point} was reached {arming.count} times, and not {times or 1}")


def _stop(_where: str) -> None:
    """Die or freeze, as a crash test asked for."""
    # The driver's JVM and launcher are in our process group. They stop in the same instant, as on
    # a machine that fails; else the JVM would notice and tidy up. A driver that does not lead a
    # group of its own stops alone: its group holds processes which are not ours to touch.
    number = signal.SIGSTOP if FREEZE in os.environ else signal.SIGKILL
    if os.getpgrp() == os.getpid():
        os.killpg(os.getpgrp(), number)
    else:
        os.kill(os.getpid(), number)


def arming_of(environment: Mapping[str, str]) -> dict[AnyFailpoint, _Arming]:
    """Return what an environment arms.

    Raises
    ------
    ValueError : if no failpoint has the name
    """
    if VARIABLE not in environment:
        return {}
    name, _, where = environment[VARIABLE].partition("@")
    for point in (*Failpoint, *PairFailpoint, *RaceFailpoint):
        if point.value == name:
            return {point: _Arming(_stop, where or None, times=1)}
    raise ValueError(f"{VARIABLE} is {environment[VARIABLE]!r}, and no failpoint has this name")


_armings.update(arming_of(os.environ))
