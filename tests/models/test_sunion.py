"""The model of SUNION counts what real lists count, and its properties catch what they should.

The other side is an explorer of our own on lists, sets and sorting, which shares no code with the
model and compares each output with a plain merge on the way.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from streamproof.lang import Map
from streamproof.models.mutants.sunion.sunion import MUTANTS
from streamproof.models.sunion.output import Output
from streamproof.models.sunion.source_log import Entry, Kind, Written
from streamproof.models.sunion.sunion import Sunion
from tests.golden import manifest
from tests.models.independent_sunion import Setting, count
from tests.models.support.hunt import hunt
from tests.models.support.shortest import shortest_break

ON_LISTS = {
    "small": Setting((2, 1), 1, 1),
    "default": Setting((2, 2), 2, 1),
    "large": Setting((3, 2), 2, 2),
    "three_streams": Setting((2, 2, 1), 1, 2),
    "three_replicas": Setting((2, 2), 1, 2, replicas=3),
}


# --------------------------------------------------------------------------- counts


@pytest.mark.parametrize(
    "size",
    [pytest.param(size, marks=[] if size == "small" else [pytest.mark.slow]) for size in ON_LISTS],
)
@pytest.mark.timeout(900)
def test_relations_and_lists_give_the_same_states(size):
    assert count(ON_LISTS[size]) == manifest.counts("sunion", size)


def test_every_size_is_counted_on_lists():
    assert set(ON_LISTS) == set(Sunion.sizes)


def test_a_model_without_streams_has_bounds_all_the_same():
    model = Sunion.sized(lengths=(), buckets=0)
    assert (model.length_max, model.buckets_max, model.times_max) == (0, 0, 0)


# --------------------------------------------------------------------------- mutants

NAMED = {
    "sunion/one-boundary",
    "sunion/no-boundary",
    "sunion/off-by-one",
    "sunion/undisciplined-source",
    "sunion/arrival-order",
}
"""The mutants of our protocol notes, 3.2 and 3.5."""


def test_every_mutant_of_the_notes_is_there():
    assert {mutant.name for mutant in MUTANTS} >= NAMED


@pytest.mark.slow
def test_every_mutant_dies_by_its_named_property_in_few_steps():
    assert set(hunt("sunion")) == {mutant.name for mutant in MUTANTS}


DISAGREEING = {
    # per mutant: a size, and the steps after which two replicas do not agree
    "sunion/union": ((2, 1), 2),
    "sunion/no-boundary": ((2, 1), 4),
    "sunion/one-boundary": ((2, 2), 6),
    "sunion/any-stream": ((2, 2), 6),
    "sunion/accept-late": ((2, 2), 8),
    "sunion/boundary-overtakes": ((2, 2), 8),
    "sunion/arrival-order": ((2, 2), 10),
}


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow] if steps > 4 else [])
        for name, (_, steps) in DISAGREEING.items()
    ],
)
def test_replicas_disagree_whatever_the_right_merge_is(name):
    (mutant,) = (mutant for mutant in MUTANTS if mutant.name == name)
    lengths, steps = DISAGREEING[name]
    way = shortest_break(mutant.model_class.sized(lengths=lengths, buckets=1), "replicas_agree")
    assert way is not None
    assert len(way) == steps


# --------------------------------------------------------------------------- outputs

PLACES = Sunion.sized(lengths=(3,), buckets=0).entries


def output(*tuples: int) -> Output:
    """Return the output that is a list."""
    found = Output(Map.fill(PLACES, False), Map.fill(PLACES, PLACES, False))
    for number in tuples:
        found = found.append(lambda e, n=number: e.index == n, lambda _x, _y: False)
    return found


def test_a_list_begins_with_itself_and_with_what_it_was():
    assert all(output(*(2, 0, 1)[:n]).is_prefix_of(output(2, 0, 1)) for n in range(4))


@pytest.mark.parametrize("other", [(2,), (2, 1), (0, 2, 1), (0, 1, 2), ()], ids=str)
def test_a_list_does_not_begin_with_another_one(other):
    assert not output(2, 0).is_prefix_of(output(*other))


def test_tuples_that_are_appended_together_are_in_the_order_that_is_given():
    chosen = output(1).append(lambda e: e.index != 1, lambda x, y: x.index > y.index)
    assert chosen == output(1, 2, 0)


def test_a_tuple_that_comes_twice_comes_before_itself():
    (x, y, _) = PLACES
    twice = output(0, 1, 0)
    assert twice.has_before(x, x)
    assert not twice.has_before(y, y)


# --------------------------------------------------------------------------- the right merge


def test_the_right_merge_has_what_is_not_behind_a_boundary_that_excludes_it():
    model = Sunion.sized(lengths=(3, 1), buckets=2, width=2)
    log = (
        Written(Kind.TUPLE, 3, 1),
        Written(Kind.BOUNDARY, 2, 1),
        Written(Kind.TUPLE, 1, 0),  # late
        Written(Kind.TUPLE, 2, 1),
    )
    state = next(model.initial_states())
    logs = Map.build(model.entries, lambda e: log[e.index])
    merge = model.merge(replace(state, logs=logs))
    assert [e.index for e, is_in in merge.contains.items() if is_in] == [0, 3]
    assert merge.has_before(Entry(3), Entry(0))
    assert [model.is_disciplined(logs, stream) for stream in model.streams] == [False, True]
