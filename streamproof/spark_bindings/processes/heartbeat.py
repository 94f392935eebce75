"""Whether the other copy is alive: it counts, and its count stands still when it does not.

No clock is compared with another one. A copy measures by its own how long it has seen the same
count, and only while it was looking: one that was frozen itself has no right to suspect anybody.
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Callable
from dataclasses import asdict, dataclass

from streamproof.spark_bindings.errors import DamagedFile
from streamproof.spark_bindings.names import Turn
from streamproof.spark_bindings.storage.formats import FORMAT, FORMAT_KEY
from streamproof.spark_bindings.storage.json_files import read_json
from streamproof.spark_bindings.storage.local_files import replace_unsynced
from streamproof.spark_bindings.storage.place import Place

SUSPECT_AFTER_SECONDS = 0.75
"""The suspicion timeout, if none is given: after so much silence the other copy has failed."""
BEATS_PER_TIMEOUT = 10
"""How often a copy beats, and looks at the other copy, within a suspicion timeout."""
COLD_TIMEOUTS = 10
"""A primary before its first turn may be silent for so many suspicion timeouts: Spark compiles and
loads, and on a busy machine its process stands still meanwhile."""


@dataclass(frozen=True, slots=True)
class Beat:
    """What a copy says of itself.

    Attributes
    ----------
    life, count : of the process, and how often it has beaten
    active : it is primary
    warm : it has taken a turn in this life
    turn : the turn that it gives next
    """

    life: str
    count: int
    active: bool
    warm: bool
    turn: Turn


class Heart:
    """Beats for one copy.

    Parameters
    ----------
    place : the file that the other copy looks at
    """

    def __init__(self, place: Place) -> None:
        self._place, self._life, self._count = place, uuid.uuid4().hex, 0

    def beat(self, *, active: bool, warm: bool, turn: Turn) -> None:
        """Beat once. Not written through to the disk: a beat is of no use after a power cut."""
        self._count += 1
        beat = asdict(Beat(self._life, self._count, active, warm, turn))
        text = json.dumps({**beat, FORMAT_KEY: FORMAT})
        replace_unsynced(self._place, text.encode())


class Watch:
    """Looks at the heartbeat of another copy.

    Parameters
    ----------
    place : the file that it beats in
    suspect_after_seconds : the suspicion timeout, after which a silent copy has failed
    cold_timeouts : how many of them a primary has that has not taken a turn yet
    clock : gives seconds
    """

    def __init__(
        self,
        place: Place,
        suspect_after_seconds: float,
        *,
        cold_timeouts: int = 1,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._place, self._timeout, self._clock = place, suspect_after_seconds, clock
        self._cold_timeouts = cold_timeouts
        self._looked = clock()
        self._silence = self._idleness = 0.0
        self._incarnation = 0
        self.beat = self._read()

    def look(self) -> None:
        """Look once, and note for how long there was nothing new."""
        now = self._clock()
        # A longer time between two looks is one in which this process was held up itself.
        waited = min(now - self._looked, 2 * self._timeout / BEATS_PER_TIMEOUT)
        self._looked = now
        found = self._read()
        has_beaten = found is not None and found != self.beat
        self._silence = 0.0 if has_beaten else self._silence + waited
        is_primary = has_beaten and found is not None and found.active
        self._idleness = 0.0 if is_primary else self._idleness + waited
        self.beat = found

    @property
    def has_failed(self) -> bool:
        """Whether the copy has been silent for too long."""
        return self._silence > self._patience

    @property
    def is_no_primary(self) -> bool:
        """Whether the copy has been silent, or not been primary, for too long."""
        return self._idleness > self._patience

    def is_ahead_of(self, turn: Turn, *, warm: bool) -> bool:
        """Return whether the copy is alive, and would deliver sooner than another one.

        Parameters
        ----------
        turn, warm : as the other one's beat would say
        """
        if self.beat is None or self.has_failed:
            return False
        return (self.beat.warm, self.beat.turn) > (warm, turn)

    @property
    def _patience(self) -> float:
        is_cold_primary = self.beat is not None and self.beat.active and not self.beat.warm
        return self._timeout * (self._cold_timeouts if is_cold_primary else 1)

    def begin_again(self) -> None:
        """Grant the copy all the time again."""
        self._silence = self._idleness = 0.0

    def note_primary(self, incarnation: int) -> None:
        """Grant the copy all the time again if there is a new primary.

        A takeover is seen in the output channel before the beat that tells of it.

        Parameters
        ----------
        incarnation : of the primary that was noted last
        """
        if incarnation != self._incarnation:
            self._incarnation = incarnation
            self.begin_again()

    def _read(self) -> Beat | None:
        try:
            stored = read_json(self._place, life=str, count=int, active=bool, warm=bool, turn=int)
        except DamagedFile:
            return None  # of a life before the power failed: it is not written through
        return None if stored is None else Beat(**stored)
