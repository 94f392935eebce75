"""A copy's part in giving output: it delivers what turns gave, or keeps it in case the other fails.

Here the machine of `streamproof.protocols.egress` meets files and the output channel. An output of
the machine is a turn. One without rows or a marker is never delivered: the next one is, along with
it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

from streamproof.protocols.egress import (
    Egress,
    EgressStep,
    NoteDelivered,
    SendOutputs,
    give,
    on_ack,
    on_note,
    send,
    take_over,
)
from streamproof.spark_bindings.channels.channel import Channel
from streamproof.spark_bindings.errors import CopiesDiffer, FencedDriver
from streamproof.spark_bindings.layout.events import MachineLog, described
from streamproof.spark_bindings.layout.output_buffer import Output, OutputBuffer
from streamproof.spark_bindings.layout.pairs import Copy
from streamproof.spark_bindings.names import Turn
from streamproof.spark_bindings.standby.client import ChannelClient, Delivery
from streamproof.spark_bindings.standby.continuation import DeliveredNote
from streamproof.spark_bindings.standby.digest import NO_ROWS, rows_that_differ
from streamproof.spark_bindings.storage.failpoints import PairFailpoint, reached
from streamproof.spark_bindings.storage.place import Place
from streamproof.spark_bindings.storage.store import store_at

_WITHOUT_ROWS_MAX = 10_000  # older turns without rows are not compared any more


class CopyEgress:
    """The egress of one copy. Its caller holds a lock: batches and the copy's loop both step it.

    Parameters
    ----------
    taken : turns that are in the copy's checkpoint
    note : where it notes what it will forget
    log : where the steps of the machine are noted
    """

    def __init__(
        self,
        copy: Copy,
        channel: Channel,
        client: ChannelClient,
        kept: OutputBuffer,
        taken: Turn,
        note: DeliveredNote | None = None,
        log: MachineLog | None = None,
    ) -> None:
        self._note_file, self._log = note, log or MachineLog(None)
        self._copy, self._channel, self._client, self._kept = copy, channel, client, kept
        self._incarnation = client.incarnation()
        self._delivered: dict[Turn, Delivery] = {}
        self._without_rows: dict[Turn, None] = {}
        self._egress = Egress(next=taken, begin=0, active=False, sent=0)
        self._log.begin("egress", self._egress, incarnation=self._incarnation)
        for delivery in client.begin(min([taken, *kept.turns()])):
            self._note(delivery)

    @property
    def active(self) -> bool:
        """Whether this copy is primary, and delivers."""
        return self._egress.active

    @property
    def incarnation(self) -> int:
        """The incarnation of the primary that was noted last."""
        return self._incarnation

    @property
    def next(self) -> Turn:
        """The turn that is given next."""
        return Turn(self._egress.next)

    def give(self, output: Output) -> None:
        """Keep what a turn gave, unless it was delivered. May be repeated after a crash.

        Raises
        ------
        CopiesDiffer : if it is not what was delivered for this turn, or kept before the crash
        """
        assert output.turn == self.next
        self.note()
        before = self._kept.output(output.turn)
        if before is not None and before.digest != output.digest:
            raise self._differ(output, before.digest, tuple(file.path for file in before.files))
        if output.turn < self._egress.begin:
            self._compare(output)
            self._kept.drop(output)
        elif before is not None:
            self._kept.drop(output)
        elif not output.is_empty:
            self._kept.keep(output)
        else:
            self._without_rows[output.turn] = None
        reached(PairFailpoint.OUTPUT_KEPT, self._copy.value)
        self._step(give, 1, digest=output.digest)
        self._forget_delivered()
        while len(self._without_rows) > _WITHOUT_ROWS_MAX:
            del self._without_rows[next(iter(self._without_rows))]

    def deliver(self) -> int:
        """Deliver what is kept, if this copy is active; give the number of turns.

        Raises
        ------
        FencedDriver : if the other copy has become primary
        """
        waiting = [turn for turn in self._kept.turns() if self._is_to_be_sent(turn)]
        for turn in waiting:
            self._step(send, turn + 1, incarnation=self._incarnation)
            self._step(on_ack, turn + 1)
            reached(PairFailpoint.OUTPUT_DELIVERED, self._copy.value)
        return len(waiting)

    def note(self) -> None:
        """Note what was delivered to the channel, and forget it.

        Raises
        ------
        FencedDriver : if this copy was active, and the other copy has become primary
        CopiesDiffer : if the other copy has delivered other rows than are kept here
        """
        for delivery in self._client.new_deliveries():
            self._note(delivery)
        self._forget_delivered()

    def take_over(self) -> bool:
        """Take over from the primary that was noted last; tell whether nobody was faster.

        Then `deliver` delivers all that is kept.
        """
        if not self._client.take_over(self._incarnation + 1):
            self.note()
            return False
        # What the other copy has delivered until now is seen here; it can deliver nothing more.
        self._incarnation += 1
        self.note()
        self._step(take_over, incarnation=self._incarnation)
        return True

    def _is_to_be_sent(self, turn: Turn) -> bool:
        return self._egress.active and self._egress.sent <= turn < self._egress.next

    def _step(
        self, transition: Callable[..., EgressStep], *arguments: int, **facts: int | str
    ) -> None:
        """Step the machine, carry out what it answers, and note both, with what else is known."""
        egress, effects = transition(self._egress, *arguments)
        done = []
        for effect in effects:
            match effect:
                case SendOutputs(begin, end):
                    output = self._kept.output(Turn(end - 1))
                    assert output is not None  # only what is kept is sent
                    delivery = self._client.deliver(output, Turn(begin), self._incarnation)
                    if delivery is not None:
                        self._note_delivered(delivery)
                case NoteDelivered(end):
                    # The other copy reads it in the channel. Here it is known, so it is forgotten.
                    output = self._kept.output(Turn(end - 1))
                    if output is not None:
                        self._kept.forget(output.turn, [file.path for file in output.files])
                case _:
                    assert_never(effect)
            done.append(described(effect))
        self._egress = egress
        self._log.step("egress", transition, arguments, (egress, effects), done, **facts)

    def _note(self, delivery: Delivery) -> None:
        if delivery.incarnation > self._incarnation:
            if self._egress.active:
                raise FencedDriver(
                    f"copy {self._copy.value} was primary {self._incarnation}, but the other copy "
                    f"took it to have failed, and is primary {delivery.incarnation}. Nothing was "
                    "delivered twice. Let this process end; started again, it follows"
                )
            self._incarnation = delivery.incarnation
        if delivery.turn is not None and not self._egress.active:
            self._delivered[delivery.turn] = delivery
            self._step(on_note, delivery.turn + 1)

    def _forget_delivered(self) -> None:
        """Compare what both copies have given by now, and forget it."""
        end = min(self._egress.begin, self._egress.next)
        for turn in [turn for turn in self._without_rows if turn < end]:
            self._compare(Output(turn, (), NO_ROWS))
            del self._without_rows[turn]
        kept = [turn for turn in self._kept.turns() if turn < end]
        delivered = [self._delivered[turn] for turn in kept if turn in self._delivered]
        if delivered:
            self._note_delivered(delivered[-1])
        for turn in kept:
            output = self._kept.output(turn)
            if output is not None:
                self._compare(output)
                delivery = self._delivered.get(turn)
                self._kept.forget(turn, delivery.files if delivery is not None else ())
        self._delivered = {turn: made for turn, made in self._delivered.items() if turn >= end}

    def _note_delivered(self, delivery: Delivery) -> None:
        if self._note_file is not None and delivery.turn is not None:
            self._note_file.write(delivery.turn, delivery.position, delivery.commit)

    def _compare(self, output: Output) -> None:
        delivery = self._delivered.get(output.turn)
        digest = NO_ROWS if delivery is None else delivery.digest
        if digest != output.digest:
            raise self._differ(output, digest, () if delivery is None else delivery.files)

    def _differ(self, output: Output, digest: str, files: tuple[str, ...]) -> CopiesDiffer:
        delivery = self._delivered.get(output.turn)
        where = "not delivered" if delivery is None else f"position {delivery.position}"
        mine = [self._channel.place / file.path for file in output.files]
        theirs = [place for place in map(self._file, files) if store_at(place).has()]
        more, less = rows_that_differ(mine, theirs, self._channel.schema.names)
        gone = "" if len(theirs) == len(files) else " (some of its rows were vacuumed)"
        return CopiesDiffer(
            f"turn {output.turn} of lane {self._client.lane!r} ({where}) has the digest "
            f"{digest}, but copy {self._copy.value} gave {output.digest}. Rows that it gave and "
            f"the other did not: {more}; the other way: {less}{gone}. The plan is not "
            "deterministic, and the copies' states may differ. What was delivered stands. Fix the "
            "plan, then begin a pipeline in another directory"
        )

    def _file(self, name: str) -> Place:
        return self._channel.place / name
