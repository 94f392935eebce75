"""The permission machine, event by event, and any number of them against a plain table of locks.

The oracle is what a reader would write on a blackboard: who has whose promise, and who stabilizes.
Hypothesis chooses what happens next, among it crashes; messages travel in real queues.
"""

from __future__ import annotations

from collections import deque

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamproof.lang import Disabled, Domain, Map
from streamproof.protocols import permission as protocol
from streamproof.protocols.permission import (
    Permission,
    Phase,
    Request,
    SendGrant,
    SendReleases,
    SendRequest,
    Stabilize,
)

NAMES = ("ewr", "jfk", "lga", "phl", "bos")


def fresh(names=NAMES[:2]):
    nothing = Map.fill(Domain.of("replica", names), Request.NONE)
    return Permission(Phase.IDLE, nothing, nothing)


def places(names=NAMES[:2]):
    return Map.build(Domain.of("replica", names), names.index)


# --------------------------------------------------------------------------- event by event


def requesting(*granted):
    """Give a machine that wants to stabilize and has some grants."""
    machine, _ = protocol.begin(fresh())
    for name in granted:
        machine, _ = protocol.request(machine, places(), name)
        machine, _ = protocol.on_grant(machine, name)
    return machine


def test_replicas_are_asked_in_order_each_when_those_before_have_granted():
    machine = requesting()
    with pytest.raises(Disabled):
        protocol.request(machine, places(), "jfk")
    machine, effects = protocol.request(machine, places(), "ewr")
    assert effects == (SendRequest("ewr"),)
    with pytest.raises(Disabled):
        protocol.request(machine, places(), "ewr")
    with pytest.raises(Disabled):
        protocol.request(machine, places(), "jfk")
    machine, effects = protocol.on_grant(machine, "ewr")
    assert effects == ()
    assert protocol.request(machine, places(), "jfk")[1] == (SendRequest("jfk"),)


def test_who_wants_nothing_asks_nobody():
    with pytest.raises(Disabled):
        protocol.request(fresh(), places(), "ewr")


def test_the_last_grant_lets_a_replica_stabilize():
    machine, _ = protocol.request(requesting("ewr"), places(), "jfk")
    machine, effects = protocol.on_grant(machine, "jfk")
    assert (machine.phase, effects) == (Phase.STABILIZING, (Stabilize(),))
    with pytest.raises(Disabled):
        protocol.begin(machine)


def test_a_replica_that_is_done_releases_all_grants_and_may_begin_again():
    machine, effects = protocol.finish(requesting("ewr", "jfk"))
    assert effects == (SendReleases(),)
    assert machine == fresh()
    with pytest.raises(Disabled):
        protocol.finish(machine)


def test_one_grant_is_outstanding_at_a_time():
    machine, _ = protocol.on_request(fresh(), "ewr")
    machine, _ = protocol.on_request(machine, "jfk")
    machine, effects = protocol.grant(machine, "jfk")
    assert effects == (SendGrant("jfk"),)
    with pytest.raises(Disabled):
        protocol.grant(machine, "ewr")
    machine, _ = protocol.on_release(machine, "jfk")
    assert protocol.grant(machine, "ewr")[1] == (SendGrant("ewr"),)


def test_nothing_is_granted_that_was_not_asked_for():
    with pytest.raises(Disabled):
        protocol.grant(fresh(), "ewr")
    with pytest.raises(AssertionError):
        protocol.on_grant(requesting(), "ewr")


def test_a_request_behind_a_request_breaks_a_claim():
    machine, _ = protocol.on_request(fresh(), "ewr")
    with pytest.raises(AssertionError):
        protocol.on_request(machine, "ewr")
    with pytest.raises(AssertionError):
        protocol.on_release(machine, "ewr")


def test_the_grant_of_a_crashed_replica_is_not_needed():
    machine, _ = protocol.request(requesting("ewr"), places(), "jfk")
    machine, effects = protocol.on_failure(machine, "jfk")
    assert (machine.phase, effects) == (Phase.STABILIZING, (Stabilize(),))


def test_a_crash_in_the_middle_waives_one_grant_and_no_other():
    machine, _ = protocol.request(requesting(), places(), "ewr")
    machine, effects = protocol.on_failure(machine, "ewr")
    assert (machine.phase, effects) == (Phase.REQUESTING, ())
    assert protocol.request(machine, places(), "jfk")[1] == (SendRequest("jfk"),)


def test_a_crashed_replica_holds_no_grant_and_waits_for_none():
    for steps in (protocol.on_request,), (protocol.on_request, protocol.grant):
        machine = fresh()
        for step in steps:
            machine, _ = step(machine, "jfk")
        assert protocol.on_failure(machine, "jfk") == (fresh(), ())


def test_a_release_of_what_an_earlier_incarnation_granted_says_nothing():
    assert protocol.on_release(fresh(), "jfk") == (fresh(), ())


# --------------------------------------------------------------------------- against an oracle


class Replicas:
    """Replicas with queues between them, and the table that they must agree with."""

    def __init__(self, names):
        self.names, self.order = names, places(names)
        self.machines = {name: fresh(names) for name in names}
        self.queues = {(a, b): deque() for a in names for b in names}
        self.down = set()
        self.promised_to = dict.fromkeys(names)  # whose grant is with whom, or on its way
        self.stabilizing = None
        self.stabilized = dict.fromkeys(names, 0)

    def step(self, name, transition, *arguments):
        self.machines[name], effects = transition(self.machines[name], *arguments)
        for effect in effects:
            match effect:
                case SendRequest(to):
                    self.send(name, to, "request")
                case SendGrant(to):
                    assert self.promised_to[name] is None
                    self.promised_to[name] = to
                    self.send(name, to, "grant")
                case SendReleases():
                    assert self.stabilizing == name
                    self.stabilizing = None
                    for to in self.names:
                        self.send(name, to, "release")
                case Stabilize():
                    assert self.stabilizing is None
                    assert self.promised_to[name] == name
                    self.stabilizing = name
                    self.stabilized[name] += 1

    def send(self, name, to, what):
        broken = (
            "failure" in self.queues[to, name]
        )  # the connection is to an incarnation that is not
        if to in self.down and what == "request" and not broken:
            self.queues[to, name].append("failure")
        elif to not in self.down and not broken:
            self.queues[name, to].append(what)

    def receive(self, name, to):
        what = self.queues[name, to].popleft()
        match what:
            case "request":
                self.step(to, protocol.on_request, name)
            case "grant":
                self.step(to, protocol.on_grant, name)
            case "release":
                if self.promised_to[to] == name:
                    self.promised_to[to] = None
                self.step(to, protocol.on_release, name)
            case "failure":
                if self.promised_to[to] == name:
                    self.promised_to[to] = None
                self.step(to, protocol.on_failure, name)

    def crash(self, name):
        self.machines[name], self.promised_to[name] = fresh(self.names), None
        self.down.add(name)
        if self.stabilizing == name:
            self.stabilizing = None
        for other in self.names:
            self.queues[name, other].clear()
            self.queues[other, name].clear()
            if other not in self.down:
                self.queues[name, other].append("failure")

    def possible(self):
        """List everything that can happen but crashes, restarts and new wishes."""
        for name in sorted(set(self.names) - self.down):
            machine = self.machines[name]
            if machine.phase is Phase.REQUESTING:
                unasked = [n for n in self.names if machine.made[n] is Request.NONE]
                asked = any(machine.made[n] is Request.PENDING for n in self.names)
                if unasked and not asked:
                    yield self.step, name, protocol.request, self.order, unasked[0]
            if machine.phase is Phase.STABILIZING:
                yield self.step, name, protocol.finish
            for other in self.names:
                if machine.received[other] is Request.PENDING and not self.promised_to[name]:
                    yield self.step, name, protocol.grant, other
        for (name, other), queue in self.queues.items():
            if queue:
                yield self.receive, name, other

    def settle(self):
        """Let things happen, one of each replica in turn, until nothing can."""
        for turn in range(10_000):
            possible = list(self.possible())
            if not possible:
                return
            what, *arguments = possible[turn % len(possible)]
            what(*arguments)
        raise AssertionError("they never come to rest")


def run(names, choices):
    """Let choices say what happens; give the replicas."""
    replicas = Replicas(names)
    for kind, number in zip(choices[::2], choices[1::2], strict=False):
        name = names[number % len(names)]
        if kind < 6 and name not in replicas.down:
            replicas.crash(name)
        elif kind < 24 and name in replicas.down:
            replicas.down.remove(name)
        elif kind < 56 and name not in replicas.down:
            if replicas.machines[name].phase is Phase.IDLE:
                replicas.step(name, protocol.begin)
        elif possible := list(replicas.possible()):
            what, *arguments = possible[number % len(possible)]
            what(*arguments)
        check(replicas)
    return replicas


def check(replicas):
    """Compare the machines with the table."""
    stabilizing = {n for n in replicas.names if replicas.machines[n].phase is Phase.STABILIZING}
    assert stabilizing == {replicas.stabilizing} - {None}
    for name in replicas.names:
        received = replicas.machines[name].received
        granted = [other for other in replicas.names if received[other] is Request.GRANTED]
        assert granted == [part for part in [replicas.promised_to[name]] if part]


CHOICES = st.binary(min_size=200, max_size=600)


@settings(max_examples=150)
@given(st.integers(2, 5), CHOICES)
def test_whatever_happens_one_replica_stabilizes_at_a_time(size, choices):
    run(NAMES[:size], choices)


@settings(max_examples=100)
@given(st.integers(2, 5), CHOICES)
def test_in_the_end_everybody_who_wants_to_has_stabilized(size, choices):
    replicas = run(NAMES[:size], choices)
    waiting = [n for n in replicas.names if replicas.machines[n].phase is Phase.REQUESTING]
    before = dict(replicas.stabilized)
    replicas.settle()
    assert all(machine.phase is Phase.IDLE for machine in replicas.machines.values())
    assert [n for n in replicas.names if replicas.stabilized[n] > before[n]] == waiting


def test_the_chosen_runs_get_somewhere():
    seen = []

    @settings(max_examples=150)
    @given(st.integers(2, 5), CHOICES)
    def look(size, choices):
        replicas = run(NAMES[:size], choices)
        seen.append((sum(replicas.stabilized.values()), len(replicas.down)))

    look()
    assert max(times for times, _ in seen) > 2
    assert any(times and down for times, down in seen)
