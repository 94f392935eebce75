"""Side effects are refused at the call that has them, also where they are undone or come late.

A search that compares its surroundings at its end alone does not see what was changed and changed
back. Each model here is broken in a plain run, and was EXHAUSTED.
"""

from __future__ import annotations

import abc
import decimal
import functools
import hashlib
import hmac
import zlib
from collections import defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from streamproof.checker import check, reference
from streamproof.checker.simulate import simulate
from streamproof.checker.walks import Plan
from streamproof.lang import Fairness, Model, action, always, eventually, init, require
from streamproof.lang.impure import ImpureModel
from streamproof.lang.side_effects import side_effects_of
from streamproof.models.kit.verdict import Status

LATE = 100
"""A state behind those that are asked twice."""
BUSY = [False]
TABLE: dict[str, int] = {}
QUEUE: deque[int] = deque()
SEEN: set[int] = set()
HASH = hashlib.md5()
MAC = hmac.new(b"key", digestmod="md5")
CONTEXT = decimal.Context(prec=2)
PACKED = zlib.compressobj()
BYTES = bytearray(1)


class Box:
    item = 0

    def __init__(self) -> None:
        self.items: list[int] = []


class Slotted:
    __slots__ = ("item",)

    def __init__(self) -> None:
        self.item = 0


BOX, SLOTTED = Box(), Slotted()


class Abstract(abc.ABC):  # noqa: B024
    pass


class Base: ...


def named() -> None: ...


def closed() -> Callable[[], None]:
    held = [0]

    def change() -> None:
        held[0] ^= 1

    return change


CLOSED = closed()


def flip() -> None:
    BUSY[0] = not BUSY[0]


def flip_by_an_alias() -> None:
    busy = BUSY
    busy[0] = not busy[0]


def flip_by_a_helper() -> None:
    put_first(BUSY)


def put_first(box: list[bool]) -> None:
    box[0] = not box[0]


def put_into_a_table() -> None:
    TABLE["x"] = 1 - TABLE.get("x", 0)


def update_a_table() -> None:
    TABLE.update(x=1 - TABLE.get("x", 0))


def add_to_a_set() -> None:
    SEEN.discard(1) if 1 in SEEN else SEEN.add(1)


def append_to_a_queue() -> None:
    QUEUE.pop() if QUEUE else QUEUE.append(1)


def call_a_method_by_its_class() -> None:
    list.append(BUSY, False)


def set_an_attribute() -> None:
    BOX.item = 1 - BOX.item


def set_by_setattr() -> None:
    setattr(BOX, "item", 1 - BOX.item)  # noqa: B010


def set_a_slot() -> None:
    SLOTTED.item = 1 - SLOTTED.item


def set_of_a_class() -> None:
    Box.item = 1 - Box.item


def append_deep() -> None:
    BOX.items.pop() if BOX.items else BOX.items.append(1)


def change_a_closure() -> None:
    CLOSED()


def name_a_function() -> None:
    named.__name__ = named.__name__ + "x"


def name_a_class() -> None:
    Base.__name__ = Base.__name__ + "x"


def note_on_a_function() -> None:
    named.note = 1 - getattr(named, "note", 0)


def register() -> None:
    Abstract.register(type("Other", (), {}))


def make_a_subclass() -> None:
    SEEN_CLASSES.append(type("Other", (Base,), {}))


SEEN_CLASSES: list[type] = []


def hash_on() -> None:
    HASH.update(b"x")


def sign_on() -> None:
    MAC.update(b"x")


def raise_a_flag() -> None:
    CONTEXT.divide(decimal.Decimal(1), decimal.Decimal(3))


def write_bytes() -> None:
    BYTES[0] ^= 1


EFFECTS = [
    flip, flip_by_an_alias, flip_by_a_helper, put_into_a_table, update_a_table, add_to_a_set,
    append_to_a_queue, call_a_method_by_its_class, set_an_attribute, set_by_setattr, set_a_slot,
    set_of_a_class, append_deep, change_a_closure, name_a_function, name_a_class,
    note_on_a_function, register, make_a_subclass, hash_on, sign_on, raise_a_flag, write_bytes,
]  # fmt: skip


def model_of(effect: Callable[[], None]) -> Model[int]:
    """Make a model that has an effect in one late state."""

    class Late(Model[int]):
        @init
        def zero(self) -> int:
            return 0

        @action
        def add(self, n: int) -> int:
            if n == LATE:
                effect()
            return (n + 1) % (LATE + 20)

        @always
        def is_small(self, n: int) -> bool:
            return n < LATE + 20

    return Late()


@pytest.mark.parametrize("effect", EFFECTS, ids=lambda effect: effect.__name__)
def test_an_effect_in_a_late_state_is_refused_where_it_happens(effect: Any) -> None:
    with pytest.raises(ImpureModel, match=r"add\(\) of Late has changed something beside"):
        check(model_of(effect), engine=reference.explore, validated=False)


@pytest.mark.parametrize("engine", [None, reference.explore], ids=["auto", "reference"])
def test_an_effect_that_the_next_action_undoes_is_refused(engine: Any) -> None:
    class Toggles(Model[int]):
        @init
        def start(self) -> int:
            return 0

        @action
        def back(self, s: int) -> int:
            flip()
            require(s == 9)
            return 0

        @action
        def forth(self, s: int) -> int:
            flip()
            require(s < 9)
            return s + 1

        @always
        def idle_at_five(self, s: int) -> bool:
            return not (s == 5 and BUSY[0])

    named = {} if engine is None else {"engine": engine}
    with pytest.raises(ImpureModel, match="has changed something beside its answer: .*BUSY"):
        check(Toggles(), **named)


def test_an_effect_behind_a_promise_is_refused() -> None:
    class Promises(Model[int]):
        @init
        def start(self) -> int:
            return 0

        @action(fairness=Fairness.WEAK)
        def forth(self, s: int) -> int:
            flip()
            return (s + 1) % 8

        @action
        def rest(self, s: int) -> int:
            flip()
            require(s > 8)
            return s

        def ruled_out(self) -> tuple[str, ...]:
            return ("rest",)

        @eventually
        def done(self, s: int) -> bool:
            return s == 5 and not BUSY[0]

    with pytest.raises(ImpureModel, match="beside its answer"):
        check(Promises())


def test_an_effect_of_a_property_that_a_second_search_undoes_is_refused() -> None:
    """Auto searches some hundred states, and begins again with the other engine."""

    class Twice(Model[int]):
        @init
        def start(self) -> int:
            return 0

        @action
        def add(self, s: int) -> int:
            return (s + 1) % 700

        @always
        def small(self, s: int) -> bool:
            if s == 400:
                flip()
            return not (s == 600 and BUSY[0])

    with pytest.raises(ImpureModel, match="small of Twice has changed something"):
        check(Twice())


def test_walks_refuse_it_too() -> None:
    with pytest.raises(ImpureModel, match="beside its answer"):
        simulate(model_of(flip), plan=Plan(walks=2, length_max=LATE + 5))


@dataclass(frozen=True)
class State:
    n: int
    k: int = field(default=-1, hash=False)
    deep: tuple[Any, ...] = ()

    @functools.cached_property
    def box(self) -> list[int]:
        return [0]


def change_a_field(s: State) -> None:
    object.__setattr__(s, "k", -2)


def change_what_is_kept(s: State) -> None:
    s.box[0] ^= 1


@pytest.mark.parametrize("change", [change_a_field, change_what_is_kept])
def test_a_late_state_that_is_changed_in_place_is_refused(change: Any) -> None:
    """Its hash is the same."""

    class InPlace(Model[State]):
        @init
        def start(self) -> State:
            return State(0)

        @action
        def peek(self, s: State) -> State:
            if s.n == LATE:
                change(s)
            return State(0)

        @action
        def add(self, s: State) -> State:
            return State((s.n + 1) % (LATE + 20))

        @always
        def small(self, s: State) -> bool:
            return s.n < LATE + 20

    with pytest.raises(ImpureModel):
        check(InPlace())


def test_an_object_of_which_nothing_tells_what_it_holds_is_refused() -> None:
    class Uses(Model[int]):
        @init
        def zero(self) -> int:
            return 0

        @action
        def add(self, n: int) -> int:
            return (n + (PACKED is None)) % 3

        @always
        def small(self, n: int) -> bool:
            return n < 3

    with pytest.raises(ImpureModel, match="nothing tells what it holds"):
        check(Uses())


class Local(Model[int]):
    """Makes lists, tables and sets of its own, and changes them."""

    words = ("a", "b")

    @init
    def zero(self) -> int:
        return 0

    @action
    def add(self, n: int) -> int:
        found: list[int] = []
        table = {}
        groups: defaultdict[int, list[int]] = defaultdict(list)
        total = 0
        for m in range(3):
            found.append(m)
            table[m] = m
            groups[m].append(m)
            total += m
        seen = set(found)
        seen.add(9)
        table.update(x=1)
        del table["x"]
        found[0], found[1] = found[1], found[0]

        def visit(m: int) -> None:
            nonlocal total
            total += m
            found.append(m)

        visit(0)
        return (n + total // 3) % 5

    @always
    def small(self, n: int) -> bool:
        return n < 5


def test_what_a_method_makes_itself_may_be_changed() -> None:
    assert check(Local()).verdict.status is Status.EXHAUSTED


class Quiet(Model[int]):
    @init
    def zero(self) -> int:
        return 0

    @action
    def add(self, n: int) -> int:
        parts = list(range(3))
        parts.append(n)
        return sum(parts) % 5

    @always
    def small(self, n: int) -> bool:
        return n < 5


def test_a_model_without_effects_is_not_watched() -> None:
    assert not side_effects_of(Quiet)
    assert side_effects_of(type(model_of(flip)))


@dataclass(frozen=True)
class Kept:
    n: int

    @functools.cached_property
    def double(self) -> int:
        return 2 * self.n


def test_what_is_only_remembered_by_python_is_no_effect() -> None:
    @functools.cache
    def slow(n: int) -> tuple[int, ...]:
        return tuple(range(n))

    class Remembers(Model[Kept]):
        @init
        def zero(self) -> Kept:
            return Kept(0)

        @action
        def add(self, s: Kept) -> Kept:
            {}.setdefault("x", []).append(1)
            return Kept((s.n + len(slow(2))) % 9)

        @always
        def small(self, s: Kept) -> bool:
            return s.double < 100

    assert check(Remembers()).verdict.status is Status.EXHAUSTED
