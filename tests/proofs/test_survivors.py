"""What mutants of the prover survived: products, negative numbers, files without an invariant."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from streamproof.checker.reach import reach
from streamproof.lang import Domain, Element, Map, Model, require
from streamproof.lang.model import action, always, init
from streamproof.models.verdict import Proved, Reachable, Refuted
from streamproof.proofs.find import UnknownInvariant, find_invariant
from streamproof.proofs.induction import prove
from streamproof.proofs.invariant import Invariant


class P(Element): ...


@dataclass(frozen=True)
class Area:
    long: int
    wide: int
    area: int


@dataclass(frozen=True)
class Grows(Model[Area]):
    """A product that is kept up to date, or (`forgets`) is not."""

    forgets: bool

    @init
    def start(self) -> Area:
        return Area(0, 0, 0)

    @action
    def lengthen(self, s: Area) -> Area:
        return Area(s.long + 1, s.wide, s.area + (0 if self.forgets else s.wide))

    @action
    def widen(self, s: Area) -> Area:
        return Area(s.long, s.wide + 1, s.area + s.long)

    @always
    def is_right(self, s: Area) -> bool:
        return self.forgets or s.area == s.long * s.wide


class Wrong(Grows):
    @always
    def is_right(self, s: Area) -> bool:
        return s.area == s.long * s.wide


def test_products_are_products():
    right = Invariant(Grows, (lambda m, s: m.is_right(s),))
    assert isinstance(prove(right).verdict, Proved)


def test_a_product_that_is_not_kept_up_to_date_is_refuted():
    wrong = Invariant(Wrong, (lambda m, s: m.is_right(s),))
    assert isinstance(prove(wrong, reach=reach).verdict, Refuted)


@dataclass(frozen=True)
class Sinks(Model[Area]):
    @init
    def start(self) -> Area:
        return Area(-3, 0, 0)

    @action
    def step(self, s: Area) -> Area:
        require(s.long < -1)
        return replace(s, wide=1)

    @always
    def stays(self, s: Area) -> bool:
        return s.wide == 0


def test_an_example_may_need_negative_numbers():
    report = prove(Invariant(Sinks, (lambda m, s: m.stays(s),)), reach=reach)
    assert isinstance(report.verdict, Refuted)
    (failed,) = report.failed
    assert [example.reachable for example in failed.examples] == [Reachable.YES, Reachable.YES]


@dataclass(frozen=True)
class Flags:
    up: Map[P, bool]


@dataclass(frozen=True)
class Plain(Model[Flags]):
    """Constants that are of no account are as plain as can be in an example."""

    ps: Domain[P]
    quick: bool
    limit: int

    @init
    def start(self) -> Flags:
        return Flags(Map.fill(self.ps, False))

    @action
    def rise(self, s: Flags, p: P) -> Flags:
        return Flags(s.up.set(p, True))

    @always
    def nobody_is_up(self, s: Flags, p: P) -> bool:
        return not s.up[p]


def nobody_is_up(m: Plain, s: Flags, p: P) -> bool:
    return not s.up[p]


def test_what_is_of_no_account_is_plain_in_an_example():
    report = prove(Invariant(Plain, (nobody_is_up,)))
    (failed,) = report.failed
    told = [(example.constants, example.before) for example in failed.examples]
    assert told == [((), ())] * 2  # all is as at the start, and the constants are false and 0


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("egress:EgressPair", "names one model of a file"),
        ("token_passing", "has no INVARIANT"),
    ],
)
def test_what_has_no_invariant_is_told(target, message):
    with pytest.raises(UnknownInvariant, match=message):
        find_invariant(target)


def test_an_invariant_is_found_by_its_protocol():
    assert find_invariant("egress").model_class.protocol_name == "egress"
