"""Models and records that keep something, claim something or compare in their own way."""

from __future__ import annotations

import cProfile
import enum
import functools
import sys
from dataclasses import dataclass, replace

import pytest

from streamproof.lang import (
    Domain,
    Element,
    Map,
    Model,
    Untraceable,
    WrongDefinition,
    action,
    always,
    assume,
    forall,
    init,
    require,
)
from streamproof.lang.model import Role
from streamproof.lang.show import show
from streamproof.lang.sorts import sort_of
from streamproof.lang.trace import trace_model
from streamproof.proofs.induction import prove
from streamproof.proofs.invariant import Invariant
from tests.lang.support.agreement import agree_on_action, agree_on_property


class P(Element):
    pass


@dataclass(frozen=True)
class Part:
    n: int

    def __post_init__(self):
        object.__setattr__(self, "n", self.n + 1)

    @functools.cached_property
    def is_large(self) -> bool:
        return True if self.n > 1 else False  # noqa: SIM210 - one path for each answer


@dataclass(frozen=True)
class State:
    n: int
    flag: bool
    m: Map[P, int]
    part: Part
    parts: Map[P, Part]

    @functools.cached_property
    def is_large(self) -> bool:
        if self.n > 1:
            return True
        return self.n < 0


@dataclass(frozen=True)
class Keeping(Model[State]):
    ps: Domain[P]
    top: int

    @functools.cached_property
    def is_high(self) -> bool:
        return True if self.top > 1 else False  # noqa: SIM210

    @init
    def start(self) -> State:
        return State(0, False, Map.fill(self.ps, 0), Part(0), Map.fill(self.ps, Part(1)))

    @action
    def cached(self, s: State) -> State:
        if s.is_large:
            return replace(s, n=0, flag=s.is_large)
        return replace(s, n=s.n + 1, flag=self.is_high)

    @action
    def cached_in_lambdas(self, s: State, p: P) -> State:
        m = s.m.map(lambda n: n if s.is_large and self.is_high else n + 1)
        return replace(s, m=m, flag=forall(self.ps, lambda q: s.is_large or s.m[q] > 0))

    @action
    def made_once(self, s: State, p: P) -> State:
        if s.flag:
            return replace(s, n=s.part.n, parts=s.parts.set(p, s.part))
        return replace(s, part=Part(s.parts[p].n), flag=s.part.is_large)

    @always
    def told(self, s: State, p: P) -> bool | str:
        return s.n < 1 or f"{s.n} is too large, and {s.m[p]} too"

    @always
    def told_by_name(self, s: State, p: P) -> dict[str, bool | str]:
        return {"n": s.n < 1 or self.why(s), "m": True if s.m[p] < 1 else "m" + str(s.m[p])}

    def why(self, s: State) -> str:
        return f"{s.n} is too large"


@pytest.mark.parametrize("method", Keeping.methods(Role.ACTION), ids=lambda method: method.name)
def test_what_is_kept_on_one_path_holds_on_that_path_alone(method):
    agree_on_action(Keeping, method, 60)


@pytest.mark.parametrize("method", Keeping.methods(Role.ALWAYS), ids=lambda method: method.name)
def test_a_reason_may_tell_values(method):
    agree_on_property(Keeping, method, 40, both_ways=True)


# --------------------------------------------------------------------------- refused


@dataclass(frozen=True)
class Small:
    n: int


@dataclass(frozen=True)
class Base(Model[Small]):
    ps: Domain[P]
    top: int = 3

    @init
    def start(self) -> Small:
        return Small(0)


class ClaimsInAProperty(Base):
    @always
    def fine(self, s: Small) -> bool:
        assert s.n < 3
        return True


class RequiresInAProperty(Base):
    @always
    def fine(self, s: Small) -> bool:
        require(s.n < 3)
        return True


class ClaimsInALambdaOfAProperty(Base):
    @always
    def fine(self, s: Small) -> bool:
        def small(p: P) -> int:
            assert s.n < 3
            return s.n

        return Map.build(self.ps, small) == Map.fill(self.ps, s.n)


class ClaimsInAnAssumption(Base):
    @assume
    def fine(self) -> bool:
        assert self.top > 3
        return True


class ClaimsInAnInit(Base):
    @init
    def start(self) -> Small:
        assert self.top > 3
        return Small(0)


@pytest.mark.parametrize(
    "model",
    [
        ClaimsInAProperty,
        RequiresInAProperty,
        ClaimsInALambdaOfAProperty,
        ClaimsInAnAssumption,
        ClaimsInAnInit,
    ],
)
def test_a_claim_or_guard_outside_of_a_step_is_refused(model):
    with pytest.raises(Untraceable, match="assert|`require` stands inside"):
        trace_model(model)


@dataclass(frozen=True)
class KeepsMore(Base):
    def __post_init__(self):
        object.__setattr__(self, "half", self.top // 2)

    @always
    def fine(self, s: Small) -> bool:
        return s.n < getattr(self, "half", 5)


@dataclass(frozen=True)
class More(Small):
    def __post_init__(self):
        object.__setattr__(self, "old", self.n)


class RecordKeepsMore(Base):
    @init
    def start(self) -> More:
        return More(0)


@pytest.mark.parametrize(("model", "name"), [(KeepsMore, "half"), (RecordKeepsMore, "old")])
def test_what_is_no_field_is_refused(model, name):
    with pytest.raises(Untraceable, match=f"{name}, which is no field of .* Declare a field"):
        trace_model(model)


class Rights(enum.Flag):
    READ = 1
    WRITE = 2


class Loose(enum.Enum):
    A = 1
    B = 2

    def __eq__(self, other):
        return True

    __hash__ = enum.Enum.__hash__


@pytest.mark.parametrize(
    ("cls", "what"), [(Rights, "is a Flag"), (Loose, "has an equality of its own")]
)
def test_members_that_may_be_taken_for_each_other_are_no_sort(cls, what):
    @dataclass(frozen=True)
    class Held:
        value: cls

    class Holding(Base):
        @init
        def start(self) -> Held:
            return Held(next(iter(cls)))

    Held.__annotations__["value"] = cls
    Holding.start.__annotations__["return"] = Held
    with pytest.raises(WrongDefinition, match=what):
        trace_model(Holding)


class Twin(Element):
    def __eq__(self, other):
        return True

    __hash__ = Element.__hash__


def test_elements_that_may_be_taken_for_each_other_are_no_sort():
    with pytest.raises(WrongDefinition, match="Twin has an equality of its own"):
        sort_of(Twin)


@dataclass(frozen=True)
class Twins(Base):
    qs: Domain[P] = Domain(P, 2)  # noqa: RUF009


def test_two_domains_of_one_class_are_not_proven_about():
    invariant = Invariant(Twins, (lambda m, s: forall(m.qs, lambda q: s.n >= 0),))
    with pytest.raises(WrongDefinition, match="two domains of P, ps and qs"):
        prove(invariant)


# --------------------------------------------------------------------------- typed in


TYPED = """
from dataclasses import replace

def typed(model, s, p):
    return replace(s, flag=s.color is Color.RED)
"""


def test_code_without_a_file_is_looked_at_too():
    from tests.lang.support.refused import Color, model_with

    names = {"Color": Color}
    exec(compile(TYPED, "<stdin>", "exec"), names)
    with pytest.raises(Untraceable, match=r"typed \(<stdin>:5\).*compares by identity"):
        trace_model(model_with(names["typed"]))


# --------------------------------------------------------------------------- the cases


class Counting(Base):
    """False_proof.py and type_test_checked.py: the type of a number decides."""

    @action
    def up(self, s: Small) -> Small:
        require(isinstance(s.n, int) and s.n < 1000)
        return Small(s.n + 1)

    @always
    def whole(self, s: Small) -> bool:
        return not (isinstance(s.n, int) and s.n > 700)

    @always
    def no_case(self, s: Small) -> bool:
        match s.n:
            case int(1500):
                return False
        return True


class Swallowing(Base):
    @action
    def up(self, s: Small) -> Small:
        try:
            odd = s.n % 800 == 799
        except Exception:  # noqa: BLE001 - the point
            odd = False
        return Small(0 if odd else s.n + 1)


def test_type_test_checked_and_false_proof_are_traced_as_they_run():
    traced = trace_model(Counting)
    (command,) = traced.commands
    assert [show(part) for part in command.guard] == ["n < 1000"]
    said = {form.name: show(form.conjuncts[0][1]) for form in traced.properties}
    assert said == {"whole": "n <= 700", "no_case": "n != 1500"}


def test_false_proof_does_not_swallow_a_refusal():
    with pytest.raises(Untraceable, match="it catches Exception"):
        trace_model(Swallowing)


def test_a_profiler_goes_on_after_a_trace():
    profiler = cProfile.Profile()
    profiler.enable()
    try:
        trace_model(Twins)
        traced = sys.getprofile()
        len("seen")
    finally:
        profiler.disable()
    assert traced is profiler
    assert any("len" in str(entry.code) for entry in profiler.getstats())


@dataclass(frozen=True)
class Count:
    n: int


@dataclass(frozen=True)
class Required(Model[Count]):
    """A start that a constant forbids: a proof would take that for a premise."""

    limit: int

    @init
    def start(self) -> Count:
        require(self.limit > 3)
        return Count(0)

    @action
    def rise(self, s: Count) -> Count:
        return replace(s, n=s.n + 1)


def test_a_start_that_may_be_refused_is_told():
    with pytest.raises(Untraceable, match="start .* it is @init, which always gives a state"):
        trace_model(Required)
