"""Minimising: what is left of a run breaks the same property, and needs each of its steps."""

from __future__ import annotations

from random import Random

import pytest

from streamproof.checker.counterexample import retrace
from streamproof.checker.exploration import Path
from streamproof.checker.minimise import minimise
from streamproof.lang import require
from streamproof.lang.model import action, always, every_step
from streamproof.models.kit.verdict import CLAIMS
from tests.checker.support.walks import Count, Counter, Node, Walk, walk


def minimised(model, path, name):
    found = minimise(model, path, name)
    assert found.is_minimal
    return found.path, found.broken


class Guarded(Walk):
    @always
    def is_not_last(self, now: Node) -> bool:
        return now != self.nodes.elements[-1]


def test_cycles_are_cut_out_of_a_run():
    ring = walk(Guarded, (0, 1), (1, 2), (2, 0), (2, 3))
    path, broken = minimised(ring, Path(0, (1, 2, 0, 1, 2, 0, 1, 2, 3)), "is_not_last")
    assert path == Path(0, (1, 2, 3))
    assert (broken.name, broken.reason) == ("is_not_last", "is_not_last() does not hold")


def test_a_detour_that_leads_elsewhere_is_left_out():
    model = walk(Guarded, (0, 1), (1, 2), (2, 3), (0, 3), (3, 4))
    assert minimised(model, Path(0, (1, 2, 3, 4)), "is_not_last")[0] == Path(0, (3, 4))


def test_a_run_that_no_step_can_be_left_out_of_stays_as_it_is():
    line = walk(Guarded, *((n, n + 1) for n in range(40)))
    whole = Path(0, tuple(range(1, 41)))
    assert minimised(line, whole, "is_not_last")[0] == whole


class Twice(Counter):
    @every_step
    def is_never_reset(self, before: Count, after: Count) -> bool:
        return after.value >= before.value

    @action
    def claim(self, now: Count) -> Count:
        assert now.value < 2
        return now


def test_a_step_that_leads_back_and_breaks_a_property_is_not_cut_out_as_a_cycle():
    up, reset, claim = 0, 1, 2
    path, broken = minimised(Twice(2), Path(0, (up, claim, up, reset)), "is_never_reset")
    assert (path.steps, broken.name) == ((up, up, reset), "is_never_reset")


def test_a_broken_claim_stays_the_last_step():
    up, claim = 0, 2
    path, broken = minimised(Twice(5), Path(0, (up, claim, up, up, claim)), CLAIMS)
    assert (path.steps, broken.name) == ((up, up, claim), CLAIMS)


class Fragile(Counter):
    """From 0, a jump fails and a leap leaves the range; from 1, both lead on."""

    @action
    def jump(self, now: Count) -> Count:
        return Count(now.value + 6 // now.value)

    @action
    def leap(self, now: Count) -> Count:
        return Count({0: self.most + 1}.get(now.value, now.value + 1))

    @action
    def fall(self, now: Count) -> Count:
        require(now.value > 1)
        return Count(7)

    @always
    def is_not_seven(self, now: Count) -> bool:
        return now.value != 7


@pytest.mark.parametrize("steps", [(0, 2), (0, 3, 4)], ids=["fails", "leaves its range"])
def test_a_run_that_makes_another_mistake_is_no_shorter_run(steps):
    path, _ = minimised(Fragile(8), Path(0, steps), "is_not_seven")
    assert path.steps == steps


class Odd(Counter):
    @always
    def is_even(self, now: Count) -> bool:
        return now.value % 2 == 0


def test_a_property_that_breaks_earlier_than_the_end_ends_the_run():
    """Without any one of three steps the last state is even, but the first step suffices."""
    path, _ = minimised(Odd(9), Path(0, (0, 0, 0)), "is_even")
    assert path.steps == (0,)


def test_random_runs_lose_every_step_that_can_be_left_out():
    random = Random(1)
    for _ in range(30):
        edges = {(random.randrange(8), random.randrange(8)) for _ in range(20)} | {(7, 8)}
        model = walk(Guarded, *edges)
        steps, here = [], 0
        while here != 8 and len(steps) < 200:
            choices = [to for at, to in edges if at == here]
            if not choices:
                break
            here = random.choice(choices)
            steps.append(here)
        if here == 8:
            path, _ = minimised(model, Path(0, tuple(steps)), "is_not_last")
            nodes = [state.index for state in retrace(model, path).states]
            assert len(set(nodes)) == len(nodes)
            pairs = zip(nodes, nodes[2:], strict=False)
            assert not any(pair in edges for pair in pairs)


def test_an_interrupt_gives_the_run_as_short_as_it_was_by_then():
    class Slow(Guarded):
        @every_step
        def is_slow(self, before: Node, after: Node) -> bool:
            if (before.index, after.index) == (0, 39):  # the way that makes the run short
                raise KeyboardInterrupt
            return True

    line = walk(Slow, *((n, n + 1) for n in range(40)), (0, 39))
    found = minimise(line, Path(0, tuple(range(1, 41))), "is_not_last")
    assert not found.is_minimal
    assert found.path.steps[-1] == 40
