"""The SUNION machine, event by event and then at random, as a binding drives it.

The random part is a machine of Hypothesis. Its rules write to logs, read them at two replicas and
emit; each replica keeps its rows in a plain list. The oracle is a plain merge of the logs, which
knows nothing of boundaries but whom they exclude.
"""

from __future__ import annotations

import functools
import itertools
from dataclasses import dataclass, field
from typing import NamedTuple

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
)

from streamproof.lang import Disabled, Domain, Map
from streamproof.protocols.sunion import (
    EmitStable,
    Key,
    Serializer,
    emit,
    initial_serializer,
    is_complete,
    is_late,
    on_boundary,
    precedes,
)

STREAMS = Domain.of("stream", ("ewr", "jfk"))


@pytest.fixture
def fresh():
    return initial_serializer(STREAMS, 0)


def after_boundaries(serializer, ewr, jfk):
    serializer, _ = on_boundary(serializer, "ewr", ewr)
    serializer, _ = on_boundary(serializer, "jfk", jfk)
    return serializer


# --------------------------------------------------------------------------- event by event


def test_a_merged_stream_may_begin_with_any_bucket():
    serializer = initial_serializer(STREAMS, -7)
    assert is_late(serializer, "ewr", -8)
    assert not is_late(serializer, "ewr", -7)
    assert emit(after_boundaries(serializer, -6, -5), -6)[1] == (EmitStable(-7, -6),)


def test_a_boundary_is_noted_for_its_own_stream(fresh):
    after, effects = on_boundary(fresh, "ewr", 2)
    assert after.boundary == Map.fill(STREAMS, 0).set("ewr", 2)
    assert effects == ()


@pytest.mark.parametrize("bucket", [2, 1])
def test_a_boundary_that_says_less_takes_nothing_back(fresh, bucket):
    once, _ = on_boundary(fresh, "ewr", 2)
    assert on_boundary(once, "ewr", bucket) == (once, ())


def test_a_tuple_is_late_behind_the_boundary_of_its_own_stream(fresh):
    after, _ = on_boundary(fresh, "ewr", 2)
    assert [is_late(after, "ewr", bucket) for bucket in (1, 2, 3)] == [True, False, False]
    assert not is_late(after, "jfk", 1)


def test_a_bucket_is_complete_when_the_slowest_stream_has_passed_it(fresh):
    after = after_boundaries(fresh, 3, 1)
    assert [is_complete(after, end) for end in (1, 2, 3)] == [True, False, False]


def test_a_bucket_that_one_stream_has_not_passed_is_not_emitted(fresh):
    after, _ = on_boundary(fresh, "ewr", 1)
    with pytest.raises(Disabled):
        emit(after, 1)


def test_all_complete_buckets_are_emitted_at_once(fresh):
    after, effects = emit(after_boundaries(fresh, 3, 4), 3)
    assert effects == (EmitStable(0, 3),)
    assert after.emitted == 3


def test_what_was_emitted_is_not_emitted_again(fresh):
    once, _ = emit(after_boundaries(fresh, 2, 2), 1)
    with pytest.raises(Disabled):
        emit(once, 1)
    assert emit(once, 2)[1] == (EmitStable(1, 2),)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (Key(1, 9, 9), Key(2, 0, 0)),  # time counts most,
        (Key(1, 0, 9), Key(1, 1, 0)),  # then the stream,
        (Key(1, 1, 0), Key(1, 1, 1)),  # then the position
    ],
    ids=["time", "stream", "position"],
)
def test_the_order_is_by_time_then_stream_then_position(first, second):
    assert precedes(first, second)
    assert not precedes(second, first)


def test_the_order_is_total():
    keys = [Key(*numbers) for numbers in itertools.product((-1, 0, 1), repeat=3)]
    for first, second in itertools.product(keys, repeat=2):
        assert precedes(first, second) + precedes(second, first) + (first == second) == 1
    for first, second, third in itertools.product(keys, repeat=3):
        if precedes(first, second) and precedes(second, third):
            assert precedes(first, third)


# --------------------------------------------------------------------------- at random

WIDTH = 3
"""Units of time in a bucket."""


BY_PRECEDENCE = functools.cmp_to_key(
    lambda first, second: precedes(second, first) - precedes(first, second)
)


class Boundary(NamedTuple):
    """A log's promise that nothing of an earlier bucket follows."""

    bucket: int


@dataclass
class Replica:
    """What a binding keeps: the machine, how far it has read, and rows."""

    serializer: Serializer
    read: dict[str, int] = field(default_factory=lambda: dict.fromkeys(STREAMS, 0))
    buffer: list[Key] = field(default_factory=list)
    output: list[Key] = field(default_factory=list)
    late: list[Key] = field(default_factory=list)


def excluded(log: list[int | Boundary], position: int) -> bool:
    """Return whether a boundary ahead of a tuple says that its bucket is over."""
    ahead = (entry.bucket for entry in log[:position] if isinstance(entry, Boundary))
    return log[position] // WIDTH < max(ahead, default=0)


def tuples_of(logs: dict[str, list[int | Boundary]]) -> list[tuple[Key, bool]]:
    """List all tuples of some logs, with whether they are excluded; the logs tell, nobody else."""
    return [
        (Key(entry, number, position), excluded(log, position))
        for number, log in enumerate(logs.values())
        for position, entry in enumerate(log)
        if not isinstance(entry, Boundary)
    ]


ENTRIES = st.integers(0, 4 * WIDTH - 1) | st.integers(0, 4).map(Boundary)
LOGS = st.lists(ENTRIES, min_size=2, max_size=8)


class TwoReplicas(RuleBasedStateMachine):
    """Sources write tuples and boundaries; two replicas read and emit whenever they like."""

    @initialize(logs=st.tuples(LOGS, LOGS))
    def begin(self, logs):
        # Boundaries at the end, or hardly any run would come to emit.
        self.logs = {s: [*log, Boundary(4)] for s, log in zip(STREAMS, logs, strict=True)}
        self.replicas = [Replica(initial_serializer(STREAMS, 0)) for _ in range(2)]

    @rule(stream=st.sampled_from(STREAMS.elements), entry=ENTRIES)
    def write(self, stream, entry):
        self.logs[stream].append(entry)

    @rule(index=st.integers(0, 1), stream=st.sampled_from(STREAMS.elements), most=st.integers(1, 9))
    def read(self, index, stream, most):
        replica, number = self.replicas[index], STREAMS.elements.index(stream)
        begin = replica.read[stream]
        batch = self.logs[stream][begin : begin + most]
        for position, entry in enumerate(batch, start=begin):
            if isinstance(entry, Boundary):
                replica.serializer, _ = on_boundary(replica.serializer, stream, entry.bucket)
            elif is_late(replica.serializer, stream, entry // WIDTH):
                replica.late.append(Key(entry, number, position))
            else:
                replica.buffer.append(Key(entry, number, position))
        replica.read[stream] = begin + len(batch)

    @rule(index=st.integers(0, 1), end=st.integers(1, 4))
    def emit(self, index, end):
        replica = self.replicas[index]
        try:
            replica.serializer, (effect,) = emit(replica.serializer, end)
        except Disabled:  # the machine decides, and the invariants say whether it decides well
            return
        due = [key for key in replica.buffer if effect.begin <= key.time // WIDTH < effect.end]
        replica.buffer = [key for key in replica.buffer if key not in due]
        replica.output += sorted(due, key=BY_PRECEDENCE)

    @invariant()
    def each_output_is_the_merge_of_its_buckets(self):
        tuples = tuples_of(self.logs)
        for replica in self.replicas:
            merged = [key for key, is_excluded in tuples if not is_excluded]
            end = replica.serializer.emitted
            assert replica.output == sorted(
                (key for key in merged if key.time // WIDTH < end),
                key=lambda key: (key.time, key.stream, key.position),
            )

    @invariant()
    def replicas_agree(self):
        shorter, longer = sorted((r.output for r in self.replicas), key=len)
        assert longer[: len(shorter)] == shorter

    @invariant()
    def nothing_is_lost(self):
        tuples = tuples_of(self.logs)
        names = STREAMS.elements
        for replica in self.replicas:
            has_read = {key for key, _ in tuples if key.position < replica.read[names[key.stream]]}
            late = {key for key, is_excluded in tuples if is_excluded} & has_read
            assert set(replica.late) == late
            assert sorted(map(repr, [*replica.buffer, *replica.output, *replica.late])) == sorted(
                map(repr, has_read)
            )

    def teardown(self):
        """Read everything in the end: both replicas have then emitted all four buckets."""
        for index, replica in enumerate(self.replicas):
            for stream in STREAMS:
                self.read(index=index, stream=stream, most=len(self.logs[stream]))
            self.emit(index=index, end=4)
            assert replica.serializer.emitted == 4
        assert self.replicas[0].output == self.replicas[1].output
        self.each_output_is_the_merge_of_its_buckets()
        self.nothing_is_lost()


TwoReplicas.TestCase.settings = settings(max_examples=80, stateful_step_count=40)
TestTwoReplicas = TwoReplicas.TestCase
