"""Going on from a checkpoint: its states are divided anew, between any number of partitions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamproof.checker.native.checkpoint.files import (
    KINDS,
    AppendedFile,
    Files,
    file_of,
)
from streamproof.checker.native.checkpoint.manifest import (
    CheckpointRefused,
    Manifest,
    Share,
    damaged,
)
from streamproof.checker.native.partition import NO_LINK
from streamproof.checker.native.search import Search
from streamproof.checker.progress import Progress

CHUNK = 1 << 16
"""States that are divided at once."""


def load(search: Search, manifest: Manifest, directory: Path) -> Files:
    """Load the content of a checkpoint into a new search, and return the files that were read.

    Raises
    ------
    CheckpointRefused : if a file is damaged, or the limits leave no room for the states
    """
    words = search.program.layout.words
    files = [
        _checked(share, words, directory, manifest.generation, number)
        for number, share in enumerate(manifest.shares)
    ]
    kept = [
        _Kept(number, share, *(file.mapped(kind) for kind, file in kinds.items()))
        for number, (share, kinds) in enumerate(zip(manifest.shares, files, strict=True))
    ]
    expanded = sum(share.done for share in manifest.shares)
    search.resumed_from = Progress(expanded, manifest.states, manifest.depth)
    division = _Division(search, kept)
    division.divide(division.tell)
    search.resumed = search.distinct
    search.depth = manifest.depth
    search.is_in_order &= manifest.is_in_order
    search.workers[0].fired[: len(manifest.fired)] = manifest.fired
    return files


def take_over(search: Search, earlier: Search) -> None:
    """Hand a new search the findings of another one of the same program, between two rounds."""
    kept = [
        _Kept(
            part.number,
            Share(part.count, part.done, len(part.level_ends), {}),
            part.packed(0),
            part.links[: part.count],
            np.array(part.level_ends, np.uint64),
        )
        for part in earlier.partitions
    ]
    search.resumed_from, search.resumed = earlier.resumed_from, earlier.resumed
    _Division(search, kept).divide(lambda: None)
    search.depth, search.is_in_order = earlier.depth, len(search.partitions) == 1
    search.workers[0].fired[:] = np.sum([worker.fired for worker in earlier.workers], axis=0)


def _checked(
    share: Share, words: int, directory: Path, generation: int, number: int
) -> dict[str, AppendedFile]:
    counts = {"states": share.count * words, "links": share.count, "levels": share.levels}
    files = {}
    for kind, count in counts.items():
        path = file_of(directory, generation, number, kind)
        files[kind] = AppendedFile.prefix(path, count * KINDS[kind].itemsize)
        if files[kind].digest.hexdigest() != share.digests[kind]:
            raise damaged(path)
    return files


@dataclass(frozen=True, slots=True)
class _Kept:
    """What was kept of one partition of the earlier search."""

    number: int
    share: Share
    states: NDArray[Any]
    links: NDArray[Any]
    level_ends: NDArray[Any]

    @property
    def cuts(self) -> tuple[int, ...]:
        """Where sections of the states end: each level, and those of the last that were expanded.

        Behind the last level come the states of the next, as far as they were found.
        """
        ends = tuple(map(int, self.level_ends))
        return (0, *ends[:-1], self.share.done, *ends[-1:], self.share.count)


class _Division:
    """Divides what was kept between the partitions of a search."""

    def __init__(self, search: Search, kept: Sequence[_Kept]) -> None:
        self.search, self.kept = search, kept
        self.levels = len(kept[0].level_ends)
        self.states = sum(part.share.count for part in kept)
        most = max(part.share.count for part in kept)
        self.references = np.empty(most * len(kept), np.uint32)  # by the earlier ones

    def divide(self, tell: Callable[[], None]) -> None:
        """Keep all states, level by level, so that parents come before what was found from them."""
        cuts = [part.cuts for part in self.kept]
        for section in range(len(cuts[0]) - 1):
            for part, ends in zip(self.kept, cuts, strict=True):
                for begin, end in _chunks(ends[section], ends[section + 1]):
                    self._keep(part, begin, end)
                    tell()
            self._end(section)

    def tell(self) -> None:
        """Report the number of states that have been read."""
        kept, done = self.search.kept, self.search.resumed_from.expanded
        told = Progress(min(done, kept), kept, self.levels, resumed=done, reading=self.states)
        self.search.on_progress(told)

    def _end(self, section: int) -> None:
        search = self.search
        if section == max(self.levels - 1, 0):
            for part in search.partitions:
                part.done = part.count
        elif section <= self.levels:
            for part in search.partitions:
                part.level_ends.append(part.count)
            search.level_ends.append(search.kept)

    def _keep(self, part: _Kept, begin: int, end: int) -> None:
        width = self.search.program.layout.words
        states = np.array(part.states[begin * width : end * width], np.uint64).reshape(-1, width)
        links = self._links(part.links[begin:end])
        places = self.references[part.number :: len(self.kept)][begin:end]
        for owner in self.search.partitions:
            first = owner.count
            mine = owner.keep(states, links)
            if owner.count - first < mine.sum():
                raise self._no_room(owner.count)
            places[mine] = owner.reference(np.arange(first, owner.count))

    def _links(self, links: NDArray[Any]) -> NDArray[Any]:
        """Return the present numbers of parents."""
        is_initial = links == NO_LINK
        found: NDArray[Any] = self.references[np.where(is_initial, 0, links)]
        return np.where(is_initial, np.uint32(NO_LINK), found)

    def _no_room(self, room: int) -> CheckpointRefused:
        threads = len(self.search.partitions)
        shares = f" in each of {threads} threads, {threads * room:,} in all" if threads > 1 else ""
        return CheckpointRefused(
            f"the checkpoint holds {self.states:,} states, and there is room for {room:,}{shares}, "
            "so the search cannot go on. Nothing was changed. Raise --states-max or --memory"
        )


def _chunks(begin: int, end: int) -> Iterator[tuple[int, int]]:
    for first in range(begin, end, CHUNK):
        yield first, min(first + CHUNK, end)
