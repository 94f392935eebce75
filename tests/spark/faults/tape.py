"""Recording what reaches the disk: each operation of ours, and between them what others wrote.

Calls of `os` that change a disk are watched. Whatever else appears below the root meanwhile was
written by Arrow, Delta or Spark, or by Python without a sync. None of these syncs: strace shows no
fsync of pyarrow 21, of delta-rs 1.6 (a commit is a file beside it, a link, an unlink) or of Spark
4.3 (a file beside it, a rename). So such a write counts as not synced. What lay below the root
before is taken to be on the disk.
"""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import RLock
from typing import Any
from unittest import mock

import pyarrow.parquet as pq
from deltalake import DeltaTable

from tests.spark.faults.disk import ROOT, Entries, Inode, Name, Operation, Sync, Write

CHANGING = (
    "fsync",
    "fdatasync",
    "link",
    "mkdir",
    "remove",
    "rename",
    "replace",
    "rmdir",
    "sync",
    "truncate",
    "unlink",
    "write",
)
"""Functions of `os` that are watched."""
SYNCING = ("fsync", "fdatasync", "sync")
OTHERS: tuple[tuple[Any, str], ...] = (
    (DeltaTable, "create_write_transaction"),
    (DeltaTable, "create_checkpoint"),
    (pq.ParquetWriter, "write_table"),
    (pq.ParquetWriter, "close"),
)
"""Calls of libraries that write: what they have written is looked at right behind them."""
_CLOCK_NS = 20_000_000  # the times that a file system gives are not finer

Before = Callable[[str, tuple[Any, ...]], None]
"""Called with each watched call before it is made: it may raise in its place."""


@dataclass
class _Seen:
    """What one look has found."""

    names: dict[Name, Inode]
    written: list[tuple[int, Write, str]]
    directories: set[Inode]
    inodes: set[Inode]


@dataclass
class Tape:
    """What was done below a root, in order.

    Attributes
    ----------
    facts : what was acknowledged, with the number of operations before it
    before : asked before each watched call
    synced_elsewhere : names of files that are written by a process which syncs them, unseen
    """

    root: Path
    operations: list[Operation] = field(default_factory=list)
    facts: list[tuple[int, Any]] = field(default_factory=list)
    before: Before | None = None
    synced_elsewhere: re.Pattern[str] | None = None
    _names: dict[Name, Inode] = field(default_factory=dict)
    _held: dict[Inode, tuple[tuple[int, int, int], bytes]] = field(default_factory=dict)
    _numbers: dict[int, Inode] = field(default_factory=dict)
    _next: Inode = 1
    _lock: Any = field(default_factory=RLock)

    def __post_init__(self) -> None:
        self._numbers[self.root.stat().st_ino] = ROOT
        self.look()
        self.operations.append(Sync(None))

    def note(self, fact: Any) -> None:
        """Note what somebody relies on from now on."""
        self.look()
        self.facts.append((len(self.operations), fact))

    @contextmanager
    def running(self) -> Iterator[Tape]:
        """Watch."""
        with mock.patch.multiple(os, **{name: self._watched(os, name) for name in CHANGING}):
            others = [mock.patch.object(owner, n, self._watched(owner, n)) for owner, n in OTHERS]
            for other in others:
                other.start()
            try:
                yield self
            finally:
                for other in others:
                    other.stop()
        self.look()

    def _watched(self, owner: Any, name: str) -> Any:
        made = getattr(owner, name)

        def call(*arguments: Any, **more: Any) -> Any:
            with self._lock:
                self.look()
                if self.before is not None:
                    self.before(name, arguments)
                if name in SYNCING:  # noted, and not waited for
                    number = os.fstat(arguments[0]).st_ino if arguments else None
                    self._note_sync(number)
                    return None
                result = made(*arguments, **more)
                self.look()
                return result

        return call

    def _note_sync(self, number: int | None) -> None:
        if number is None:
            self.operations.append(Sync(None))
        elif number in self._numbers:
            self.operations.append(Sync(self._numbers[number]))

    # --- what has changed ------------------------------------------------------------------------

    def look(self) -> None:
        """Note what has changed since the last look."""
        with self._lock:
            seen = _Seen({}, [], set(), {ROOT})
            self._scan(str(self.root), ROOT, seen)
            seen.written.sort(key=lambda each: each[0])
            for _, write, name in seen.written:
                self.operations.append(write)
                if self.synced_elsewhere is not None and self.synced_elsewhere.fullmatch(name):
                    self.operations.append(Sync(write.file))
            self._compare(seen.names, frozenset(seen.directories))
            self._names = seen.names
            for number, inode in list(self._numbers.items()):
                if inode not in seen.inodes:  # the system will give its number to another file
                    del self._numbers[number]
                    self._held.pop(inode, None)

    def _scan(self, place: str, directory: Inode, seen: _Seen) -> None:
        try:
            with os.scandir(place) as found:
                entries = sorted(found, key=lambda entry: entry.name)
        except (FileNotFoundError, NotADirectoryError):
            return  # Spark removes files meanwhile
        for entry in entries:
            try:
                facts = entry.stat(follow_symlinks=False)
                inode = self._inode(facts.st_ino)
                if stat.S_ISDIR(facts.st_mode):
                    seen.directories.add(inode)
                    seen.names[directory, entry.name] = inode  # ahead of what is in it
                    self._scan(entry.path, inode, seen)
                elif inode not in seen.inodes:
                    write = self._read(entry.path, inode, facts)
                    if write is not None:
                        seen.written.append((facts.st_mtime_ns, write, entry.name))
            except FileNotFoundError:
                continue
            seen.inodes.add(inode)
            seen.names[directory, entry.name] = inode

    def _inode(self, number: int) -> Inode:
        if number not in self._numbers:
            self._numbers[number], self._next = self._next, self._next + 1
        return self._numbers[number]

    def _read(self, path: str, inode: Inode, facts: os.stat_result) -> Write | None:
        mark = (facts.st_size, facts.st_mtime_ns, facts.st_ino)
        before = self._held.get(inode)
        is_old = time.time_ns() - facts.st_mtime_ns > _CLOCK_NS
        if before is not None and before[0] == mark and is_old:
            return None
        content = Path(path).read_bytes()
        self._held[inode] = (mark, content)
        return None if before is not None and before[1] == content else Write(inode, content)

    def _compare(self, found: dict[Name, Inode], directories: frozenset[Inode]) -> None:
        """Note the entries that came and went; one that went elsewhere was renamed."""
        came = {n: inode for n, inode in found.items() if self._names.get(n) != inode}
        went = {n: inode for n, inode in self._names.items() if found.get(n) != inode}
        for name, inode in came.items():
            is_directory = frozenset({inode}) & directories
            old = next((n for n, other in went.items() if other == inode and n not in found), None)
            if old is None:
                change = Entries(f"create {name[1]}", ((name, inode),), is_directory)
            else:
                del went[old]
                change = Entries(
                    f"rename {old[1]} {name[1]}", ((old, None), (name, inode)), is_directory
                )
            went.pop(name, None)
            self.operations.append(change)
        for name in reversed([name for name in went if name not in found]):
            self.operations.append(Entries(f"unlink {name[1]}", ((name, None),)))
