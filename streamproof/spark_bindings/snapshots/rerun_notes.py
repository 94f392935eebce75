"""What a restore notes of where the original's batches ended, for the queries that run them again.

It goes as far as the original's notes do, and as far as what they read will be there again: rows
that are not fed again, and what queries make of them, are not waited for. A query in a cycle, and
one behind a pair of copies, ends its batches where it likes; a restore says so of those to which
it makes a difference.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from streamproof.spark_bindings.channels.channel_log import ChannelLog
from streamproof.spark_bindings.channels.provenance import NOTES_KEPT, BatchNotes, Note
from streamproof.spark_bindings.checkpoints.checkpoint import Checkpoint
from streamproof.spark_bindings.checkpoints.rerun import Counts, write_rerun
from streamproof.spark_bindings.layout.directory import PipelineDirectory
from streamproof.spark_bindings.layout.snapshot_files import RecordedState, Snapshot
from streamproof.spark_bindings.names import ChannelName, Position, ProcessName, QueryName
from streamproof.spark_bindings.storage.place import Place


@dataclass(frozen=True, slots=True)
class Restored:
    """A pipeline that is being restored.

    Attributes
    ----------
    source, snapshot : from what
    place, identity : where it is built up, and its id
    """

    source: PipelineDirectory
    snapshot: Snapshot
    place: Place
    identity: str


def note_reruns(restored: Restored) -> tuple[QueryName, ...]:
    """Write where the first batches of each query are to end, from the sources on.

    Returns
    -------
    queries with a watermark of which it cannot be told
    """
    wiring, made = restored.source.wiring, dict[ChannelName, int]()
    made |= dict.fromkeys(wiring.sources, 0)
    waiting = [query for query in wiring.queries if ProcessName(query) in restored.snapshot.states]
    while ready := [query for query in waiting if made.keys() >= set(wiring.inputs[query])]:
        for query in ready:
            waiting.remove(query)
            if ProcessName(query) not in restored.snapshot.pairs:
                made[wiring.outputs[query]] = _note(restored, query, made)
    states = restored.snapshot.states
    return tuple(q for q in waiting if _keeps_notes(restored, q, states[ProcessName(q)]))


def _keeps_notes(restored: Restored, query: QueryName, state: RecordedState) -> bool:
    return ProcessName(query) not in restored.snapshot.pairs and any(_notes(restored, query, state))


def _note(restored: Restored, query: QueryName, made: Mapping[ChannelName, int]) -> int:
    """Write it for one query; give how many of its batches will have rows."""
    source, state = restored.source, restored.snapshot.states[ProcessName(query)]
    inputs = source.wiring.inputs[query]
    there = {channel: _messages_there(restored, channel, state) for channel in inputs}
    ends: list[Counts] = []
    with_rows = 0
    counted = {channel: _Counted(source.log(channel), state, channel) for channel in inputs}
    for note in _notes(restored, query, state):
        end = {channel: counted[channel].up_to(note) for channel in inputs}
        if any(count > there[channel] + made[channel] for channel, count in end.items()):
            break
        ends.append(end)
        with_rows += note.has_rows
    if ends:
        writers = {channel: source.wiring.writer(channel) for channel in inputs}
        write_rerun(restored.place / "queries" / query, state.received, ends, writers)
    return with_rows


def _notes(restored: Restored, query: QueryName, state: RecordedState) -> list[Note]:
    """Return the notes of the batches behind the cut, if the query keeps them for this."""
    copy = restored.source.snapshots.checkpoint(restored.snapshot.id, ProcessName(query))
    life = Checkpoint(copy).identity()
    notes = BatchNotes(restored.source.query_place(query) / "batches", query)
    found = []
    for note in notes.behind(state.batch):
        if note.made.life != life or note.kept <= NOTES_KEPT:
            break
        found.append(note)
    return found


def _messages_there(restored: Restored, channel: ChannelName, state: RecordedState) -> int:
    log = ChannelLog(restored.place / "channels" / channel, restored.identity)
    start = state.received.get(channel, Position(0))
    return sum(entry.is_message for entry in log.entries(start, log.last()))


class _Counted:
    """Counts messages behind the cut in the original's channel, on and on."""

    def __init__(self, log: ChannelLog, state: RecordedState, channel: ChannelName) -> None:
        self._log, self._channel = log, channel
        self._at, self._count = state.received.get(channel, Position(0)), 0

    def up_to(self, note: Note) -> int:
        end = max(self._at, note.made.received.get(self._channel, self._at))
        self._count += sum(entry.is_message for entry in self._log.entries(self._at, end))
        self._at = end
        return self._count
