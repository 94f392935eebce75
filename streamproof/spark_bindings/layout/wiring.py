"""The wiring of a pipeline: who reads and writes which channel, and whether markers arrive."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from streamproof.spark_bindings.errors import WrongWiring
from streamproof.spark_bindings.layout.query import Query, require_name
from streamproof.spark_bindings.names import ChannelName, QueryName


@dataclass(frozen=True, slots=True)
class Wiring:
    """Which query reads and writes which channel: what of a pipeline is kept in its directory."""

    channels: tuple[ChannelName, ...]
    inputs: Mapping[QueryName, tuple[ChannelName, ...]]
    outputs: Mapping[QueryName, ChannelName]

    @property
    def queries(self) -> tuple[QueryName, ...]:
        """The queries, in the order of their declaration."""
        return tuple(self.inputs)

    @property
    def sources(self) -> tuple[ChannelName, ...]:
        """The channels that no query writes: snapshots begin there."""
        written = set(self.outputs.values())
        return tuple(channel for channel in self.channels if channel not in written)

    def writer(self, channel: ChannelName) -> QueryName | None:
        """Return the query that writes a channel; None for a source channel."""
        for query, output in self.outputs.items():
            if output == channel:
                return query
        return None

    def readers(self, channel: ChannelName) -> tuple[QueryName, ...]:
        """Return the queries that read a channel."""
        return tuple(query for query, inputs in self.inputs.items() if channel in inputs)

    def is_as(self, other: Wiring) -> bool:
        """Return whether another one connects the same, in whatever order it names them.

        The order of a query's inputs counts: its plan takes them in it.
        """
        same_channels = sorted(self.channels) == sorted(other.channels)
        return same_channels and self.inputs == other.inputs and self.outputs == other.outputs

    def to_json(self) -> dict[str, Any]:
        """Return what pipeline.json holds of it."""
        queries = {
            name: {"inputs": list(inputs), "output": self.outputs[name]}
            for name, inputs in self.inputs.items()
        }
        return {"channels": list(self.channels), "queries": queries}

    @staticmethod
    def from_json(stored: Mapping[str, Any]) -> Wiring:
        """Read what `to_json` gave."""
        queries = stored["queries"]
        return Wiring(
            channels=tuple(stored["channels"]),
            inputs={name: tuple(query["inputs"]) for name, query in queries.items()},
            outputs={name: query["output"] for name, query in queries.items()},
        )


def wire(channels: Sequence[str], queries: Sequence[Query]) -> Wiring:
    """Connect channels and queries, and check that a snapshot can complete.

    Raises
    ------
    WrongWiring : if a name is used twice or is unknown, a channel has two writers, or markers could
        not reach a query or a channel
    """
    if not queries or not channels:
        raise WrongWiring(
            f"a pipeline was given {len(channels)} channels and {len(queries)} queries. It needs "
            "one of each at least. Write: Pipeline(path, channels={...}, queries=[Query(...)])"
        )
    for channel in channels:
        require_name(channel, "a channel")
    _require_distinct([query.name for query in queries])
    writers: dict[str, str] = {}
    for query in queries:
        for channel in (*query.inputs, query.output):
            if channel not in channels:
                raise WrongWiring(
                    f"query {query.name!r} uses channel {channel!r}, which is not declared; "
                    f"declared are {', '.join(channels)}. Add it to channels={{...}} with its "
                    "schema"
                )
        if query.output in writers:
            raise WrongWiring(
                f"channel {query.output!r} is written by two queries, {writers[query.output]!r} "
                f"and {query.name!r}. Their markers could not be told apart in it. Give each a "
                "channel, and let their reader take both as inputs"
            )
        writers[query.output] = query.name
    wiring = Wiring(
        channels=tuple(ChannelName(channel) for channel in channels),
        inputs={
            QueryName(query.name): tuple(ChannelName(channel) for channel in query.inputs)
            for query in queries
        },
        outputs={QueryName(query.name): ChannelName(query.output) for query in queries},
    )
    _require_reachable(wiring)
    return wiring


def _require_reachable(wiring: Wiring) -> None:
    """Check the protocol's assumption: every process is reachable from an initiator.

    A process that is reached sends markers, so a reached query reaches its output channel.
    """
    reached = set(wiring.sources)
    for _ in wiring.queries:  # each round reaches at least one query more, or there is none more
        reached |= {
            wiring.outputs[query]
            for query, inputs in wiring.inputs.items()
            if reached.intersection(inputs)
        }
    lost = [query for query, inputs in wiring.inputs.items() if not reached.intersection(inputs)]
    if lost:
        raise WrongWiring(
            f"no source channel leads to {', '.join(map(repr, lost))}. Snapshots begin at channels "
            "that no query writes, so their markers would never arrive there. Add such an input"
        )


def _require_distinct(names: list[str]) -> None:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise WrongWiring(
            f"two queries are called {', '.join(map(repr, twice))}. Each has a directory of its "
            "name, and they would share a checkpoint. Rename one"
        )
