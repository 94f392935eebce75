"""Chandy-Lamport models count what others count, and their properties catch what they should.

Counts come from three sides: five other checkers (CL(1,1,1) and larger), an explorer of our own on
real queues that shares no code with the models, and the golden files. The mutants show that each
property catches mistakes by itself, in no more steps than our protocol notes list.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from streamproof.checker import check
from streamproof.lang import Map
from streamproof.models.mutants.snapshots.chandy_lamport import MUTANTS
from streamproof.models.snapshots.chandy_lamport import ChandyLamport
from streamproof.models.snapshots.token_passing import TokenPassing
from tests.models.independent_cl import Setting, complete, count, dag, ring
from tests.models.support.hunt import hunt
from tests.models.support.shortest import mistaken, shortest_break

BY_OTHER_CHECKERS = {
    (1, 1, 1): (21_385, 72_908, 14),
    (2, 1, 1): (94_631, 353_156, 16),
}
"""CL(b1, b2, b3): TLC, Spin, stateright, Rumur and three Python checkers agree on these."""

S3_IS_CHECKED = {"alike": True, "in_turn": True, "remembers_start": True}
BY_OUR_NOTES = {
    "2 processes, 1 token": (110, Setting(complete(2), None, (0,), ((0, 1),), **S3_IS_CHECKED)),
    "2 processes, 2 tokens": (961, Setting(complete(2), None, (0, 0), ((0, 1),), **S3_IS_CHECKED)),
    "ring of 3": (330, Setting(ring(3), None, (0,), ((0, 1),), **S3_IS_CHECKED)),
    "full graph of 3": (10_724, Setting(complete(3), None, (0,), ((0,),), **S3_IS_CHECKED)),
    "2 ids, 1 token": (304, Setting(complete(2), None, (0,), ((0,), (1,)), alike=True)),
    "2 ids, 2 tokens": (2_407, Setting(complete(2), None, (0, 0), ((0,), (1,)), alike=True)),
}


def queues(channels, bounds, homes=None, *, initiators=None, snapshots=1) -> Setting:
    """Return the setting that our models describe: neighbouring markers in any order."""
    everyone = tuple(range(len(bounds))) if initiators is None else initiators
    return Setting(channels, bounds, homes, (everyone,) * snapshots, markers_in_order=False)


ON_QUEUES = {
    (ChandyLamport, "small"): queues(complete(2), (1, 1)),
    (ChandyLamport, "ring"): queues(ring(3), (1, 1, 1)),
    (ChandyLamport, "dag"): queues(dag(3), (2, 1, 0), initiators=(0,)),
    (ChandyLamport, "overlapping"): queues(complete(2), (1, 0), snapshots=2),
    (TokenPassing, "small"): queues(complete(2), (1, 1), (0,)),
    (TokenPassing, "default"): queues(complete(2), (2, 2), (0, 0)),
    (TokenPassing, "ring"): queues(ring(3), (1, 1, 1), (0, 1)),
    (TokenPassing, "dag"): queues(dag(3), (2, 1, 0), (0, 0), initiators=(0,)),
    (TokenPassing, "overlapping"): queues(complete(2), (1, 1), (0,), snapshots=2),
}


def counts_of(model) -> tuple[int, int, int]:
    """Count a model's states, in all of which its properties hold."""
    report = check(model, liveness=False)
    assert report.verdict.status.value == "EXHAUSTED"
    counts = report.counts
    return counts.distinct, counts.generated, counts.depth


# --------------------------------------------------------------------------- counts


def test_the_independent_explorer_counts_what_other_checkers_count():
    setting = Setting(complete(3), (1, 1, 1), None, ((0,),))
    assert count(setting) == BY_OTHER_CHECKERS[1, 1, 1]


@pytest.mark.parametrize("name", BY_OUR_NOTES)
def test_the_independent_explorer_counts_what_our_notes_say(name):
    distinct, setting = BY_OUR_NOTES[name]
    assert count(setting)[0] == distinct


@pytest.mark.parametrize(
    ("model_class", "size"), ON_QUEUES, ids=lambda part: getattr(part, "__name__", part)
)
def test_counters_and_queues_give_the_same_states(model_class, size):
    model = model_class.sized(**model_class.sizes[size])
    assert counts_of(model) == count(ON_QUEUES[model_class, size])


def test_every_size_is_counted_on_queues_or_by_other_checkers():
    counted = {(model_class, size) for model_class, size in ON_QUEUES}
    counted |= {(ChandyLamport, "default"), (ChandyLamport, "large")}
    assert counted == {(m, size) for m in (ChandyLamport, TokenPassing) for size in m.sizes}


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("messages", BY_OTHER_CHECKERS, ids=str)
def test_the_model_counts_what_other_checkers_count(messages):
    model = ChandyLamport.sized(messages=messages, initiators=1)
    assert counts_of(model) == BY_OTHER_CHECKERS[messages]


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_the_independent_explorer_counts_more_messages_alike():
    setting = Setting(complete(3), (2, 1, 1), None, ((0,),))
    assert count(setting) == BY_OTHER_CHECKERS[2, 1, 1]


def test_a_model_without_messages_has_a_bound_all_the_same():
    assert ChandyLamport.sized(messages=()).messages_max == 0


# --------------------------------------------------------------------------- mutants

NAMED = {
    "chandy_lamport/non-fifo",
    "chandy_lamport/channel-empty",
    "chandy_lamport/record-after",
    "chandy_lamport/marker-late",
    "chandy_lamport/record-again",
    "chandy_lamport/no-relay",
    "chandy_lamport/id-blind",
}
"""The mutants of our protocol notes, 1.1 and 1.6."""

ALONE = {
    # per mutant: steps to break consistent_cut, channel_exact and shadow_simulation
    "chandy_lamport/non-fifo": (4, 3, 3),
    "chandy_lamport/channel-empty": (None, 5, None),
    "chandy_lamport/record-after": (None, 4, None),
    "chandy_lamport/log-early": (None, 4, None),
    "chandy_lamport/marker-late": (4, 5, 3),
    "chandy_lamport/record-again": (None, 4, 6),
    "chandy_lamport/no-relay": (None, None, None),
    "chandy_lamport/id-blind": (None, 3, None),
    "chandy_lamport/close-all": (None, 2, None),
    "chandy_lamport/initiate-again": (None, None, None),
    "chandy_lamport/halt-after-recording": (None, None, None),
}
BY_TOKENS = {
    # steps in which our notes lose or double a token
    "chandy_lamport/non-fifo": 4,
    "chandy_lamport/channel-empty": 5,
    "chandy_lamport/record-after": 5,
    "chandy_lamport/marker-late": 7,
    "chandy_lamport/record-again": 4,
    "chandy_lamport/id-blind": 5,
}


def test_every_mutant_of_the_notes_is_there():
    assert {mutant.name for mutant in MUTANTS} >= NAMED


@pytest.mark.slow
@pytest.mark.parametrize("name", ["chandy_lamport", "token_passing"])
def test_every_mutant_dies_by_its_named_property_in_few_steps(name):
    assert hunt(name)


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_each_property_alone_catches_what_it_should(mutant):
    found = tuple(
        shortest_break(mutant.model_class.sized(**mutant.size), name)
        for name in ("consistent_cut", "channel_exact", "shadow_simulation")
    )
    assert tuple(way and len(way) for way in found) == ALONE[mutant.name]


@pytest.mark.parametrize("name", BY_TOKENS)
def test_tokens_alone_show_the_mistake_in_as_many_steps_as_in_our_notes(name):
    (mutant,) = (mutant for mutant in MUTANTS if mutant.name == name)
    model_class = mistaken(mutant.model_class, TokenPassing)
    size = {**mutant.size, "messages": (2, 2), "tokens": (0,)}
    way = shortest_break(model_class.sized(**size), "tokens_conserved")
    assert way is not None
    assert len(way) == BY_TOKENS[name]


# --------------------------------------------------------------------------- hand-made states


@pytest.fixture
def tokens() -> TokenPassing:
    return TokenPassing.sized(messages=(2, 2), tokens=(0, 0))


def completed(model):
    """Give a state whose snapshot is complete: initiated at once, all markers received."""
    p, q = model.processes
    (k,) = model.snapshots
    state = model.initiate(model.start(), k, p)
    state = model.receive_marker(state, k, p, q)
    return model.receive_marker(state, k, q, p)


def with_saved(model, state, **changed):
    (k,) = model.snapshots
    return replace(state, saved=state.saved.set(k, replace(state.saved[k], **changed)))


def test_a_complete_snapshot_without_a_token_has_lost_it(tokens):
    nowhere = Map.fill(tokens.processes, tokens.tokens, False)
    state = with_saved(tokens, completed(tokens), holds=nowhere)
    answer = {"never_lost": False, "never_doubled": True, "in_order": True}
    assert tokens.tokens_conserved(state) == answer


def test_a_complete_snapshot_with_a_token_at_two_processes_has_doubled_it(tokens):
    everywhere = Map.fill(tokens.processes, tokens.tokens, True)
    state = with_saved(tokens, completed(tokens), holds=everywhere)
    answer = {"never_lost": True, "never_doubled": False, "in_order": True}
    assert tokens.tokens_conserved(state) == answer


@pytest.mark.parametrize("numbers", [(1, 1), (1, 3), (0, 3)], ids=str)
def test_tokens_on_a_channel_must_be_numbered_as_its_messages(tokens, numbers):
    state = completed(tokens)
    p, q = tokens.processes
    t, u = tokens.tokens
    (k,) = tokens.snapshots
    saved = state.saved[k]
    state = with_saved(
        tokens,
        state,
        sent=saved.sent.set((p, q), 2),
        holds=saved.holds.set((p, t), numbers[0] == 0).set((p, u), False),
        carries=saved.carries.set((p, q, t), numbers[0]).set((p, q, u), numbers[1]),
    )
    answer = {"never_lost": True, "never_doubled": True, "in_order": False}
    assert tokens.tokens_conserved(state) == answer
