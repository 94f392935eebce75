"""The outputs that a copy keeps: files of rows that are in the channel's directory, uncommitted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from streamproof.spark_bindings.names import ChannelName, Position, SnapshotId, Turn
from streamproof.spark_bindings.storage.json_files import (
    as_written,
    read_json,
    write_json,
)
from streamproof.spark_bindings.storage.numbered_files import NumberedFiles
from streamproof.spark_bindings.storage.parquet_files import Written
from streamproof.spark_bindings.storage.place import Place
from streamproof.spark_bindings.storage.store import store_at
from streamproof.spark_bindings.storage.trees import sync_names


@dataclass(frozen=True, slots=True)
class Output:
    """What a turn gave.

    Attributes
    ----------
    files : in the output channel's directory; none if it gave no rows
    digest : of its rows
    marker : the snapshot whose marker is to be sent behind them
    received : per input, the position up to which the turn has read; 0.1.0 kept none
    """

    turn: Turn
    files: tuple[Written, ...]
    digest: str
    marker: SnapshotId | None = None
    received: Mapping[ChannelName, Position] = field(default_factory=dict)

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to be delivered."""
        return not self.files and self.marker is None


class OutputBuffer:
    """A copy's outputs that may not be delivered.

    Parameters
    ----------
    place : directory of a small file for each
    channel : directory of the output channel
    """

    def __init__(self, place: Place, channel: Place) -> None:
        self._turns, self._channel = NumberedFiles(place), channel
        self._files = store_at(channel)

    def keep(self, output: Output) -> None:
        """Write down an output whose files are written. May be repeated."""
        files = [list(file) for file in output.files]
        if files:
            sync_names(self._channel)  # before something counts on them
        stored = {
            "files": files,
            "digest": output.digest,
            "marker": output.marker,
            "received": dict(output.received),
        }
        write_json(self._turns.file(output.turn), stored)

    def output(self, turn: Turn) -> Output | None:
        """Return what is kept of a turn."""
        stored = read_json(self._turns.file(turn), files=list, digest=str)
        if stored is None:
            return None
        with as_written(self._turns.file(turn)):
            files = tuple(Written(*file) for file in stored["files"])
            received = stored.get("received", {})
            return Output(turn, files, stored["digest"], stored.get("marker"), received)

    def turns(self) -> list[Turn]:
        """List the turns of which something is kept, in order."""
        return [Turn(number) for number in self._turns.numbers()]

    def forget(self, turn: Turn, delivered: Iterable[str]) -> None:
        """Forget a turn; of its files, those that were delivered stay.

        Parameters
        ----------
        delivered : names of the files that are in the channel for this turn, this copy's or not
        """
        output = self.output(turn)
        if output is not None:
            self._turns.remove(turn)
            self.drop(output, delivered)

    def drop(self, output: Output, delivered: Iterable[str] = ()) -> None:
        """Delete the files of an output, without those that were delivered."""
        for file in output.files:
            if file.path not in set(delivered):
                self._files.delete(file.path)

    def copy_to(self, target: OutputBuffer, until: Turn, prefix: str) -> None:
        """Copy the kept turns before `until` to a new copy, under other names.

        This copy may be running: what it forgets meanwhile was delivered, so nobody needs it.

        Parameters
        ----------
        target, until : what the new copy keeps, and the turns that its state has
        prefix : how the names of its files begin
        """
        for turn in self.turns():
            output = self.output(turn) if turn < until else None
            if output is None:
                continue
            files = [file._replace(path=f"{prefix}-{file.path}") for file in output.files]
            try:
                for file, copied in zip(output.files, files, strict=True):
                    self._files.copy(file.path, self._channel / copied.path)
            except FileNotFoundError:
                continue
            except FileExistsError:
                pass  # an earlier catch-up was cut short
            target.keep(replace(output, files=tuple(files)))
