"""A pair of copies that merges lanes, and a client that sees what one of them gives.

What is abstracted away, and why that is sound
----------------------------------------------
* What an operator gives depends on the lanes that its tuples came from, in their order, and on
  nothing else. So the history of a copy stands for its state and its output, and one output comes
  from each tuple.
* A tuple may be taken as soon as it is wanted: when it arrives is `flux`'s business. The lanes'
  tuples are not told apart, since both copies get them in the same order.
* The log is FIFO, so what is under way is known by two numbers: choices made, and choices that have
  arrived. When the leader fails, those under way are lost.
* An ack of the log arrives at once, but may be given at any time, or never. One that takes its time
  is one that was given early.
* The client takes an output if it is next and drops it otherwise, as in `egress`; a dropped one is
  no step here.
* `failures` bounds failures, since otherwise there is no end.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any, ClassVar

from streamproof.lang import (
    Domain,
    Element,
    Fairness,
    Map,
    Model,
    Range,
    action,
    always,
    assume,
    eventually,
    exists,
    final,
    forall,
    implies,
    init,
    require,
    sometimes,
)
from streamproof.protocols import merge_order as protocol
from streamproof.protocols.merge_order import Merger, MergeStep, TakeAsLogged, TakeFrom


class Copy(Element):
    """A copy of the partition."""


class Lane(Element):
    """A lane that leads to the partition."""


class Place(Element):
    """A place in a history: the n-th for the n-th tuple."""


Tuples = Annotated[int, Range(0, "tuples")]
History = Map[tuple[Place, Lane], bool]
"""Whether the tuple at a place came from a lane."""


@dataclass(frozen=True, slots=True)
class State:
    """The pair, its client, and the log between the copies.

    Attributes
    ----------
    up : whether a copy is running; one that is down has forgotten everything
    failures : how many may still come
    histories : what each copy has merged
    taken : per copy and lane, how many tuples that is
    log : the choices of the leader, or those of a failed one that have arrived
    shown, outputs : what the client has seen, and how much that is
    """

    up: Map[Copy, bool]
    failures: Annotated[int, Range(0, "failures_max")]
    mergers: Map[Copy, Merger]
    histories: Map[tuple[Copy, Place, Lane], bool]
    taken: Map[tuple[Copy, Lane], Annotated[int, Range(0, "lane_max")]]
    log: History
    shown: History
    outputs: Tuples


@dataclass(frozen=True)
class MergeOrder(Model[State]):
    """Two copies that merge lanes.

    Attributes
    ----------
    number : of a place, counted from 0
    lane_tuples : tuples of each lane
    tuples : of all lanes
    repairs : whether a failed copy is replaced
    """

    protocol_name: ClassVar[str] = "merge_order"
    machine = protocol
    """The protocol that is checked. A mutant replaces some of its functions."""
    sizes: ClassVar[dict[str, dict[str, Any]]] = {
        "small": {"lanes": 2, "lane_tuples": 1, "failures": 1},
        "default": {"lanes": 2, "lane_tuples": 1, "failures": 2},
        "large": {"lanes": 2, "lane_tuples": 2, "failures": 2},
    }

    copies: Domain[Copy]
    lanes: Domain[Lane]
    places: Domain[Place]
    number: Map[Place, int]
    lane_tuples: int
    tuples: int
    failures_max: int
    repairs: bool

    @classmethod
    def sized(
        cls, *, lanes: int = 2, lane_tuples: int = 1, failures: int = 1, repairs: bool = True
    ) -> MergeOrder:
        """Build the model of a size.

        Parameters
        ----------
        lanes, lane_tuples : lanes, and tuples of each
        failures : that may happen in all
        repairs : whether a failed copy is replaced
        """
        places = Domain(Place, lanes * lane_tuples)
        return cls(
            Domain(Copy, 2),
            Domain(Lane, lanes),
            places,
            Map.build(places, lambda k: k.index),
            lane_tuples,
            lanes * lane_tuples,
            failures,
            repairs,
        )

    @property
    def lane_max(self) -> int:
        """The most tuples that a copy takes from a lane, be it by mistake."""
        return self.tuples

    @assume
    def places_are_numbered(self) -> bool:
        """No two places have the same number, and numbers are counted from 0."""
        return forall(
            self.places,
            self.places,
            lambda j, k: self.number[j] >= 0 and implies(self.number[j] == self.number[k], j == k),
        )

    @assume
    def there_are_two_copies(self) -> bool:
        """Of three copies, two are the same."""
        return forall(self.copies, self.copies, self.copies, lambda a, b, c: b in (a, c) or a == c)

    # ----------------------------------------------------------------------- behaviour

    @init
    def start(self, a: Copy) -> State:
        """Nothing was merged; copy a leads."""
        nothing = Map.fill(self.places, self.lanes, False)
        return State(
            up=Map.fill(self.copies, True),
            failures=self.failures_max,
            mergers=Map.build(self.copies, lambda c: Merger(0, 0, leads=c == a, alone=False)),
            histories=Map.fill(self.copies, self.places, self.lanes, False),
            taken=Map.fill(self.copies, self.lanes, 0),
            log=nothing,
            shown=nothing,
            outputs=0,
        )

    @action(fairness=Fairness.WEAK)
    def merge(self, s: State, c: Copy, k: Place, x: Lane) -> State:
        """A copy that leads chooses the lane of place k."""
        require(s.up[c] and self.number[k] == s.mergers[c].merged)
        return self.carry_out(s, c, k, x, self.machine.choose(s.mergers[c], x))

    @action(fairness=Fairness.WEAK)
    def receive_choice(self, s: State, d: Copy, k: Place) -> State:
        """The next choice of its leader arrives at copy d."""
        follower = s.mergers[d]
        require(s.up[d] and not follower.leads and self.number[k] == follower.logged)
        require(exists(self.lanes, lambda x: s.log[k, x]))
        return self.stepped(s, d, self.machine.on_choice(follower, self.number[k]))

    @action(fairness=Fairness.WEAK)
    def acknowledge_log(self, s: State, c: Copy, d: Copy) -> State:
        """Leader c learns what has arrived at copy d."""
        require(s.up[c] and s.mergers[c].leads and s.up[d] and not s.mergers[d].leads)
        require(s.mergers[c].logged < s.mergers[d].logged)
        return self.stepped(s, c, self.machine.on_log_ack(s.mergers[c], s.mergers[d].logged))

    @action(fairness=Fairness.WEAK)
    def follow(self, s: State, c: Copy, k: Place, x: Lane) -> State:
        """A copy takes the tuple that its log has at place k."""
        require(s.up[c] and self.number[k] == s.mergers[c].merged and s.log[k, x])
        return self.carry_out(s, c, k, x, self.machine.follow(s.mergers[c]))

    @action(fairness=Fairness.WEAK)
    def lead(self, s: State, c: Copy) -> State:
        """A copy that is left alone begins to lead."""
        require(s.up[c])
        return self.stepped(s, c, self.machine.take_over(s.mergers[c]))

    @action(fairness=Fairness.WEAK)
    def give(self, s: State, c: Copy, k: Place) -> State:
        """A copy that leads, or is alone, gives the client the output of place k, its next."""
        merger = s.mergers[c]
        require(s.up[c] and (merger.leads or merger.alone) and self.number[k] == s.outputs)
        require(self.machine.is_committed(merger, s.outputs + 1))
        shown = s.shown.map_items(lambda j, x, was: s.histories[c, k, x] if j == k else was)
        return replace(s, shown=shown, outputs=s.outputs + 1)

    @action
    def fail(self, s: State, c: Copy, d: Copy) -> State:
        """Copy c fails, and copy d notices; a leader's choices that are under way are lost."""
        require(s.failures > 0 and c != d and s.up[c] and s.up[d])
        leads, logged = s.mergers[c].leads, s.mergers[d].logged
        failed = replace(
            s,
            up=s.up.set(c, False),
            failures=s.failures - 1,
            mergers=s.mergers.set(c, Merger(0, 0, leads=False, alone=False)),
            histories=s.histories.map_items(lambda a, _, __, was: was and a != c),
            taken=s.taken.map_items(lambda a, _, number: 0 if a == c else number),
            log=s.log.map_items(lambda k, _, was: was and (not leads or self.number[k] < logged)),
        )
        return self.stepped(failed, d, self.machine.on_twin_failure(s.mergers[d]))

    @action
    def replace_copy(self, s: State, c: Copy, d: Copy) -> State:
        """A new copy c begins in the state of copy d."""
        require(self.repairs and not s.up[c] and s.up[d])
        joined = replace(
            s,
            up=s.up.set(c, True),
            mergers=s.mergers.set(c, self.machine.transfer(s.mergers[d])),
            histories=s.histories.map_items(
                lambda a, k, x, was: s.histories[d, k, x] if a == c else was
            ),
            taken=s.taken.map_items(lambda a, x, number: s.taken[d, x] if a == c else number),
        )
        return self.stepped(joined, d, self.machine.fold_in(s.mergers[d]))

    def stepped(self, s: State, c: Copy, step: MergeStep[Lane]) -> State:
        """Put the machine of a copy into the state that it steps to."""
        return replace(s, mergers=s.mergers.set(c, step[0]))

    def carry_out(self, s: State, c: Copy, k: Place, x: Lane, step: MergeStep[Lane]) -> State:
        """Take a tuple of lane x at place k, and log it, as the machine of a copy asks for."""
        require(s.taken[c, x] < self.lane_tuples)
        s = self.stepped(s, c, step)
        for effect in step[1]:
            if isinstance(effect, TakeFrom | TakeAsLogged):
                s = replace(
                    s,
                    histories=s.histories.set((c, k, x), True),
                    taken=s.taken.set((c, x), s.taken[c, x] + 1),
                )
            else:
                s = replace(s, log=s.log.set((k, x), True))
        return s

    # ----------------------------------------------------------------------- properties

    def agree(self, s: State, k: Place, c: Copy, d: Copy) -> bool:
        """Return whether two copies have taken the tuple at place k from the same lane."""
        both = self.number[k] < s.mergers[c].merged and self.number[k] < s.mergers[d].merged
        return implies(
            both, forall(self.lanes, lambda x: s.histories[c, k, x] == s.histories[d, k, x])
        )

    @always
    def copies_agree(self, s: State) -> bool:
        """Of two copies, one has a part of the other's history."""
        return forall(self.places, self.copies, self.copies, lambda k, c, d: self.agree(s, k, c, d))

    @always
    def the_client_sees_one_history(self, s: State) -> bool:
        """What the client has seen is what any copy gives, as far as that has come."""
        return forall(
            self.places,
            self.copies,
            self.lanes,
            lambda k, c, x: implies(
                self.number[k] < s.outputs and self.number[k] < s.mergers[c].merged,
                s.shown[k, x] == s.histories[c, k, x],
            ),
        )

    @eventually
    def everything_is_shown(self, s: State) -> bool:
        """When failures are over, the client gets the output of every tuple."""
        return self.complete(s)

    @final
    def complete(self, s: State) -> bool:
        """The client has seen everything."""
        return s.outputs == self.tuples

    @sometimes
    def a_twin_leads(self, s: State) -> bool:
        """The search sees a copy that goes on alone behind what its leader has shown."""
        return exists(
            self.copies, lambda c: s.mergers[c].leads and s.mergers[c].alone and s.outputs > 0
        )


MODEL = MergeOrder
