"""Both engines asked about one model: they must say the same."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from hypothesis import assume, given

from streamproof.checker import Limits, check
from streamproof.checker import explore as reference
from streamproof.checker.counterexample import BrokenModel
from streamproof.checker.native.code.program import Program
from streamproof.checker.native.engine import explore as native
from streamproof.checker.native.search import Search, widened
from streamproof.checker.progress import ignore
from streamproof.models.kit.verdict import CLAIMS, DEADLOCK, Refuted
from tests.support.strategies import tried

STATES_MAX = 3_000
"""States up to which the engines are compared on a random model."""


STATES_MIN = 5
"""States without which nothing much happens in a random model."""


KINDS = {"whole", "invariant", "keeps", DEADLOCK, CLAIMS, "LeftRange"}
"""How searches of random models end."""


def outcome(model, engine, limits=None):
    """Give everything that a check says, or how it failed."""
    try:
        report = check(model, engine=engine, liveness=False, limits=limits)
    except BrokenModel as error:
        return type(error), str(error), error.trace
    return {part.name: part for part in report.findings}, report.counts


def one_thread(model, **options):
    return native(model, threads=1, **options)


def two_threads(model, **options):
    return native(model, threads=2, **options)


def with_symmetry(model, **options):
    return native(model, threads=1, symmetry=True, **options)


def up_to_symmetry(result):
    """Leave out which of several shortest counterexamples is found, and how far the search was."""
    if not isinstance(result[0], dict):
        return result[0], len(result[2].steps)
    lengths = {len(part.verdict.trace) for part in result[0].values() if is_refuted(part)}
    return lengths or up_to_order(result)


def is_refuted(finding):
    return isinstance(finding.verdict, Refuted)


def kind_of(result):
    """Tell how a search ended: by an error, cut short, by a counterexample, or whole."""
    if not isinstance(result[0], dict):
        return result[0].__name__
    verdicts = [part.verdict for part in result[0].values()]
    if any("raise --" in reason for part in verdicts for reason in getattr(part, "reasons", ())):
        return "cut short"
    broken = [part.verdict.broken for part in result[0].values() if is_refuted(part)]
    return broken[0] if broken else "whole"


def compare(model, expected):
    """Compare the native engine with what the reference engine found."""
    assert kind_of(expected) != "cut short"  # which would say nothing
    assert outcome(model, one_thread) == expected
    assert up_to_order(outcome(model, two_threads)) == up_to_order(expected)
    assert up_to_symmetry(outcome(model, with_symmetry)) == up_to_symmetry(expected)


def agree(model):
    """Compare the engines on a model; tell how the search ended."""
    expected = outcome(model, reference)
    compare(model, expected)
    return kind_of(expected)


def states_of(model):
    """Search natively, and give the set of states as Python values."""
    ranges = {}
    while True:
        search = Search(Program(model, ranges), Limits(), ignore, 2)
        search.run()
        if search.found is None:
            break
        ranges |= widened(search, search.found)
    layout, encoder = search.program.layout, search.program.encoder
    return [
        encoder.decode(layout.unpack(part.state(number)))
        for part in search.partitions
        for number in range(part.count)
    ]


def reachable(model):
    seen = set(model.initial_states())
    waiting = list(seen)
    for state in waiting:
        for move in model.moves(state):
            if move.target not in seen:
                seen.add(move.target)
                waiting.append(move.target)
    return seen


def agree_at_random(models, examples, attempt=0):
    """Compare the engines on so many different random models; count how the searches ended."""
    kinds, unfit = {}, set()

    def is_fit(expected):
        kind = kind_of(expected)
        is_idle = kind in ("whole", DEADLOCK) and expected[1].distinct < STATES_MIN
        return kind != "cut short" and not is_idle

    def agree_on(model):
        # Hypothesis runs some once more, and must be told the same of them.
        assume(repr(model) not in unfit)
        if repr(model) in kinds or len(kinds) == examples:
            return
        expected = outcome(model, reference, Limits(states_max=STATES_MAX))
        if not is_fit(expected):
            unfit.add(repr(model))
        assume(repr(model) not in unfit)
        compare(model, expected)
        kinds[repr(model)] = kind_of(expected)
        if kinds[repr(model)] == "whole":
            assert set(states_of(model)) == reachable(model)

    tried(2 * examples, attempt)(given(model=models)(agree_on))()
    assert len(kinds) == examples
    return Counter(kinds.values())


def up_to_order(result):
    """Leave out which of several shortest ways to a `sometimes` was found."""
    if not isinstance(result[0], dict):
        return result
    found = {
        name: replace(part, note=part.note.partition(":")[0]) for name, part in result[0].items()
    }
    return found, *result[1:]
