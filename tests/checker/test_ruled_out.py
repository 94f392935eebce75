"""Goal: a size excludes the actions that the model names, and no others. Method: answers of
`ruled_out` that name none clearly, of each kind, are refused by all that asks a model."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import pytest

from streamproof.checker import check
from streamproof.checker import reference as plain
from streamproof.checker.native.engine import explore as native
from streamproof.checker.simulate import simulate
from streamproof.checker.walks import Plan
from streamproof.lang import WrongDefinition, require
from streamproof.lang.model import Model, action, always, init
from streamproof.models.kit.verdict import Status


@dataclass(frozen=True)
class State:
    n: int


@dataclass(frozen=True)
class Flips(Model[State]):
    @init
    def start(self) -> State:
        return State(0)

    @action
    def flip(self, s: State) -> State:
        return State(1 - s.n)

    @action
    def ash(self, s: State) -> State:
        require(s.n == 7)
        return s

    @always
    def ok(self, s: State) -> bool:
        return s.n < 2


class Name(StrEnum):
    ASH = "ash"


class Everything(tuple[str, ...]):
    __slots__ = ()

    def __contains__(self, _name: object) -> bool:
        return True


def ruling(answer: Any) -> Model[State]:
    """Make a model that rules out what a function gives."""
    return dataclass(frozen=True)(type("Rules", (Flips,), {"ruled_out": answer}))()


CALLS = itertools.count()
WRONG: dict[str, Any] = {
    "a text around a name": (lambda self: "crash", "'crash', which is a str"),
    "the name itself": (lambda self: "ash", "'ash', which is a str"),
    "a generator": (lambda self: (name for name in ["ash"]), "is a generator"),
    "a mapping": (lambda self: {"ash": False}, "is a dict"),
    "none": (lambda self: None, "None, which is a NoneType"),
    "a tuple of its own": (lambda self: Everything(), "is a Everything"),
    "an unknown name": (lambda self: ["ash", "crush"], "has 'crush' in it"),
    "a property": (lambda self: ("ash", "ok"), "has 'ok' in it"),
    "a number": (lambda self: ("ash", 1), "has 1 in it"),
    "a member": (lambda self: (Name.ASH,), "has <Name.ASH: 'ash'> in it"),
    "another answer": (lambda self: ["ash"][: next(CALLS) % 2], "asked twice"),
}


@pytest.mark.parametrize(("answer", "told"), WRONG.values(), ids=WRONG)
def test_what_names_no_actions_clearly_is_refused(answer, told):
    asks = [lambda model, e=engine: check(model, engine=e) for engine in (plain.explore, native)]
    for ask in (*asks, lambda model: simulate(model, plan=Plan(walks=2, length_max=4))):
        with pytest.raises(WrongDefinition) as refused:
            ask(ruling(answer))
        assert told in str(refused.value)


@pytest.mark.parametrize("kind", [tuple, list, set, frozenset])
def test_a_collection_of_names_rules_these_out(kind):
    report = check(ruling(lambda self: kind(["ash"])), engine=plain.explore)
    assert report.verdict.status is Status.EXHAUSTED
    report = check(ruling(lambda self: kind(["ash", "flip"])), engine=plain.explore)
    assert report.finding("actions").verdict.status is Status.UNDETERMINED
