"""The prover proves what holds, and explains what it cannot prove.

A toy protocol is weakened and broken in every way that an obligation can fail: a missing conjunct,
a false one, a broken action, a vacuous lemma, a solver that gives up.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from streamproof.checker.reach import reach
from streamproof.lang import StreamproofError, WrongDefinition, require
from streamproof.lang import expr as ex
from streamproof.lang.model import action
from streamproof.models.kit.verdict import ExitCode, Proved, Reachable, Undetermined, exit_code
from streamproof.proofs.cti import EnginesDisagree, counterexamples, not_searched
from streamproof.proofs.induction import Answer, prove
from streamproof.proofs.invariant import Invariant
from streamproof.proofs.obligations import Kind, Theory, obligations
from streamproof.proofs.to_z3 import NotProvable
from tests.proofs.toy import (
    INVARIANT,
    Counter,
    Guest,
    Mood,
    Tickets,
    a_second_guest_waits_longer,
    fewer_than_two_wait,
    waiting_tickets_differ,
)


def nobody_waits(m: Tickets, s: Counter, g: Guest) -> bool:
    """False in a reachable state."""
    return s.mood[g] != Mood.WAITING


def assumes_the_impossible(m: Tickets, s: Counter, g: Guest) -> bool:
    """A lemma whose premise contradicts the invariant."""
    require(s.mood[g] == Mood.WAITING and s.ticket[g] >= s.handed)
    return False


def claims_too_much(m: Tickets, s: Counter, g: Guest) -> bool:
    """A lemma with a claim that does not hold."""
    assert s.handed == 0
    return True


class Stuck(Tickets):
    """Nobody can be served: the guard contradicts the invariant."""

    @action
    def serve(self, s: Counter, g: Guest) -> Counter:
        """Never happens."""
        require(s.mood[g] == Mood.WAITING and s.ticket[g] == s.handed)
        return replace(s, served=s.served + 1)


def test_the_toy_is_proved_with_one_obligation_for_each_path_and_conjunct():
    report = prove(INVARIANT)
    kinds = [outcome.obligation.kind for outcome in report.outcomes]
    assert report.verdict == Proved(len(report.outcomes))
    assert exit_code(report.verdict) is ExitCode.GREEN
    assert kinds.count(Kind.INITIATION) == 3
    assert kinds.count(Kind.CONSECUTION) == 3 * 2  # three conjuncts, two paths
    assert kinds.count(Kind.SAFETY) == kinds.count(Kind.CLAIM) == 1
    assert kinds.count(Kind.STEP) == 2
    assert kinds.count(Kind.LEMMA) >= 1


def test_progress_names_every_obligation_in_order():
    told = []
    report = prove(
        INVARIANT, on_progress=lambda done, total, part: told.append((done, total, part))
    )
    assert [done for done, _, _ in told] == list(range(len(report.outcomes)))
    assert [part for _, _, part in told] == [outcome.obligation for outcome in report.outcomes]


def test_a_missing_conjunct_gives_small_unreachable_states():
    weak = Invariant(Tickets, conjuncts=(waiting_tickets_differ,))
    report = prove(weak, reach=reach)
    failed = report.failed[0]
    assert isinstance(report.verdict, Undetermined)
    assert exit_code(report.verdict) is ExitCode.UNDETERMINED
    assert str(failed.obligation) == "consecution: waiting_tickets_differ by take/0"
    assert failed.answer is Answer.SAT
    assert [example.size for example in failed.examples] == [2, 3]
    assert {example.reachable for example in failed.examples} == {Reachable.NO}
    assert failed.examples[0].step.startswith("take(g=guest")
    # The plainest such state: one guest waits with a ticket that was not handed out yet.
    assert [str(change) for change in failed.examples[0].before] == [
        f"mood[guest{1 - int(failed.examples[0].step[-2])}]: AWAY -> WAITING"
    ]


def test_a_false_conjunct_is_found_reachable():
    report = prove(replace(INVARIANT, conjuncts=(*INVARIANT.conjuncts, nobody_waits)), reach=reach)
    failed = [part for part in report.failed if part.obligation.subject == "nobody_waits"]
    assert failed
    assert {example.reachable for part in failed for example in part.examples} == {Reachable.YES}


def test_without_an_engine_reachability_is_not_claimed():
    weak = Invariant(Tickets, conjuncts=(waiting_tickets_differ,))
    examples = prove(weak).failed[0].examples
    assert {example.reachable for example in examples} == {Reachable.UNKNOWN}


def test_a_vacuous_lemma_is_not_proved():
    report = prove(replace(INVARIANT, lemmas=(assumes_the_impossible,)))
    assert not report.failed
    assert report.vacuous == (
        "assumes_the_impossible assumes what no state with the invariant satisfies",
    )
    assert isinstance(report.verdict, Undetermined)


def test_an_action_that_the_invariant_forbids_is_vacuous():
    report = prove(Invariant(Stuck, conjuncts=INVARIANT.conjuncts))
    assert report.vacuous == ("serve/0 is never enabled under the invariant",)
    assert isinstance(report.verdict, Undetermined)


def test_a_broken_claim_in_a_lemma_fails_it():
    report = prove(replace(INVARIANT, lemmas=(claims_too_much,)))
    assert [part.obligation.subject for part in report.failed] == ["claims_too_much"]


def test_a_solver_that_gives_up_proves_nothing():
    report = prove(INVARIANT, rlimit=1)
    assert {part.answer for part in report.failed} == {Answer.UNKNOWN}
    assert isinstance(report.verdict, Undetermined)


def test_an_empty_proof_is_not_green():
    report = replace(prove(INVARIANT), outcomes=())
    assert report.verdict == Undetermined(("there was nothing to prove",))


def test_counting_is_refused_by_name():
    with pytest.raises(NotProvable, match="State the property with forall and exists"):
        prove(Invariant(Tickets, conjuncts=(fewer_than_two_wait,)))
    assert issubclass(NotProvable, StreamproofError)


def test_a_state_that_python_reads_differently_is_an_error_not_an_example():
    theory = Theory.of(Invariant(Tickets, conjuncts=(waiting_tickets_differ,)))
    failing = next(part for part in obligations(theory) if str(part).endswith("by take/0"))
    assert counterexamples(theory, failing, not_searched)
    # As if Z3 had read the conjunct wrongly: what it calls broken holds in plain Python.
    misread = replace(theory, conjuncts={failing.subject: ex.TRUE})
    with pytest.raises(EnginesDisagree, match="plain Python does not"):
        counterexamples(misread, failing, not_searched)


def test_rlimit_bounds_the_search_for_examples_too():
    theory = Theory.of(Invariant(Tickets, conjuncts=(waiting_tickets_differ,)))
    failing = next(part for part in obligations(theory) if str(part).endswith("by take/0"))
    assert counterexamples(theory, failing, not_searched)
    assert counterexamples(theory, failing, not_searched, rlimit=1) == ()
    few = prove(Invariant(Tickets, conjuncts=(waiting_tickets_differ,)), rlimit=1)
    assert few.failed
    assert {part.answer for part in few.failed} == {Answer.UNKNOWN}
    assert [part.examples for part in few.failed] == [()] * len(few.failed)


def test_the_report_as_json_names_everything():
    found = prove(Invariant(Tickets, conjuncts=(waiting_tickets_differ,))).to_json()
    assert found["verdict"]["status"] == "UNDETERMINED"
    failed = [part for part in found["obligations"] if part["answer"] == "sat"]
    assert failed[0]["examples"][0]["before"]
    assert found["vacuous"] == []


def test_lemmas_may_run_actions():
    report = prove(INVARIANT)
    lemma = [part for part in report.outcomes if part.obligation.kind is Kind.LEMMA]
    assert {part.obligation.subject for part in lemma} == {a_second_guest_waits_longer.__name__}


def test_conjuncts_without_names_are_all_proven_not_one_for_another():
    hidden = replace(
        INVARIANT,
        conjuncts=(*INVARIANT.conjuncts, lambda _m, _s: False, lambda m, s: m.tickets_differ(s)),
    )
    report = prove(hidden, rlimit=100_000)
    assert {part.obligation.subject for part in report.failed} >= {"conjunct 4"}
    subjects = {part.obligation.subject for part in report.outcomes}
    assert subjects >= {"conjunct 4", "conjunct 5"}


@pytest.mark.parametrize("field", ["conjuncts", "lemmas"])
def test_two_functions_of_one_name_are_refused(field):
    functions = (waiting_tickets_differ, waiting_tickets_differ)
    with pytest.raises(WrongDefinition, match="share the names waiting_tickets_differ"):
        replace(INVARIANT, **{field: functions})
