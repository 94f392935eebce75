"""Goal: no counter that outlives a call goes unnoticed, wherever it is kept. Method: models that
break a property after a thousand steps of a counter; a plain walk finds it, a search would not."""

# ruff: noqa: PLW0108 - each way is called by a function, as a model would

from __future__ import annotations

import calendar
import csv
import decimal
import functools
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import pytest

from streamproof.checker import check
from streamproof.checker import explore as reference
from streamproof.lang import Domain, Element, Model, WrongDefinition, action, always, init
from streamproof.lang.impure import ImpureModel
from streamproof.models.kit.verdict import Status

MANY = 1_000


class W(Element):
    log: list[int] = []


class Counter:
    def __init__(self) -> None:
        self.count = 0

    def fresh(self) -> int:
        self.count += 1
        return self.count

    def __call__(self) -> int:
        return self.fresh()


class Table(dict[str, int]):
    uses = 0


class Box:
    @functools.cached_property
    def seen(self) -> list[int]:
        return []


class Kind(Enum):
    ONE = 1


IDS: list[int] = []


def next_id() -> int:
    IDS.append(1)
    return len(IDS)


@dataclass(frozen=True)
class Message:
    number: int = field(default_factory=next_id)


def counted(function: Callable[[int], int]) -> Any:
    @functools.wraps(function)
    def call(number: int) -> int:
        call.calls += 1  # type: ignore[attr-defined]
        return function(number)

    call.calls = 0  # type: ignore[attr-defined]
    return call


@counted
def same(number: int) -> int:
    return number


@functools.singledispatch
def told(value: object) -> int:
    return 0


def closed() -> Callable[[], int]:
    counter = Counter()
    return lambda: counter.fresh()


def raised(error: ValueError) -> int:
    try:
        raise error
    except ValueError:
        depth, part = 0, error.__traceback__
        while part is not None:
            depth, part = depth + 1, part.tb_next
        return depth


CALLED, BOUND, ERROR = Counter(), Counter().fresh, ValueError()
PARTIAL, HANDLERS, TABLE, BOX = functools.partial(Counter().fresh), {"a": Counter()}, Table(), Box()
INSIDE = closed()


def appended(numbers: list[int]) -> int:
    numbers.append(1)
    return len(numbers)


def used(table: Table) -> int:
    table.uses += 1
    return table.uses


def counted_same() -> int:
    same(1)
    return int(same.calls)


def registered() -> int:
    made = type("Made", (), {})
    told.register(made, lambda _: 1)
    return len(told.registry)


def kept_by_class(name: str) -> int:
    kept = getattr(Kept, name)
    kept[f"x{len(kept)}"] = int
    return len(kept)


def kept_by_module() -> int:
    math.steps = getattr(math, "steps", 0) + 1  # type: ignore[attr-defined]
    return int(math.steps)  # type: ignore[attr-defined]


def precise() -> int:
    decimal.getcontext().prec += 1
    return decimal.getcontext().prec


WAYS: dict[str, Callable[[], int]] = {
    "object that is called": lambda: CALLED(),
    "bound method": lambda: BOUND(),
    "partial": lambda: PARTIAL(),
    "in a table": lambda: HANDLERS["a"](),
    "in a closure": lambda: INSIDE(),
    "attribute of a function": counted_same,
    "attribute of a dict": lambda: used(TABLE),
    "class of elements": lambda: appended(W.log),
    "factory": lambda: Message().number,
    "computed once": lambda: appended(BOX.seen),
    "base class": lambda: appended(Model.rows),  # type: ignore[attr-defined]
    "registry": registered,
    "annotations": lambda: kept_by_class("__annotations__"),
    "traceback": lambda: raised(ERROR),
    "module": kept_by_module,
    "decimal": precise,
    "csv": lambda: csv.field_size_limit(csv.field_size_limit() + 1),
    "interpreter": lambda: int(sys.setswitchinterval(sys.getswitchinterval() + 1) or 0),
    "calendar": lambda: int(calendar.setfirstweekday(calendar.firstweekday()) or 0),
}


class Kept:
    number: int


@dataclass(frozen=True)
class State:
    turn: bool
    bad: bool


def model_of(way: Callable[[], int]) -> Any:
    @dataclass(frozen=True)
    class Counting(Model[State]):
        ws: Domain[W]

        @init
        def start(self) -> State:
            return State(False, False)

        @action
        def step(self, s: State, w: W) -> State:
            return State(not s.turn, way() > MANY)

        @always
        def holds(self, s: State) -> bool:
            return not s.bad

    return Counting(Domain(W, 1))


@pytest.fixture(autouse=True)
def put_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let what tests change be as it was for others."""
    monkeypatch.setattr(Model, "rows", [], raising=False)
    monkeypatch.setattr(math, "steps", 0, raising=False)


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_a_counter_beside_the_state_is_found_wherever_it_is(way: Callable[[], int]) -> None:
    with pytest.raises(ImpureModel):
        check(model_of(way), engine=reference)


@functools.lru_cache
def remembered(number: int) -> int:
    return number + 1


class Late:
    """A class that is met once something has been computed."""

    number = 1


class Lazy:
    @functools.cached_property
    def late(self) -> Late:
        return Late()


class Node:
    def __init__(self) -> None:
        self.others: list[Node] = []


LAZY, SHARED, CHAIN = Lazy(), [0], [0]
for _ in range(60):
    SHARED = [SHARED, SHARED]  # type: ignore[list-item] # each twice in the next: 2^60 in all
for _ in range(3_000):
    CHAIN = [CHAIN]  # type: ignore[list-item]
NODES = [Node() for _ in range(60)]
for node in NODES:
    node.others = NODES
HARMLESS: dict[str, Callable[[], int]] = {
    "remembered": lambda: remembered(1),
    "computed": lambda: LAZY.late.number,
    "dispatched": lambda: told(1) + told("text") + told(1.5) + told(Kind.ONE),
    "shared": lambda: len(SHARED),
    "each knows all": lambda: len(NODES),
}


@pytest.mark.parametrize("way", HARMLESS.values(), ids=HARMLESS)
def test_what_is_only_remembered_is_no_change(way: Callable[[], int]) -> None:
    assert check(model_of(way), engine=reference).safety.status is not Status.REFUTED


def test_what_changes_in_a_crowd_that_knows_itself_is_found() -> None:
    def way() -> int:
        NODES[59].others = [*NODES[59].others, NODES[0]]
        return len(NODES[59].others) - len(NODES)

    with pytest.raises(ImpureModel, match="the global NODES was"):
        check(model_of(way), engine=reference)


def test_a_chain_that_is_too_long_is_refused() -> None:
    with pytest.raises(WrongDefinition, match="in a chain of hundreds"):
        check(model_of(lambda: len(CHAIN)), engine=reference)


def test_the_message_names_the_place_and_both_values() -> None:
    CALLED.count = 0
    with pytest.raises(ImpureModel, match=r"CALLED was Counter\(count=0\) .* is Counter\(count=\d"):
        check(model_of(WAYS["object that is called"]), engine=reference)


@functools.cache
def log_of(name: str, *, number: int = 0) -> list[int]:
    del name, number
    return []


class Drawer:
    @functools.cached_property
    def log(self) -> list[int]:
        return []


DRAWER = Drawer()
LATE: dict[str, Callable[[], int]] = {
    "remembered": lambda: appended(log_of("a", number=1)),
    "computed": lambda: appended(DRAWER.log),
}


@dataclass(frozen=True)
class Step:
    number: int


def late_model_of(way: Callable[[], int]) -> Any:
    @dataclass(frozen=True)
    class Late(Model[Step]):
        @init
        def start(self) -> Step:
            return Step(0)

        @action
        def step(self, s: Step) -> Step:
            is_again = s.number == 150 and way() > 1
            return Step(999 if is_again else (s.number + 1) % 200)

        @always
        def is_small(self, s: Step) -> bool:
            return s.number < 999

    return Late()


@pytest.mark.parametrize("way", LATE.values(), ids=LATE)
def test_what_is_kept_for_the_first_time_late_in_a_search_is_computed_again(
    way: Callable[[], int],
) -> None:
    log_of.cache_clear()
    vars(DRAWER).pop("log", None)
    with pytest.raises(ImpureModel, match=r"was \[\] before .* is \[1\] now"):
        check(late_model_of(way), engine=reference)
