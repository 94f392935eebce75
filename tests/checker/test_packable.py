"""What cannot be packed is refused by the native engine, and left to the reference engine."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated

import pytest

from streamproof.checker import check, engines
from streamproof.checker import explore as reference
from streamproof.checker.counterexample import BrokenModel, LeftRange
from streamproof.checker.engines import explore, explore_natively
from streamproof.checker.packable import Unpackable
from streamproof.checker.simulate import Plan, simulate
from streamproof.lang import (
    Domain,
    Element,
    Map,
    Model,
    Range,
    Untraceable,
    action,
    always,
    eventually,
    init,
    require,
)
from streamproof.models.kit.verdict import Status

MANY = 600
"""More states than the reference engine searches before the native one is asked."""


class Guest(Element): ...


@dataclass(frozen=True)
class Party:
    count: Annotated[int, Range(0, 1000)]
    who: Guest
    seen: Map[Guest, bool]


@dataclass(frozen=True)
class Invited(Model[Party]):
    guests: Domain[Guest]
    first: Guest
    begin: int = 0

    @init
    def start(self) -> Party:
        return Party(self.begin, self.first, Map.fill(self.guests, False))

    @action
    def count_on(self, s: Party) -> Party:
        require(s.count < MANY)
        return replace(s, count=s.count + 1)

    @always
    def holds(self, s: Party) -> bool:
        return True


GUESTS, STRANGERS = Domain(Guest, 3), Domain(Guest, 5)


@dataclass(frozen=True)
class TwoLists(Invited):
    others: Domain[Guest] = STRANGERS


@dataclass(frozen=True)
class Uninvited(Invited):
    unseen: Map[Guest, bool] = Map.fill(STRANGERS, False)  # noqa: RUF009 - a map never changes

    @init
    def start(self) -> Party:
        return Party(self.begin, self.first, self.unseen)


@dataclass(frozen=True)
class Bare(Model[Map[Guest, bool]]):
    guests: Domain[Guest]

    @init
    def start(self) -> Map[Guest, bool]:
        return Map.fill(self.guests, False)

    @action
    def change(self, s: Map[Guest, bool], g: Guest) -> Map[Guest, bool]:
        return s.set(g, not s[g])


UNPACKABLE = {
    "an element of no domain": (Invited(GUESTS, Guest(7)), "its first is guest7"),
    "two domains": (TwoLists(GUESTS, Guest(0)), "two different domains of Guest"),
    "a map over another domain": (
        Uninvited(GUESTS, Guest(0)),
        "unseen is a map over another domain",
    ),
    "states that are no records": (Bare(Domain(Guest, 10)), "no records"),
}


@pytest.mark.parametrize("name", UNPACKABLE)
def test_what_has_no_number_is_left_to_the_reference_engine(name):
    model, what = UNPACKABLE[name]
    with pytest.raises(Unpackable, match=what):
        explore_natively(model)
    found = explore(model)
    assert found.engine == "reference"
    assert found.counts == reference(model).counts
    assert found.counts.distinct > 500
    assert simulate(model, plan=Plan(2, 5)).sample.engine == "reference"


def test_two_domains_with_the_same_elements_are_one(monkeypatch):
    monkeypatch.setattr(engines, "FEW", engines.SMALL)
    model = TwoLists(GUESTS, Guest(0), others=GUESTS)
    assert explore(model).engine == "native"
    assert explore(model).counts == reference(model).counts


@pytest.mark.parametrize("engine", [reference, explore_natively])
def test_a_number_may_be_out_of_its_range_from_the_beginning(engine):
    with pytest.raises(LeftRange, match=r"after @init, count is 1001, outside its range 0\.\.1000"):
        engine(Invited(GUESTS, Guest(0), 1001))


class Doubtful(Invited):
    @init
    def start(self) -> Party:
        require(self.begin > 0)
        return super().start()


@pytest.mark.parametrize(
    ("engine", "error", "message"),
    [
        (reference, BrokenModel, r"@init failed, since a `require` in it .*test_packable.py:\d+"),
        (
            explore_natively,
            Untraceable,
            r"start .*test_packable.py:\d+.* @init, which",
        ),
    ],
)
def test_an_init_has_no_guard(engine, error, message):
    with pytest.raises(error, match=message):
        engine(Doubtful(GUESTS, Guest(0)))


@dataclass(frozen=True)
class Nobody(Model[Party]):
    guests: Domain[Guest]

    @init
    def start(self, g: Guest) -> Party:
        return Party(0, g, Map.fill(self.guests, False))

    @eventually
    def somebody(self, s: Party) -> bool:
        return s.count > 0


@pytest.mark.parametrize("engine", [reference, explore_natively])
def test_without_an_initial_state_nothing_is_promised(engine):
    report = check(Nobody(Domain(Guest, 0)), engine=engine)
    assert report.verdict.status is Status.UNDETERMINED
    assert report.finding("somebody").verdict.status is Status.UNDETERMINED
