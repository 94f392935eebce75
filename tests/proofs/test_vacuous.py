"""A proof of nothing is no proof: every way in which a model can say nothing is found.

Guards that simplify to False leave no path, hence no obligation that could fail; each case here was
PROVED once.
"""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from streamproof.lang import Untraceable, WrongDefinition, implies, require
from streamproof.lang.model import Model, action, always, init
from streamproof.models.kit.verdict import Proved, Undetermined
from streamproof.proofs.find import UnknownInvariant, find_invariant
from streamproof.proofs.induction import prove
from streamproof.proofs.invariant import Invariant


@dataclass(frozen=True)
class State:
    """One bit."""

    on: bool


@dataclass(frozen=True)
class Sound(Model[State]):
    """A switch that is never on."""

    @init
    def start(self) -> State:
        return State(on=False)

    @action
    def rest(self, s: State) -> State:
        return State(on=s.on)

    @always
    def off(self, s: State) -> bool:
        return not s.on


class NoStart(Sound):
    @init
    def start(self) -> State:
        require(False)
        return State(on=True)


class NeverHappens(Sound):
    @action
    def turn_on(self, s: State) -> State:
        require(s.on and not s.on)
        return State(on=True)


class SaysNothing(Sound):
    @always
    def off(self, s: State) -> bool:
        return implies(s.on and not s.on, False)


@dataclass(frozen=True)
class NoProperty(Model[State]):
    @init
    def start(self) -> State:
        return State(on=False)

    @action
    def rest(self, s: State) -> State:
        return State(on=s.on)


@dataclass(frozen=True)
class NoAction(Model[State]):
    @init
    def start(self) -> State:
        return State(on=False)

    @always
    def off(self, s: State) -> bool:
        return not s.on


def is_off(m: Model[State], s: State) -> bool:
    """The switch is off."""
    return not s.on


def never(m: Model[State], s: State) -> bool:
    """A lemma whose assumption simplifies away."""
    require(s.on and not s.on)
    return False


def test_the_model_without_mistakes_is_proved():
    assert prove(Invariant(Sound, (is_off,))).vacuous == ()


@pytest.mark.parametrize(
    ("model_class", "reason"),
    [
        (NeverHappens, "turn_on can never happen"),
        (SaysNothing, "off is true of every state, reachable or not"),
        (NoProperty, "the model states no property"),
        (NoAction, "there is no action"),
    ],
)
def test_a_model_that_says_nothing_is_not_proved(model_class, reason):
    report = prove(Invariant(model_class, (is_off,)))
    assert not report.failed
    assert reason in report.vacuous
    assert isinstance(report.verdict, Undetermined)


def test_a_lemma_without_a_path_is_not_proved():
    report = prove(Invariant(Sound, (is_off,), lemmas=(never,)))
    assert report.vacuous == ("never assumes what no state with the invariant satisfies",)


def test_an_invariant_of_another_model_than_the_files_is_refused(tmp_path):
    mine = tmp_path / "mine.py"
    mine.write_text(
        "from tests.proofs.toy import INVARIANT, Tickets\n\n\n"
        "class Other(Tickets):\n    ...\n\n\nMODEL = Other\n",
        encoding="utf-8",
    )
    with pytest.raises(UnknownInvariant, match="MODEL is Other"):
        find_invariant(str(mine))


def test_a_start_that_never_is_ends_the_proof():
    with pytest.raises(Untraceable, match="it is @init, which always gives a state"):
        prove(Invariant(NoStart, (is_off,)))


@dataclass(frozen=True)
class Count:
    n: int


@dataclass(frozen=True)
class Expires(Model[Count]):
    """An action that is possible where a number is large: no small state shows it."""

    @init
    def start(self) -> Count:
        return Count(0)

    @action
    def tick(self, s: Count) -> Count:
        require(s.n < 1_000)
        return Count(s.n + 1)

    @action
    def expire(self, s: Count) -> Count:
        require(s.n == 1_000)
        return Count(0)

    @always
    def small(self, s: Count) -> bool:
        return s.n <= 1_000


def in_range(_m: Expires, s: Count) -> bool:
    return 0 <= s.n <= 1_000


def test_an_action_that_large_numbers_alone_enable_is_not_called_impossible():
    report = prove(Invariant(Expires, (in_range,)))
    assert report.vacuous == ()
    assert isinstance(report.verdict, Proved)


LETTERS = frozenset("abc")


class OfNoSize(Expires):
    @always
    def small(self, s: Count) -> bool:
        return s.n <= 1_000 and len(LETTERS) == 3


def test_a_model_without_a_size_that_could_differ_elsewhere_is_refused():
    assert OfNoSize.sizes == {}
    with pytest.raises(WrongDefinition, match="OfNoSize names no size.*no other process"):
        prove(Invariant(OfNoSize, (in_range,)))
