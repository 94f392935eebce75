"""Goal: what is proved speaks of every named size. Method: models of which a size has constants
that the proof knows nothing of."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import pytest

from streamproof.checker.constants import look_at_constants
from streamproof.checker.properties import BrokenAssumption
from streamproof.checker.states import UnfitState
from streamproof.lang import (
    Domain,
    Element,
    Map,
    Model,
    WrongDefinition,
    action,
    always,
    assume,
    exists,
    init,
    require,
)
from streamproof.models.kit.verdict import Status
from streamproof.proofs.induction import prove
from streamproof.proofs.invariant import Invariant

ROOT = Path(__file__).parents[2]


class W(Element): ...


@dataclass(frozen=True)
class State:
    n: int


@dataclass(frozen=True)
class Led(Model[State]):
    """A number that stays below a limit, and one of the elements."""

    ws: Domain[W]
    boss: W
    ranks: Map[W, int]
    limit: int

    @assume
    def is_low(self) -> bool:
        return self.limit <= 3

    @init
    def start(self) -> State:
        return State(0)

    @action
    def up(self, s: State) -> State:
        require(s.n < 3)
        return State(s.n + 1)

    @always
    def is_there(self, s: State) -> bool:
        return exists(self.ws, lambda w: w == self.boss)

    @classmethod
    def of(cls, size: int, *, boss: int = 0, ranks: int = 2, limit: Any = 3) -> Any:
        places = Domain(W, size)
        return cls(places, W(boss), Map.fill(Domain(W, ranks), 0), limit)


@dataclass(frozen=True)
class Fit(Led):
    sizes = {"default": {"k": 2}}
    given: ClassVar[dict[str, Any]] = {}

    @classmethod
    def sized(cls, k: int) -> Any:
        return cls.of(k, **cls.given)


@dataclass(frozen=True)
class Outside(Fit):
    given = {"boss": 5}


@dataclass(frozen=True)
class Ranked(Fit):
    given = {"ranks": 5}


@dataclass(frozen=True)
class High(Fit):
    given = {"limit": 9}


@dataclass(frozen=True)
class Halved(Fit):
    given = {"limit": 2.5}


@dataclass(frozen=True)
class Other(Fit):
    @classmethod
    def sized(cls, k: int) -> Any:
        return Fit.of(k)


@dataclass(frozen=True)
class Hiding(Fit):
    def __post_init__(self) -> None:
        object.__setattr__(self, "is_there", lambda _: True)


@dataclass(frozen=True)
class Changing(Fit):
    """A conjunct that does not hold, so that examples are built; their limits are changed."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "limit", 3)


def invariant(cls: Any) -> Invariant:
    return Invariant(cls, conjuncts=(lambda m, s: s.n <= 3,))


def test_a_model_whose_sizes_fit_is_proved() -> None:
    assert prove(invariant(Fit)).verdict.status is Status.PROVED


@pytest.mark.parametrize(
    ("cls", "error", "told"),
    [
        (Outside, UnfitState, r"at size default, the model's boss has w5 in it.* Domain\(W, 2\)"),
        (Ranked, UnfitState, r"ranks is a map over Domain\(W, 5\), and the model has"),
        (High, BrokenAssumption, "assumes is_low"),
        (Halved, UnfitState, "limit is 2.5, which is float and not int"),
        (Other, WrongDefinition, "Other.sized gives a Fit at size default"),
        (Hiding, WrongDefinition, "has is_there of its own, which hides the method"),
    ],
)
def test_a_size_that_the_proof_says_nothing_of_is_refused(cls, error, told) -> None:
    with pytest.raises(error, match=told):
        prove(invariant(cls))


def test_a_class_that_changes_its_constants_is_refused_where_an_example_is_built() -> None:
    with pytest.raises(WrongDefinition, match="its own code changes what it is given"):
        prove(Invariant(Changing, conjuncts=(lambda m, s: s.n <= m.limit,)))


def test_an_object_that_hides_a_method_is_refused_by_check_too() -> None:
    with pytest.raises(WrongDefinition, match="hides the method"):
        look_at_constants(Hiding.sized(2))


def test_nothing_is_proved_where_python_leaves_out_claims() -> None:
    ran = subprocess.run(
        [sys.executable, "-m", "streamproof", "prove", "egress"],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env={**os.environ, "PYTHONOPTIMIZE": "1"},
    )
    assert "ClaimsDisabled" in ran.stdout + ran.stderr
    assert "PROVED" not in ran.stdout
