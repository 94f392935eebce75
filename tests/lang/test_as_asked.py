"""Goal: a verdict is about what is there now. Method: a model is checked, and what its methods use
is changed in each place where that can stand; whatever asks again refuses it."""

# ruff: noqa: PLW0108 - the names are read whenever they are called

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest

from streamproof.checker import check
from streamproof.checker import explore as plain
from streamproof.checker.native.engine import explore as native
from streamproof.lang import Model, WrongDefinition, action, always, final, init, require
from streamproof.models.kit.verdict import Proved, Status
from streamproof.proofs.induction import prove
from streamproof.proofs.invariant import Invariant

LIMIT, LISTED, TABLE = 2, [2], {"limit": 2}


@dataclass(frozen=True)
class Limit:
    value: int


class Other:
    limit = 2


RECORD, OBJECT = Limit(2), SimpleNamespace(limit=2)


def helper() -> int:
    return 2


def defaulted(limit: int = 2) -> int:
    return limit


def closed(limit: int) -> Callable[[], int]:
    return lambda: limit


CLOSED = closed(2)
PARTIAL = functools.partial(int, 2)


def another_helper() -> Any:
    def helper() -> int:  # of the same name
        return 5

    return helper


Change = Callable[[pytest.MonkeyPatch, Any], None]
CASES: dict[str, tuple[Callable[[], int], Change]] = {
    "global": (lambda: LIMIT, lambda patch, here: patch.setattr(here, "LIMIT", 5)),
    "list": (lambda: LISTED[0], lambda patch, here: patch.setattr(here, "LISTED", [5])),
    "table": (lambda: TABLE["limit"], lambda patch, here: patch.setitem(here.TABLE, "limit", 5)),
    "record": (lambda: RECORD.value, lambda patch, here: patch.setattr(here, "RECORD", Limit(5))),
    "class": (lambda: Other.limit, lambda patch, here: patch.setattr(here.Other, "limit", 5)),
    "object": (lambda: OBJECT.limit, lambda patch, here: patch.setattr(here.OBJECT, "limit", 5)),
    "helper": (
        lambda: helper(),
        lambda patch, here: patch.setattr(here, "helper", another_helper()),
    ),
    "its code": (
        lambda: helper(),
        lambda patch, here: patch.setattr(here.helper, "__code__", another_helper().__code__),
    ),
    "default": (
        lambda: defaulted(),
        lambda patch, here: patch.setattr(here.defaulted, "__defaults__", (5,)),
    ),
    "closure": (lambda: CLOSED(), lambda patch, here: patch.setattr(here, "CLOSED", closed(5))),
    "cell": (
        lambda: CLOSED(),
        lambda patch, here: patch.setattr(here.CLOSED.__closure__[0], "cell_contents", 5),
    ),
    "partial": (
        lambda: PARTIAL(),
        lambda patch, here: patch.setattr(here, "PARTIAL", functools.partial(int, 5)),
    ),
}


@dataclass(frozen=True)
class Count:
    n: int


def counting(limit: Callable[[], int]) -> Any:
    @dataclass(frozen=True)
    class Counting(Model[Count]):
        sizes = {"default": {}}

        @init
        def start(self) -> Count:
            return Count(0)

        @action
        def up(self, s: Count) -> Count:
            return Count(s.n + 1 if s.n < limit() else 0)

        @always
        def is_low(self, s: Count) -> bool:
            return s.n < 3

    return Counting


@pytest.mark.parametrize(("limit", "change"), CASES.values(), ids=CASES)
@pytest.mark.parametrize("engine", [plain, native], ids=["plain", "native"])
def test_what_a_model_uses_may_not_change_between_two_checks(
    engine: Any, limit: Callable[[], int], change: Change, monkeypatch: pytest.MonkeyPatch
) -> None:
    cls = counting(limit)
    assert check(cls(), engine=engine).safety.status is Status.EXHAUSTED
    change(monkeypatch, __import__(__name__, fromlist=["LIMIT"]))
    with pytest.raises(WrongDefinition, match="when Counting was checked, traced or proved first"):
        check(cls(), engine=engine)
    assert check(counting(limit)(), engine=engine).safety.status is Status.REFUTED


@pytest.mark.parametrize(("limit", "change"), CASES.values(), ids=CASES)
def test_nor_before_a_proof(
    limit: Callable[[], int], change: Change, monkeypatch: pytest.MonkeyPatch
) -> None:
    invariant = Invariant(counting(limit), (lambda m, s: (s.n >= 0) & (s.n < 3),))
    assert isinstance(prove(invariant).verdict, Proved)
    change(monkeypatch, __import__(__name__, fromlist=["LIMIT"]))
    with pytest.raises(WrongDefinition, match="when Counting was checked, traced or proved first"):
        prove(invariant)


@dataclass(frozen=True)
class Up:
    n: int


@dataclass(frozen=True)
class Named(Model[Up]):
    bound: int

    @init
    def start(self) -> Up:
        return Up(0)

    @action
    def step(self, s: Up) -> Up:
        require(s.n < self.bound)
        return Up(s.n + 1)

    @final
    def ends(self, s: Up) -> bool:
        return s.n == self.bound

    @always
    def in_bounds(self, s: Up) -> bool:
        return s.n <= self.bound


def test_a_global_named_like_an_attribute_is_no_change(monkeypatch: pytest.MonkeyPatch) -> None:
    check(Named(2))
    monkeypatch.setattr(sys.modules[__name__], "bound", 1, raising=False)
    assert check(Named(2)).verdict.status is Status.EXHAUSTED
