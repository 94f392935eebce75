"""What a pipeline is made of: channels, queries, and the checks that every marker can arrive."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from itertools import pairwise
from typing import Any

from pyspark.sql import DataFrame

from streamproof.spark_bindings.arguments import is_whole
from streamproof.spark_bindings.channels.source import COMMITS_MAX
from streamproof.spark_bindings.errors import WrongArgument, WrongWiring
from streamproof.spark_bindings.names import ChannelName, QueryName, is_name

INTERVAL_MS_MAX = 10**10
"""About four months."""
PARTITIONS_MAX = 1_000
_BOUND = (str, bytes, int, float, Decimal, dt.date)


class OutputMode(Enum):
    """Which rows of its result a query's plan gives in a batch; the meaning is Spark's."""

    APPEND = "append"
    UPDATE = "update"
    COMPLETE = "complete"


@dataclass(frozen=True, slots=True)
class Query:
    """A streaming query between channels.

    Attributes
    ----------
    name : letters, digits and underscores; a directory is named after it
    inputs : the channels that it reads, each once
    output : the channel that it alone writes
    plan : from the inputs' DataFrames, in the order of `inputs`, to the output's. It must be
        deterministic: Spark may run a batch again, and then the rows of the first time stand
    output_mode : for plans with an aggregation
    trigger_interval_ms : how often it looks for new commits; 0 looks without a pause
    commits_per_batch_max : commits of each input that one batch takes at most
    rows_per_batch_max : rows of each input after which a batch ends, at a commit; None is no limit
    replicas : 2 runs it as a pair of copies, by `streamproof run`; see docs/how-to/hot-standby.md
    partitions, partition_by : with replicas, how many pairs share its work, and the column of all
        inputs by whose value they do: its *key*
    partition_bounds : where the range of keys of each partition but the first begins, ascending;
        no key is below nothing, so null is in the first. Without them partitions go by the key's
        hash

    Raises
    ------
    WrongArgument : if something has the wrong type
    WrongWiring : if a name or a number cannot be used
    """

    name: str
    inputs: tuple[str, ...]
    output: str
    plan: Callable[..., DataFrame]
    output_mode: OutputMode = OutputMode.APPEND
    trigger_interval_ms: int = 100
    commits_per_batch_max: int = COMMITS_MAX
    rows_per_batch_max: int | None = None
    replicas: int = 1
    partitions: int = 1
    partition_by: str | None = None
    partition_bounds: tuple[Any, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.inputs, tuple):
            named: Any = self.inputs if isinstance(self.inputs, list | set) else (self.inputs,)
            raise WrongArgument(
                f"query {self.name!r} has inputs={self.inputs!r}. Inputs are a tuple of channel "
                f"names, also if there is one. Write: inputs={tuple(map(str, named))}"
            )
        if not callable(self.plan):
            raise WrongArgument(
                f"query {self.name!r} has plan={self.plan!r}. A plan is a function from DataFrames "
                "to a DataFrame, called once at the start. Write: plan=lambda rows: rows.where(...)"
            )
        if not isinstance(self.output_mode, OutputMode):
            raise WrongArgument(
                f"query {self.name!r} has output_mode={self.output_mode!r}. Spark would see it too "
                "late. Write: output_mode=OutputMode.APPEND, UPDATE or COMPLETE"
            )
        for text in (self.name, self.output, *self.inputs):
            _require_name(text, f"query {self.name!r}")
        if not self.inputs or len(set(self.inputs)) != len(self.inputs):
            raise WrongWiring(
                f"query {self.name!r} has the inputs {self.inputs}. It needs at least one, and "
                "each once: a channel that is read twice has two positions. Use one DataFrame in "
                "both places"
            )
        self._check_numbers()
        self._check_replicas()

    def _check_numbers(self) -> None:
        limits = [self.commits_per_batch_max]
        limits += [] if self.rows_per_batch_max is None else [self.rows_per_batch_max]
        is_interval = is_whole(self.trigger_interval_ms, 0, INTERVAL_MS_MAX)
        if not is_interval or not all(is_whole(limit, 1) for limit in limits):
            raise WrongWiring(
                f"query {self.name!r} has trigger_interval_ms={self.trigger_interval_ms!r}, "
                f"commits_per_batch_max={self.commits_per_batch_max!r}, "
                f"rows_per_batch_max={self.rows_per_batch_max!r}. It would never advance, or Spark "
                "would not take them. Give whole numbers: an interval from 0 to "
                f"{INTERVAL_MS_MAX} and limits of at least 1"
            )

    def _check_replicas(self) -> None:
        given = f"replicas={self.replicas!r}, partitions={self.partitions!r}"
        if not is_whole(self.replicas, 1, 2) or not is_whole(self.partitions, 1, PARTITIONS_MAX):
            raise WrongWiring(
                f"query {self.name!r} has {given}. A query runs alone or as a pair, and each "
                "partition is two processes. Give replicas=1 or 2, and partitions from 1 to "
                f"{PARTITIONS_MAX}"
            )
        key = self.partition_by
        if key is not None and (not isinstance(key, str) or not key):
            raise WrongArgument(
                f"query {self.name!r} has partition_by={key!r}. It is the name of one column that "
                'all inputs have. Write for example partition_by="country"'
            )
        partitioned = self.partitions > 1
        if partitioned != (self.partition_by is not None) or (partitioned and self.replicas == 1):
            raise WrongWiring(
                f"query {self.name!r} has {given}, partition_by={self.partition_by!r}. Partitions "
                "are pairs that share a query's work by the value of a column. Give replicas=2, "
                "partitions of 2 or more and partition_by (with partition_bounds, one bound less "
                "than partitions), or leave partitions out"
            )
        if self.partition_bounds != ():
            self._check_bounds()

    def _check_bounds(self) -> None:
        bounds = self.partition_bounds
        try:
            # Of what is no value, or NaN, no comparison holds: no range begins there.
            ascend = (
                isinstance(bounds, tuple)
                and all(isinstance(bound, _BOUND) and _is_equal(bound, bound) for bound in bounds)
                and all(low < high for low, high in pairwise(bounds))
            )
        except TypeError:
            ascend = False  # they cannot be compared
        if not ascend or len(bounds) != self.partitions - 1 or self.partition_by is None:
            raise WrongWiring(
                f"query {self.name!r} has partitions={self.partitions}, partition_by="
                f"{self.partition_by!r}, partition_bounds={bounds!r}. Each partition but the first "
                "begins at a bound, or rows would be in none or in two. Give a tuple of "
                f"{self.partitions - 1} values of the column's type that ascend, or leave it out"
            )


def _is_equal(one: Any, other: Any) -> bool:
    return bool(one == other)


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
        """Give the query that writes a channel; None for a source channel."""
        for query, output in self.outputs.items():
            if output == channel:
                return query
        return None

    def readers(self, channel: ChannelName) -> tuple[QueryName, ...]:
        """Give the queries that read a channel."""
        return tuple(query for query, inputs in self.inputs.items() if channel in inputs)

    def is_as(self, other: Wiring) -> bool:
        """Tell whether another one connects the same, in whatever order it names them.

        The order of a query's inputs counts: its plan takes them in it.
        """
        same_channels = sorted(self.channels) == sorted(other.channels)
        return same_channels and self.inputs == other.inputs and self.outputs == other.outputs

    def to_json(self) -> dict[str, Any]:
        """Give what pipeline.json holds of it."""
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
        _require_name(channel, "a channel")
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


def _require_name(text: object, whose: str) -> None:
    if not is_name(text):
        raise WrongWiring(
            f"{whose} uses the name {text!r}. A name becomes a directory: it has letters, digits "
            "and underscores, begins with a letter and is at most 63 long. Rename it"
        )
