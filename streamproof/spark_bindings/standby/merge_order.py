"""A copy's part in the merge order: it chooses turns, or follows those that were chosen.

Here the machine of `streamproof.protocols.merge_order` meets channels and the order log. A tuple of
the machine is a turn: some commits of one lane, that is, of one input. What the leader sends
to the other copy is a file that both see, so it is acknowledged once it is written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, assert_never

from streamproof.lang import Disabled
from streamproof.protocols.merge_order import (
    AcknowledgeLog,
    Merger,
    MergeStep,
    SendChoice,
    TakeAsLogged,
    TakeFrom,
    choose,
    fold_in,
    follow,
    is_committed,
    on_choice,
    on_log_ack,
    on_twin_failure,
    take_over,
)
from streamproof.spark_bindings.channels.channel_log import ChannelLog
from streamproof.spark_bindings.errors import InconsistentCut, PurgedCheckpoint
from streamproof.spark_bindings.layout.events import MachineLog, described
from streamproof.spark_bindings.layout.query import Query
from streamproof.spark_bindings.names import ChannelName, Position, Turn
from streamproof.spark_bindings.processes.order_log import Choice, OrderLog
from streamproof.spark_bindings.storage.failpoints import RaceFailpoint, reached

Transition: TypeAlias = Callable[..., MergeStep[ChannelName]]


class MergeOrder:
    """The merger of one copy. Its caller holds a lock: batches and the copy's loop both step it.

    Parameters
    ----------
    query, inputs, order : what is merged, from where, and as which log says
    taken : turns that are in the copy's checkpoint
    received : per input, the position up to which they have read
    log : where the steps of the machine are noted
    """

    def __init__(
        self,
        query: Query,
        inputs: Mapping[ChannelName, ChannelLog],
        order: OrderLog,
        *,
        taken: Turn,
        received: Mapping[ChannelName, Position],
        log: MachineLog | None = None,
    ) -> None:
        self._log = log or MachineLog(None)
        self._query, self._inputs, self._order = query, inputs, order
        self._lanes = list(inputs)
        self._ends = {lane: received.get(lane, Position(0)) for lane in self._lanes}
        self._merger = Merger(taken, taken, leads=False, alone=False)
        self._log.begin("merge_order", self._merger)

    @property
    def leads(self) -> bool:
        """Whether this copy chooses."""
        return self._merger.leads

    @property
    def next(self) -> Turn:
        """The turn that is taken next."""
        return Turn(self._merger.merged)

    def choose(self) -> bool:
        """Choose the next turn, if this copy leads and a lane has something new; tell whether."""
        choice = self._newest()
        if choice is None:
            return False
        if not self._try(choose, choice.lane, end=choice.end):
            return False
        self._step(on_log_ack, self._merger.merged)
        return True

    def take(self, turn: Turn, received: Mapping[ChannelName, Position]) -> None:
        """Take a turn, as it was chosen.

        Parameters
        ----------
        turn, received : its number, and per input the position up to which its batch has read

        Raises
        ------
        InconsistentCut : if the batch did not read what the turn takes
        PurgedCheckpoint : if the order log has lost the turn
        """
        if turn == self.next:  # else this copy has chosen it, and so taken it
            for place in range(self._merger.logged, turn + 1):
                self._step(on_choice, place)
            self._step(follow)
        read = {lane: received.get(lane, Position(0)) for lane in self._lanes}
        if read != self._ends or turn != self.next - 1:
            raise InconsistentCut(
                f"batch {turn} of query {self._query.name!r} read up to {read}, but its turn ends "
                f"at {self._ends}. The copies would differ. Run copies by streamproof run alone, "
                "and never write to a pair's directory"
            )

    def is_committed(self, turn: Turn) -> bool:
        """Return whether the output of a turn may leave the pair."""
        return is_committed(self._merger, turn + 1)

    def on_twin_failure(self) -> None:
        """Note that there is nobody to tell."""
        if not self._merger.alone:
            self._step(on_twin_failure)

    def take_over(self) -> bool:
        """Begin to lead, if the log is finished; tell whether this copy leads."""
        if not self._merger.leads and self._order.choice(self.next) is None:
            self._try(take_over)
        return self._merger.leads

    def fold_in(self) -> None:
        """Note that there is another copy again, if this copy leads alone."""
        self._try(fold_in)

    def _try(self, transition: Transition, *arguments: Any, end: int = 0) -> bool:
        """Step the machine if it allows that; tell whether it does."""
        try:
            self._step(transition, *arguments, end=end)
        except Disabled:
            return False
        return True

    def _step(self, transition: Transition, *arguments: Any, end: int = 0) -> None:
        """Step the machine, carry out what it answers, and note both.

        Parameters
        ----------
        transition, arguments : the step
        end : of what a lane gives, if one is chosen
        """
        merger, effects = transition(self._merger, *arguments)
        done: list[list[Any]] = []
        for effect in effects:
            done.append(described(effect))
            match effect:
                case SendChoice(place, lane):
                    reached(RaceFailpoint.TURN_CHOSEN, lane)
                    stands = self._order.settle(Turn(place), Choice(lane, Position(end)))
                    # A leader that was replaced and wakes up may have been faster: its choice
                    # stands, and is as good.
                    self._ends[stands.lane] = stands.end
                    done[-1] += [stands.lane, stands.end]
                case TakeAsLogged(place):
                    stands = self._require(Turn(place))
                    self._ends[stands.lane] = stands.end
                    done[-1] += [stands.lane, stands.end]
                case TakeFrom():
                    pass  # the copy's source reads the choice, once it is there
                case AcknowledgeLog():
                    pass  # both copies see the choice, so the leader knows without being told
                case _:
                    assert_never(effect)
        self._merger = merger
        self._log.step("merge_order", transition, arguments, (merger, effects), done)

    def _newest(self) -> Choice | None:
        """Return what the next lane with new commits has; lanes take turns."""
        for _ in self._lanes:
            lane = self._lanes.pop(0)
            self._lanes.append(lane)
            query, start = self._query, self._ends[lane]
            end = self._inputs[lane].batch_end(
                start, query.commits_per_batch_max, query.rows_per_batch_max
            )
            if end > start:
                return Choice(lane, end)
        return None

    def _require(self, turn: Turn) -> Choice:
        choice = self._order.choice(turn)
        if choice is None:
            raise PurgedCheckpoint(
                f"the order log of query {self._query.name!r} no longer has turn {turn}. This copy "
                "was away for so long that it cannot follow. Start it again while the other copy "
                "runs: it begins anew in the other copy's state"
            )
        return choice
