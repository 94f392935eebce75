"""A conjunct may take elements, members, truth values and numbers, each by its place."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any

import pytest

from streamproof.lang import (
    Domain,
    Element,
    Map,
    Model,
    Untraceable,
    WrongDefinition,
    action,
    always,
    init,
)
from streamproof.models.kit.verdict import Status
from streamproof.proofs.induction import prove
from streamproof.proofs.invariant import Invariant


class P(Element): ...


class Mood(Enum):
    GOOD = 1
    BAD = 2


@dataclass(frozen=True)
class State:
    n: int
    of: Map[P, int]
    mood: Mood


@dataclass(frozen=True)
class Counts(Model[State]):
    ps: Domain[P]
    sizes = {"default": {"ps": 1}}

    @init
    def start(self) -> State:
        return State(0, Map.fill(self.ps, 0), Mood.GOOD)

    @action
    def up(self, s: State, p: P) -> State:
        return State(s.n + 1, s.of.set(p, s.of[p] + 1), s.mood)

    @always
    def natural(self, s: State) -> bool:
        return s.n >= 0


def natural(m: Counts, s: State) -> bool:
    return s.n >= 0


def of_truth(m: Counts, s: State, k: bool) -> bool:
    return s.n >= 0 or k


def of_a_member(m: Counts, s: State, k: Mood) -> bool:
    return k in (s.mood, Mood.BAD)


def of_a_number(m: Counts, s: State, k: int) -> bool:
    return s.n != k or k >= 0


def of_two(m: Counts, s: State, p: P, k: int) -> bool:
    return s.of[p] != k or k >= 0


def only_if_true(m: Counts, s: State, k: bool) -> bool:
    return k


def every_member(m: Counts, s: State, k: Mood) -> bool:
    return s.mood == k


def no_number(m: Counts, s: State, k: int) -> bool:
    return s.n != k


TRUE = [of_truth, of_a_member, of_a_number, of_two]
FALSE = [only_if_true, every_member, no_number]


@pytest.mark.parametrize("conjunct", TRUE)
def test_what_holds_for_all_values_is_proved(conjunct: Callable[..., bool]) -> None:
    status = prove(Invariant(Counts, (natural, conjunct))).verdict.status
    assert status is Status.PROVED


@pytest.mark.parametrize("conjunct", FALSE)
def test_what_fails_for_one_value_is_not_proved(conjunct: Callable[..., bool]) -> None:
    status = prove(Invariant(Counts, (natural, conjunct))).verdict.status
    assert status in (Status.REFUTED, Status.UNDETERMINED)


def many(m: Counts, s: State, *ps: P) -> bool:
    return s.n >= 0


def by_name(m: Counts, s: State, *, p: P) -> bool:
    return s.of[p] >= 0


@pytest.mark.parametrize("conjunct", [many, by_name])
def test_parameters_that_are_not_taken_by_place_are_refused(conjunct: Callable[..., bool]) -> None:
    with pytest.raises(WrongDefinition, match="not by place.* Write a plain parameter"):
        prove(Invariant(Counts, (natural, conjunct)))


class Called:
    def __call__(self, m: Counts, s: State) -> bool:
        return s.n >= 0


@pytest.mark.parametrize("conjunct", [Called(), functools.partial(natural)])
def test_what_is_no_function_is_no_conjunct(conjunct: Any) -> None:
    with pytest.raises(WrongDefinition, match="is no function.* Write it as a function with def"):
        Invariant(Counts, (natural,), lemmas=(conjunct,))


def mixed(m: Counts, s: State) -> bool | str:
    return "negative" if s.n < 0 else True


def test_a_conjunct_with_answers_of_two_kinds_is_blamed_itself() -> None:
    with pytest.raises(Untraceable, match=r"mixed \(.*test_parameters.py:\d+\)"):
        prove(Invariant(Counts, (natural, mixed)))  # type: ignore[arg-type] # which is the mistake
