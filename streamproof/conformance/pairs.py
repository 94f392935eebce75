"""Whether the copies of a pair did what `merge_order` and `egress` allow.

Each life of a copy is replayed on the machines of both. The commits of the pair's lane are what the
client has taken: the client's machine has to take each of them, in their order, and from the
primary of the present incarnation alone. What one witness says has to fit the other's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from streamproof.conformance.draw_pair import drawing_of_pair
from streamproof.conformance.evidence import Evidence, PairEvidence
from streamproof.conformance.explain import Violation
from streamproof.conformance.finding import Finding, Outcome
from streamproof.conformance.replay import (
    BEGIN,
    GOES_ON,
    Life,
    Machine,
    NotTaken,
    Taken,
    lives_of,
    replay,
)
from streamproof.protocols import egress, merge_order
from streamproof.spark_bindings.layout.events import Event
from streamproof.spark_bindings.layout.pairs import Copy

MACHINES = {
    machine.name: machine
    for machine in (
        Machine(
            egress,
            egress.Egress,
            {
                "give": lambda _: (1,),
                "send": lambda state: (state.next,),
                "on_ack": lambda state: (state.sent,),
                "take_over": lambda _: (),
            },
        ),
        Machine(
            merge_order,
            merge_order.Merger,
            {
                "choose": lambda _: ("a lane",),
                "on_choice": lambda state: (state.logged,),
                "follow": lambda _: (),
                "take_over": lambda _: (),
                "fold_in": lambda _: (),
            },
        ),
    )
}


def check_pairs(evidence: Evidence) -> Iterator[Finding]:
    """Yield, for each pair, whether its merge order and its output are what the protocols allow."""
    for pair in evidence.pairs():
        yield from _PairCheck(pair).findings()


@dataclass(slots=True)
class _Known:
    """What copies have said of the turns.

    Attributes
    ----------
    choices, digests : per turn: what it takes, and what it gave; and who said so first
    sent : per copy and incarnation, the turns that it says it has sent
    """

    choices: dict[int, tuple[tuple[Any, ...], str]] = field(default_factory=dict)
    digests: dict[int, tuple[str, str]] = field(default_factory=dict)
    sent: dict[tuple[Copy, int], list[int]] = field(default_factory=dict)


class _PairCheck:
    def __init__(self, pair: PairEvidence) -> None:
        self._pair, self._name = pair, pair.process.name
        self._lives = {copy: lives_of(steps) for copy, steps in pair.steps.items()}
        self._deliveries = [delivery for _, delivery in pair.deliveries]
        self._by_turn = {d.turn: d for d in self._deliveries if d.turn is not None}
        self._known = _Known()

    def findings(self) -> Iterator[Finding]:
        found: dict[str, Violation] = {}
        steps = dict.fromkeys(MACHINES, 0)
        for protocol, violation in self._violations(steps):
            found.setdefault(protocol, violation)
        for protocol, count in steps.items():
            subject = f"pair {self._name}"
            lives = sum(map(len, self._lives.values()))
            by_name = {copy.value: own for copy, own in self._lives.items()}
            draws = partial(drawing_of_pair, self._name, by_name, found.get(protocol))
            if protocol in found:
                violation = found[protocol]
                yield Finding(protocol, subject, Outcome.VIOLATED, violation=violation, draws=draws)
            elif self._deliveries and not lives:
                note = f"{self._name} has written {len(self._deliveries):,} commits without a log"
                yield Finding(protocol, subject, Outcome.UNDETERMINED, note)
            else:
                note = f"{count:,} steps in {lives} lives of its copies"
                yield Finding(protocol, subject, Outcome.EXPLAINED, note, draws=draws)

    def _violations(self, steps: dict[str, int]) -> Iterator[tuple[str, Violation]]:
        for copy, lives in self._lives.items():
            for life in lives:
                yield from self._of_life(copy, life, steps)
        yield from (("egress", violation) for violation in self._of_client())
        yield from (("egress", violation) for violation in self._unsaid())
        yield from (("merge_order", violation) for violation in self._made_from())

    # ----------------------------------------------------------------------- what a copy says

    def _of_life(
        self, copy: Copy, life: Life, steps: dict[str, int]
    ) -> Iterator[tuple[str, Violation]]:
        who = f"{self._name}/{copy.value}"
        delivered = 0
        for taken in replay(life, MACHINES, who):
            if isinstance(taken, NotTaken):
                yield taken.machine, taken.violation
                return
            protocol = taken.event["machine"]
            steps[protocol] += taken.event["event"] not in (BEGIN, GOES_ON)
            if protocol == "merge_order":
                reason = self._choice_otherwise(who, taken.event)
            else:
                reason = self._output_otherwise(copy, taken, delivered)
                delivered = max(delivered, _delivered(taken.event))
            if reason:
                where = f"turn {taken.turn}, {taken.event['event']}"
                yield protocol, Violation(who, where, reason)

    def _choice_otherwise(self, who: str, event: Event) -> str:
        for name, place, *taken in event.get("done", ()):
            if name not in ("SendChoice", "TakeAsLogged"):
                continue
            choice = tuple(taken[-2:])
            first, by = self._known.choices.setdefault(place, (choice, who))
            if first != choice:
                return f"turn {place} takes {choice} here, and {first} at {by}"
        return ""

    def _output_otherwise(self, copy: Copy, taken: Taken, delivered: int) -> str:
        event, who = taken.event, f"{self._name}/{copy.value}"
        match event["event"]:
            case "give":
                turn, digest = taken.before["egress"].next, event["digest"]
                first, by = self._known.digests.setdefault(turn, (digest, who))
                return "" if first == digest else f"turn {turn} gave {digest}, and {first} at {by}"
            case "send":
                return self._sent_otherwise(copy, taken)
            case "on_ack":
                end = event["arguments"][0]
                if end > delivered:
                    return f"it takes the client to have {end} turns, which has {delivered}"
            case "on_note":
                turn = event["arguments"][0] - 1
                if turn not in self._by_turn:
                    return f"it noted that turn {turn} was delivered, and the channel has it not"
            case "take_over":
                number = event["incarnation"]
                if (copy, number) not in self._takeovers():
                    return f"it became primary {number} without a commit of that in the channel"
        return ""

    def _sent_otherwise(self, copy: Copy, taken: Taken) -> str:
        end, number = taken.event["arguments"][0], taken.event["incarnation"]
        self._known.sent.setdefault((copy, number), []).append(end - 1)
        if not merge_order.is_committed(taken.before["merge_order"], end):
            return f"it sent turn {end - 1}, of which the choices were not committed"
        delivery = self._by_turn.get(end - 1)
        if delivery is None:
            return f"it sent turn {end - 1}, and the channel has it not"
        said = self._known.digests.get(end - 1)
        if said is not None and said[0] != delivery.digest:
            return (
                f"turn {end - 1} gave {said[0]} at {said[1]}, and the channel has {delivery.digest}"
            )
        return ""

    def _takeovers(self) -> set[tuple[Copy, int]]:
        return {(d.copy, d.incarnation) for d in self._deliveries if d.turn is None}

    # ----------------------------------------------------------------------- what the channel says

    def _of_client(self) -> Iterator[Violation]:
        """Let the client's machine take the commits; only the present primary may deliver."""
        client = egress.Client(0)
        primary: tuple[Copy | None, int] = (None, 0)
        for delivery in self._deliveries:
            where = f"position {delivery.position} of channel {self._pair.process.output.channel}"
            who = f"{self._name}/{delivery.copy.value}"
            if delivery.turn is None:
                if delivery.incarnation != primary[1] + 1:
                    reason = f"it became primary {delivery.incarnation} behind primary {primary[1]}"
                    yield Violation(who, where, reason)
                primary = delivery.copy, delivery.incarnation
                continue
            if (delivery.copy, delivery.incarnation) != primary:
                reason = (
                    f"it delivered turn {delivery.turn} as primary {delivery.incarnation}, and the "
                    f"primary was {_named(primary)}"
                )
                yield Violation(who, where, reason)
            client, effects = egress.on_outputs(client, client.next, delivery.turn + 1)
            if not effects:
                reason = f"it delivered turn {delivery.turn}, which the client had: it has {client}"
                yield Violation(who, where, reason)

    def _unsaid(self) -> Iterator[Violation]:
        """Yield deliveries between two that a copy has logged, and that it has not."""
        for delivery in self._deliveries:
            said = self._known.sent.get((delivery.copy, delivery.incarnation))
            if delivery.turn is None or not said or delivery.turn in said:
                continue
            if min(said) < delivery.turn < max(said):
                yield Violation(
                    f"{self._name}/{delivery.copy.value}",
                    f"position {delivery.position} of channel {self._pair.process.output.channel}",
                    f"turn {delivery.turn} was delivered, and no step of the copy sends it",
                )

    def _made_from(self) -> Iterator[Violation]:
        """Yield deliveries that were made from something else than the turn takes."""
        for entry, delivery in self._pair.deliveries:
            if delivery.turn is None or delivery.turn not in self._known.choices:
                continue
            (lane, end), by = self._known.choices[delivery.turn]
            received: Mapping[Any, int] = {} if entry.made is None else entry.made.received
            if received.get(lane, 0) != end:
                yield Violation(
                    f"{self._name}/{delivery.copy.value}",
                    f"position {delivery.position} of channel {self._pair.process.output.channel}",
                    f"turn {delivery.turn} was made from {dict(received)}, and at {by} it takes "
                    f"{lane} up to {end}",
                )


def _delivered(event: Event) -> int:
    """Return how many turns a copy knows to be delivered behind an event."""
    return int(event["arguments"][0]) if event["event"] in ("send", "on_note") else 0


def _named(primary: tuple[Copy | None, int]) -> str:
    copy, number = primary
    return "nobody" if copy is None else f"{copy.value}, primary {number}"
