"""A serializer without Spark: its output is a function of the streams, and never waits too long."""

from __future__ import annotations

import copy
import itertools
import json
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamproof.protocols.dpc import Policy
from streamproof.protocols.sunion import Key, precedes
from streamproof.spark_bindings.errors import UnknownFormat, WrongArgument
from streamproof.spark_bindings.storage.formats import FORMAT, FORMAT_KEY
from streamproof.spark_bindings.sunion.dpc import NOTHING
from streamproof.spark_bindings.sunion.keys import key_of
from streamproof.spark_bindings.sunion.pack import ORIGIN, PARTITION, Pack
from streamproof.spark_bindings.sunion.progress import Progress
from streamproof.spark_bindings.sunion.rows import STREAM, from_blob
from streamproof.spark_bindings.sunion.state import decode
from streamproof.spark_bindings.sunion.tuple_type import TupleType
from tests.spark.support.drawn_streams import LATENESS, cuts, streams
from tests.spark.support.merging import (
    SCHEMA,
    SETTINGS,
    Replica,
    Row,
    kinds,
    of_stream,
    reference,
    rows_of,
    stored,
    table,
    waiting_at_most,
)

NAMES = SETTINGS.streams
WAIT_MS = 1000


@settings(max_examples=50)
@given(streams(), st.data())
def test_the_output_depends_on_the_streams_alone(whole, data):
    batches = data.draw(st.integers(1, 6))
    parts = {name: cuts(data, rows, batches) for name, rows in whole.items()}
    replica = Replica()
    for number in range(batches):
        tasks = {}
        for name in data.draw(st.permutations(SETTINGS.streams)):
            # Within a batch, rows come in any order, from any number of tasks.
            rows = data.draw(st.permutations(parts[name][number]))
            tasks[name] = [table(part, name) for part in cuts(data, rows, 2)]
        replica.merge(tasks)
    expected, late = reference(whole)
    assert replica.rows() == expected
    keys = [Key(row.second, NAMES.index(row.stream), row.position) for row in expected]
    assert all(precedes(*pair) for pair in itertools.pairwise(keys))
    assert set(replica.rows(TupleType.LATE)) == late
    assert len(replica.rows(TupleType.LATE)) == len(late)
    assert replica.view() == (expected, [])


@settings(max_examples=40)
@given(streams(late=False), st.data())
def test_disorder_within_the_lateness_changes_nothing(whole, data):
    """Rows overtake others of their stream across batches, as long as they lag by no more."""
    batches = data.draw(st.integers(1, 6))
    replica = Replica()
    left = {name: list(rows) for name, rows in whole.items()}
    newest = dict.fromkeys(whole, -1)
    for number in range(batches):
        taken = {}
        for name, rows in left.items():
            count = len(rows) if number == batches - 1 else data.draw(st.integers(0, len(rows)))
            chosen = sorted(rows[: count + 3], key=lambda row: row.second)[:count]
            high = max([newest[name], *(row.second for row in chosen)])
            # Nothing that would become late by what has come may stay behind.
            chosen = [row for row in rows if row in chosen or row.second < high - LATENESS]
            newest[name] = max([high, *(row.second for row in chosen)])
            left[name] = [row for row in rows if row not in chosen]
            taken[name] = chosen
        replica.batch(**taken)
    assert replica.rows(TupleType.LATE) == []
    assert replica.rows() == reference(whole)[0]


def test_ties_are_broken_by_stream_and_then_by_position():
    replica = Replica()
    replica.batch(jfk=rows_of([3, 3, 40]), ewr=rows_of([3, 1, 3, 40]))
    assert [(row.second, row.stream, row.position) for row in replica.rows()] == [
        (1, "ewr", 1),
        (3, "ewr", 0),
        (3, "ewr", 2),
        (3, "jfk", 0),
        (3, "jfk", 1),
    ]


def test_a_bucket_waits_for_every_stream():
    replica = Replica()
    assert replica.batch(ewr=rows_of([1, 2, 100])) == []
    # 14 - 5 is still in the first bucket: only that nothing came before it is known.
    assert kinds(replica.batch(jfk=rows_of([14]))) == ["BOUNDARY"]
    assert kinds(replica.batch(jfk=rows_of([15], start=1))) == ["INSERTION", "BOUNDARY"]
    assert [row.second for row in replica.rows()] == [1, 2]


def test_rows_leave_the_state_with_their_bucket():
    replica = Replica()
    for start in range(0, 200, 4):
        seconds = range(start, start + 4)
        replica.batch(ewr=rows_of(seconds, start), jfk=rows_of(seconds, start))
        assert len(replica.blobs) <= 8  # blobs of at most two buckets that are open, a batch each
    assert {bucket for bucket, _ in replica.blobs} == {19}


def test_a_row_without_time_or_position_is_late():
    replica = Replica()
    rows = table(rows_of([1, 50]), "ewr")
    columns = {"ts": [None, rows["ts"][0].as_py()], "seq": [7, None], "text": ["a", "b"]}
    broken = pa.table(columns, schema=SCHEMA)
    said = replica.merge({"ewr": [pa.concat_tables([rows, broken])]})
    assert kinds(said) == ["LATE"]
    assert said[0].rows["text"].to_pylist() == ["a", "b"]


def test_a_serializer_without_rows_learns_of_progress():
    two = replace(SETTINGS, partitions=2)
    origins = pa.array([0, 1, 0], pa.int32())
    rows = table(rows_of([1, 2, 30]), "ewr").append_column(ORIGIN, origins)
    found = [
        (said[PARTITION], said["rows"], said["progress"])
        for packed in Pack(two)(iter(rows.to_batches()))
        for said in packed.to_pylist()
    ]
    assert [(key, blob is None) for key, blob, _ in found] == [
        (key_of(0), False),
        (key_of(1), False),
        (key_of(0), True),
        (key_of(1), True),
    ]
    assert from_blob(found[1][1])["seq"].to_pylist() == [1]
    assert ORIGIN not in from_blob(found[1][1]).column_names


def test_a_task_packs_the_streams_that_it_gets_apart():
    jfk, ewr = of_stream(table(rows_of([9]), "jfk"), 1), of_stream(table(rows_of([30]), "ewr"), 0)
    said = [
        row
        for part in Pack(SETTINGS)(iter([*ewr.to_batches(), *jfk.to_batches()]))
        for row in part.to_pylist()
    ]
    assert [(row["stream"], row["rows"] is not None) for row in said] == [
        (0, True),
        (1, True),
        (0, False),
        (1, False),
    ]
    assert from_blob(said[1]["rows"])["text"].to_pylist() == ["jfk 0"]
    assert [Progress.from_bytes(row["progress"]).end(0) for row in said[2:]] == [2, 0]


@pytest.mark.parametrize("partitions", [2, 1000])
def test_rows_keep_their_order_on_their_way_to_a_serializer(partitions):
    settings = replace(SETTINGS, streams=tuple(map(str, range(127))), partitions=partitions)
    origins = np.arange(30) * 2**16 % (127 * partitions)  # some are one in their last 16 bits
    stream, partition = np.divmod(origins, partitions)
    rows = table(rows_of(range(30)), "ewr").append_column(ORIGIN, pa.array(origins, pa.int32()))
    again = pa.concat_tables([rows, rows.slice(0, 10)])
    found = {
        (said["stream"], said[PARTITION]): from_blob(said["rows"])
        for packed in Pack(settings)(iter(again.to_batches()))
        for said in packed.to_pylist()
        if said["rows"] is not None
    }
    assert {key: blob["seq"].to_pylist() for key, blob in found.items()} == {
        (s, key_of(p)): [n, n] if n < 10 else [n]
        for n, (s, p) in enumerate(zip(stream.tolist(), partition.tolist(), strict=True))
    }
    assert all(set(blob[STREAM].to_pylist()) == {s} for (s, _), blob in found.items())


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        ("bucket", {"bucket_us": 2 * SETTINGS.bucket_us}),
        ("lateness", {"lateness_us": 0}),
        ("streams", {"streams": ("ewr", "lga")}),
        ("partitions", {"partitions": 2}),
        ("columns", {"columns": (*SETTINGS.columns, ("gate", "string"))}),
    ],
)
def test_a_checkpoint_of_other_settings_is_refused(name, changed):
    with pytest.raises(WrongArgument, match=f"runs with {name}=.* was written with {name}="):
        decode(stored(SETTINGS), replace(SETTINGS, **changed), 0)


def test_a_state_that_a_later_version_wrote_is_refused():
    later = {**json.loads(stored(SETTINGS)), FORMAT_KEY: FORMAT + 1}
    with pytest.raises(UnknownFormat, match="state of a serializer"):
        decode(json.dumps(later), SETTINGS, 0)
    of_0_1_0 = {name: part for name, part in later.items() if name != FORMAT_KEY}
    assert decode(json.dumps(of_0_1_0), SETTINGS, 0) == decode(stored(SETTINGS), SETTINGS, 0)


def test_a_bound_does_not_come_or_go_with_a_restart():
    bounded = waiting_at_most(WAIT_MS)
    with pytest.raises(WrongArgument, match="runs with a max_delay, .* written with no max_delay"):
        decode(stored(SETTINGS), bounded, 0)
    with pytest.raises(WrongArgument, match="runs with no max_delay, .* written with a max_delay"):
        decode(stored(bounded), SETTINGS, 0)


def test_a_changed_wait_or_policy_counts_from_the_batch_after_the_next():
    """The next batch may be one that ran before a crash, and must come out as it did then."""
    replica = Replica(waiting_at_most(WAIT_MS))
    replica.batch(0, ewr=rows_of([1]))
    replica.settings = waiting_at_most(2 * WAIT_MS, Policy.SUSPEND)
    crashed = copy.deepcopy(replica)
    expected = replica.batch(WAIT_MS, ewr=[Row(2, 1)])
    assert [emission.kind for emission in expected] == [TupleType.TENTATIVE]
    crashed.settings = waiting_at_most(WAIT_MS)  # and the first restart with others is not the last
    assert crashed.batch(WAIT_MS, ewr=[Row(2, 1)]) == expected
    assert replica.batch(WAIT_MS + 1, ewr=[Row(3, 2)]) == []  # suspended from here on


def test_all_calls_of_a_batch_have_the_same_wait():
    """A batch's rows come first, then its timers, which saw the new settings once."""
    replica = Replica(waiting_at_most(WAIT_MS))
    replica.batch(0, ewr=rows_of([1]))
    replica.settings = waiting_at_most(WAIT_MS, Policy.SUSPEND)
    replica.batch(WAIT_MS, ewr=[Row(2, 1)])
    assert kinds(replica.batch(WAIT_MS, ewr=[Row(3, 2)])) == ["TENTATIVE"]
    assert replica.batch(WAIT_MS + 1, ewr=[Row(4, 3)]) == []


# Bounded: what comes out before it is complete


def test_a_short_failure_gives_no_tentative_row():
    replica = Replica(waiting_at_most(WAIT_MS))
    replica.batch(0, ewr=rows_of([1, 40]))
    replica.batch(WAIT_MS - 1, jfk=rows_of([2, 40]))
    assert kinds(replica.said) == ["INSERTION", "BOUNDARY"]
    assert [row.second for row in replica.rows()] == [1, 2]


def stalled(begin: int, seconds: int, wait_seconds: int) -> Replica:
    """Feed a row a second to each stream; one is silent for a while, then brings what it lacks."""
    replica = Replica(waiting_at_most(wait_seconds * 1000))
    for now in range(100):
        arrived = {"ewr": [Row(now, now)]}
        if not begin <= now < begin + seconds:
            first = begin if now == begin + seconds else now
            arrived["jfk"] = [Row(second, second) for second in range(first, now + 1)]
        replica.batch(now * 1000, **arrived)
    return replica


@pytest.mark.parametrize("begin", range(20, 35))
def test_a_live_stream_may_be_silent_for_what_bucket_and_lateness_leave_of_the_wait(begin):
    needed = (SETTINGS.bucket_us + SETTINGS.lateness_us) // 1_000_000
    assert "TENTATIVE" not in kinds(stalled(begin, 12, needed + 12).said)
    longer = kinds(stalled(begin, 12 + needed, needed + 12).said)
    assert longer.count("TENTATIVE") > 0
    assert longer.count("UNDO") == longer.count("REC_DONE") > 0


@pytest.mark.parametrize("policy", Policy)
def test_a_long_failure_is_bridged_and_corrected(policy):
    bounded = waiting_at_most(WAIT_MS, policy)
    replica = Replica(bounded)
    replica.batch(0, ewr=rows_of([1, 12]))
    assert kinds(replica.run(NOTHING, WAIT_MS)) == ["TENTATIVE"]
    assert replica.view()[1] == replica.rows(TupleType.TENTATIVE)
    assert kinds(replica.batch(WAIT_MS + 10, ewr=rows_of([25], 2))) == (
        ["TENTATIVE"] if policy is Policy.PROCESS else []
    )
    later = kinds(replica.run(NOTHING, 2 * WAIT_MS + 10))
    assert later == (["TENTATIVE"] if policy is Policy.DELAY else [])
    said = replica.batch(5 * WAIT_MS, ewr=rows_of([60], 3), jfk=rows_of([2, 60]))
    assert kinds(said)[0] == "UNDO"
    assert kinds(said)[-1] == "REC_DONE"
    whole = {"ewr": rows_of([1, 12, 25, 60]), "jfk": rows_of([2, 60])}
    assert replica.view()[0] == reference(whole)[0]


def test_what_was_revoked_comes_out_again_if_the_failure_goes_on():
    replica = Replica(waiting_at_most(WAIT_MS))
    replica.batch(0, ewr=rows_of([1]))
    replica.run(NOTHING, WAIT_MS)
    replica.batch(WAIT_MS + 500, ewr=[Row(50, 1)])
    assert [row.second for row in replica.view()[1]] == [1, 50]
    # The bucket that waited is complete, the one behind it is not: corrections begin.
    said = replica.batch(WAIT_MS + 600, jfk=rows_of([2, 30]))
    assert kinds(said) == ["UNDO", "INSERTION", "BOUNDARY"]
    assert replica.view()[1] == []
    assert kinds(replica.run(NOTHING, 2 * WAIT_MS + 500)) == ["TENTATIVE"]
    assert [row.second for row in replica.view()[1]] == [30, 50]


@pytest.mark.parametrize("policy", Policy)
def test_what_an_input_that_lags_for_ever_has_passed_is_corrected(policy):
    """It stays behind by far more than the others' rows may wait, a row of each every second."""
    replica, lag, seconds = Replica(waiting_at_most(WAIT_MS, policy)), 50, 250
    held = []
    for second in range(seconds):
        late = [Row(second - lag, second - lag)] if second >= lag else []
        replica.batch(second * 1_000, ewr=[Row(second, second)], jfk=late)
        _, index, _ = decode(replica.stored, replica.settings, second * 1_000)
        held.append(sum(part.rows for part in index.waiting.values()))
    stable = replica.view()[0]
    whole = {"ewr": rows_of(range(seconds)), "jfk": rows_of(range(seconds - lag))}
    assert stable == reference(whole)[0][: len(stable)]
    assert max(held[-lag:]) <= 2 * max(held[:lag]) + 50  # of the width of buckets, and lateness
    assert len(stable) > seconds - 2 * lag
    shown = len(replica.rows(TupleType.TENTATIVE))
    assert shown <= 2 * len(stable) + max(held)


def test_what_is_complete_is_corrected_though_the_bound_was_raised_meanwhile():
    """Then nothing is overdue any more, so there is nothing that corrections must wait for."""
    replica = Replica(waiting_at_most(WAIT_MS))
    replica.batch(0, ewr=rows_of([1, 25]), jfk=rows_of([1]))
    replica.batch(WAIT_MS)
    assert len(replica.rows(TupleType.TENTATIVE)) == 3
    replica.settings = waiting_at_most(100 * WAIT_MS)
    replica.batch(WAIT_MS + 1)  # the new bound holds from here on
    assert replica.view()[0] == []
    replica.batch(WAIT_MS + 2, jfk=rows_of([25], 1))
    assert replica.view() == ([(1, "ewr", 0), (1, "jfk", 0)], [])


@settings(max_examples=50)
@given(streams(), st.data(), st.sampled_from(Policy))
def test_corrections_lead_to_the_stream_without_failures(whole, data, policy):
    """Batches come at any time; in the end, both streams go far on, and everything is corrected."""
    batches = data.draw(st.integers(1, 8))
    parts = {name: cuts(data, rows, batches) for name, rows in whole.items()}
    replica = Replica(waiting_at_most(WAIT_MS, policy))
    now_ms = 0
    for number in range(batches):
        now_ms += data.draw(st.integers(0, WAIT_MS))
        replica.batch(now_ms, **{name: part[number] for name, part in parts.items()})
        if data.draw(st.booleans()):
            now_ms += data.draw(st.integers(0, WAIT_MS))
            replica.run(NOTHING, now_ms)
        node, index, _ = decode(replica.stored, replica.settings, now_ms)
        waiting = index.waiting
        assert len(replica.view()[1]) == node.tentative
        assert node.tentative == sum(part.shown_rows for part in waiting.values())
        if policy is not Policy.SUSPEND:
            # Whatever has waited for so long is out, in one form or the other.
            overdue = [w for w in waiting.values() if w.since_ms + WAIT_MS <= now_ms]
            assert all(w.shown_rows == w.rows for w in overdue if w.rows)
    last = max(row.second for rows in whole.values() for row in [Row(0, 0), *rows]) + 100
    end = {name: [Row(last, 1000), Row(last + 50, 1001)] for name in whole}
    replica.batch(now_ms + 10, **end)
    replica.batch(now_ms + 10, **{name: [Row(last + 200, 1002)] for name in whole})
    whole = {name: [*rows, *end[name], Row(last + 200, 1002)] for name, rows in whole.items()}
    expected, late = reference(whole)
    assert replica.view()[0] == expected
    assert set(replica.rows(TupleType.LATE)) == late
