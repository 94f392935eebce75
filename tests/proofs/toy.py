"""A toy protocol for the prover's own tests: tickets are handed out and served in order."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum

from streamproof.lang import (
    Domain,
    Element,
    Map,
    Model,
    action,
    always,
    count,
    every_step,
    forall,
    implies,
    init,
    require,
)
from streamproof.proofs.invariant import Invariant


class Guest(Element):
    """Somebody who may hold a ticket."""


class Mood(Enum):
    """How a guest is."""

    AWAY = "away"
    WAITING = "waiting"
    SERVED = "served"


@dataclass(frozen=True)
class Counter:
    """Tickets handed out and served, and each guest's."""

    handed: int
    served: int
    ticket: Map[Guest, int]
    mood: Map[Guest, Mood]


@dataclass(frozen=True)
class Tickets(Model[Counter]):
    """A counter that serves its guests in the order of their tickets."""

    guests: Domain[Guest]

    sizes = {"small": {"guests": 2}}

    @classmethod
    def sized(cls, *, guests: int = 2) -> Tickets:
        """Build the model for so many guests."""
        return cls(Domain(Guest, guests))

    @init
    def start(self) -> Counter:
        """Nobody is there."""
        return Counter(0, 0, Map.fill(self.guests, 0), Map.fill(self.guests, Mood.AWAY))

    @action
    def take(self, s: Counter, g: Guest) -> Counter:
        """A guest takes the next ticket."""
        require(s.mood[g] == Mood.AWAY)
        return replace(
            s,
            handed=s.handed + 1,
            ticket=s.ticket.set(g, s.handed),
            mood=s.mood.set(g, Mood.WAITING),
        )

    @action
    def serve(self, s: Counter, g: Guest) -> Counter:
        """The guest whose turn it is is served."""
        require(s.mood[g] == Mood.WAITING and s.ticket[g] == s.served)
        assert s.served < s.handed
        return replace(s, served=s.served + 1, mood=s.mood.set(g, Mood.SERVED))

    @always
    def tickets_differ(self, s: Counter) -> bool:
        """No two waiting guests hold the same ticket."""
        return forall(
            self.guests,
            self.guests,
            lambda g, h: implies(
                s.mood[g] == Mood.WAITING and s.mood[h] == Mood.WAITING and g != h,
                s.ticket[g] != s.ticket[h],
            ),
        )

    @every_step
    def never_takes_back(self, before: Counter, after: Counter) -> bool:
        """Tickets are only handed out."""
        return before.handed <= after.handed


def served_in_order(m: Tickets, s: Counter) -> bool:
    """Only tickets that were handed out are served."""
    return s.served <= s.handed


def waiting_is_ahead(m: Tickets, s: Counter, g: Guest) -> bool:
    """A waiting guest's ticket was handed out and not yet served."""
    return implies(s.mood[g] == Mood.WAITING, s.served <= s.ticket[g] < s.handed)


def waiting_tickets_differ(m: Tickets, s: Counter) -> bool:
    """The property itself."""
    return m.tickets_differ(s)


def a_second_guest_waits_longer(m: Tickets, s: Counter, g: Guest, h: Guest) -> bool:
    """Once g is served, h does not hold g's ticket."""
    require(g != h and s.mood[h] == Mood.WAITING)
    return m.serve(s, g).ticket[h] != s.ticket[g]


def fewer_than_two_wait(m: Tickets, s: Counter) -> bool:
    """A count, which has no meaning for any number of guests."""
    return count(m.guests, lambda g: s.mood[g] == Mood.WAITING) < 2


INVARIANT = Invariant(
    Tickets,
    conjuncts=(served_in_order, waiting_is_ahead, waiting_tickets_differ),
    lemmas=(a_second_guest_waits_longer,),
)
MODEL = Tickets
