"""What a snapshot of the flights pipeline holds, counted from outside: is it one moment?

A consistent cut has every departure that was fed before it exactly once: a query has received it,
and then it is in the query's state and in all that follows from it, or it is still in the channel.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from results import result

from streamproof.spark_bindings import Pipeline, Snapshot


@dataclass(frozen=True)
class QueryAtCut:
    """A query's part in a snapshot.

    Attributes
    ----------
    received : per input, the position that its state includes
    rows_received : rows that its state includes, of all inputs
    rows_in_state : what it keeps of them: totals, alerts, or the departures of days not yet over
    commits_in_flight, rows_in_flight : sent before the cut, and not received before it
    """

    batch: int
    received: Mapping[str, int]
    rows_received: int
    rows_in_state: int
    commits_in_flight: int
    rows_in_flight: int


@dataclass(frozen=True)
class Cut:
    """A snapshot, and what does not add up in it."""

    id: str
    seconds: float
    queries: Mapping[str, QueryAtCut]
    wrong: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Return it as JSON."""
        return asdict(self)


def measure(pipeline: Pipeline, snapshot: Snapshot) -> Cut:
    """Count a snapshot's rows in the channels of the pipeline that it is of."""
    assert snapshot.completed_at is not None
    taken = (snapshot.completed_at - snapshot.requested_at).total_seconds()
    queries = {query.name: _measure(pipeline, snapshot, query.name) for query in pipeline.queries}
    return Cut(snapshot.id, taken, queries, tuple(_imbalances(pipeline, snapshot, queries)))


def _measure(pipeline: Pipeline, snapshot: Snapshot, query: str) -> QueryAtCut:
    state = snapshot.states[query]
    parts = [part for part in snapshot.channels if part.reader == query]
    return QueryAtCut(
        batch=state.batch,
        received={str(name): end for name, end in state.received.items()},
        rows_received=sum(_rows(pipeline, *end) for end in state.received.items()),
        rows_in_state=_rows_in_state(pipeline, snapshot, query),
        commits_in_flight=sum(part.commits for part in parts),
        rows_in_flight=sum(part.rows for part in parts),
    )


def _rows_in_state(pipeline: Pipeline, snapshot: Snapshot, query: str) -> int:
    output = next(q.output for q in pipeline.queries if q.name == query)
    given = len(result(pipeline, output, snapshot.markers[output]))
    if query != "rotations":
        return given  # a total, or an alert, stays in the state when it was given
    # The planes' days are over, and forgotten, when their departures are given.
    return _departed(pipeline, snapshot.states[query].received) - given


def _departed(pipeline: Pipeline, received: Mapping[Any, int]) -> int:
    parts = [pipeline.channel(name).rows(until=end) for name, end in received.items()]
    return sum(len(rows) - rows["dep_delay"].null_count for rows in parts)


def _rows(pipeline: Pipeline, channel: str, until: int) -> int:
    return len(pipeline.channel(channel).rows(until=until))


def _imbalances(
    pipeline: Pipeline, snapshot: Snapshot, queries: Mapping[str, QueryAtCut]
) -> list[str]:
    cut = {str(channel): marker for channel, marker in snapshot.markers.items()}
    hours = result(pipeline, "carrier_hours", cut["carrier_hours"])
    days = result(pipeline, "plane_delays", cut["plane_delays"])
    equations = {
        "departures counted by carriers": (hours["flights"].sum(), "carriers"),
        "departures counted by planes": (days["departures"].sum(), "planes"),
    }
    wrong = [
        f"{what}: {counted}, but received were {queries[query].rows_received}"
        for what, (counted, query) in equations.items()
        if counted != queries[query].rows_received
    ]
    for query in pipeline.queries:
        sent = sum(_rows(pipeline, name, cut[name]) for name in query.inputs)
        part = queries[query.name]
        if sent != part.rows_received + part.rows_in_flight:
            wrong.append(f"{query.name}: {sent} rows were sent, but the cut has {part}")
    if queries["rotations"].rows_in_state < 0:
        wrong.append("rotations has given departures that it had not received")
    return wrong
