"""Domains, maps, quantifiers and `require` on plain values, which is how Spark runs them."""

from __future__ import annotations

import copy
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamproof.lang import (
    Disabled,
    Domain,
    Element,
    Map,
    StreamproofError,
    UnknownKey,
    WrongDefinition,
    count,
    exists,
    forall,
    implies,
    require,
)


class P(Element):
    pass


class Q(Element):
    pass


PS, QS = Domain(P, 3), Domain(Q, 2)
EMPTY = Domain(P, 0)
numbers = st.tuples(*[st.integers(-3, 3)] * 3).map(lambda n: Map.build(PS, lambda p: n[p.index]))
p0, p1, p2 = PS
q0, q1 = QS


# --------------------------------------------------------------------------- elements and domains


def test_an_element_is_one_object_however_often_it_is_made():
    assert P(1) is P(1)
    assert P(1) is pickle.loads(pickle.dumps(P(1)))
    assert P(1) is copy.deepcopy(P(1))
    assert P(1) != Q(1)
    assert repr(P(1)) == "p1"


def test_an_element_cannot_be_changed():
    with pytest.raises(AttributeError, match="p1 is an element of a domain and cannot be changed"):
        P(1).index = 2


def test_a_domain_lists_its_elements_in_order():
    assert list(PS) == [p0, p1, p2]
    assert len(PS) == 3
    assert p1 in PS
    assert q1 not in PS
    assert P(3) not in PS
    assert repr(PS) == "Domain(P, 3)"


def test_domains_of_equal_elements_are_equal():
    assert Domain(P, 3) == PS
    assert hash(Domain(P, 3)) == hash(PS)
    assert Domain(P, 2) != PS
    assert Domain(Q, 3) != PS
    assert PS != 3


def test_a_domain_of_given_elements_keeps_their_order():
    channels = Domain.of("Channel", ("late", "early"))
    assert list(channels) == ["late", "early"]
    assert channels.name == "Channel"
    assert channels == Domain.of("Channel", ("late", "early"))


def test_a_domain_names_no_element_twice():
    with pytest.raises(WrongDefinition, match="domain Channel names an element twice"):
        Domain.of("Channel", ("a", "a"))


@pytest.mark.parametrize("size", [-1, 100_000_000])
def test_a_domain_has_a_size_that_can_be_gone_through(size):
    with pytest.raises(WrongDefinition, match=f"{size:,} P cannot be made: give 0 to 1,000,000"):
        Domain(P, size)


def test_only_the_tracers_own_domains_are_open():
    with pytest.raises(NotImplementedError):
        PS.symbolic_map((PS,), lambda p: p)
    with pytest.raises(NotImplementedError):
        PS.symbolic_quantifier("forall", (PS,), lambda p: True)


# --------------------------------------------------------------------------- maps


@given(numbers, st.sampled_from(list(PS)), st.integers())
def test_setting_a_key_changes_it_and_no_other(m, p, n):
    changed = m.set(p, n)
    assert changed[p] == n
    assert all(changed[q] == m[q] for q in PS if q is not p)
    assert m.set(p, m[p]) == m


@given(numbers)
def test_mapping_applies_to_every_value(m):
    assert m.map(lambda n: n + 1) == Map.build(PS, lambda p: m[p] + 1)
    assert m.map_items(lambda p, n: (p, n)) == Map.build(PS, lambda p: (p, m[p]))


@given(numbers, numbers)
def test_equal_maps_hash_alike(left, right):
    assert (left == right) == (list(left.items()) == list(right.items()))
    if left == right:
        assert hash(left) == hash(right) == hash(left)


def test_a_map_over_two_domains_takes_pairs():
    m = Map.build(PS, QS, lambda p, q: 10 * p.index + q.index)
    assert m[p2, q1] == 21
    assert m.set((p2, q1), 0)[p2, q1] == 0
    assert m.map_items(lambda p, q, n: n - 10 * p.index)[p2, q1] == 1
    assert m.domains == (PS, QS)
    assert [key for key, _ in m.items()] == [(p, q) for p in PS for q in QS]


def test_a_map_is_equal_to_maps_only_and_over_the_same_domains():
    assert Map.fill(PS, 0) == Map.fill(PS, 0)
    assert Map.fill(PS, 0) != 0
    assert Map.fill(Domain(P, 2), Domain(Q, 3), 0) != Map.fill(Domain(Q, 3), Domain(P, 2), 0)


def test_a_map_survives_pickling():
    m = Map.build(PS, QS, lambda p, q: (p.index, q.index))
    assert pickle.loads(pickle.dumps(m)) == m


def test_a_map_prints_its_items():
    assert repr(Map.build(QS, lambda q: q.index)) == "{q0: 0, q1: 1}"


@pytest.mark.parametrize("use", [lambda m: m[P(7)], lambda m: m.set(P(7), 0)], ids=["get", "set"])
def test_an_unknown_key_is_named_with_the_keys_that_there_are(use):
    with pytest.raises(UnknownKey, match=r"p7 is not a key of this map, whose keys are P\(3\)"):
        use(Map.fill(PS, 0))
    with pytest.raises(KeyError):
        use(Map.fill(PS, 0))


def test_a_map_over_an_empty_domain_has_no_items():
    assert list(Map.fill(EMPTY, 0).items()) == []


# --------------------------------------------------------------------------- quantifiers


@given(numbers)
def test_quantifiers_agree_with_all_any_and_sum(m):
    values = [n for _, n in m.items()]
    assert forall(PS, lambda p: m[p] > 0) == all(n > 0 for n in values)
    assert exists(PS, lambda p: m[p] > 0) == any(n > 0 for n in values)
    assert count(PS, lambda p: m[p] > 0) == sum(n > 0 for n in values)
    assert forall(PS, lambda p: m[p] > 0) == (not exists(m, lambda p: m[p] <= 0))


def test_over_several_domains_a_claim_takes_an_element_of_each():
    m = Map.build(PS, QS, lambda p, q: p.index > q.index)
    assert count(PS, QS, lambda p, q: m[p, q]) == 3
    assert count(m, lambda p, q: m[p, q]) == 3
    assert count(m, QS, lambda p, q, r: m[p, q] and q == r) == 3


def test_over_an_empty_domain_everything_holds_and_nothing_exists():
    assert forall(EMPTY, lambda _: False)
    assert not exists(EMPTY, lambda _: True)
    assert count(EMPTY, lambda _: True) == 0


@pytest.mark.parametrize("quantifier", [forall, exists, count])
def test_a_quantifier_over_a_plain_list_is_refused(quantifier):
    with pytest.raises(WrongDefinition, match=r"not over \[1, 2\].*Declare a Domain"):
        quantifier([1, 2], lambda _: True)


def test_a_quantifier_needs_a_domain():
    with pytest.raises(WrongDefinition, match="name at least one domain"):
        forall(lambda: True)


@pytest.mark.parametrize("premise", [False, True])
@pytest.mark.parametrize("conclusion", [False, True])
def test_an_implication_fails_only_from_true_to_false(premise, conclusion):
    assert implies(premise, conclusion) == (conclusion or not premise)


# --------------------------------------------------------------------------- guards


def test_a_guard_that_holds_does_nothing():
    require(True)


def test_a_guard_that_fails_disables_the_step():
    with pytest.raises(Disabled, match="the guard does not hold"):
        require(False)
    with pytest.raises(Disabled, match="too early"):
        require(False, "too early")


def test_every_error_is_one_of_ours_and_what_a_caller_expects():
    assert issubclass(Disabled, StreamproofError)
    assert issubclass(UnknownKey, StreamproofError | KeyError)
    assert issubclass(WrongDefinition, TypeError)
