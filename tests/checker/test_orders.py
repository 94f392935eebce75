"""What depends on the order of a set is refused, whatever the hashes of this process."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from enum import Enum
from typing import Any

import pytest

from streamproof.checker import check, orders
from streamproof.lang import Domain, Element, require
from streamproof.lang.impure import ImpureModel
from streamproof.lang.model import action, always, final, init
from streamproof.models.kit.verdict import Status
from tests.checker.support.ordered import State, Takes, first_of, kind


class P(Element): ...


class Colour(Enum):
    RED = 1
    BLUE = 2
    GREEN = 3


def middle(s: frozenset[Any]) -> Any:
    return list(s)[len(s) // 2]


def popped(s: frozenset[Any]) -> Any:
    members = list(s)
    return members.pop()


def unpacked(s: frozenset[Any]) -> Any:
    x, *_ = s
    return x


ORDERED = {
    "first": lambda self, s: next(iter(s.left)),
    "middle": lambda self, s: middle(s.left),
    "pop": lambda self, s: popped(s.left),
    "loop": lambda self, s: first_of(s.left),
    "unpacked": lambda self, s: unpacked(s.left),
    "tuple": lambda self, s: tuple(s.left)[-1],
    "joined": lambda self, s: "".join(s.left)[0],
    "text": lambda self, s: str(s.left)[12],
    "least-by-tie": lambda self, s: min(s.left, key=len),
    "sorted-by-tie": lambda self, s: sorted(s.left, key=len)[1 % len(s.left)],
    "of-a-rest": lambda self, s: next(iter(s.left - {"a"} or s.left)),
    "of-a-union": lambda self, s: next(iter(s.left | {min(s.left)})),
    "of-a-field": lambda self, s: next(iter(self.names & s.left or s.left)),
}


@pytest.mark.parametrize("chosen", ORDERED.values(), ids=ORDERED)
def test_a_step_that_depends_on_the_order_of_a_set_is_refused(chosen):
    with pytest.raises(ImpureModel, match="order"):
        check(kind(chosen)())


BLIND = {
    "least": lambda self, s: min(s.left),
    "greatest": lambda self, s: max(s.left),
    "sorted": lambda self, s: sorted(s.left)[len(s.left) // 2],
    "member": lambda self, s: "a" if "a" in s.left else max(s.left),
    "size": lambda self, s: sorted(s.left)[len(s.left) - 1],
    "sum": lambda self, s: min(s.left, key=lambda x: (len(x), x)),
    "any": lambda self, s: max(s.left) if any(x == "a" for x in s.left) else min(s.left),
    "set": lambda self, s: min({x for x in s.left if x in "abcde"}),
    "literal": lambda self, s: min(s.left) if min(s.left) in {"a", "b", "c"} else max(s.left),
    "union": lambda self, s: min((s.left | {"a"}) & s.left),
    "local": lambda self, s: min(set(s.left) | {max(s.left)}),
    "enum": lambda self, s: min(s.left) if Colour.RED in {Colour.RED, Colour.BLUE} else None,
}


@pytest.mark.parametrize("chosen", BLIND.values(), ids=BLIND)
def test_what_does_not_see_the_order_is_allowed(chosen):
    assert check(kind(chosen)()).verdict.status is Status.EXHAUSTED


class Reason(Takes):
    """How a reason is told is no part of the answer."""

    @always
    def told(self, s: State) -> bool | str:
        return True if s.left else f"{self.names} and {set(s.taken)}"


def test_the_text_of_a_reason_may_show_a_set():
    assert check(Reason()).verdict.status is Status.REFUTED


class Late(Takes):
    """Takes in any order, far behind the sample that is looked at first."""

    @init
    def start(self) -> State:
        return State(frozenset("abc"), (0,))

    @action
    def take(self, s: State) -> State:
        require(s.left)
        if s.taken[0] < 300:
            return State(s.left, (s.taken[0] + 1,))
        x = next(iter(s.left))
        return State(s.left - {x}, (*s.taken, x))

    @always
    def fine(self, s: State) -> bool:
        return len(s.taken) < 9


class LateProperty(Late):
    @action
    def take(self, s: State) -> State:
        require(s.taken[0] < 300)
        return State(s.left, (s.taken[0] + 1,))

    @always
    def fine(self, s: State) -> bool:
        return s.taken[0] < 300 or next(iter(s.left)) != "a"

    @final
    def end(self, s: State) -> bool:
        return True


@pytest.mark.parametrize("late", [Late, LateProperty])
def test_every_state_is_asked_in_other_orders_and_not_a_sample(late):
    with pytest.raises(ImpureModel, match="order") as refused:
        check(late())
    assert len(refused.value.trace) == 300


@pytest.mark.parametrize("size", [2, 3, 5, 9])
@pytest.mark.parametrize("place", [0, -1])
def test_whichever_member_must_not_be_first_or_last_it_is_found(size, place):
    members = frozenset("abcdefghi"[:size])
    for member in members:
        ask = orders.in_any_order("it", lambda state, m=member: list(state)[place] != m)
        with pytest.raises(ImpureModel, match="order"):
            ask(members)


def neighbours(members: frozenset[str], one: str) -> set[str]:
    order = list(members)
    place = order.index(one)
    return {order[place - 1], order[(place + 1) % len(order)]}


@pytest.mark.parametrize("size", [4, 5, 6, 7, 10, 12])
def test_whichever_members_are_neighbours_going_round_it_is_found(size):
    members = frozenset("abcdefghijkl"[:size])
    for one, two in itertools.permutations(sorted(members), 2):
        ask = orders.in_any_order("it", lambda s, a=one, b=two: b in neighbours(s, a))
        with pytest.raises(ImpureModel, match="order"):
            ask(members)


@pytest.mark.parametrize("size", [2, 3, 4])
def test_a_small_set_is_listed_in_every_order(size):
    members = frozenset("abcd"[:size])
    listed = {tuple(other) for other in orders.other_orders(members)}
    assert listed == set(itertools.permutations(sorted(members)))


@pytest.mark.parametrize("size", [5, 12, 100])
def test_few_orders_of_a_large_set_are_tried_and_each_has_every_member(size):
    members = frozenset(range(size))
    listed = [tuple(other) for other in orders.other_orders(members)]
    assert all(sorted(order) == sorted(members) for order in listed)
    assert len(set(listed)) >= min(size, 12) + 3
    assert len(listed) <= 22


def printed(program: str) -> set[str]:
    """Run a program under several hashes of texts, and give what it prints."""
    return {
        subprocess.run(
            [sys.executable, "-c", program],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    }


def test_the_orders_that_are_tried_are_the_same_in_every_process():
    program = (
        "from streamproof.checker.orders import other_orders\n"
        "for size in (3, 7): print([[*o] for o in other_orders(frozenset('abcdefg'[:size]))])\n"
        "print([[*o] for o in other_orders(frozenset((i, str(i)) for i in range(5)))])\n"
    )
    assert len(printed(program)) == 1


def test_the_given_case_is_refused_whatever_the_hashes():
    program = (
        "from tests.checker.test_orders import ORDERED, kind\n"
        "from streamproof.checker import check\n"
        "try: check(kind(ORDERED['first'])())\n"
        "except Exception as error: print(type(error).__name__)\n"
    )
    assert printed(program) == {"ImpureModel\n"}


def test_a_state_is_looked_through_once_for_all_that_is_asked_of_it(monkeypatch):
    looked_through = []
    found = orders.other_orders
    monkeypatch.setattr(
        orders, "other_orders", lambda value: looked_through.append(value) or found(value)
    )
    ask = orders.in_any_order("it", lambda state, p: p.index < len(state))
    state = (0,) * 50  # without a set
    assert all(ask(state, p) for p in Domain(P, 50))
    assert looked_through == [state]
