"""An independent count: one lane, as our notes tell it; this imports nothing of ours.

A copy is a plain tuple, a connection its two ends, and acks are a set of tuples. What the
actions do is worked out here from the text of our protocol notes, 2.3, and not from the protocol.

There are two readings of those notes. In `OURS` a copy that is down has forgotten everything, a
connection that is closed too, any ack may be repeated, and acks outlive the copies that they are
for. In `NOTES` what nobody reads any more stays as it was, an ack says something new, and is lost
with whom it is for: so the notes counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from tests.models.support.exploration import Counts, explore


class Reading(NamedTuple):
    """How the notes are read.

    Attributes
    ----------
    forgets : what is down or closed is as if it had never been
    repeats : an ack may say what its receiver knows
    """

    forgets: bool
    repeats: bool


OURS = Reading(forgets=True, repeats=True)
NOTES = Reading(forgets=False, repeats=False)


class Setting(NamedTuple):
    """How much of each, whether whole nodes fail, and how the notes are read."""

    tuples: int
    source_failures: int = 1
    sink_failures: int = 0
    acks: int = 2
    repairs: bool = True
    nodes: bool = False
    reading: Reading = OURS


class Link(NamedTuple):
    """What a producer keeps for a consumer, knows of it, and has under way to it."""

    kept_from: int
    acked: int
    is_open: bool
    first: int
    last: int


class Source(NamedTuple):
    """A producer copy; the links are those to consumer copy 0 and to copy 1."""

    is_up: bool
    made: int
    is_single: bool
    links: tuple[Link, Link]


class Sink(NamedTuple):
    """A consumer copy."""

    is_up: bool
    got: int
    life: int
    is_awaited: bool


class State(NamedTuple):
    """Everything; an ack is (to, from, life, number)."""

    sources: tuple[Source, Source]
    sinks: tuple[Sink, Sink]
    acks: frozenset[tuple[int, int, int, int]]
    source_failures: int = 1
    sink_failures: int = 0


CLOSED = Link(0, 0, False, 0, 0)


def put(items: tuple[Any, ...], index: int, value: Any) -> tuple[Any, ...]:
    return (*items[:index], value, *items[index + 1 :])


def with_source(s: State, c: int, **fields: Any) -> State:
    return s._replace(sources=put(s.sources, c, s.sources[c]._replace(**fields)))


def with_sink(s: State, d: int, **fields: Any) -> State:
    return s._replace(sinks=put(s.sinks, d, s.sinks[d]._replace(**fields)))


def with_link(s: State, c: int, d: int, **fields: Any) -> State:
    source = s.sources[c]
    return with_source(s, c, links=put(source.links, d, source.links[d]._replace(**fields)))


def opened(s: State, c: int, d: int) -> State:
    """Let c feed d from the first tuple that it keeps for it."""
    first = s.sources[c].links[d].kept_from
    return with_link(s, c, d, is_open=True, first=first, last=first)


def closed(s: State, c: int, d: int, reading: Reading) -> State:
    """Let c no more feed d."""
    s = with_link(s, c, d, is_open=False)
    return with_link(s, c, d, first=0, last=0) if reading.forgets else s


def start(setting: Setting) -> State:
    fed = Link(0, 0, True, 0, 0)
    sources = (Source(True, 0, False, (fed, CLOSED)), Source(True, 0, False, (CLOSED, fed)))
    sinks = (Sink(True, 0, 0, False),) * 2
    return State(sources, sinks, frozenset(), setting.source_failures, setting.sink_failures)


def successors(s: State, setting: Setting) -> Iterator[State]:
    for c in (0, 1):
        if s.sources[c].is_up:
            yield from works(s, c, setting)
            if s.source_failures and s.sources[1 - c].is_up and not setting.nodes:
                yield source_fails(s, c, setting.reading)
        elif setting.repairs:
            yield from source_returns(s, c, setting.reading)
        if s.sinks[c].is_up:
            yield from acknowledges(s, c, setting)
            if s.sink_failures and s.sinks[1 - c].is_up and not setting.nodes:
                yield sink_fails(s, c, setting.reading)
        elif setting.repairs:
            yield from sink_returns(s, c, setting.reading)
    for ack in s.acks:
        yield hears(s._replace(acks=s.acks - {ack}), *ack)
    if setting.nodes:
        yield from nodes_fail(s, setting.reading)


def nodes_fail(s: State, reading: Reading) -> Iterator[State]:
    """Let a node fail, which hosts one producer copy, and the other consumer copy."""
    if s.source_failures and all(copy.is_up for copy in s.sources + s.sinks):
        for node in (0, 1):
            yield source_fails(sink_fails(s, 1 - node, reading), node, reading)


def works(s: State, c: int, setting: Setting) -> Iterator[State]:
    source = s.sources[c]
    if source.made < setting.tuples:
        yield with_source(s, c, made=source.made + 1)
    for d, link in enumerate(source.links):
        if link.is_open and link.last < source.made:
            yield with_link(s, c, d, last=link.last + 1)
        if link.is_open and link.first < link.last:
            arrived = with_link(s, c, d, first=link.first + 1)
            yield with_sink(arrived, d, got=max(s.sinks[d].got, link.first + 1))
    own = source.links[c]
    if own.is_open and not source.is_single and own.kept_from < own.last:
        yield with_link(s, c, c, kept_from=own.last)


def acknowledges(s: State, d: int, setting: Setting) -> Iterator[State]:
    sink = s.sinks[d]
    for c, source in enumerate(s.sources):
        ack = (c, d, sink.life, sink.got)
        known = 0 if setting.reading.repeats else source.links[d].acked
        if source.is_up and sink.got > known and ack not in s.acks and len(s.acks) < setting.acks:
            yield s._replace(acks=s.acks | {ack})


def hears(s: State, c: int, d: int, life: int, number: int) -> State:
    source = s.sources[c]
    if not source.is_up or s.sinks[d].life != life:
        return s
    link = source.links[d]
    s = with_link(s, c, d, acked=max(link.acked, number))
    if c == d and not source.is_single:
        return s
    end = min(number, link.last) if link.is_open else number
    return with_link(s, c, d, kept_from=max(link.kept_from, end))


def source_fails(s: State, c: int, reading: Reading) -> State:
    for d in (0, 1):
        s = closed(s, c, d, reading)
    s = with_source(s, c, is_up=False)
    s = with_source(s, 1 - c, is_single=True)
    if reading.forgets:
        s = with_source(s, c, made=0, links=(CLOSED, CLOSED))
    else:
        s = s._replace(acks=frozenset(ack for ack in s.acks if ack[0] != c))
    s = s._replace(source_failures=s.source_failures - 1)
    return opened(s, 1 - c, c) if s.sinks[c].is_up else s


def source_returns(s: State, c: int, reading: Reading) -> Iterator[State]:
    o, survivor = 1 - c, s.sources[1 - c]
    own = survivor.links[o]
    awaited = any(sink.is_awaited for sink in s.sinks)
    if awaited or (s.sinks[o].is_up and own.kept_from > own.acked):
        return
    s = with_source(s, c, is_up=True, made=survivor.made)
    s = with_source(s, o, is_single=False)
    for d, link in enumerate(survivor.links):
        s = with_link(s, c, d, kept_from=link.kept_from, acked=link.acked)
    yield opened(closed(s, o, c, reading), c, c) if s.sinks[c].is_up else s


def sink_fails(s: State, d: int, reading: Reading) -> State:
    for c in (0, 1):
        s = closed(s, c, d, reading)
    s = with_sink(s, d, is_up=False)
    s = with_sink(s, d, got=0) if reading.forgets else s
    return s._replace(sink_failures=s.sink_failures - 1)


def sink_returns(s: State, d: int, reading: Reading) -> Iterator[State]:
    o, sink = 1 - d, s.sinks[d]
    live = [c for c in (0, 1) if s.sources[c].is_up]
    if not sink.is_awaited:
        s = with_sink(s, d, is_awaited=True)
        for c in live:
            s = with_link(s, c, d, kept_from=s.sources[c].links[o].kept_from)
        yield s
    elif all(s.sources[c].links[d].kept_from <= s.sinks[o].got for c in live):
        s = with_sink(s, d, is_up=True, got=s.sinks[o].got, life=sink.life + 1, is_awaited=False)
        for c in (0, 1) if not reading.forgets else live:
            s = with_link(s, c, d, acked=0)
        yield opened(s, d if d in live else o, d)


def count(setting: Setting) -> Counts:
    """Count the states of a lane."""
    return explore([start(setting)], lambda state: successors(state, setting))
