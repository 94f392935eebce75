"""The runs that the protocols' pages show: one as it should be, and one of a mutant.

A run is named by its actions, in the words of a replay key's steps: `send process0 process1`. It is
run through the model's own `moves`, so a diagram shows what the model does, or is not made at all.
A mutant's run is the shortest counterexample, which the reference engine finds at build time.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

from streamproof.checker import explore
from streamproof.checker.counterexample import Run, replay, retrace
from streamproof.diagrams.draw import as_words
from streamproof.lang.model import Model
from streamproof.models.kit import registry
from streamproof.models.kit.mutant import Mutant
from streamproof.models.kit.sizes import at_size


@dataclass(frozen=True, slots=True)
class Told:
    """A run to be shown.

    Attributes
    ----------
    size : the model's named size
    start : the number of the initial state
    actions : each as its name and its arguments
    caption : what the run shows, in a sentence or two
    mutant, mutant_caption : whose counterexample is shown too, and what it shows
    """

    size: str
    actions: tuple[str, ...]
    caption: str
    mutant: str
    mutant_caption: str
    start: int = 0


RUNS = {
    "chandy_lamport": Told(
        "default",
        (
            "send process0 process1",
            "initiate snapshot0 process0",
            "send process1 process2",
            "receive_marker snapshot0 process0 process2",
            "receive process1 process2",
            "receive process0 process1",
            "receive_marker snapshot0 process0 process1",
            "receive_marker snapshot0 process2 process1",
            "send process2 process0",
            "receive_marker snapshot0 process1 process2",
            "receive_marker snapshot0 process1 process0",
            "receive_marker snapshot0 process2 process0",
            "receive process2 process0",
        ),
        "Process 0 initiates a snapshot. The message from process 1 to process 2 crosses the cut "
        "forwards: it belongs to the channel's recorded state. No message crosses it backwards.",
        "chandy_lamport/marker-late",
        "A message slips between recording and marker. It crosses the cut backwards.",
    ),
    "sunion": Told(
        "default",
        (
            "read replica0 entry0",
            "read replica1 entry2",
            "read replica1 entry3",
            "read replica0 entry1",
            "read replica0 entry2",
            "read replica0 entry3",
            "emit replica0 bucket0",
            "read replica1 entry0",
            "read replica1 entry1",
            "emit replica1 bucket0",
        ),
        "Two replicas read two streams in different orders. Each emits the bucket once both "
        "boundaries lie behind it, and both emit the same order.",
        "sunion/boundary-overtakes",
        "A boundary overtakes a tuple of its stream. The bucket is emitted without the tuple.",
        start=34,
    ),
    "dpc": Told(
        "small",
        (
            "read_tuple stream0 bucket0",
            "fail stream1",
            "read_boundary stream0",
            "time_out bucket0",
            "heal stream1",
            "read_tuple stream1 bucket0",
            "read_boundary stream1",
            "stabilize bucket0",
            "emit bucket0",
        ),
        "Stream 1 fails. The node stops waiting and emits a tentative tuple. The stream heals, the "
        "node revokes by UNDO, emits the stable bucket and ends the correction by REC_DONE.",
        "dpc/no-undo",
        "The node forgets UNDO. The client keeps a tentative tuple beside its correction.",
    ),
    "egress": Told(
        "default",
        (
            "give copy0",
            "give copy1",
            "send copy0",
            "receive copy0",
            "acknowledge copy0",
            "note copy0 copy1",
            "give copy0",
            "give copy1",
            "send copy0",
            "fail copy0 copy1",
            "receive copy0",
            "send copy1",
            "receive copy1",
            "replace_copy copy0 copy1",
            "acknowledge copy1",
        ),
        "The active copy fails while an output is under way. Its twin sends the output again, and "
        "the client drops the second one by its number.",
        "egress/no-deduplication",
        "The client compares no numbers. It takes an output twice.",
    ),
    "merge_order": Told(
        "default",
        (
            "merge copy0 place0 lane1",
            "receive_choice copy1 place0",
            "acknowledge_log copy0 copy1",
            "give copy0 place0",
            "merge copy0 place1 lane0",
            "fail copy0 copy1",
            "follow copy1 place0 lane1",
            "lead copy1",
            "merge copy1 place1 lane0",
            "give copy1 place1",
        ),
        "The leader emits an output after its twin has the choice. It fails with a choice under "
        "way. The twin finishes the log, leads, and chooses again. Nobody saw the lost choice.",
        "merge_order/emit-first",
        "The leader emits before its twin has the choice. The twin chooses otherwise.",
    ),
    "permission": Told(
        "small",
        (
            "want replica0",
            "want replica1",
            "ask replica0 replica0",
            "receive_request replica0 replica0",
            "give replica0 replica0",
            "receive_grant replica0 replica0",
            "ask replica0 replica1",
            "ask replica1 replica0",
            "receive_request replica1 replica0",
            "receive_request replica0 replica1",
            "give replica0 replica1",
            "receive_grant replica0 replica1",
            "finish replica0",
            "receive_release replica0 replica0",
            "receive_release replica0 replica1",
            "give replica1 replica0",
        ),
        "Both replicas want to stabilize. Both ask replica 0 first, so replica 1 holds no grant "
        "while it waits. It is granted after the release.",
        "permission/both-yield",
        "Each replica grants a second request before the first grant is released. Both stabilize.",
    ),
    "subscription": Told(
        "default",
        (
            "ask subscriber0 upstream0",
            "answer subscriber0",
            "emit upstream0",
            "emit upstream1",
            "send_undo subscriber0 slot0",
            "send_stable subscriber0 slot1",
            "receive subscriber0 slot0",
            "receive subscriber0 slot1",
            "fail upstream0",
            "guess upstream0",
            "send_tentative subscriber0 slot2",
            "receive subscriber0 slot2",
            "ask subscriber0 upstream1",
            "answer subscriber0",
            "emit upstream1",
            "send_undo subscriber0 slot0",
            "receive subscriber0 slot0",
            "send_stable subscriber0 slot1",
            "receive subscriber0 slot1",
            "ack subscriber0 upstream1 slot2",
        ),
        "The first replica loses an input and emits a tentative tuple. The subscriber changes to "
        "the second replica. UNDO revokes the tentative tuple, then the stable one follows.",
        "subscription/no-undo",
        "The new replica sends no UNDO. A tentative tuple of another replica stays in front of "
        "stable ones.",
    ),
    "flux": Told(
        "default",
        (
            "produce lane0 copy0",
            "produce lane0 copy1",
            "send lane0 copy0 copy0",
            "send lane0 copy1 copy1",
            "receive lane0 copy1 copy1",
            "acknowledge lane0 copy1 copy1 number0 number1",
            "fail partition0 copy0",
            "send lane0 copy1 copy0",
            "receive lane0 copy1 copy0",
            "acknowledge lane0 copy1 copy0 number0 number1",
            "receive_ack lane0 copy1 copy1 number0 number1",
            "receive_ack lane0 copy1 copy0 number0 number1",
        ),
        "A producer copy fails with a tuple under way. Its twin has kept the tuple, since the "
        "other side's consumer has not acknowledged it, and sends it.",
        "flux/wrong-ack",
        "A producer copy forgets by the acks of its own side. When it takes over, the tuple that "
        "the other side's consumer lacks is gone.",
    ),
}
"""By protocol, in the order in which the site lists them."""


def shown_run(protocol: str) -> tuple[Model[Any], Run[Any], str]:
    """Run what a protocol's page shows; also give the command that runs it again.

    Raises
    ------
    LookupError : if the model no longer allows one of the actions
    """
    told = RUNS[protocol]
    model = registry.build(protocol, told.size)
    key = _key(model, told)
    return model, replay(model, key), f"streamproof replay {protocol} {key} --size {told.size}"


def mutant_named(protocol: str, name: str) -> Mutant:
    """Find a mutant of a protocol."""
    return next(mutant for mutant in registry.load(protocol).mutants if mutant.name == name)


def mutant_run(protocol: str) -> tuple[Model[Any], Run[Any], str, str]:
    """Find a mutant's shortest counterexample; also say what it breaks, and a command for it.

    Raises
    ------
    LookupError : if the mutant does not break what must catch it
    """
    mutant = mutant_named(protocol, RUNS[protocol].mutant)
    model = at_size(mutant.model_class, mutant.size)
    found = explore(model)
    names = {broken.name for broken in found.broken}
    if found.path is None or mutant.property_name not in names:
        raise LookupError(f"{mutant.name} does not break {mutant.property_name} at {mutant.size}")
    run = retrace(model, found.path)
    command = f"streamproof mutate {protocol} --only {mutant.name}"
    claim = run.moves[-1].broken_claim
    return model, run, claim or f"{mutant.property_name} is broken", command


def _key(model: Model[Any], told: Told) -> str:
    state = next(itertools.islice(model.initial_states(), told.start, None))
    picks = [told.start]
    for action in told.actions:
        moves = list(model.moves(state))
        words = [as_words(move.call) for move in moves]
        if action not in words:
            raise LookupError(f"no step {action!r} here, but {', '.join(words) or 'none'}")
        picks.append(words.index(action))
        state = moves[picks[-1]].target
        assert state is not None  # these runs break nothing
    return "/".join(map(str, picks))
