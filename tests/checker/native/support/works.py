"""Workers in rooms: a model with symmetry."""

from __future__ import annotations

from dataclasses import dataclass, replace

from streamproof.lang import (
    Domain,
    Element,
    Map,
    Model,
    action,
    final,
    forall,
    init,
    require,
    sometimes,
)


class Worker(Element):
    """Somebody who works."""


class Room(Element):
    """Where one works."""


@dataclass(frozen=True)
class Shift:
    busy: Map[Worker, bool]
    doors: Map[tuple[Worker, Room], bool]
    last: Worker


@dataclass(frozen=True)
class Works(Model[Shift]):
    """Workers begin to work and open doors; `may` and `first` may tell them apart."""

    workers: Domain[Worker]
    rooms: Domain[Room]
    may: Map[Worker, bool]
    first: Map[Worker, bool]

    @init
    def start(self, w: Worker) -> Shift:
        shut = Map.fill(self.workers, self.rooms, False)
        return Shift(Map.build(self.workers, lambda v: self.first[v]), shut, w)

    @action
    def begin(self, s: Shift, w: Worker) -> Shift:
        require(self.may[w] and not s.busy[w])
        return replace(s, busy=s.busy.set(w, True), last=w)

    @action
    def open(self, s: Shift, w: Worker, r: Room) -> Shift:
        require(s.busy[w] and not s.doors[w, r])
        return replace(s, doors=s.doors.set((w, r), True))

    @final
    def anywhere(self, s: Shift) -> bool:
        del s
        return True

    @sometimes
    def ends_with(self, s: Shift, w: Worker) -> bool:
        return s.last == w and forall(self.workers, lambda v: s.busy[v] or not self.may[v])


def works(workers=3, rooms=2, may=(), first=(), kind=Works):
    """Make the model: `may` has the indices of who may not, `first` of who is busy at first."""
    staff = Domain(Worker, workers)
    allowed = Map.build(staff, lambda w: w.index not in may)
    firsts = Map.build(staff, lambda w: w.index in first)
    return kind(staff, Domain(Room, rooms), allowed, firsts)
