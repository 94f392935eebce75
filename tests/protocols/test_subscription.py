"""The machines of a subscription, event by event, and together against plain lists of tuples.

The oracle carries what the machines never see: the tuples. Replicas are lists of letters and of
guesses, connections are queues of them, the client is a list that does what the effects say. Runs
of any length are sent at once; connections break, replicas guess, and buffers are truncated.
"""

from __future__ import annotations

from collections import deque

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamproof.lang import Disabled, Domain, Map
from streamproof.protocols import subscription as protocol
from streamproof.protocols.dpc import Condition
from streamproof.protocols.subscription import (
    AcceptStable,
    AcceptTentative,
    Discard,
    Feed,
    OutputBuffer,
    Revoke,
    SendStable,
    SendSubscribe,
    SendTentative,
    SendUndo,
    View,
)

REPLICAS = Domain.of("upstream", ("a", "b", "c"))
SUBSCRIBERS = Domain.of("subscriber", ("x", "y"))
BEST_FIRST = [
    Condition.STABLE,
    Condition.UP_FAILURE,
    Condition.STABILIZATION,
    Condition.FAILURE,
]


def conditions(*listed):
    return Map.build(REPLICAS, dict(zip("abc", listed, strict=True)).__getitem__)


# --------------------------------------------------------------------------- choosing


def test_conditions_are_preferred_in_the_order_of_the_paper():
    assert sorted(Condition, key=protocol.preference) == BEST_FIRST


@pytest.mark.parametrize("here", Condition, ids=lambda c: c.value)
@pytest.mark.parametrize("there", Condition, ids=lambda c: c.value)
def test_a_subscriber_changes_to_a_better_replica_and_to_no_other(here, there):
    now = conditions(here, there, Condition.FAILURE)
    view = View("a", 3, 1)
    if BEST_FIRST.index(there) < BEST_FIRST.index(here):
        after, effects = protocol.switch(view, now, "b")
        assert (after, effects) == (View("b", 3, 1), (SendSubscribe("b", 3),))
    else:
        with pytest.raises(Disabled):
            protocol.switch(view, now, "b")


def test_of_several_better_replicas_the_best_is_taken():
    now = conditions(Condition.FAILURE, Condition.UP_FAILURE, Condition.STABLE)
    with pytest.raises(Disabled):
        protocol.switch(View("a", 0, 0), now, "b")
    assert protocol.switch(View("a", 0, 0), now, "c")[0].source == "c"


# --------------------------------------------------------------------------- the view


def test_stable_tuples_that_the_view_has_are_left_out():
    assert protocol.on_stable(View("a", 5, 0), 3, 8) == (View("a", 8, 0), (AcceptStable(5, 8),))
    assert protocol.on_stable(View("a", 5, 2), 3, 5) == (View("a", 5, 2), ())


def test_a_gap_or_a_tail_in_front_of_stable_tuples_breaks_a_claim():
    with pytest.raises(AssertionError):
        protocol.on_stable(View("a", 5, 0), 6, 7)
    with pytest.raises(AssertionError):
        protocol.on_stable(View("a", 5, 1), 5, 6)


def test_tentative_tuples_are_taken_behind_the_last_stable_one_alone():
    taken = protocol.on_tentative(View("a", 5, 1), 5, 2)
    assert taken == (View("a", 5, 3), (AcceptTentative(2),))
    assert protocol.on_tentative(View("a", 5, 1), 4, 2) == (View("a", 5, 1), ())


def test_undo_revokes_the_tail_and_nothing_stable():
    assert protocol.on_undo(View("a", 5, 2), 4) == (View("a", 5, 0), (Revoke(),))
    with pytest.raises(AssertionError):
        protocol.on_undo(View("a", 5, 2), 6)


# --------------------------------------------------------------------------- buffer and feed


def buffer(begin, stable, tentative, x=0, y=0):
    acked = Map.build(SUBSCRIBERS, {"x": x, "y": y}.__getitem__)
    return OutputBuffer(begin, stable, tentative, acked)


def test_a_buffer_is_truncated_at_the_least_ack_of_all():
    kept = buffer(0, 9, 0, x=7, y=4)
    assert protocol.truncate(kept, 4) == (buffer(4, 9, 0, x=7, y=4), (Discard(4),))
    for end in (0, 5):
        with pytest.raises(Disabled):
            protocol.truncate(kept, end)


def test_an_ack_that_comes_late_takes_nothing_back():
    assert protocol.on_ack(buffer(0, 9, 0, x=7), "x", 5)[0] == buffer(0, 9, 0, x=7)
    assert protocol.on_ack(buffer(0, 9, 0, x=7), "x", 8)[0] == buffer(0, 9, 0, x=8)


def test_nothing_stable_is_emitted_behind_tentative_tuples():
    guessed, _ = protocol.emit_tentative(buffer(0, 2, 0), 3)
    with pytest.raises(AssertionError):
        protocol.emit_stable(guessed, 1)
    corrected, _ = protocol.emit_undo(guessed)
    assert protocol.emit_stable(corrected, 4)[0] == buffer(0, 6, 0)


def test_an_answer_is_undo_then_what_is_lacking_then_the_tail():
    feed, _ = protocol.on_subscribe(Feed(0, 0, revokes=False), 2)
    emitted = buffer(0, 5, 3)
    with pytest.raises(Disabled):
        protocol.send_stable(feed, emitted, 5)
    with pytest.raises(Disabled):
        protocol.send_tentative(feed, emitted, 1)
    feed, effects = protocol.send_undo(feed)
    assert effects == (SendUndo(2),)
    with pytest.raises(Disabled):
        protocol.send_tentative(feed, emitted, 1)
    feed, effects = protocol.send_stable(feed, emitted, 5)
    assert effects == (SendStable(2, 5),)
    feed, effects = protocol.send_tentative(feed, emitted, 2)
    assert effects == (SendTentative(5, 2),)
    assert protocol.send_tentative(feed, emitted, 3)[1] == (SendTentative(5, 1),)
    assert protocol.undo(feed)[0].revokes


def test_a_feed_that_has_sent_no_guess_owes_no_undo():
    feed = Feed(4, 0, revokes=False)
    assert protocol.undo(feed) == (feed, ())
    with pytest.raises(Disabled):
        protocol.send_undo(feed)


def test_a_feed_leaves_out_what_everybody_has_acknowledged():
    feed = Feed(1, 0, revokes=False)
    assert protocol.send_stable(feed, buffer(3, 5, 0, x=3, y=3), 5)[1] == (SendStable(3, 5),)


# --------------------------------------------------------------------------- against lists

OUTPUT = "the right output of a stream"


class World:
    """Two replicas and two subscribers, with the tuples that their machines never see."""

    def __init__(self):
        names = ("a", "b")
        self.buffers = {u: buffer(0, 0, 0) for u in names}
        self.guesses = dict.fromkeys(names, "")
        self.failing = set()
        self.views = {d: View("a", 0, 0) for d in "xy"}
        self.asked = {}
        self.feeds, self.sources = {}, {}
        self.queues = {d: deque() for d in "xy"}
        self.stable, self.tail = dict.fromkeys("xy", ""), dict.fromkeys("xy", "")

    def emit(self, u, count):
        if u in self.failing:
            room = len(OUTPUT) - self.buffers[u].stable - self.buffers[u].tentative
            self.buffers[u], _ = protocol.emit_tentative(self.buffers[u], min(count, room))
            self.guesses[u] += "?" * min(count, room)
        else:
            room = len(OUTPUT) - self.buffers[u].stable
            self.buffers[u], _ = protocol.emit_stable(self.buffers[u], min(count, room))

    def correct(self, u):
        self.failing.discard(u)
        self.guesses[u] = ""
        self.buffers[u], _ = protocol.emit_undo(self.buffers[u])
        for d, source in self.sources.items():
            if source == u:
                self.feeds[d], _ = protocol.undo(self.feeds[d])

    def ask(self, d, u):
        self.follow(d, protocol.subscribe(self.views[d], u))

    def answer(self, d):
        if d in self.asked:
            stable = self.asked.pop(d)
            self.sources[d] = self.views[d].source
            self.feeds[d], _ = protocol.on_subscribe(Feed(0, 0, revokes=False), stable)
            self.queues[d].clear()

    def cut(self, d):
        self.sources.pop(d, None)
        self.asked.pop(d, None)
        self.queues[d].clear()

    def send(self, d, count):
        """Send the next run, if there is one."""
        if d not in self.sources:
            return
        feed, kept = self.feeds[d], self.buffers[self.sources[d]]
        if feed.revokes:
            step = protocol.send_undo(feed)
        elif feed.tentative == 0 and protocol.next_stable(feed, kept) < kept.stable:
            end = min(protocol.next_stable(feed, kept) + count, kept.stable)
            step = protocol.send_stable(feed, kept, end)
        elif feed.stable == kept.stable and feed.tentative < kept.tentative:
            end = min(feed.tentative + count, kept.tentative)
            step = protocol.send_tentative(feed, kept, end)
        else:
            return
        self.feeds[d], (effect,) = step
        if isinstance(effect, SendStable):
            assert effect.begin >= kept.begin, "it is sent, and not kept any more"
        self.queues[d].append(effect)

    def receive(self, d):
        if self.queues[d]:
            match self.queues[d].popleft():
                case SendStable(begin, end):
                    self.follow(d, protocol.on_stable(self.views[d], begin, end))
                case SendTentative(behind, count):
                    self.follow(d, protocol.on_tentative(self.views[d], behind, count))
                case SendUndo(stable):
                    self.follow(d, protocol.on_undo(self.views[d], stable))

    def follow(self, d, step):
        self.views[d], effects = step
        for effect in effects:
            match effect:
                case SendSubscribe(_, stable):
                    self.asked[d] = stable
                case AcceptStable(begin, end):
                    assert not self.tail[d]
                    self.stable[d] += OUTPUT[begin:end]
                case AcceptTentative(count):
                    self.tail[d] += "?" * count
                case Revoke():
                    self.tail[d] = ""

    def ack(self, d):
        for u in self.buffers:
            self.buffers[u], _ = protocol.on_ack(self.buffers[u], d, self.views[d].stable)

    def truncate(self, u):
        least = min(count for _, count in self.buffers[u].acked.items())
        if least > self.buffers[u].begin:
            self.buffers[u], _ = protocol.truncate(self.buffers[u], least)

    def check(self):
        for d, view in self.views.items():
            assert self.stable[d] == OUTPUT[: view.stable]
            assert len(self.tail[d]) == view.tentative
            assert len(self.stable[d] + self.tail[d]) <= len(OUTPUT)
            assert all(kept.begin <= view.stable for kept in self.buffers.values())

    def settle(self):
        """End all failures and let everything arrive."""
        for u in self.buffers:
            self.correct(u)
            self.emit(u, len(OUTPUT))
        for d in self.views:
            if d not in self.asked and d not in self.sources:
                self.ask(d, "b")
            self.answer(d)
            for _ in range(4):
                self.send(d, len(OUTPUT))
            while self.queues[d]:
                self.receive(d)


def happen(world, what, number):
    """Let one thing happen; what is usual comes more often."""
    d, u, count = "xy"[number % 2], "ab"[number // 2 % 2], 1 + number // 4 % 5
    events = (
        (1, lambda: world.failing.add(u)),
        (2, lambda: world.correct(u)),
        (2, lambda: world.ask(d, u)),
        (1, lambda: world.cut(d)),
        (3, lambda: world.answer(d)),
        (2, lambda: world.ack(d)),
        (1, lambda: world.truncate(u)),
        (5, lambda: world.emit(u, count)),
        (7, lambda: world.send(d, count)),
        (8, lambda: world.receive(d)),
    )
    weighted = [event for weight, event in events for _ in range(weight)]
    weighted[what % len(weighted)]()


def run(choices):
    """Let choices say what happens; give the world, and what it has seen."""
    world, seen = World(), set()
    for what, number in zip(choices[::2], choices[1::2], strict=False):
        happen(world, what, number)
        world.check()
        seen |= {"tail" for d in "xy" if world.tail[d]}
        seen |= {"truncated" for u in "ab" if world.buffers[u].begin}
    return world, seen


CHOICES = st.binary(min_size=200, max_size=800)


@settings(max_examples=200)
@given(CHOICES)
def test_whatever_happens_the_view_is_a_prefix_and_a_tail_and_completes(choices):
    world, _ = run(choices)
    world.settle()
    world.check()
    assert world.stable == {"x": OUTPUT, "y": OUTPUT}
    assert world.tail == {"x": "", "y": ""}


def test_the_chosen_runs_get_somewhere():
    seen = set()

    @settings(max_examples=50)
    @given(CHOICES)
    def look(choices):
        seen.update(run(choices)[1])

    look()
    assert seen == {"tail", "truncated"}
