"""Searches that are kept: a small model, and how its searches begin, die and go on."""

from __future__ import annotations

from dataclasses import dataclass

from streamproof.checker.native.checkpoint.checkpoint import Checkpoint
from streamproof.checker.native.engine import explore
from streamproof.lang import Domain, Element, Map, Model, require
from streamproof.lang.model import action, always, final, init

ROUND = 256
"""Successors that a thread writes in one round, so that small searches have many."""


class Bit(Element):
    """A place in a row."""


@dataclass(frozen=True)
class Row:
    count: int
    dark: Map[Bit, bool]


@dataclass(frozen=True)
class Lights(Model[Row]):
    """Lights that are switched on one after the other; their number has no declared range.

    Whenever it is given a wider one, every state is packed otherwise, the initial one too.
    """

    bits: Domain[Bit]
    most: int

    @init
    def start(self) -> Row:
        return Row(0, Map.fill(self.bits, True))

    @action
    def switch(self, s: Row, b: Bit) -> Row:
        require(s.dark[b])
        return Row(s.count + 1, s.dark.set(b, False))

    @always
    def is_bounded(self, s: Row) -> bool:
        return s.count <= self.most

    @final
    def anywhere(self, s: Row) -> bool:
        return True


class Dimmed(Lights):
    @action
    def switch(self, s: Row, b: Bit) -> Row:
        require(s.dark[b] and s.count < self.most)
        return Row(s.count + 1, s.dark.set(b, False))


class Died(BaseException):
    """Stands for a process that ends at once: nothing that is written afterwards counts."""


def lights(bits=10, most=10):
    return Lights(Domain(Bit, bits), most)


def begin(model, place, seconds=0.0, **options):
    checkpoint = Checkpoint(place, every_seconds=seconds)
    return explore(model, checkpoint=checkpoint, **options), checkpoint


def go_on(model, place, seconds=0.0, **options):
    checkpoint = Checkpoint(place, resume=True, every_seconds=seconds)
    return explore(model, checkpoint=checkpoint, **options), checkpoint


def content(place):
    return {path.name: path.read_bytes() for path in place.iterdir()}


def dies_when(expanded):
    def tell(progress):
        if progress.expanded - progress.resumed >= expanded:
            raise Died

    return tell


def assert_same(found, expected):
    assert found.counts == expected.counts
    assert found.broken == expected.broken
    assert found.stopped == expected.stopped
    lengths = [len(each.path.steps) for each in (found, expected) if each.path]
    assert len(set(lengths)) <= 1
    witnesses = [
        {call: len(path.steps) for call, path in each.witnesses.items()}
        for each in (found, expected)
    ]
    assert witnesses[0] == witnesses[1]
