"""Edges: numbers beyond 64 bits, enums in another order, domains without elements."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import pytest

from streamproof.checker import check
from streamproof.checker import explore as reference
from streamproof.checker.limits import Limits
from streamproof.checker.native import search
from streamproof.checker.native.code import program
from streamproof.checker.native.code.program import Program
from streamproof.checker.native.code.terms import NumberTooLarge
from streamproof.checker.native.engine import explore as native
from streamproof.checker.progress import ignore
from streamproof.lang import Domain, Map, Model, action, always, final, init, require
from streamproof.models.kit import registry
from streamproof.models.kit.verdict import Status
from tests.checker.native.support.agreement import agree
from tests.checker.native.support.works import Room, Worker, works


@dataclass(frozen=True)
class Power:
    n: int
    step: int


@dataclass(frozen=True)
class Squares(Model[Power]):
    """Each step squares: the seventh number has 129 bits."""

    top: int = 7

    @init
    def start(self) -> Power:
        return Power(2, 0)

    @action
    def square(self, s: Power) -> Power:
        require(s.step < self.top)
        return Power(s.n * s.n, s.step + 1)

    @always
    def never(self, s: Power) -> bool:
        return s.step != 7

    @final
    def anywhere(self, s: Power) -> bool:
        del s
        return True


@pytest.mark.parametrize("loops", [False, True])
def test_numbers_that_64_bits_do_not_hold_are_refused_and_never_wrapped(loops, monkeypatch):
    monkeypatch.setattr(program, "is_large", lambda encoder: loops)
    assert check(Squares(), engine=reference).verdict.status is Status.REFUTED
    with pytest.raises(NumberTooLarge, match="it would wrap.*Range.*--engine reference"):
        native(Squares())


def painted(*names):
    """Make a model whose enum has members in the given order."""
    colour = Enum("Colour", [(name, name) for name in names])

    @dataclass(frozen=True)
    class Wall:
        colour: colour

    class Paint(Model[Wall]):
        @init
        def start(self) -> Wall:
            return Wall(colour[names[0]])

        @action
        def paint(self, s: Wall) -> Wall:
            require(s.colour == colour[names[0]])
            return Wall(colour["BLUE"])

    Paint.__annotations__ = {}
    Wall.__annotations__ = {"colour": colour}
    Paint.start.__annotations__ = Paint.paint.__annotations__ = {"return": Wall}
    return dataclass(frozen=True)(Paint)()


def test_code_of_an_enum_in_another_order_is_not_used_again():
    one, other = painted("RED", "BLUE", "GREEN"), painted("RED", "GREEN", "BLUE")
    assert native(one).counts == native(other).counts == reference(one).counts
    assert Program(one, {}).identity != Program(other, {}).identity


@pytest.mark.parametrize("loops", [False, True])
@pytest.mark.parametrize(("workers", "rooms"), [(3, 0), (0, 2), (0, 0)])
def test_domains_without_elements_are_searched_alike(workers, rooms, loops, monkeypatch):
    monkeypatch.setattr(program, "is_large", lambda encoder: loops)
    assert agree(works(workers, rooms)) == "whole"


@dataclass(frozen=True)
class On:
    on: Map[Worker, bool]


@dataclass(frozen=True)
class Homes(Model[On]):
    """A constant whose keys are of a domain without elements."""

    workers: Domain[Worker]
    rooms: Domain[Room]
    home: Map[Room, Worker]

    @init
    def start(self) -> On:
        return On(Map.fill(self.workers, False))

    @action
    def switch(self, s: On, w: Worker) -> On:
        return On(s.on.set(w, True))


def test_a_constant_without_cells_tells_nothing_apart():
    workers, rooms = Domain(Worker, 3), Domain(Room, 0)
    assert agree(Homes(workers, rooms, Map.build(rooms, lambda r: workers.elements[0]))) == "whole"


def test_the_buffers_of_all_threads_together_are_bounded(monkeypatch):
    monkeypatch.setattr(search, "BUFFERS_BYTES", 1 << 16)
    model = registry.build("chandy_lamport", "small")
    made = search.Search(Program(model, {}), Limits(), ignore, threads=4)
    taken = sum(array.nbytes for worker in made.workers for array in worker.out)
    assert taken <= 1 << 16
    made.run()
    assert made.distinct == 141
