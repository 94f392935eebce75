"""At-least-once delivery, as a model: each message takes effect once, however often it comes."""

from dataclasses import dataclass, replace
from enum import Enum

from streamproof.lang import (
    Domain,
    Element,
    Map,
    Model,
    action,
    always,
    final,
    forall,
    init,
    require,
)


class Message(Element): ...


class Place(Enum):
    ABSENT, QUEUED, IN_FLIGHT, GONE = range(4)


@dataclass(frozen=True)
class State:
    place: Map[Message, Place]
    has_effect: Map[Message, bool]


def moved(s: State, m: Message, before: Place, after: Place) -> State:
    require(s.place[m] == before)
    return replace(s, place=s.place.set(m, after))


@dataclass(frozen=True)
class Deliveries(Model[State]):
    messages: Domain[Message]
    sizes = {"default": {"messages": 2}, "large": {"messages": 3}}

    @init
    def start(self) -> State:
        return State(Map.fill(self.messages, Place.ABSENT), Map.fill(self.messages, False))

    @action
    def send(self, s: State, m: Message) -> State:
        return moved(s, m, Place.ABSENT, Place.QUEUED)

    @action
    def deliver(self, s: State, m: Message) -> State:
        after = moved(s, m, Place.QUEUED, Place.IN_FLIGHT)
        return replace(after, has_effect=after.has_effect.set(m, True))

    @action
    def acknowledge(self, s: State, m: Message) -> State:
        return moved(s, m, Place.IN_FLIGHT, Place.GONE)

    @action
    def expire(self, s: State, m: Message) -> State:
        return moved(s, m, Place.IN_FLIGHT, Place.QUEUED)

    @always
    def nothing_is_lost(self, s: State) -> bool:
        return forall(self.messages, lambda m: s.place[m] != Place.GONE or s.has_effect[m])

    @final
    def all_are_gone(self, s: State) -> bool:
        return forall(self.messages, lambda m: s.place[m] == Place.GONE)
