"""What must not be proven: each model here was PROVED with one wrong line in `proofs`, or before.

Two of them were PROVED by 0.1.0 itself: a parameter of a property was taken for the action's of the
same name, or for a field of the state.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

import pytest

from streamproof.checker import check
from streamproof.checker import reference as engine
from streamproof.checker.reach import reach
from streamproof.lang import Domain, Element, Map, Model, WrongDefinition, exists, forall, require
from streamproof.lang.model import action, always, every_step, final, init
from streamproof.models.kit.verdict import (
    ExitCode,
    Proved,
    Refuted,
    Status,
    Undetermined,
    exit_code,
)
from streamproof.proofs.induction import prove
from streamproof.proofs.invariant import Invariant
from streamproof.proofs.obligations import Kind


class P(Element): ...


@dataclass(frozen=True)
class State:
    k: int
    who: P
    m: Map[P, bool]


@dataclass(frozen=True)
class TwoStarts(Model[State]):
    """The second initial state breaks the invariant."""

    ps: Domain[P]

    @init
    def good(self, p: P) -> State:
        return State(0, p, Map.fill(self.ps, False))

    @init
    def bad(self, p: P) -> State:
        return State(-1, p, Map.fill(self.ps, False))

    @action
    def up(self, s: State) -> State:
        require(s.k >= 0)
        return replace(s, k=s.k + 1)

    @always
    def natural(self, s: State) -> bool:
        return s.k >= 0


@dataclass(frozen=True)
class Marks(Model[State]):
    """Any element is marked, one after another."""

    ps: Domain[P]

    @init
    def start(self, p: P) -> State:
        return State(0, p, Map.fill(self.ps, False))

    @action
    def mark(self, s: State, p: P) -> State:
        return replace(s, m=s.m.set(p, True))


class SecondPath(Marks):
    """The second path of an action breaks a property of steps."""

    @action
    def go(self, s: State) -> State:
        if s.k < 5:
            return replace(s, k=s.k + 1)
        return replace(s, k=s.k - 5)

    @every_step
    def rises(self, before: State, after: State) -> bool:
        return before.k <= after.k


class Shared(Marks):
    """The property has a parameter of the same name as the action, and means another element."""

    @every_step
    def all_are_marked(self, before: State, after: State, p: P) -> bool:
        return after.m[p]


class LikeAField(Marks):
    """The action has a parameter of the same name as a field of the state."""

    @action
    def mark(self, s: State, who: P) -> State:
        return replace(s, m=s.m.set(who, True))

    @every_step
    def its_own_is_marked(self, before: State, after: State) -> bool:
        return after.m[before.who]


class PropertyLikeAField(Marks):
    """The property has such a parameter."""

    @always
    def it_is_everybody(self, s: State, who: P) -> bool:
        return s.who == who


@dataclass(frozen=True)
class Two:
    f: Map[P, bool]
    m: Map[P, bool]


@dataclass(frozen=True)
class Capture(Model[Two]):
    """The update of m quantifies over P, as the invariant does."""

    ps: Domain[P]

    @init
    def start(self) -> Two:
        return Two(Map.fill(self.ps, False), Map.fill(self.ps, False))

    @action
    def flip(self, s: Two, p: P) -> Two:
        return replace(s, f=s.f.set(p, not s.f[p]))

    @action
    def mark(self, s: Two) -> Two:
        return replace(
            s, m=s.m.map_items(lambda p, v: exists(self.ps, lambda q: s.f[q] and not s.f[p]))
        )

    @always
    def none(self, s: Two) -> bool:
        return forall(self.ps, lambda p: not s.m[p])


class Asserts(Marks):
    """A claim fails in a state that a run leads to."""

    @action
    def count(self, s: State) -> State:
        require(s.k < 3)
        assert s.k < 2
        return replace(s, k=s.k + 1)

    @always
    def small(self, s: State) -> bool:
        return s.k <= 3


def natural(m, s: State) -> bool:
    return s.k >= 0


def at_most_three(m, s: State) -> bool:
    return s.k <= 3


def none_is_marked(m, s: Two) -> bool:
    return forall(m.ps, lambda p: not s.m[p])


CASES = [
    (TwoStarts, natural, Kind.INITIATION, 0),
    (SecondPath, natural, Kind.STEP, 6),
    (Shared, natural, Kind.STEP, 1),
    (LikeAField, natural, Kind.STEP, 1),
    (PropertyLikeAField, natural, Kind.SAFETY, 0),
    (Capture, none_is_marked, Kind.CONSECUTION, 2),
    (Asserts, at_most_three, Kind.CLAIM, 3),
]


@pytest.mark.parametrize(
    ("model", "conjunct", "kind", "steps"), CASES, ids=lambda part: getattr(part, "__name__", "")
)
def test_a_model_that_a_run_refutes_is_refuted_by_the_proof_too(model, conjunct, kind, steps):
    report = prove(Invariant(model, (conjunct,)), reach=reach)
    assert kind in {part.obligation.kind for part in report.failed}
    verdict = report.verdict
    assert isinstance(verdict, Refuted)
    assert exit_code(verdict) is ExitCode.REFUTED
    assert len(verdict.trace) == steps
    assert report.to_json()["verdict"]["trace"]["key"] == verdict.trace.key
    assert check(model(Domain(P, 2)), engine=engine.explore).verdict.status is Status.REFUTED


@pytest.mark.parametrize("model", [SecondPath, Shared, LikeAField])
def test_without_an_engine_nothing_is_refuted_or_proved(model):
    assert isinstance(prove(Invariant(model, (natural,))).verdict, Undetermined)


def test_a_property_is_named_before_a_part_of_the_invariant():
    def unmarked(m, s: State) -> bool:
        return forall(m.ps, lambda p: not s.m[p])

    report = prove(Invariant(SecondPath, (natural, unmarked)), reach=reach)
    assert {part.obligation.kind for part in report.failed} == {Kind.CONSECUTION, Kind.STEP}
    assert report.verdict.broken == "rises"


Mode = Enum("Mode", ["X", "Y"])
OtherMode = Enum("Mode", ["X", "Z"])


@dataclass(frozen=True)
class Modes:
    mode: Mode
    other: OtherMode


@dataclass(frozen=True)
class TwoEnums(Model[Modes]):
    """Two enums of one name, and of one member's name."""

    sizes = {"default": {}}

    @init
    def start(self) -> Modes:
        return Modes(Mode.X, OtherMode.X)

    @action
    def go(self, s: Modes) -> Modes:
        return replace(s, other=OtherMode.Z)

    @always
    def stays(self, s: Modes) -> bool:
        return s.mode == Mode.X


class OneGoes(TwoEnums):
    @always
    def stays(self, s: Modes) -> bool:
        return s.other == OtherMode.X


def the_mode_stays(m, s: Modes) -> bool:
    return s.mode == Mode.X


def test_enums_of_one_name_are_told_apart():
    assert isinstance(prove(Invariant(TwoEnums, (the_mode_stays,))).verdict, Proved)
    assert isinstance(prove(Invariant(OneGoes, (the_mode_stays,)), reach=reach).verdict, Refuted)


Other = type("P", (Element,), {})


@dataclass(frozen=True)
class TwoDomains(Marks):
    """An element of one domain is none of the other, though the classes have one name."""

    others: Domain[Other]
    sizes = {"default": {"ps": 2, "others": 2}}

    @always
    def is_among_the_others(self, s: State) -> bool:
        return exists(self.others, lambda other: other == s.who)


def test_domains_of_one_name_are_refused():
    with pytest.raises(WrongDefinition, match="two classes (that are )?named P"):
        prove(Invariant(TwoDomains, (natural,)))


class Settled(Marks):
    """True of every run: parameters of one name are no obstacle."""

    @every_step
    def marks_stay(self, before: State, after: State, p: P) -> bool:
        return after.m[p] or not before.m[p]

    @final
    def anywhere(self, s: State) -> bool:
        return True


def test_what_holds_for_every_parameter_is_proved():
    assert isinstance(prove(Invariant(Settled, (natural,)), reach=reach).verdict, Proved)


@dataclass(frozen=True)
class Picked:
    done: bool
    at: P
    m: Map[P, bool]
    a: Map[P, bool]


@dataclass(frozen=True)
class Captured(Model[Picked]):
    """The key of a read has a quantifier, and so has what a step writes there."""

    ps: Domain[P]

    @init
    def start(self, p: P) -> Picked:
        return Picked(False, p, Map.build(self.ps, lambda q: q == p), Map.fill(self.ps, False))

    @action
    def mark(self, s: Picked, p: P) -> Picked:
        require(not s.done)
        return replace(s, a=s.a.set(p, True))

    @action
    def finish(self, s: Picked) -> Picked:
        alone = Map.build(self.ps, lambda p: forall(self.ps, lambda q: q == p or not s.m[q]))
        return replace(s, done=True, m=alone)

    @always
    def the_picked_one_is_in_m(self, s: Picked, other: P) -> bool:
        others = Map.build(self.ps, lambda p: exists(self.ps, lambda q: s.a[q] and q != p))
        pick = Map.build(self.ps, lambda p: other if others[p] else p)
        return not s.done or s.m[pick[s.at]]


def only_one_is_in_m(_m: Captured, s: Picked, p: P) -> bool:
    return s.m[p] == (p == s.at)


def it_holds(m: Captured, s: Picked, p: P) -> bool:
    return m.the_picked_one_is_in_m(s, p)


def test_a_quantifier_in_a_key_does_not_take_the_variable_of_one_around_it():
    report = prove(Invariant(Captured, (only_one_is_in_m, it_holds)), reach=reach)
    assert isinstance(report.verdict, Refuted)
    assert check(Captured(Domain(P, 2))).verdict.status is Status.REFUTED
