"""A cached function keeps its results by ==, so that must tell all that its arguments hold."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Generic, Literal, NamedTuple, TypeVar

import pytest

from streamproof.checker import check
from streamproof.checker.reference import explore
from streamproof.lang import Domain, Element, Map
from streamproof.lang.impure import ImpureModel
from streamproof.lang.model import action
from streamproof.models.kit.verdict import Status
from tests.checker.support.counts import Count, Counts

T = TypeVar("T")


class Place(Element): ...


class Mood(Enum):
    GOOD = 1


class Same:
    def __eq__(self, other: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 1


class Anybody: ...


class Pair(NamedTuple):
    left: int
    right: str


@dataclass(frozen=True)
class Job:
    name: str
    tries: int = field(compare=False, default=0)


@dataclass(frozen=True)
class Jobs:
    all: tuple[Job, ...]


@dataclass(frozen=True)
class Task:
    name: str
    mood: Mood


@dataclass(frozen=True)
class Box(Generic[T]):
    inside: T


ANYBODY, PLACES = Anybody(), Domain(Place, 2)
COARSE: dict[str, tuple[Any, Any]] = {
    "a field that no == compares": (Job, Job("a")),
    "such a record in a tuple in a record": (Jobs, Jobs((Job("a"),))),
    "such a record in a generic one": (Box[Job], Box(Job("a"))),
    "an == of its own": (Same, Same()),
    "numbers of two classes": (int | bool, 1),
    "literals of two classes": (Literal[1, True], 1),
    "floats": (float, 0.0),
    "anything": (object, 1),
    "a map of such records": (Map[Place, Job], Map.fill(PLACES, Job("a"))),
    "a number that is a truth value": (int, True),
}
EXACT: dict[str, tuple[Any, Any]] = {
    "a number": (int, 1),
    "a text or nothing": (str | None, None),
    "an element": (Place, Place(0)),
    "a member": (Mood, Mood.GOOD),
    "a tuple": (tuple[int, ...], (1, 2)),
    "a named tuple": (Pair, Pair(1, "a")),
    "a frozen record": (Task, Task("a", Mood.GOOD)),
    "a generic record": (Box[int], Box(1)),
    "a map": (Map[Place, Task], Map.fill(PLACES, Task("a", Mood.GOOD))),
    "what is equal to itself alone": (Anybody, ANYBODY),
}


def model_that_asks(hint: Any, value: Any) -> Counts:
    def told(given: Any) -> bool:
        return given is not None

    told.__annotations__["given"] = hint
    cached: Callable[[Any], bool] = functools.cache(told)

    class Asks(Counts):
        @action
        def step(self, s: Count) -> Count:
            return Count(1 - s.n) if cached(value) else s

    return Asks()


@pytest.mark.parametrize(("hint", "value"), COARSE.values(), ids=COARSE)
def test_a_cache_is_refused_whose_key_takes_values_for_each_other(hint: Any, value: Any) -> None:
    with pytest.raises(ImpureModel, match="told .* keeps its results by given, which|True, which"):
        check(model_that_asks(hint, value), engine=explore)


@pytest.mark.parametrize(("hint", "value"), EXACT.values(), ids=EXACT)
def test_a_cache_whose_key_tells_all_is_no_hindrance(hint: Any, value: Any) -> None:
    found = check(model_that_asks(hint, value), engine=explore).verdict.status
    assert found in (Status.EXHAUSTED, Status.UNDETERMINED)


def test_a_cache_without_annotations_is_refused() -> None:
    cached = functools.cache(lambda given: given)

    class Asks(Counts):
        @action
        def step(self, s: Count) -> Count:
            return Count(cached(1) - s.n)

    with pytest.raises(ImpureModel, match="Annotate each parameter"):
        check(Asks(), engine=explore)


@dataclass(frozen=True)
class Loose:
    n: int
    hidden: int = field(compare=False, default=0)

    @functools.lru_cache(maxsize=8)  # noqa: B019 - as a user may
    def small(self) -> bool:
        return self.hidden < 1


@dataclass(frozen=True)
class Strict:
    n: int

    @functools.lru_cache(maxsize=8)  # noqa: B019 - as a user may
    def small(self) -> bool:
        return self.n < 5


@pytest.mark.parametrize(("cls", "is_refused"), [(Loose, True), (Strict, False)])
def test_a_cached_method_keeps_its_results_by_its_object(cls: Any, *, is_refused: bool) -> None:
    known = cls(0)

    class Asks(Counts):
        @action
        def step(self, s: Count) -> Count:
            return Count(1 - s.n) if known.small() else s

    if is_refused:
        with pytest.raises(ImpureModel, match="self, which is Loose, whose == leaves hidden out"):
            check(Asks(), engine=explore)
    else:
        check(Asks(), engine=explore)
