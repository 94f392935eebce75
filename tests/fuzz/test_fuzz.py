"""The differential fuzzer: whole models at random, which all engines must find the same in.

Some hundred are compared at any time, each by some voices in turn; ten thousand by the slow tests.
"""

from __future__ import annotations

import pytest

from streamproof.checker.native.code.terms import Terms
from streamproof.lang import expr, symbolic
from tests.fuzz.cases import case, text_of
from tests.fuzz.constructs import language, used_by
from tests.fuzz.fuzz import Contradiction, Tally, compare_all
from tests.fuzz.voices import VOICES

FAST, CHUNK = 204, 12
DRAWN = 400
"""Models that are drawn, and not compared, for all constructs to be among them."""
SLOW, SLOW_CHUNK = 10_000, 500
ENDS = {"whole", "always", "every_step", "leads_to", "eventually", "deadlock"}
RARE = {"claims", "LeftRange", "cut short"}
"""How searches of random models end."""


def numbers(first: int, last: int, chunk: int) -> list[range]:
    return [range(begin, begin + chunk) for begin in range(first, last, chunk)]


@pytest.mark.parametrize("chosen", numbers(0, FAST, CHUNK), ids=lambda part: str(part.start))
def test_no_voice_contradicts_another(chosen):
    tally = compare_all(chosen)
    assert tally.asked["traced"] == CHUNK
    assert sum(tally.refused.values()) < CHUNK / 3


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("chosen", numbers(0, SLOW, SLOW_CHUNK), ids=lambda part: str(part.start))
def test_no_voice_contradicts_another_on_ten_thousand_models(chosen):
    tally = compare_all(chosen, voices_each=3)
    assert set(tally.asked) == set(VOICES)
    assert sum(tally.refused.values()) < tally.asked.total() / 10
    assert ENDS <= set(tally.kinds) <= ENDS | RARE


def test_every_construct_is_drawn():
    """A construct that is new in the language is in the list, and is missed here."""
    missed = language()
    for number in range(DRAWN):
        if missed:
            drawn = case(number)
            missed -= used_by(drawn.text, drawn.model, missed)
    assert not missed


def test_the_same_model_is_drawn_every_time():
    texts = [case(number).text for number in range(20)]
    assert len(set(texts)) == 20
    text_of.cache_clear()
    assert [case(number).text for number in range(20)] == texts


@pytest.mark.parametrize(
    ("place", "name", "fault"),
    [
        (expr, "negate", lambda operand: operand),
        pytest.param(symbolic, "ask_premise", lambda code, condition: None, marks=pytest.mark.slow),
        pytest.param(Terms, "disjunction", Terms.conjunction, marks=pytest.mark.slow),
    ],
    ids=["negate", "ask_premise", "disjunction"],
)
def test_a_planted_fault_is_told_with_a_small_model(monkeypatch, place, name, fault):
    monkeypatch.setattr(place, name, fault)
    with pytest.raises(Contradiction) as found:
        compare_all(range(40))
    assert "MODEL = M(" in found.value.text
    assert len(found.value.text.splitlines()) < 45
    assert Tally().asked == {}


def test_a_construct_that_is_new_is_missed():
    asked = {*language(), "a new word", "operator: xor"}
    drawn = case(0)
    assert {"a new word", "operator: xor"}.isdisjoint(used_by(drawn.text, drawn.model, asked))
    assert "State" not in asked
