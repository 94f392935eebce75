"""Loops instead of branches: the same answers, from code whose length is not the size's."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import pytest

from benchmarks.traced_two_phase_commit import MODEL as TWO_PHASE_COMMIT
from streamproof.checker import Limits, check
from streamproof.checker import explore as reference
from streamproof.checker.liveness import decide_liveness as decide_by_reference
from streamproof.checker.native.code import program
from streamproof.checker.native.code.layout import WORD_BITS
from streamproof.checker.native.code.program import Program
from streamproof.checker.native.code.rolled import write_rolled_module
from streamproof.checker.native.engine import explore as native
from streamproof.lang import Domain, Element, Map, Model, exists, require
from streamproof.lang.model import (
    Fairness,
    Role,
    action,
    eventually,
    final,
    init,
    leads_to,
    sometimes,
)
from streamproof.models.kit import registry
from streamproof.models.kit.sizes import at_size
from tests.checker.native.support.agreement import KINDS, agree, agree_at_random
from tests.checker.native.support.random_models import random_models
from tests.checker.native.support.works import works
from tests.support.strategies import SHRINKING


class Guest(Element):
    """Somebody at a party."""


@dataclass(frozen=True)
class Seen:
    met: Map[Guest, bool]


@dataclass(frozen=True)
class Party(Model[Seen]):
    """Guests are met one after the other, the shy one never: what is asked is about pairs."""

    guests: Domain[Guest]
    shy: Map[Guest, bool]

    @classmethod
    def sized(cls, *, guests: int, shy: int) -> Party:
        members = Domain(Guest, guests)
        return cls(members, Map.build(members, lambda guest: guest.index == shy))

    @init
    def start(self) -> Seen:
        return Seen(Map.fill(self.guests, False))

    @action(fairness=Fairness.WEAK)
    def meet(self, s: Seen, g: Guest) -> Seen:
        require(not s.met[g] and not self.shy[g])
        return Seen(s.met.set(g, True))

    @final
    def anywhere(self, s: Seen) -> bool:
        return True

    @sometimes
    def only_one_is_met(self, s: Seen, g: Guest, h: Guest) -> bool:
        return s.met[g] and not s.met[h]

    @eventually
    def somebody_is_met(self, s: Seen, g: Guest) -> bool:
        return exists(self.guests, lambda other: s.met[other] and other != g)

    @leads_to
    def the_other_is_met(self, s: Seen, g: Guest, h: Guest) -> tuple[bool, bool]:
        return s.met[g], s.met[h]


@pytest.fixture
def rolled(monkeypatch):
    monkeypatch.setattr(program, "is_large", lambda encoder: True)


@pytest.mark.usefixtures("rolled")
@pytest.mark.slow
@pytest.mark.parametrize("name", ["chandy_lamport", "token_passing"])
def test_a_model_of_streamproof_is_searched_alike(name):
    assert agree(registry.build(name, "small")) == "whole"


@pytest.mark.usefixtures("rolled")
@pytest.mark.parametrize("alike", [False, True])
@SHRINKING
def test_random_models_are_searched_alike(alike):
    assert len(agree_at_random(random_models(alike=alike), 6)) > 1


@pytest.mark.slow
@pytest.mark.usefixtures("rolled")
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("alike", [False, True])
def test_more_random_models_are_searched_alike(alike):
    kinds = agree_at_random(random_models(alike=alike), 120, attempt=2)
    assert set(kinds) == KINDS


@pytest.mark.usefixtures("rolled")
@pytest.mark.parametrize("model", [works(3, 2), works(4, 1, may=(1, 3)), works(1, 1)])
def test_elements_and_pairs_as_values_and_keys_are_searched_alike(model):
    assert agree(model) == "whole"


@pytest.mark.slow
@pytest.mark.usefixtures("rolled")
def test_promises_are_decided_alike():
    model = registry.build("token_passing", "small")
    report = check(model, engine=native)
    assert report.finding("every_snapshot_completes").verdict.status.value == "EXHAUSTED"


@pytest.mark.usefixtures("rolled")
@pytest.mark.parametrize("shy", [2, 9])
def test_what_is_asked_of_pairs_is_answered_for_each_pair(shy):
    """Loops must find each pair's own answer, and ask about the pairs in the models' order."""
    model = Party.sized(guests=3, shy=shy)
    found, known = native(model, threads=1), reference(model)
    pairs = [call for method in model.methods(Role.SOMETIMES) for call in model.calls(method)]
    shown = {call for call in pairs if call.arguments[0] != call.arguments[1]}
    shown -= {call for call in pairs if call.arguments[0].index == shy}
    assert found.witnesses.keys() == known.witnesses.keys() == shown
    assert found.decide_liveness is not None
    decided, expected = found.decide_liveness(), decide_by_reference(model)
    broken = {call for call, lasso in decided.lassos.items() if lasso}
    assert broken == {call for call, lasso in expected.lassos.items() if lasso}
    assert {call.arguments[1].index for call in broken} == {shy} - {9}
    assert decided.unasked == expected.unasked


@pytest.mark.usefixtures("rolled")
def test_a_property_is_one_function_however_many_arguments_it_has():
    lengths = []
    for guests in (4, 31):
        made = Program(Party.sized(guests=guests, shy=0), {})
        assert len(made.first) == guests**2
        lengths.append(len(str(write_rolled_module(made.encoder, made.cells, made.layout))))
    assert lengths[1] < 1.2 * lengths[0]


def test_a_model_of_thousands_of_actions_is_rolled_and_one_of_streamproof_is_not():
    assert not Program(registry.build("chandy_lamport", "large"), {}).is_rolled
    model = at_size(TWO_PHASE_COMMIT, {"managers": 500})
    assert len(model.ground_actions) == 2_502
    found = native(model, limits=Limits(states_max=2_000), threads=1)
    assert found.counts.distinct == 2_000
    assert Program(model, {}).is_rolled


def test_the_code_of_a_rolled_model_grows_with_its_words_alone():
    lengths = {}
    for managers in (70, 140, 560):
        made = Program(at_size(TWO_PHASE_COMMIT, {"managers": managers}), {})
        text = str(write_rolled_module(made.encoder, made.cells, made.layout))
        lengths[managers] = len(text) / (made.layout.words + 4)
    assert max(lengths.values()) < 2 * min(lengths.values())


def test_a_rolled_model_is_packed_densely():
    made = Program(at_size(TWO_PHASE_COMMIT, {"managers": 100}), {})
    bits = sum(field.bits for field in made.layout.fields.values())
    assert made.layout.words * WORD_BITS < bits + 8 * WORD_BITS
    fields = sorted((f.word, f.shift, f.bits) for f in made.layout.fields.values())
    for (word, shift, size), (next_word, next_shift, _) in itertools.pairwise(fields):
        assert word < next_word or shift + size <= next_shift
        assert shift + size <= WORD_BITS
