"""States of equal hash: the table keeps them all, whatever hash the compiled code computes."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from streamproof.checker import Limits, check
from streamproof.checker import explore as reference
from streamproof.checker.native.code import codegen, program
from streamproof.checker.native.code.block import I64
from streamproof.checker.native.code.program import Program
from streamproof.checker.native.engine import explore as native
from streamproof.lang import (
    Domain,
    Fairness,
    Map,
    Model,
    action,
    eventually,
    final,
    init,
    require,
)
from streamproof.models.kit.verdict import Status
from tests.checker.native.support.keeping import begin, go_on
from tests.checker.native.support.shapes import One

HASHES = {
    "all the same": lambda build, words: I64(0x1234_5678_9ABC_DEF0),
    "few regions": lambda build, words: build.shl(build.and_(words[0], I64(3)), I64(62)),
    "one tag": lambda build, words: build.shl(words[0], I64(32)),
    "free slots' own": lambda build, words: I64(0),
}
"""How a state's words are mixed, in the worst ways: region and line are told by the upper and lower
half, and the lower half is what a slot of the table holds of it."""


@pytest.fixture(params=HASHES, autouse=True)
def poor_hash(request, monkeypatch, tmp_path):
    monkeypatch.setattr(codegen, "hash_of", HASHES[request.param])
    monkeypatch.setattr(program, "kept", lambda key: None)  # this code must not be kept, or found
    monkeypatch.setattr(program, "keep", lambda *about: None)


@dataclass(frozen=True)
class Lamps:
    on: Map[One, bool]


@dataclass(frozen=True)
class Switched(Model[Lamps]):
    """As many bits as there are lamps, in any order."""

    lamps: Domain[One]

    @init
    def start(self) -> Lamps:
        return Lamps(Map.fill(self.lamps, False))

    @action(fairness=Fairness.WEAK)
    def switch(self, s: Lamps, one: One) -> Lamps:
        require(not s.on[one])
        return Lamps(s.on.set(one, True))

    @eventually
    def bright(self, s: Lamps, one: One) -> bool:
        return s.on[one]

    @final
    def anywhere(self, s: Lamps) -> bool:
        del s
        return True


LAMPS = Switched(Domain(One, 7))


@pytest.mark.parametrize("loops", [False, True])
def test_states_of_equal_hash_are_all_kept(loops, monkeypatch):
    monkeypatch.setattr(program, "is_large", lambda encoder: loops)
    wanted = reference(LAMPS)
    for threads in (1, 4):
        found = native(LAMPS, threads=threads)
        assert found.counts == wanted.counts
        assert found.counts.distinct == 128


def test_a_poor_hash_is_poor(request):
    states = Program(LAMPS, {}).layout.pack([(0,) * 7, (1,) * 7, (0, 0, 0, 0, 0, 1, 0)])
    hashes = Program(LAMPS, {}).hashes(states).tolist()
    same = {number & 0xFFFF_FFFF for number in hashes}
    assert len(same) == 1, request.node.name


def test_they_are_kept_when_the_search_goes_on(place):
    begin(LAMPS, place, threads=2, limits=Limits(depth_max=3))
    found, _ = go_on(LAMPS, place, threads=1)
    assert found.counts == reference(LAMPS).counts


def test_promises_are_decided_on_them():
    found = check(LAMPS, engine=native)
    assert found.verdict == check(LAMPS, engine=reference).verdict
    assert found.liveness.status is Status.EXHAUSTED
