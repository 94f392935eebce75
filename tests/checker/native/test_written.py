"""Kept code belongs to one model, whatever its values say of themselves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import pytest

from streamproof.checker import check
from streamproof.checker.native.checkpoint.checkpoint import Checkpoint
from streamproof.checker.native.checkpoint.manifest import CheckpointRefused
from streamproof.checker.native.code.written import written
from streamproof.checker.native.engine import explore as native
from streamproof.lang import Domain, Element, Map, Model, action, always, init, require
from streamproof.models.kit.verdict import Status


class Silent(Enum):
    RED = 1
    GREEN = 2
    BLUE = 3

    def __repr__(self) -> str:
        return "a colour"


@dataclass(frozen=True)
class Lamp:
    colour: Silent


def lamps(next_one: Silent) -> Any:
    """Make a class that has the name, and the fields, of any other that is made here."""

    @dataclass(frozen=True)
    class M(Model[Lamp]):
        @init
        def start(self) -> Lamp:
            return Lamp(Silent.RED)

        @action
        def go(self, s: Lamp) -> Lamp:
            require(s.colour == Silent.RED)
            return Lamp(next_one)

        @action
        def back(self, s: Lamp) -> Lamp:
            require(s.colour != Silent.RED)
            return Lamp(Silent.RED)

        @always
        def is_not_blue(self, s: Lamp) -> bool:
            return s.colour != Silent.BLUE

    return M()


@dataclass(frozen=True)
class Config:
    top: int = field(repr=False)


@dataclass(frozen=True)
class Count:
    n: int


@dataclass(frozen=True)
class Climbing(Model[Count]):
    config: Config

    @init
    def start(self) -> Count:
        return Count(0)

    @action
    def up(self, s: Count) -> Count:
        return Count(s.n + 1 if s.n < self.config.top else 0)

    @always
    def is_low(self, s: Count) -> bool:
        return s.n < 3


class P(Element):
    def __repr__(self) -> str:
        return "somebody"


@dataclass(frozen=True)
class On:
    on: Map[P, bool]


@dataclass(frozen=True)
class Switching(Model[On]):
    ps: Domain[P]
    first: P
    last: P

    @init
    def start(self) -> On:
        return On(Map.fill(self.ps, False))

    @action
    def flip(self, s: On) -> On:
        return On(s.on.set(self.first, not s.on[self.first]))

    @always
    def is_off(self, s: On) -> bool:
        return not s.on[self.last]


def switching(last: int, order: tuple[int, ...] = (0, 1)) -> Any:
    return Switching(Domain.of("P", tuple(map(P, order))), P(0), P(last))


PAIRS: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
    "members": (lambda: lamps(Silent.GREEN), lambda: lamps(Silent.BLUE)),
    "left out": (lambda: Climbing(Config(2)), lambda: Climbing(Config(3))),
    "elements": (lambda: switching(1), lambda: switching(0)),
    "order": (lambda: switching(1), lambda: switching(0, (1, 0))),
}
"""Models that hold, and others that do not and look like these."""


@pytest.fixture(autouse=True)
def own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.mark.parametrize(("right", "wrong"), PAIRS.values(), ids=PAIRS)
def test_code_is_not_run_for_a_model_that_looks_alike(
    right: Callable[[], Any], wrong: Callable[[], Any]
) -> None:
    assert check(right(), engine=native).safety.status is Status.EXHAUSTED
    assert check(wrong(), engine=native).safety.status is Status.REFUTED


@pytest.mark.parametrize(("right", "wrong"), PAIRS.values(), ids=PAIRS)
def test_a_search_of_a_model_that_looks_alike_is_not_gone_on_with(
    right: Callable[[], Any], wrong: Callable[[], Any], tmp_path: Any
) -> None:
    native(right(), checkpoint=Checkpoint(tmp_path / "kept"))
    with pytest.raises(CheckpointRefused, match="is not of this search"):
        native(wrong(), checkpoint=Checkpoint(tmp_path / "kept", resume=True))


def test_what_nobody_knows_is_like_nothing_else() -> None:
    thing = object()
    assert written(thing) != written(thing)
    assert written((1, True)) != written((1, 1))
    assert written(("a", "b")) != written(("a, str 'b'",))
    assert written([Silent.RED] * 2) == written([Silent.RED] * 2)
