"""What is kept and named, and is the same in each process, is not refused."""

from __future__ import annotations

import codecs
import functools
import operator
import sys
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from streamproof.checker import check
from streamproof.checker import reference as plain
from streamproof.lang import Domain, Element, Map
from streamproof.lang.impure import require_pure
from streamproof.lang.model import action
from streamproof.models.kit.verdict import Status
from tests.checker.support.counts import Count, Counts

KEYS = {"a": 1, "b": 2}


class Silent:
    """Does not say what it is, so that Python writes its address."""


SILENT = Silent()


class Speaking:
    def __repr__(self) -> str:
        return "speaking"


SPEAKING = Speaking()
FIRST = uuid.UUID(int=0)
PURE: dict[str, Callable[[], Any]] = {
    "an object that says what it is": lambda: repr(SPEAKING)[0],
    "a text of numbers": lambda: f"{KEYS['a']}"[0],
    "a reason with an object": lambda: f"{SILENT} is not well",
    "numbers of a library": lambda: np.int64(1) + len(codecs.encode("a", "utf-8")),
    "what is a constant of Python": lambda: sys.maxsize > 0,
    "an identifier that is written down": lambda: uuid.UUID(int=1) != FIRST,
    "an identifier of a name": lambda: uuid.uuid5(uuid.NAMESPACE_DNS, "a"),
}


@pytest.mark.parametrize("way", PURE.values(), ids=PURE)
def test_what_is_the_same_in_each_process_is_not_refused(way):
    class Same(Counts):
        @action
        def step(self, s: Count) -> Count:
            return Count(1 - s.n) if way() is not None else s

    require_pure(Same)


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
