"""Each test here kills a mutant that `make mutation` has found alive in the arbiter."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from streamproof.checker.limits import Limits
from streamproof.checker.liveness import _back, decide_liveness
from streamproof.checker.progress import REPORT_EVERY
from streamproof.checker.properties import Check
from streamproof.checker.reference import explore
from streamproof.lang import Fairness, Model, action, eventually, final, init, require
from streamproof.lang.model import Call


@pytest.mark.parametrize(
    ("answer", "holds"),
    [(True, True), (False, False), ("too large", False), ({"a": True}, True), ({"a": "no"}, False)],
    ids=["true", "false", "reason", "conjunct", "conjunct-reason"],
)
def test_an_answer_in_words_holds_if_nothing_is_wrong(answer, holds):
    """Else a `sometimes` that gives a reason would be reached everywhere, and a `final` be one."""
    check = Check(Call("fits", (), ()), lambda _: answer)
    assert check.holds("a state") is holds


def test_the_way_back_lists_actions_and_not_states():
    ways = {5: None, 7: (5, 0), 2: (7, 1), 9: (5, 3)}
    assert _back(ways, 2) == (5, (0, 1))
    assert _back(ways, 9) == (5, (3,))
    assert _back(ways, 5) == (5, ())


@dataclass(frozen=True)
class At:
    place: int


@dataclass(frozen=True)
class Walk(Model[At]):
    """Walks to its end, place by place."""

    length: int

    @init
    def start(self) -> At:
        return At(0)

    @action(fairness=Fairness.WEAK)
    def go_on(self, s: At) -> At:
        require(s.place < self.length)
        return At(s.place + 1)

    @final
    def over(self, s: At) -> bool:
        return s.place == self.length

    @eventually
    def arrives(self, s: At) -> bool:
        return s.place == self.length


def test_liveness_looks_at_the_memory_and_reports_now_and_then(monkeypatch):
    """It visits all states once more, and must end as a search does where memory ends."""
    asked, reports = [], []
    monkeypatch.setattr(Limits, "check_memory", lambda _: asked.append("memory"))
    liveness = decide_liveness(Walk(2 * REPORT_EVERY), Limits(), reports.append)
    assert list(liveness.lassos.values()) == [None]
    assert len(asked) == 3
    assert [report.expanded for report in reports] == [0, REPORT_EVERY, 2 * REPORT_EVERY]


def test_a_search_to_the_end_has_expanded_every_state():
    assert explore(Walk(3)).expanded == 4


@dataclass(frozen=True)
class Swing(Model[At]):
    """Swings for ever between two places, by an action that gets its due all the time."""

    @init
    def start(self) -> At:
        return At(0)

    @action(fairness=Fairness.WEAK)
    def swing(self, s: At) -> At:
        require(s.place < 2)
        return At(1 - s.place)

    @action
    def leave(self, s: At) -> At:
        require(s.place < 2)
        return At(2)

    @final
    def over(self, s: At) -> bool:
        return s.place == 2

    @eventually
    def is_left(self, s: At) -> bool:
        return s.place == 2


class StrongSwing(Swing):
    @action(fairness=Fairness.STRONG)
    def swing(self, s: At) -> At:
        require(s.place < 2)
        return At(1 - s.place)


@pytest.mark.parametrize("model", [Swing(), StrongSwing()], ids=["weak", "strong"])
def test_an_action_that_is_taken_for_ever_has_got_its_due(model):
    """Else no run would be fair, and a promise that nobody keeps would hold."""
    (lasso,) = decide_liveness(model).lassos.values()
    assert lasso is not None
    assert len(lasso.cycle) == 2
