"""Any number of elements may be none: Z3's sorts have one at least, and domains need not."""

from __future__ import annotations

from dataclasses import dataclass, replace

from streamproof.checker import check
from streamproof.lang import Domain, Element, Map, Model, exists, forall, require
from streamproof.lang.model import action, always, assume, init
from streamproof.models.kit.verdict import Proved, Status, Undetermined
from streamproof.proofs.induction import prove
from streamproof.proofs.invariant import Invariant


class P(Element): ...


class Q(Element): ...


@dataclass(frozen=True)
class State:
    on: bool
    m: Map[tuple[P, Q], bool]


@dataclass(frozen=True)
class Switch(Model[State]):
    """It is switched on, and stays so."""

    ps: Domain[P]
    qs: Domain[Q]

    @init
    def start(self) -> State:
        return State(on=False, m=Map.fill(self.ps, self.qs, True))

    @action
    def switch(self, s: State) -> State:
        require(not s.on)
        return replace(s, on=True)

    @action
    def rest(self, s: State) -> State:
        return replace(s, m=Map.fill(self.ps, self.qs, True))


class NobodyThere(Switch):
    @always
    def it_is_on_for_somebody(self, s: State) -> bool:
        return not s.on or exists(self.ps, lambda _: s.on)


class SomebodyThere(NobodyThere):
    @assume
    def there_is_somebody(self) -> bool:
        return exists(self.ps, lambda _: True)


class ForEach(Switch):
    """An element that is named is there, and of none everything holds."""

    @always
    def it_is_on_for_somebody(self, s: State, p: P) -> bool:
        return not s.on or exists(self.ps, lambda o: s.on and o == p)

    @always
    def all_are_on(self, s: State) -> bool:
        return forall(self.ps, lambda p: forall(self.qs, lambda q: s.m[p, q]))


class Mixed(Switch):
    """It fails if there is no Q, and some P."""

    @always
    def each_has_some(self, s: State) -> bool:
        return forall(self.ps, lambda p: exists(self.qs, lambda q: s.m[p, q]))


def all_true(m: Switch, s: State) -> bool:
    return forall(m.ps, m.qs, lambda p, q: s.m[p, q])


def verdict(cls: type[Switch]) -> object:
    return prove(Invariant(cls, (all_true,))).verdict


def test_what_fails_without_elements_is_not_proved():
    assert check(NobodyThere(Domain(P, 0), Domain(Q, 1))).verdict.status is Status.REFUTED
    told = verdict(NobodyThere)
    assert isinstance(told, Undetermined)
    assert told.reasons == ("safety: it_is_on_for_somebody: sat with no P at all",)


def test_one_empty_domain_is_enough():
    assert check(Mixed(Domain(P, 1), Domain(Q, 0))).verdict.status is Status.REFUTED
    told = verdict(Mixed)
    assert isinstance(told, Undetermined)
    assert told.reasons == ("safety: each_has_some: sat with no Q at all",)


def test_an_assumption_says_that_there_is_one():
    assert isinstance(verdict(SomebodyThere), Proved)


def test_what_holds_of_none_as_well_is_proved():
    assert check(ForEach(Domain(P, 0), Domain(Q, 0))).counts.distinct == 2
    assert isinstance(verdict(ForEach), Proved)


@dataclass(frozen=True)
class Owned:
    on: bool
    owner: P


@dataclass(frozen=True)
class Owner(Model[Owned]):
    """A state that holds an element shows that there is one."""

    ps: Domain[P]

    @init
    def start(self, p: P) -> Owned:
        return Owned(on=False, owner=p)

    @action
    def switch(self, s: Owned) -> Owned:
        return replace(s, on=not s.on)

    @always
    def it_is_on_for_somebody(self, s: Owned) -> bool:
        return not s.on or exists(self.ps, lambda _: s.on)


def test_what_is_in_a_state_is_there():
    assert isinstance(prove(Invariant(Owner, ())).verdict, Proved)
