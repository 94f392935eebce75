"""Annotations are read as sorts, models as methods; what the language does not know is refused."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any, Generic, TypeVar

import pytest

from streamproof.lang import (
    Domain,
    Element,
    Fairness,
    Map,
    Model,
    Range,
    WrongDefinition,
    action,
    always,
    flatten,
    init,
    require,
)
from streamproof.lang.model import Call, Role
from streamproof.lang.sorts import (
    BoolSort,
    DomainSort,
    ElementSort,
    EnumSort,
    IntSort,
    MapSort,
    RecordSort,
    element_name,
    sort_of,
)
from streamproof.lang.trace import state_sort_of, trace_model, trace_protocol


class P(Element):
    pass


class Color(Enum):
    RED = 1


K, V = TypeVar("K"), TypeVar("V")


@dataclass(frozen=True)
class Pair(Generic[K, V]):
    key: K
    values: Map[K, V]


@dataclass(frozen=True)
class S:
    n: Annotated[int, Range(0, "most"), "a note"]
    flag: Annotated[bool, "a note"]


@dataclass
class Changeable:
    n: int


class Plain:
    pass


@pytest.mark.parametrize(
    ("annotation", "sort", "text"),
    [
        (bool, BoolSort(), "bool"),
        (int, IntSort(), "int"),
        (Annotated[int, Range(0, 3)], IntSort(Range(0, 3)), "int"),
        (Color, EnumSort(Color), "Color"),
        (P, ElementSort("P"), "P"),
        (K, ElementSort("K"), "K"),
        (Map[P, bool], MapSort((ElementSort("P"),), BoolSort()), "Map[P -> bool]"),
        (
            Map[tuple[P, K], int],
            MapSort((ElementSort("P"), ElementSort("K")), IntSort()),
            "Map[P, K -> int]",
        ),
        (Domain[P], DomainSort(ElementSort("P")), "Domain[P]"),
        (S, RecordSort(S, (("n", IntSort(Range(0, "most"))), ("flag", BoolSort()))), "S"),
        (
            Pair[P, S],
            RecordSort(
                Pair,
                (("key", ElementSort("P")), ("values", MapSort((ElementSort("P"),), sort_of(S)))),
            ),
            "Pair",
        ),
    ],
)
def test_an_annotation_is_read_as_a_sort(annotation, sort, text):
    assert sort_of(annotation) == sort
    assert str(sort_of(annotation)) == text


def test_a_generic_record_inside_a_generic_record_is_read():
    inner = sort_of(Pair[P, Pair[P, int]])
    assert isinstance(inner, RecordSort)
    values = dict(inner.fields)["values"]
    assert isinstance(values, MapSort)
    assert values.value == sort_of(Pair[P, int])


@pytest.mark.parametrize(
    ("annotation", "message"),
    [
        (float, "float is not a sort of the language"),
        (str, "str is not a sort of the language"),
        (list[int], "list.* is not a sort of the language"),
        (int | bool, r"int \| bool is not a sort of the language"),
        (Plain, "Plain is not a sort of the language"),
        (Changeable, r"Changeable can be changed in place.*@dataclass\(frozen=True\)"),
        (
            Map[int, bool],
            "must be an Element, not .*int.*Declare a class that derives from Element",
        ),
    ],
    ids=str,
)
def test_an_annotation_without_a_sort_is_refused(annotation, message):
    with pytest.raises(WrongDefinition, match=message):
        sort_of(annotation)


def test_the_name_of_an_element_sort_is_that_of_its_class_or_variable():
    assert element_name(P) == "P"
    assert element_name(K) == "K"
    assert element_name(int) is None
    assert element_name(list[int]) is None


# --------------------------------------------------------------------------- models


@dataclass(frozen=True)
class Base(Model[S]):
    ps: Domain[P]

    @init
    def start(self) -> S:
        return S(0, False)

    @action
    def up(self, s: S) -> S:
        require(s.n < 2)
        return S(s.n + 1, s.flag)

    @action(fairness=Fairness.WEAK)
    def turn(self, s: S, p: P) -> S:
        assert s.n < 2, "two is too many"
        return S(s.n, not s.flag)

    @action
    def other(self, s: S) -> S:
        assert s.n < 2
        require(False)
        return s


class Renamed(Base):
    def up(self, s: S) -> S:
        require(s.n == 0)
        return S(2, s.flag)

    @always
    def other(self, s: S) -> bool:
        return s.n >= 0


def test_methods_are_listed_by_role_in_the_order_of_their_definition():
    assert [method.name for method in Base.methods(Role.ACTION)] == ["up", "turn", "other"]
    assert [method.fairness for method in Base.methods(Role.ACTION)] == [
        Fairness.NONE,
        Fairness.WEAK,
        Fairness.NONE,
    ]


def test_an_override_keeps_its_role_unless_it_declares_another():
    assert [method.name for method in Renamed.methods(Role.ACTION)] == ["up", "turn"]
    assert [method.name for method in Renamed.methods(Role.ALWAYS)] == ["other"]


def test_moves_are_the_steps_that_a_state_allows_and_the_claims_that_fail():
    model = Base(Domain(P, 2))
    assert [str(move.call) for move in model.moves(S(0, False))] == [
        "up()",
        "turn(p=p0)",
        "turn(p=p1)",
    ]
    (claim, *_) = model.moves(S(2, False))
    assert claim.target is None
    assert claim.broken_claim is not None
    assert "turn" in claim.broken_claim
    assert "two is too many" in claim.broken_claim
    unnamed = list(model.moves(S(2, False)))[-1]
    assert unnamed.broken_claim is not None
    assert "other" in unnamed.broken_claim


def test_a_model_without_sizes_is_built_from_its_fields():
    assert Base.sized(Domain(P, 1)) == Base(Domain(P, 1))


def test_calls_print_their_arguments():
    assert str(Call("turn", (P(1),), ("p",))) == "turn(p=p1)"


@dataclass(frozen=True)
class NoInit(Model[S]):
    pass


def test_a_model_needs_an_initial_state():
    with pytest.raises(
        WrongDefinition, match="NoInit has no initial state: mark a method with @init"
    ):
        list(NoInit().initial_states())
    with pytest.raises(WrongDefinition, match="NoInit has no initial state"):
        state_sort_of(NoInit)


@dataclass(frozen=True)
class Untyped(Model[S]):
    @init
    def start(self):
        return S(0, False)

    @action
    def turn(self, s, p):
        return s


@dataclass(frozen=True)
class Silent(Model[S]):
    @init
    def start(self):
        return S(0, False)


def test_parameters_and_states_need_types():
    with pytest.raises(WrongDefinition, match="parameter p of turn has no type"):
        Untyped.methods(Role.ACTION)
    with pytest.raises(WrongDefinition, match="Silent.start does not say what it returns"):
        state_sort_of(Silent)


@dataclass(frozen=True)
class NoDomain(Base):
    @action
    def with_flag(self, s: S, flag: bool) -> S:
        return S(s.n, flag)


def test_a_parameter_ranges_over_a_domain_of_the_model():
    with pytest.raises(
        WrongDefinition, match="with_flag takes a parameter of type .*bool.*no field"
    ):
        list(NoDomain(Domain(P, 1)).ground_actions)


@dataclass(frozen=True)
class RecordParameter(Base):
    @action
    def with_record(self, s: S, other: S) -> S:
        return other


def test_only_scalars_are_parameters():
    with pytest.raises(
        WrongDefinition, match="with_record takes a parameter of sort S; only scalars"
    ):
        trace_model(RecordParameter)


@dataclass(frozen=True)
class HasDomain:
    ps: Domain[P]


@dataclass(frozen=True)
class DomainInState(Model[HasDomain]):
    ps: Domain[P]

    @init
    def start(self) -> HasDomain:
        return HasDomain(self.ps)


def test_a_state_holds_no_domain():
    with pytest.raises(WrongDefinition, match="ps is a domain inside a state"):
        trace_model(DomainInState)


def test_an_update_of_a_domain_is_a_bug_of_ours():
    with pytest.raises(AssertionError):
        list(flatten.updates_of(DomainSort(ElementSort("P")), "ps", 0, None, ()))


@dataclass(frozen=True)
class SameName(Model[S]):
    n: int

    @init
    def start(self) -> S:
        return S(self.n, False)


@dataclass(frozen=True)
class After:
    after: int


@dataclass(frozen=True)
class NamedAfter(Model[After]):
    @init
    def start(self) -> After:
        return After(0)


@dataclass(frozen=True)
class ConstantAfter(Model[S]):
    """Of the later state, or of the constant: both would be after.n."""

    after: S

    @init
    def start(self) -> S:
        return self.after


@pytest.mark.parametrize(
    ("model_class", "name"), [(SameName, "n"), (NamedAfter, "after"), (ConstantAfter, "after")]
)
def test_a_name_means_one_thing(model_class, name):
    with pytest.raises(WrongDefinition, match=f"{name},? (?:which )?is .* Rename the field"):
        trace_model(model_class)


def test_a_module_without_transitions_is_no_protocol():
    import streamproof.lang.step as no_protocol

    with pytest.raises(WrongDefinition, match="defines no transition"):
        trace_protocol(no_protocol)


def test_anything_may_be_a_state_where_nothing_is_traced():
    @dataclass(frozen=True)
    class Free(Model[Any]):
        @init
        def start(self):
            return frozenset({1})

    assert list(Free().initial_states()) == [frozenset({1})]


def test_a_generic_record_may_hold_an_element_of_a_sort_that_is_left_open():
    (_, key), (_, values) = sort_of(Pair[K, V]).fields
    assert key == ElementSort("K")
    assert values == MapSort((ElementSort("K"),), ElementSort("V"))
