"""What is impure is found wherever it is kept: in tables, partial calls, objects, classes.

Each way here was EXHAUSTED by the reference engine, though it ends otherwise now and then.
"""

# ruff: noqa: PLW0108 - that a lambda calls it is what is tried

from __future__ import annotations

import contextvars
import ctypes
import functools
import gc
import itertools
import operator
import queue
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from streamproof.checker import check
from streamproof.checker import reference as plain
from streamproof.lang import Domain, Element, Map, Model
from streamproof.lang.impure import ImpureModel
from streamproof.lang.model import action, always, init
from streamproof.models.verdict import Status

TABLE = {"clock": time.time}
LISTED = [lambda: time.time()]
PARTIAL = functools.partial(time.time)
VARIABLE = contextvars.ContextVar("variable", default=0)
NUMBER = ctypes.c_int(0)
QUEUE: Any = queue.SimpleQueue()
VIEW = memoryview(bytearray(1))
ERROR = ValueError()
KEYS = {"a": 1, "b": 2}


class Timed:
    clock = time.time

    @property
    def moment(self) -> float:
        return time.time()

    def __bool__(self) -> bool:
        return time.time() < 0


class Descriptor:
    def __get__(self, _instance: object, _owner: object = None) -> float:
        return time.time()


class Described:
    field = Descriptor()


class AnyName:
    def __getattr__(self, _name: str) -> float:
        return time.time()


class Sized(type):
    def __len__(cls) -> int:
        return int(time.time()) % 2


class OfSize(metaclass=Sized): ...


class ByHash:
    def __index__(self) -> int:
        return hash("a") % 2


class Keeps:
    def __init__(self) -> None:
        self.kept = lambda: time.time()


class Slotted:
    __slots__ = ("count",)

    def __init__(self) -> None:
        self.count = 0

    def __eq__(self, _other: object) -> bool:
        self.count += 1
        return self.count > 1_000

    __hash__ = object.__hash__


TIMED, DESCRIBED, ANY_NAME, SLOTTED, KEEPS = Timed(), Described(), AnyName(), Slotted(), Keeps()


@functools.cache
def remembered(n: int) -> int:
    return n


def hits() -> int:
    remembered(0)
    return remembered.cache_info().hits


def counted_number() -> int:
    NUMBER.value += 1
    return NUMBER.value


def counted_byte() -> bool:
    VIEW[0] = (VIEW[0] + 1) % 200
    return VIEW[0] == 199


def noted_error() -> int:
    ERROR.args += (1,)
    return len(ERROR.args)


def queued() -> int:
    QUEUE.put(1)
    return QUEUE.qsize()


WAYS: dict[str, Callable[[], Any]] = {
    "a table": lambda: TABLE["clock"](),
    "a list": lambda: LISTED[0](),
    "a partial call": lambda: PARTIAL(),
    "an attribute of a class": lambda: Timed.clock(),
    "a property of an object": lambda: TIMED.moment,
    "the truth of an object": lambda: bool(TIMED),
    "a descriptor": lambda: DESCRIBED.field,
    "any attribute": lambda: ANY_NAME.whatever,
    "a metaclass": lambda: len(OfSize),
    "an index": lambda: [0, 1][ByHash()],
    "a function in an object": lambda: KEEPS.kept(),
    "a counter in a slot": lambda: SLOTTED == 1,
    "an import": lambda: __import__("time").time(),
    "text that is run": lambda: eval("__import__('time').time()"),
    "a cache": hits,
    "who calls": lambda: sys._getframe(1).f_code.co_name,
    "the stack": lambda: traceback.extract_stack(),
    "a profiler": lambda: sys.getprofile() is None,
    "references": lambda: sys.getrefcount(KEYS),
    "the collector": lambda: gc.isenabled(),
    "a variable of a context": lambda: VARIABLE.get(),
    "a number of C": counted_number,
    "bytes": counted_byte,
    "an error": noted_error,
    "a queue": queued,
    "keys joined": lambda: list(KEYS.keys() | {"c": 1}.keys()),
    "a reduced set": lambda: functools.reduce(lambda a, _: a, {"a", "b"}),
    "a counted set": lambda: Counter({"a", "b"}),
    "a sliced set": lambda: [*itertools.islice({"a", "b"}, 1)],
}


@dataclass(frozen=True)
class Count:
    n: int


@dataclass(frozen=True)
class Counts(Model[Count]):
    @init
    def start(self) -> Count:
        return Count(0)

    @action
    def step(self, s: Count) -> Count:
        return Count(1 - s.n)

    @always
    def small(self, s: Count) -> bool:
        return s.n < 2


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_what_is_impure_is_found_wherever_it_is_kept(way):
    class Impure(Counts):
        @action
        def step(self, s: Count) -> Count:
            return Count(1 - s.n) if way() is not None else s

    with pytest.raises(ImpureModel):
        check(Impure(), engine=plain.explore)


class Place(Element): ...


class Harmless:
    """What nobody calls here may look at a clock."""

    numbers = (1, 2)

    def __getitem__(self, place: int) -> int:
        return self.numbers[place]

    def log(self) -> float:
        return time.time()


HARMLESS = Harmless()
SUMS = {"add": operator.add, "take": operator.sub, "more": functools.partial(max, 0)}


class Pure(Counts):
    @action
    def step(self, s: Count) -> Count:
        return Count(SUMS["more"](SUMS["take"](HARMLESS[0], vars(s)["n"])))


def test_what_is_kept_and_pure_is_not_refused():
    assert check(Pure(), engine=plain.explore).verdict.status is Status.EXHAUSTED


@dataclass(frozen=True)
class Limit:
    """A constant that keeps what it has computed, as do maps and domains."""

    most: int

    @functools.cached_property
    def double(self) -> int:
        return 2 * self.most


@dataclass(frozen=True)
class Keeps(Counts):
    limit: Limit
    most: Map[Place, Limit]

    @action
    def step(self, s: Count) -> Count:
        known = {self.most: self.limit.double + self.most[Place(0)].double}
        return Count(1 - s.n) if known[self.most] else s


def test_what_constants_compute_once_is_no_change():
    model = Keeps(Limit(1), Map.fill(Domain(Place, 2), Limit(2)))
    assert check(model, engine=plain.explore).verdict.status is Status.EXHAUSTED
