"""The durable steps of a search that is kept, and what must hold after a crash among them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

from streamproof.checker.limits import Limits
from streamproof.checker.native import search
from streamproof.checker.native.checkpoint.checkpoint import Checkpoint
from streamproof.checker.native.checkpoint.files import MANIFEST
from streamproof.checker.native.checkpoint.manifest import Manifest
from streamproof.checker.native.engine import explore
from streamproof.lang import Domain, Map, Model, require
from streamproof.lang.model import action, always, final, init
from tests.checker.native.support.keeping import ROUND, Bit
from tests.spark.faults.crashes import Lost
from tests.spark.faults.tape import Tape


@dataclass(frozen=True)
class Room:
    dark: Map[Bit, bool]


@dataclass(frozen=True)
class Switches(Model[Room]):
    """Lights that are switched on one after the other."""

    bits: Domain[Bit]

    @init
    def start(self) -> Room:
        return Room(Map.fill(self.bits, True))

    @action
    def switch(self, s: Room, b: Bit) -> Room:
        require(s.dark[b])
        return Room(s.dark.set(b, False))

    @always
    def is_something(self, s: Room) -> bool:
        return True

    @final
    def anywhere(self, s: Room) -> bool:
        return True


MODEL = Switches(Domain(Bit, 7))


@dataclass(frozen=True)
class Kept:
    """So many states were said to be kept."""

    states: int


@contextmanager
def small_rounds() -> Iterator[None]:
    """Make a small search have many rounds."""
    with (
        mock.patch.object(search, "BUFFER", ROUND),
        mock.patch.object(search, "REPORT_EVERY_SECONDS", 0.0),
    ):
        yield


@cache
def _whole() -> Any:
    return explore(MODEL, threads=1).counts


def work(tape: Tape) -> None:
    """Search in parts, each of which goes on from what the last one has kept."""
    _whole()
    place = tape.root / "kept"
    for depth, threads in ((3, 2), (5, 2), (7, 1), (9, 1)):
        checkpoint = Checkpoint(place, resume=place.exists(), every_seconds=0.0)
        explore(MODEL, threads=threads, checkpoint=checkpoint, limits=Limits(depth_max=depth))
        tape.note(Kept(checkpoint.states))


def check(place: Path, facts: list[Any]) -> None:
    """Go on behind a crash, to the end: the states are the same, and none that was kept is lost.

    Raises
    ------
    Lost : if they are not
    """
    kept = place / "kept"
    most = max((fact.states for fact in facts), default=0)
    manifest = Manifest.read(kept) if (kept / MANIFEST).exists() else None
    if (0 if manifest is None else manifest.states) < most:
        raise Lost(f"{most} states were kept, but the manifest speaks of {manifest}")
    checkpoint = Checkpoint(kept, resume=manifest is not None, every_seconds=0.0)
    found = explore(MODEL, threads=1, checkpoint=checkpoint)
    if found.counts != _whole():
        raise Lost(f"the search found {found.counts}, but there are {_whole()}")
