"""Symmetry: what is found alike, orbits against all permutations, and a report like any other."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import permutations, product
from math import comb, factorial
from typing import Annotated

import pytest

from benchmarks.traced_two_phase_commit import MODEL as TWO_PHASE_COMMIT
from streamproof.checker import Limits, check
from streamproof.checker import explore as reference
from streamproof.checker.counterexample import retrace
from streamproof.checker.engines import (
    EngineName,
    SymmetryRefused,
    engine_of,
    explore_natively,
    symmetry_for,
)
from streamproof.checker.native.code.canonical import _exchanges, _network
from streamproof.checker.native.code.program import Program
from streamproof.checker.native.code.symmetry import moved
from streamproof.checker.native.engine import explore as native
from streamproof.checker.native.search import Search
from streamproof.checker.progress import ignore
from streamproof.lang import (
    Domain,
    Map,
    Model,
    Range,
    action,
    always,
    count,
    final,
    init,
    require,
)
from streamproof.models.kit import registry
from streamproof.models.kit.sizes import at_size
from streamproof.models.kit.verdict import Refuted, Undetermined
from tests.checker.native.support.agreement import KINDS, agree, agree_at_random, reachable
from tests.checker.native.support.random_models import random_models
from tests.checker.native.support.works import Room, Shift, Worker, Works, works
from tests.support.strategies import SHRINKING


def symmetric(model, **options):
    return native(model, threads=1, symmetry=True, **options)


def search(model):
    found = Search(Program(model, {}, symmetry=True), Limits(), ignore, 1)
    found.run()
    return found


def alike(model):
    """Give the sets of elements that are found alike, by domain."""
    used = Program(model, {}, symmetry=True).symmetry
    return {(group.domain, group.members) for group in used.used} if used else set()


# What is alike


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (works(3, 2), {("Worker", (0, 1, 2)), ("Room", (0, 1))}),
        (works(3, 1), {("Worker", (0, 1, 2))}),
        (works(4, 1, may=(1, 3)), {("Worker", (0, 2)), ("Worker", (1, 3))}),
        (works(3, 1, may=(1,)), {("Worker", (0, 2))}),
        (works(3, 1, first=(2,)), {("Worker", (0, 1))}),
        (works(3, 1, may=(0,), first=(1,)), set()),
    ],
)
def test_elements_are_alike_unless_a_constant_or_an_initial_state_tells_them_apart(model, expected):
    assert alike(model) == expected
    assert agree(model) == "whole"


def test_more_orders_than_can_be_tried_are_not():
    model = works(9, 1)
    (group,) = Program(model, {}, symmetry=True).symmetry.tried
    assert len(group.members) == 7
    assert not Program(model, {}, symmetry=True).symmetry.columns


def test_processes_of_a_ring_are_not_alike():
    assert alike(registry.build("chandy_lamport", "ring")) == set()
    assert alike(registry.build("chandy_lamport", "large")) == {("Process", (1, 2))}


# Orbits


def images(model, state):
    """List all that permutations of workers and rooms make of a state, without our own code."""
    may = {w for w in model.workers if model.may[w]}
    first = {w for w in model.workers if model.first[w]}
    for orders in product(permutations(model.workers), permutations(model.rooms)):
        to = {
            key: value
            for d, o in zip((model.workers, model.rooms), orders, strict=True)
            for key, value in zip(d, o, strict=True)
        }
        if {to[w] for w in may} == may and {to[w] for w in first} == first:
            back = {value: key for key, value in to.items()}
            yield Shift(
                Map.build(model.workers, lambda w, b=back: state.busy[b[w]]),
                Map.build(model.workers, model.rooms, lambda w, r, b=back: state.doors[b[w], b[r]]),
                to[state.last],
            )


@pytest.mark.parametrize(
    "model",
    [works(3, 2), works(2, 3), works(4, 1, may=(1, 3)), works(3, 1, first=(2,)), works(1, 3)],
)
def test_one_state_of_every_orbit_is_kept_and_stands_for_all_of_it(model):
    states = reachable(model)
    orbits = {frozenset(images(model, state)) for state in states}
    found = search(model)
    assert found.kept == len(orbits)
    assert found.distinct == len(states)
    layout, encoder = found.program.layout, found.program.encoder
    (part,) = found.partitions
    weights = [part.program.weigh(part.state(n).ctypes.data, 1) for n in range(part.count)]
    kept = [encoder.decode(layout.unpack(part.state(n))) for n in range(part.count)]
    orbits_kept = (frozenset(images(model, state)) for state in kept)
    sizes = dict(zip(orbits_kept, weights, strict=True))
    assert sizes == {orbit: len(orbit) for orbit in orbits}


@pytest.mark.parametrize("model", [works(3, 2), works(4, 1, may=(1, 3)), works(2, 3)])
def test_a_permutation_to_the_representative_is_found(model):
    found = search(model)
    program = found.program
    states = [program.encoder.encode(state) for state in list(reachable(model))[::7]]
    packed = program.layout.pack(states)
    for state, row in zip(states, program.represent(packed), strict=True):
        wanted = program.layout.unpack(row)
        assert moved(program.encoder, state, program.symmetry.between(state, wanted)) == wanted


def test_no_permutation_leads_out_of_an_orbit():
    model = works(3, 1)
    program = Program(model, {}, symmetry=True)
    start = next(model.initial_states())
    busy = replace(start, busy=start.busy.set(model.workers.elements[0], True))
    with pytest.raises(LookupError):
        program.symmetry.between(program.encoder.encode(start), program.encoder.encode(busy))


@pytest.mark.parametrize("managers", [1, 2, 3, 5, 6])
def test_sorted_columns_are_counted_exactly(managers):
    model = at_size(TWO_PHASE_COMMIT, {"managers": managers})
    whole, reduced = native(model, threads=1, symmetry=False), symmetric(model)
    assert reduced.counts == whole.counts
    assert (reduced.reduction is None) == (managers == 1)


def test_ten_managers_are_searched_through_a_few_thousand_states():
    found = symmetric(at_size(TWO_PHASE_COMMIT, {"managers": 10}))
    assert found.counts.distinct == 61_515_776  # as TLC and Spin count them
    assert found.counts.generated == 817_760_258
    assert found.reduction.kept == 3_300


@dataclass(frozen=True)
class Tally:
    marks: Map[tuple[Worker, Room], Annotated[int, Range(0, "ink")]]


@dataclass(frozen=True)
class Marks(Model[Tally]):
    """A column for each worker, with a cell for each room; any mark may be set."""

    workers: Domain[Worker]
    rooms: Domain[Room]
    most: int
    ink: int = 1

    @init
    def start(self) -> Tally:
        return Tally(Map.fill(self.workers, self.rooms, 0))

    @action
    def mark(self, s: Tally, w: Worker, r: Room) -> Tally:
        require(s.marks[w, r] == 0)
        require(count(self.workers, self.rooms, lambda v, q: s.marks[v, q] != 0) < self.most)
        return Tally(s.marks.set((w, r), self.ink))

    @final
    def anywhere(self, s: Tally) -> bool:
        del s
        return True


@pytest.mark.parametrize(
    ("workers", "rooms", "most", "ink"),
    [(3, 4, 3, 2**20), (20, 2, 2, 1), (5, 5, 3, 1)],  # columns of two words; many; as many
)
def test_wide_columns_and_many_elements_are_counted_exactly(workers, rooms, most, ink):
    found = symmetric(Marks(Domain(Worker, workers), Domain(Room, rooms), most, ink))
    cells = workers * rooms
    subsets = [comb(cells, marks) for marks in range(most + 1)]
    assert found.counts.distinct == sum(subsets)
    steps = sum(number * (cells - marks) for marks, number in enumerate(subsets[:-1]))
    assert found.counts.generated == 1 + steps


def test_counts_may_be_larger_than_floats_are_exact():
    found = symmetric(Marks(Domain(Worker, 60), Domain(Room, 1), 60))
    assert found.reduction.kept == 61
    assert found.counts.distinct == pytest.approx(2**60, rel=1e-12)


@pytest.mark.parametrize("count_", range(9))
def test_exchanges_lead_through_all_orders(count_):
    order = list(range(count_))
    seen = [tuple(order)]
    for at in _exchanges(count_):
        order[at], order[at + 1] = order[at + 1], order[at]
        seen.append(tuple(order))
    assert len(set(seen)) == len(seen) == factorial(count_)


@pytest.mark.parametrize("count_", range(11))
def test_the_network_sorts(count_):
    for zeros_and_ones in product((0, 1), repeat=count_):  # which is enough: the 0-1 principle
        things = list(zeros_and_ones)
        for low, high in _network(count_):
            if things[low] > things[high]:
                things[low], things[high] = things[high], things[low]
        assert things == sorted(things)


# The same report


@SHRINKING
def test_random_models_whose_elements_are_alike_are_searched_alike():
    assert len(agree_at_random(random_models(alike=True), 8)) > 1


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_more_random_models_whose_elements_are_alike_are_searched_alike():
    kinds = agree_at_random(random_models(alike=True), 150, attempt=1)
    assert set(kinds) == KINDS


def test_a_witness_is_given_for_every_element():
    model = works(4, 1, may=(1,))
    found = symmetric(model)
    expected = reference(model)
    assert found.witnesses.keys() == expected.witnesses.keys()
    for call, path in found.witnesses.items():
        assert len(path.steps) == len(expected.witnesses[call].steps)
        state = retrace(model, path).states[-1]
        assert model.ends_with(state, *call.arguments)


class Quarrel(Works):
    """Two workers with an open door each are a mistake."""

    @always
    def one_at_a_time(self, s: Shift) -> bool:
        return count(self.workers, self.rooms, lambda w, r: s.doors[w, r] and w != s.last) < 1


def test_a_counterexample_is_a_run_of_the_model():
    model = works(4, 2, kind=Quarrel)
    report = check(model, engine=symmetric)
    expected = check(model, engine=reference)
    assert isinstance(report.verdict, Refuted)
    assert report.verdict.broken == expected.verdict.broken
    assert len(report.verdict.trace) == len(expected.verdict.trace)


def test_promises_are_not_decided_with_symmetry():
    model = registry.build("token_passing", "default")
    finding = check(model, engine=symmetric).finding("every_snapshot_completes")
    assert isinstance(finding.verdict, Undetermined)
    assert "without symmetry" in finding.verdict.reasons[0]
    assert check(model, engine=symmetric, liveness=False).verdict.status.value == "EXHAUSTED"


@pytest.mark.parametrize("engine", [EngineName.AUTO, EngineName.NATIVE])
def test_symmetry_is_used_unless_promises_are_asked(engine):
    promising = registry.build("chandy_lamport", "large")
    plain = works(3, 2)
    assert symmetry_for(plain, None, engine, liveness=True)
    assert symmetry_for(promising, None, engine, liveness=False)
    assert not symmetry_for(promising, None, engine, liveness=True)
    assert not symmetry_for(plain, False, engine, liveness=True)
    with pytest.raises(SymmetryRefused, match="every_snapshot_completes .* --safety"):
        symmetry_for(promising, True, engine, liveness=True)
    assert explore_natively(promising, limits=Limits(states_max=10)).reduction is None
    assert explore_natively(plain).reduction is not None


def test_the_reference_engine_refuses_symmetry():
    with pytest.raises(SymmetryRefused, match="visits every state"):
        symmetry_for(works(), True, EngineName.REFERENCE, liveness=False)
    assert engine_of(EngineName.REFERENCE)(works(2, 1)).reduction is None
