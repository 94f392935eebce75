"""A disk that may lose what was not synced: operations, and what a crash can leave of them.

As ALICE (Pillai and others, OSDI 2014) and CrashMonkey (Mohan and others, OSDI 2018) have it. A
file's content is on the disk once the file is synced, and an entry of a directory once the
directory is; neither implies the other. What is not on the disk may be there or not after a crash,
each by itself, and the last contents of a file in part. Of the entries of one name, none is
skipped. A rename is one step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path
from random import Random
from typing import TypeAlias

Inode: TypeAlias = int
Name: TypeAlias = tuple[Inode, str]
"""A directory, and what something is called in it."""
Tree: TypeAlias = Mapping[str, bytes | None]
"""By path, what a file holds; None for a directory."""

ROOT: Inode = 0
EMPTY = b""


@dataclass(frozen=True, slots=True)
class Write:
    """A file holds this from now on."""

    file: Inode
    content: bytes


@dataclass(frozen=True, slots=True)
class Entries:
    """Names stand for other files from now on, or for none, all in one step.

    Attributes
    ----------
    what : the operation in words, for whoever reads a trace
    directories : which of the inodes are directories
    """

    what: str
    changes: tuple[tuple[Name, Inode | None], ...]
    directories: frozenset[Inode] = frozenset()


@dataclass(frozen=True, slots=True)
class Sync:
    """A file, a directory, or everything (None) is on the disk."""

    what: Inode | None


Operation: TypeAlias = Write | Entries | Sync


class Crash(Enum):
    """What a crash leaves of that which is not on the disk."""

    KILL = "all: the process was killed, the machine goes on"
    BARE = "nothing"
    NAMES = "the names, of empty files"
    CONTENTS = "what files hold, and no new name"
    TORN = "all but the end of the last write"
    ZEROS = "all, but the last write's end is zeros"
    SOME = "some of it"


@dataclass
class Disk:
    """What is on the disk, and what will be if nothing happens."""

    synced: dict[Name, Inode] = field(default_factory=dict)
    pending: list[Entries] = field(default_factory=list)
    contents: dict[Inode, list[bytes]] = field(default_factory=dict)
    directories: set[Inode] = field(default_factory=lambda: {ROOT})
    last_written: Inode | None = None

    def apply(self, operation: Operation) -> None:
        """Carry out an operation."""
        match operation:
            case Write(file, content):
                self.contents.setdefault(file, [EMPTY]).append(content)
                self.last_written = file
            case Entries():
                self.pending.append(operation)
                self.directories |= operation.directories
            case Sync(None):
                self._settle(lambda _: True)
                for versions in self.contents.values():
                    del versions[:-1]
            case Sync(inode):
                self._settle(lambda name: name[0] == inode)
                if inode in self.contents:
                    del self.contents[inode][:-1]

    def _settle(self, is_synced: Callable[[Name], bool]) -> None:
        """Put the operations on the disk that have a name there, and what came before on names."""
        names: set[Name] = set()
        keep: list[Entries] = []
        for entries in reversed(self.pending):
            touched = {name for name, _ in entries.changes}
            if touched & names or any(map(is_synced, touched)):
                names |= touched
                keep.append(entries)
        for entries in reversed(keep):
            _put(self.synced, entries)
        gone = set(map(id, keep))
        self.pending = [entries for entries in self.pending if id(entries) not in gone]

    @property
    def is_clean(self) -> bool:
        """Whether all is on the disk."""
        return not self.pending and all(len(each) == 1 for each in self.contents.values())

    def after(self, crash: Crash, random: Random) -> Tree:
        """Return what there is after a crash."""
        names = dict(self.synced)
        dropped: set[Name] = set()
        chance = random.choice((0.2, 0.5, 0.8)) if crash is Crash.SOME else 1.0
        if crash not in (Crash.BARE, Crash.CONTENTS):
            for entries in self.pending:
                touched = {name for name, _ in entries.changes}
                if touched & dropped or random.random() > chance:
                    dropped |= touched
                else:
                    _put(names, entries)
        held = {file: self._held(file, versions, crash, random) for file, versions in self._files()}
        return dict(self._walk(ROOT, "", names, held))

    def _files(self) -> Iterator[tuple[Inode, list[bytes]]]:
        return iter(self.contents.items())

    def _held(self, file: Inode, versions: list[bytes], crash: Crash, random: Random) -> bytes:
        """Return what a file holds after a crash."""
        if len(versions) == 1 or crash in (Crash.KILL, Crash.CONTENTS):
            return versions[-1]
        if crash in (Crash.BARE, Crash.NAMES):
            return versions[0]
        if crash in (Crash.TORN, Crash.ZEROS):
            is_last = file == self.last_written
            return _torn(versions, crash, random) if is_last else versions[-1]
        place = random.randrange(len(versions) + 1)
        if place == len(versions):
            return _torn(versions, random.choice((Crash.TORN, Crash.ZEROS)), random)
        return versions[place]

    def _walk(
        self, directory: Inode, path: str, names: Mapping[Name, Inode], held: Mapping[Inode, bytes]
    ) -> Iterator[tuple[str, bytes | None]]:
        inside: dict[Inode, list[tuple[str, Inode]]] = {}
        for (place, name), inode in names.items():
            inside.setdefault(place, []).append((name, inode))
        waiting = [(directory, path)]
        while waiting:
            place, prefix = waiting.pop()
            for name, inode in sorted(inside.get(place, [])):
                whole = f"{prefix}{name}"
                if inode in self.directories:
                    yield whole, None
                    waiting.append((inode, f"{whole}/"))
                else:
                    yield whole, held.get(inode, EMPTY)


def _put(names: dict[Name, Inode], entries: Entries) -> None:
    for name, inode in entries.changes:
        if inode is None:
            names.pop(name, None)
        else:
            names[name] = inode


def _torn(versions: list[bytes], crash: Crash, random: Random) -> bytes:
    """Return a content of which the end did not arrive; what was there before, stays."""
    before, after = versions[-2], versions[-1]
    kept = len(before) if after.startswith(before) else 0
    new = len(after) - kept
    length = kept + random.choice((0, new // 2, max(new - 1, 0)))
    return after[:length] + (bytes(len(after) - length) if crash is Crash.ZEROS else b"")


def materialise(tree: Tree, place: Path) -> None:
    """Make a directory of what a crash has left."""
    place.mkdir(parents=True)
    for name, content in tree.items():
        path = place / name
        if content is None:
            path.mkdir(exist_ok=True)
        else:
            path.write_bytes(content)
