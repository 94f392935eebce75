"""Named points between two durable writes, where the crash tests kill the driver.

Every place that writes something durable calls `reached` right after the write. In production this
is a comparison with an environment variable; a test sets the variable in a driver process of its
own, which then dies there as by a power switch.
"""

from __future__ import annotations

import os
import signal
from enum import Enum

VARIABLE = "STREAMPROOF_FAILPOINT"
"""Environment variable: a point's value, optionally ``@`` and the process or channel it is for."""

FREEZE = "STREAMPROOF_FAILPOINT_FREEZE"
"""Environment variable: if it is set, the driver is frozen (SIGSTOP) instead of killed, once."""


class Failpoint(Enum):
    """The points, in the order in which a snapshot passes them. The crash test runs them all."""

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


def reached(point: Enum, where: str) -> None:
    """Die or freeze here, if a crash test asked for it.

    Parameters
    ----------
    point : what was just done
    where : the process, channel or snapshot that is being worked on
    """
    wanted = os.environ.get(VARIABLE)
    if wanted is None or wanted not in (point.value, f"{point.value}@{where}"):
        return
    freezes = FREEZE in os.environ
    if freezes:
        del os.environ[VARIABLE]  # it runs on from here when it is thawed
    # The driver's JVM and launcher are in our process group. They stop in the same instant, as on
    # a machine that fails; else the JVM would notice and tidy up. A driver that does not lead a
    # group of its own stops alone: its group holds processes which are not ours to touch.
    number = signal.SIGSTOP if freezes else signal.SIGKILL
    if os.getpgrp() == os.getpid():
        os.killpg(os.getpgrp(), number)
    else:
        os.kill(os.getpid(), number)
