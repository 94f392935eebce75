"""Strategies: what they draw is a run, a reachable state, a consistent cut; and it shrinks."""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest
from hypothesis import find, given, settings
from hypothesis import strategies as st

from streamproof.models.kit import registry
from streamproof.models.kit.sizes import at_size, named_size
from streamproof.testing import Event, Walk, cuts, states, walks
from streamproof.testing.strategies import WrongEvents
from tests.testing.support.lamps import Lamp, Lamps

SEARCH = settings(max_examples=2000)
CHANDY_LAMPORT = registry.load("chandy_lamport").main


def built(model_class: Any) -> Any:
    return at_size(model_class, named_size(model_class, "")[1])


def minimal(model: Any, holds: Callable[[Any], bool], seed: int) -> Walk[Any]:
    return find(walks(model), lambda w: holds(w.last), settings=SEARCH, random=random.Random(seed))


@given(walks(Lamps))
def test_a_walk_is_a_run_of_the_model(walk: Walk[Any]) -> None:
    model = built(Lamps)
    assert walk.states[0] in set(model.initial_states())
    for call, before, after in zip(walk.calls, walk.states[:-1], walk.states[1:], strict=True):
        assert (call, after) in {(m.call, m.target) for m in model.moves(before)}


@given(walks(Lamps, steps_max=3))
def test_a_walk_has_no_more_steps_than_asked_for(walk: Walk[Any]) -> None:
    assert len(walk) <= 3


def test_every_reachable_state_is_drawn() -> None:
    seen = set()

    @settings(max_examples=300)
    @given(states(Lamps))
    def look(state: Any) -> None:
        seen.add(state)

    look()
    assert len(seen) == 7


def can_be_left_out(model: Any, walk: Walk[Any], holds: Callable[[Any], bool]) -> list[int]:
    """List the steps without which the others still lead to where it holds."""
    found = []
    for left_out in range(len(walk)):
        state, is_run = walk.states[0], True
        for number, call in enumerate(walk.calls):
            if number != left_out:
                behind = [m.target for m in model.moves(state) if m.call == call]
                is_run = is_run and bool(behind)
                state = behind[0] if behind else state
        if is_run and holds(state):
            found.append(left_out)
    return found


@pytest.mark.parametrize("seed", range(3))
def test_a_walk_shrinks_to_one_of_which_no_step_can_be_left_out(seed: int) -> None:
    model = built(Lamps)

    def holds(state: Any) -> bool:
        return bool(state[Lamp(2)] and state[Lamp(1)])

    walk = minimal(model, holds, seed)
    assert not can_be_left_out(model, walk, holds)
    assert len(walk) <= 4


@pytest.mark.parametrize("seed", range(2))
def test_a_snapshot_shrinks_to_the_steps_that_it_needs(seed: int) -> None:
    model = built(CHANDY_LAMPORT)

    def holds(state: Any) -> bool:
        return bool(model.a_snapshot_completes(state))

    walk = minimal(model, holds, seed)
    assert not can_be_left_out(model, walk, holds)


def test_a_walk_is_told_as_a_run() -> None:
    text = repr(minimal(built(Lamps), lambda s: s[Lamp(0)], 0))
    assert text == (
        "Walk:\n  start\n      {lamp0: False, lamp1: False, lamp2: False}\n"
        "  1. light(lamp=lamp0)\n      [lamp0]: False -> True"
    )


def sends(process: str, *messages: str) -> Event:
    return Event(process, sends=frozenset(messages))


def receives(process: str, *messages: str) -> Event:
    return Event(process, receives=frozenset(messages))


EVENTS = [
    sends("a", "m1"),
    receives("b", "m1"),
    sends("b", "m2"),
    receives("a", "m2"),
    Event("c"),
    receives("c", "m2b"),
    sends("a", "m2b"),
]


def consistent_by_definition(cut: dict[str, int]) -> bool:
    own = {p: [e for e in EVENTS if e.process == p] for p in cut}
    inside = [e for p, count in cut.items() for e in own[p][:count]]
    sent = {m for e in inside for m in e.sends}
    return all(m in sent for e in inside for m in e.receives)


def test_every_consistent_cut_is_drawn_and_no_other() -> None:
    seen = set()

    @settings(max_examples=1000)
    @given(cuts(EVENTS))
    def look(cut: Any) -> None:
        assert consistent_by_definition(dict(cut))
        seen.add(tuple(cut[p] for p in "abc"))

    look()
    every = {
        counts
        for counts in product(range(4), range(3), range(3))
        if consistent_by_definition(dict(zip("abc", counts, strict=True)))
    }
    assert seen == every


def test_a_cut_shrinks_to_what_it_needs() -> None:
    cut = find(cuts(EVENTS), lambda c: c["c"] == 2, settings=SEARCH)
    assert cut == {"a": 3, "b": 2, "c": 2}


@pytest.mark.parametrize(
    ("events", "reason"),
    [
        ([receives("a", "m")], "'m' is received, and no event sends it"),
        ([sends("a", "m"), sends("b", "m")], "'m' is sent by more than one event"),
    ],
)
def test_events_of_which_no_cut_can_be_told_are_refused(events: Any, reason: str) -> None:
    with pytest.raises(WrongEvents, match=reason):
        cuts(events)


@given(st.data())
def test_events_of_a_cycle_of_messages_are_never_both_in_a_cut(data: st.DataObject) -> None:
    """Each is received before it was sent, so nothing of it ever happened."""
    events = [
        Event("a", receives=frozenset("x"), sends=frozenset("y")),
        Event("b", receives=frozenset("y"), sends=frozenset("x")),
    ]
    cut = data.draw(cuts(events))
    assert cut in ({"a": 0, "b": 0}, {"a": 1, "b": 1})
