"""The exchange on two nodes: one lane is counted independently, and four are walked through."""

from __future__ import annotations

import pytest

from streamproof.checker import check
from streamproof.checker.engines import EngineName
from streamproof.checker.native import engine as native
from streamproof.checker.simulate import simulate
from streamproof.checker.walks import Plan
from streamproof.models.flux.exchange import FluxExchange
from streamproof.models.flux.flux import Flux
from streamproof.models.flux.state import Partition
from streamproof.models.kit.verdict import Status
from streamproof.models.mutants.flux.flux import WrongAck
from tests.golden import manifest
from tests.models.independent_flux import Setting, count
from tests.models.support.shortest import mistaken


def test_each_node_hosts_primaries_and_secondaries():
    model = FluxExchange.sized(sources=2, sinks=2)
    for node in model.nodes:
        copies = {model.hosted[node, partition].index for partition in model.partitions}
        assert copies == {0, 1}
    first, second = model.nodes
    assert all(
        model.hosted[first, Partition(p)] != model.hosted[second, Partition(p)] for p in range(4)
    )


def test_machines_and_the_text_of_the_notes_give_the_same_states():
    assert count(Setting(1, 1, 1, acks=1, nodes=True)) == manifest.counts("flux_exchange", "small")


PLAN = Plan(400, 150, 5)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_four_lanes_on_two_nodes_hold_on_walks():
    model = FluxExchange.sized(sources=2, sinks=2, failures=2)
    report = simulate(model, plan=PLAN, engine=EngineName.NATIVE)
    assert report.verdict.status is Status.SAMPLED
    assert all(part.taken for part in report.coverage)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_mistake_in_four_lanes_is_walked_into():
    model = mistaken(WrongAck, FluxExchange).sized(sources=2, sinks=2, failures=2)
    report = simulate(model, plan=PLAN, engine=EngineName.NATIVE)
    assert report.verdict.status is Status.REFUTED


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_two_lanes_into_one_consumer_hold_on_walks():
    model = Flux.sized(sources=2, sinks=1, tuples=2, source_failures=2, sink_failures=2)
    report = simulate(model, plan=PLAN, engine=EngineName.NATIVE)
    assert report.verdict.status is Status.SAMPLED
    assert all(part.taken for part in report.coverage)


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    ("size", "safety"),
    [({"sources": 2, "acks": 1}, False), ({"sources": 2, "sinks": 2, "acks": 0}, True)],
    ids=["two-lanes", "four-lanes-without-acks"],
)
def test_several_lanes_on_two_nodes_are_searched_to_the_end(size, safety):
    report = check(FluxExchange.sized(**size), engine=native.explore, liveness=not safety)
    assert report.verdict.status is Status.EXHAUSTED
