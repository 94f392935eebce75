"""What mutants of the prover survived: products, negative numbers, files without an invariant."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from streamproof.checker.reach import reach
from streamproof.lang import Domain, Element, Map, Model, count, require
from streamproof.lang.model import action, always, init
from streamproof.lang.trace import trace_model
from streamproof.models.kit.verdict import Proved, Reachable, Refuted
from streamproof.proofs import cti
from streamproof.proofs.bounded import find_instance
from streamproof.proofs.cti import EnginesDisagree
from streamproof.proofs.find import UnknownInvariant, find_invariant
from streamproof.proofs.induction import prove
from streamproof.proofs.invariant import Invariant
from streamproof.proofs.relation import Relation


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


@dataclass(frozen=True)
class Deep(Model[Area]):
    """Its step needs a negative number and one above 1 at once; the constant is of no account."""

    limit: int

    @init
    def start(self) -> Area:
        return Area(-3, 5, 0)

    @action
    def step(self, s: Area) -> Area:
        require(s.long < -1 and s.wide > 4)
        return replace(s, area=1)

    @always
    def stays(self, s: Area) -> bool:
        return s.area == 0


def test_an_example_may_need_numbers_of_both_signs():
    report = prove(Invariant(Deep, (lambda m, s: m.stays(s),)), reach=reach)
    (failed,) = report.failed
    told = [(example.constants, example.before) for example in failed.examples]
    assert told == [((), ())] * 2  # all is as at the start
    for example in failed.examples:
        assert example.trace.steps[-1].changes == example.changes != ()


@dataclass(frozen=True)
class Counted(Model[Flags]):
    ps: Domain[P]

    @init
    def start(self) -> Flags:
        return Flags(Map.fill(self.ps, False))

    @action
    def rise(self, s: Flags, p: P) -> Flags:
        require(count(self.ps, lambda q: s.up[q]) < 2)
        return Flags(s.up.set(p, True))


def test_a_relation_counts_from_zero():
    model = Counted(Domain(P, 3))
    relation = Relation(trace_model(Counted), model)
    (start,) = model.initial_states()
    first, second, third = model.ps
    two = Flags(start.up.set(first, True).set(second, True))
    assert len(relation.successors(start)) == 3
    assert relation.successors(two) == set()
    assert len(relation.successors(Flags(start.up.set(third, True)))) == 3  # itself among them


@dataclass(frozen=True)
class Allowed(Model[Flags]):
    """A step that constants allow: by a flag of either kind, of a process, or of two."""

    ps: Domain[P]
    quick: bool
    slow: bool
    may: Map[P, bool]
    sees: Map[tuple[P, P], bool]

    @init
    def start(self) -> Flags:
        return Flags(Map.fill(self.ps, False))

    @action
    def rise(self, s: Flags, p: P) -> Flags:
        require((self.quick | self.slow) and self.may[p] and self.sees[p, p])
        return Flags(s.up.set(p, True))

    @always
    def nobody_is_up(self, s: Flags, p: P) -> bool:
        return not s.up[p]


def is_up_nowhere(m: Allowed, s: Flags, p: P) -> bool:
    return not s.up[p]


def test_the_constants_that_matter_are_told_and_no_others():
    report = prove(Invariant(Allowed, (is_up_nowhere,)))
    (failed,) = report.failed
    for example in failed.examples:
        (name,) = {change.field for change in example.changes}
        element = name.partition("[")[2].rstrip("]")
        of_one, of_two = f"may[{element}]", f"sees[{element}, {element}]"
        assert dict(example.constants) == dict.fromkeys(["slow", of_one, of_two], "True")


def test_a_state_that_contradicts_the_premises_is_believed_of_nobody(monkeypatch):
    def otherwise(question):
        found = find_instance(question)
        return replace(found, state=replace(found.state, area=7))

    monkeypatch.setattr(cti, "find_instance", otherwise)
    with pytest.raises(EnginesDisagree, match="to be True, plain Python does not"):
        prove(Invariant(Deep, (lambda m, s: m.stays(s),)), reach=reach)


class Far(Deep):
    @init
    def start(self) -> Area:
        return Area(0, 7, 0)


def test_a_part_that_cannot_be_plain_keeps_no_other_from_it():
    report = prove(Invariant(Far, (lambda m, s: m.stays(s),)))
    (failed,) = report.failed
    assert [{change.field for change in one.before} for one in failed.examples] == [{"long"}] * 2
