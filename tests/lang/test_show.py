"""Traced forms are printed as guarded commands, for readers and for the hash of a certificate."""

from __future__ import annotations

import hashlib

import pytest

from streamproof.lang import Domain, Map, exists, forall, implies
from streamproof.lang import expr as ex
from streamproof.lang.digest import protocol_digest, protocol_text
from streamproof.lang.domain import Domain as PlainDomain
from streamproof.lang.evaluate import World, rebuild
from streamproof.lang.explain import explain
from streamproof.lang.expr import Read, Var
from streamproof.lang.fork import break_claim
from streamproof.lang.quantify import Site, asking, observed_premises
from streamproof.lang.scalars import Symbolic, scalar
from streamproof.lang.show import show, show_model, show_protocol
from streamproof.lang.sorts import DomainSort, ElementSort, MapSort, sort_of
from streamproof.lang.symbolic import (
    OpenDomain,
    SymbolicMap,
    choose_value,
    substitute_value,
    value_of,
)
from streamproof.lang.trace import trace_model, trace_protocol
from streamproof.protocols import chandy_lamport
from tests.lang.support.zoo import Cage, Mood, Zoo

ON_MARKER = """\
transition on_marker(recorders.recorded[SnapshotId]: bool, \
recorders.closed[SnapshotId, Channel]: bool, recorders.log[SnapshotId, Channel]: int, \
snapshot: SnapshotId, channel: Channel)
on_marker(snapshot: SnapshotId, channel: Channel):
  when not recorders.closed[snapshot, channel]
  and recorders.recorded[snapshot]
  set  recorders.closed[s0', c1'] := \
c1' == channel or recorders.closed[snapshot, c1'] where s0' == snapshot
on_marker(snapshot: SnapshotId, channel: Channel):
  when not recorders.closed[snapshot, channel]
  and not recorders.recorded[snapshot]
  set  recorders.recorded[s0'] := s0' == snapshot or recorders.recorded[s0']
  set  recorders.closed[s0', c1'] := \
c1' == channel or recorders.closed[snapshot, c1'] where s0' == snapshot
  emit SaveState(snapshot=snapshot)
  emit SendMarkers(snapshot=snapshot)
on_marker:
  claim fails when recorders.closed[snapshot, channel]"""

A, B = Read("a", (), ex.BOOL), Read("b", (), ex.BOOL)
N, M = Read("n", (), ex.INT), Read("m", (), ex.INT)
CAGE = ElementSort("Cage")
CAGES = Domain(Cage, 2)


def test_a_transition_is_printed_as_guarded_commands():
    assert show_protocol(trace_protocol(chandy_lamport)).split("\n\n")[-1] == ON_MARKER


def test_the_digest_is_of_the_printed_form():
    text = protocol_text(chandy_lamport)
    assert protocol_digest(chandy_lamport) == hashlib.sha256(text.encode()).hexdigest()


@pytest.mark.parametrize(
    "line",
    [
        "model Zoo",
        "constant days: int",
        "constant locked[Cage]: bool",
        "assume 0 <= days",
        "variable animals.visits[Cage, Keeper]: int",
        "variable plans[Keeper, Cage]: Mood",
        "initially start(chief: Keeper):",
        "  set  animals.mood[c0'] := (Mood.WILD if locked[c0'] else Mood.CALM)",
        "nothing():",
        "  when True",
        "claim in claim fails when",
        "always named_conjuncts().explained: open",
        "always named_conjuncts().young: forall(c₁: Cage: animals.age[c₁] < 2)",
        "sometimes opens(): open",
        "leads_to hunger_is_fed(c: Cage).when: animals.mood[c] == Mood.HUNGRY",
        "final over(): day == days",
    ],
)
def test_a_model_is_printed_line_by_line(line):
    assert line in show_model(trace_model(Zoo)).splitlines()


def test_a_property_knows_whether_it_is_about_steps():
    forms = {form.name: form.takes_a_step for form in trace_model(Zoo).properties}
    assert forms["time_passes"]
    assert not forms["opens"]


@pytest.mark.parametrize(
    ("expr", "text"),
    [
        (ex.subtract(N, ex.add(M, ex.literal(-1))), "n - (m - 1)"),
        (ex.multiply(ex.add(N, M), M), "(n + m) * m"),
        (ex.negate(ex.equal(N, M)), "m != n"),
        (ex.negate(A), "not a"),
        (ex.equal(A, ex.less(N, M)), "a == (n < m)"),
        (ex.conjunction(ex.disjunction(A, B), ex.less(N, M)), "(a or b) and n < m"),
        (ex.choose(A, N, M), "(n if a else m)"),
        (ex.literal(Mood.WILD), "Mood.WILD"),
        (Read("x.y", (Var("c", CAGE), Var("d", CAGE)), ex.INT), "x.y[c, d]"),
    ],
)
def test_an_expression_is_printed_in_pythons_notation(expr, text):
    assert show(expr) in (text, text.replace("m != n", "n != m"))


def test_the_part_that_fails_is_explained_with_its_elements():
    c = Var("c", CAGE)
    young = ex.quantify("forall", (c,), ex.less(Read("age", (c,), ex.INT), ex.literal(2)))
    here = World({"Cage": CAGES}, {"age": Map.build(CAGES, lambda c: 3 * c.index), "a": True})
    assert explain(ex.conjunction(A, young), here) == "age[cage1] < 2"


# --------------------------------------------------------------------------- symbolic values


def test_a_symbolic_value_is_shown_as_its_expression():
    assert repr(scalar(ex.add(N, ex.literal(1)))) == "n + 1"
    m = value_of(sort_of(Map[Cage, int]), "age")
    assert repr(m).startswith("Map(Cage -> age[%")
    assert repr(OpenDomain(CAGE)) == "Domain(Cage)"
    assert OpenDomain(CAGE) == OpenDomain(CAGE)
    assert OpenDomain(CAGE) != CAGES


def test_variables_are_replaced_everywhere_in_a_value():
    x, y = Var("x", CAGE), Var("y", CAGE)
    pair = (scalar(x), "kept")
    replaced = substitute_value(pair, {x: y})
    assert isinstance(replaced[0], Symbolic)
    assert (replaced[0].expr, replaced[1]) == (y, "kept")
    inner = SymbolicMap((Var("%", CAGE),), scalar(x))
    assert substitute_value(inner, {x: y})[scalar(x)].expr == y


def test_a_symbolic_value_has_no_truth_outside_a_trace():
    with pytest.raises(TypeError, match="asked for its truth outside a trace"):
        bool(scalar(A))


def test_a_domain_is_no_part_of_a_state_that_is_rebuilt():
    with pytest.raises(AssertionError):
        rebuild(DomainSort(CAGE), {}, lambda *_: 0, "x")


def test_a_map_is_rebuilt_from_its_values():
    sort = MapSort((CAGE,), ex.INT)
    rebuilt = rebuild(sort, {"Cage": CAGES}, lambda name, keys: (name, *keys), "age")
    assert rebuilt == Map.build(CAGES, lambda c: ("age", c))


# --------------------------------------------------------------------------- vacuous premises


def test_a_premise_that_never_holds_is_noticed():
    def vacuous(c: Cage) -> bool:
        return implies(c.index > 5, False)

    def asked(c: Cage) -> bool:
        return implies(c.index > 0, True)

    sites = [Site(vacuous.__code__, 0, 0)]  # of which none ever holds, so that all are looked for
    with observed_premises() as observed:
        assert forall(CAGES, vacuous)  # which no property asks
        ask = asking("fine", sites, lambda: forall(CAGES, vacuous) and exists(CAGES, asked))
        assert ask()
        assert asking("fine", sites, lambda: forall(CAGES, asked))()
    held = {(name, site.code): held for (name, site), held in observed.items()}
    assert held == {("fine", vacuous.__code__): False, ("fine", asked.__code__): True}
    assert implies(False, False)
    assert isinstance(CAGES, PlainDomain)


# --------------------------------------------------------------------------- merging


def test_a_known_condition_chooses_without_looking_at_the_other_value():
    assert choose_value(ex.TRUE, 1, "anything") == 1
    assert choose_value(ex.FALSE, "anything", 2) == 2


def test_a_claim_outside_of_a_run_is_nobodys():
    break_claim(ex.TRUE, "nowhere")  # a property may call a function that states a claim


def test_the_digest_is_also_of_what_a_protocol_tells():
    text = protocol_text(chandy_lamport)
    assert "function is_complete(" in text
    assert "set  result := recorder.recorded and forall(" in text
    assert "function initial_recorder(" in text
