"""Code that depends on more than the state is refused by both engines, and by the prover.

Hashes, clocks, random numbers, the environment, files, sets that it makes, and whatever is changed
beside the state: each model here gives one answer today and may give another one tomorrow.
"""

from __future__ import annotations

import datetime as dt
import itertools
import os
import random
import time
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any, ClassVar

import pytest

from streamproof.checker import check
from streamproof.checker import reference as plain
from streamproof.checker.native.engine import explore as native
from streamproof.checker.simulate import simulate
from streamproof.lang import Domain, Element, Model, require
from streamproof.lang.impure import ImpureModel
from streamproof.lang.model import action, always, final, init, sometimes
from streamproof.models.kit.verdict import Status
from streamproof.proofs.induction import prove
from streamproof.proofs.invariant import Invariant

LETTERS = frozenset("abc")


class P(Element): ...


class Colour(Enum):
    RED = 1
    BLUE = 2
    GREEN = 3


@dataclass(frozen=True)
class Count:
    n: int


@dataclass(frozen=True)
class Counts(Model[Count]):
    """Traceable, unless it is made impure."""

    ps: Domain[P]
    sizes: ClassVar[dict[str, dict[str, int]]] = {"default": {}}
    seen: ClassVar[list[int]] = []

    @classmethod
    def sized(cls) -> Counts:
        return cls(Domain(P, 2))

    @init
    def start(self) -> Count:
        return Count(0)

    @action
    def up(self, s: Count) -> Count:
        require(s.n < 5)
        return Count(s.n + self.step(s))

    def step(self, s: Count) -> int:
        return 1

    @always
    def fine(self, s: Count) -> bool:
        return s.n >= 0

    @final
    def end(self, s: Count) -> bool:
        return s.n >= 5


def counting(step: Any) -> Any:
    return dataclass(frozen=True)(type("Counting", (Counts,), {"step": step}))


TICKS = itertools.count()


def by_loop() -> int:
    for name in {"a", "b", *LETTERS}:
        if name:
            return 1
    return 1


def of_elements(ps: Any) -> int:
    return 1 if next(iter({q for q in ps if q})) in ps else 2


def first_of(names: Any) -> Any:
    return next(iter(names))


def handed_on(names: Any) -> Any:
    return first_of(names)


def is_in(name: Any, names: Any) -> bool:
    return name in names and len(names) > 0


def by_default(ticks: Any = TICKS) -> int:
    return 1 if ticks else 2


def of_colours() -> int:
    found = {Colour.RED, Colour.BLUE}
    found |= {Colour.GREEN}
    return 1 if next(iter(found)) else 2


DICE = random.Random(1)
COUNTER = 0
ENVIRONMENT = os.environ
NOW = time.time
HERE = Path(__file__)


def global_counter() -> int:
    global COUNTER  # noqa: PLW0603
    COUNTER += 0
    return 1


def of_outside() -> Any:
    calls = 0

    def step(self: Any, s: Count) -> int:
        nonlocal calls
        calls += 0
        return 1

    return step


CODE = {
    "handed": lambda self, s: 1 if first_of({"a", "b"}) else 2,
    "handed-on": lambda self, s: 1 if handed_on({"a", "b"}) else 2,
    "dunder-hash": lambda self, s: 1 + 0 * "a".__hash__(),
    "default": lambda self, s: by_default(),
    "hash": lambda self, s: 1 + 0 * hash("a"),
    "id": lambda self, s: 1 + 0 * id("a"),
    "open": lambda self, s: 1 if open else 2,
    "path": lambda self, s: 1 if HERE.name else 2,
    "time": lambda self, s: 1 if time.time() > 0 else 2,
    "clock": lambda self, s: 1 if NOW() > 0 else 2,
    "today": lambda self, s: 1 if dt.date.today().year > 0 else 2,  # noqa: DTZ011
    "now": lambda self, s: 1 if dt.datetime.now(dt.UTC).year > 0 else 2,
    "random": lambda self, s: random.randint(1, 1),
    "dice": lambda self, s: DICE.randint(1, 1),
    "environ": lambda self, s: 1 if os.environ.get("HOME", "x") else 2,
    "environment": lambda self, s: 1 if ENVIRONMENT.get("HOME", "x") else 2,
    "iterator": lambda self, s: 1 if TICKS else 2,
    "global": lambda self, s: global_counter(),
    "outside": of_outside(),
    "loop": lambda self, s: by_loop(),
    "elements": lambda self, s: of_elements(self.ps),
    "colours": lambda self, s: of_colours(),
    "global-set": lambda self, s: 1 if list(LETTERS) else 2,
}


@pytest.mark.parametrize("engine", [plain.explore, native])
@pytest.mark.parametrize("step", CODE.values(), ids=CODE)
def test_code_that_is_no_function_of_the_state_is_refused_by_both_engines(step, engine):
    with pytest.raises(ImpureModel) as refused:
        check(counting(step)(Domain(P, 2)), engine=engine)
    assert "test_impure.py:" in str(refused.value)
    with pytest.raises(ImpureModel):
        prove(Invariant(counting(step), (lambda m, s: s.n >= 0,)))
    with pytest.raises(ImpureModel):
        simulate(counting(step)(Domain(P, 2)))


def test_the_model_without_it_is_proved_and_exhausted():
    blind = counting(lambda self, s: 1 if is_in("a", {"a", "b"}) else 2)
    assert check(blind(Domain(P, 2))).verdict.status is Status.EXHAUSTED
    assert check(Counts(Domain(P, 2))).verdict.status is Status.EXHAUSTED
    assert prove(Invariant(Counts, (lambda m, s: s.n >= 0,))).verdict.status is Status.PROVED


# --------------------------------------------------------------------------- what is changed


NOTES: list[int] = []
TABLE = {"a": 0}


class Config:
    calls = 0


def noting(self: Any, s: Count, notes: list[int] = []) -> int:  # noqa: B006
    notes.append(s.n)
    return 1


def marking(self: Any, s: Count) -> int:
    marking.calls = getattr(marking, "calls", 0) + 1  # type: ignore[attr-defined]
    return 1


def of_closure() -> Any:
    notes: list[int] = []

    def step(self: Any, s: Count) -> int:
        notes.append(1)
        return 1

    return step


def of_class(self: Any, s: Count) -> int:
    Config.calls += 1
    return 1


def of_table(self: Any, s: Count) -> int:
    TABLE["a"] += 1
    return 1


CHANGED = {
    "global": lambda self, s: NOTES.append(1) or 1,
    "class-attribute": lambda self, s: self.seen.append(1) or 1,
    "another-class": of_class,
    "table": of_table,
    "default": noting,
    "function": marking,
    "closure": of_closure(),
    "field": lambda self, s: object.__setattr__(self, "calls", s.n) or 1,
}


@pytest.mark.parametrize("step", CHANGED.values(), ids=CHANGED)
def test_what_changes_something_beside_the_state_is_refused(step):
    with pytest.raises(ImpureModel, match="before the methods of .* were asked, and is"):
        check(counting(step)(Domain(P, 2)))


class LateNote(Counts):
    """Changes something only behind the sample."""

    @action
    def up(self, s: Count) -> Count:
        require(s.n < 100)
        if s.n == 90:
            NOTES.append(1)
        return Count(s.n + 1)

    @final
    def end(self, s: Count) -> bool:
        return s.n == 100


def test_what_is_changed_behind_the_sample_is_noticed_at_the_end():
    with pytest.raises(ImpureModel, match="the global NOTES was"):
        check(LateNote(Domain(P, 1)))


class ChangesLate(Counts):
    """Changes one behind the sample."""

    @action
    def up(self, s: Count) -> Count:
        require(s.n < 99)
        if s.n == 90:
            object.__setattr__(s, "n", 95)
            return s
        return Count(s.n + 1)

    @final
    def end(self, s: Count) -> bool:
        return True


class Changes(Counts):
    """Changes a frozen state in place."""

    @action
    def up(self, s: Count) -> Count:
        require(s.n < 5)
        object.__setattr__(s, "n", s.n + 1)
        return s

    @sometimes
    def gets_on(self, s: Count) -> bool:
        return s.n > 1


@pytest.mark.parametrize("changes", [Changes, ChangesLate])
def test_a_state_that_is_changed_in_place_is_noticed(changes):
    with pytest.raises(ImpureModel, match="a state was changed in place, and is Count"):
        check(changes(Domain(P, 1)))
