"""What a step of each model is in a space-time diagram: who does it, and which message it is about.

A lens reads the states before and after a step, and draws on the lines of a `Drawing`. Where a step
has no next state, since a claim broke in it, `after` is the state before.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from streamproof.diagrams.spacetime import Drawing, Kind
from streamproof.models.sunion.source_log import Kind as Entered
from streamproof.protocols.permission import Phase

CLOCK = "clock"
"""The line of a model's clock."""


@dataclass(frozen=True, slots=True)
class Seen:
    """One step of a run: the action's name, its arguments, and the states around it."""

    model: Any
    before: Any
    name: str
    arguments: tuple[Any, ...]
    after: Any


@dataclass(frozen=True, slots=True)
class Lens:
    """How a model is drawn.

    Attributes
    ----------
    lines : names the lines of a model
    draw : draws one step
    """

    lines: Callable[[Any], list[object]]
    draw: Callable[[Drawing, Seen], None]


def chandy_lamport(d: Drawing, step: Seen) -> None:
    """Messages or tokens, markers, and where each process records: the cut."""
    s, t = step.before, step.after
    match step.name, step.arguments:
        case "send", (p, q, *tokens):
            text = str(tokens[0]) if tokens else "message"
            d.send(("message", p, q, s.app.sent[p, q]), p, q, text)
        case "receive", (p, q):
            d.receive(("message", p, q, s.app.received[p, q]), q)
        case "receive_marker", (k, p, q):
            d.receive(("marker", k, p, q), q)
        case _:
            pass
    for (k, p, q), marker in t.markers.items():
        if s.markers[k, p, q].travel.name == "UNSENT" != marker.travel.name:
            d.send(("marker", k, p, q), p, q, "marker", Kind.CONTROL)
    for p in step.model.processes:
        for k in step.model.snapshots:
            if t.recorders[p][k].recorded and not s.recorders[p][k].recorded:
                d.mark(p, "records")
                d.cut.append(d.here(p))
            for q, count in t.recorders[p][k].log.items():
                if count > s.recorders[p][k].log[q]:
                    d.mark(p, "logs it: in the channel")


def sunion(d: Drawing, step: Seen) -> None:
    """What each replica reads from which stream, and what it emits."""
    s, t = step.before, step.after
    match step.name, step.arguments:
        case (("read" | "overtake"), (r, e)):
            written, stream = s.logs[e], step.model.stream[e]
            if written.kind is Entered.TUPLE:
                text = f"tuple, bucket {written.bucket}"
            else:
                text = f"boundary {written.bucket}"
            d.deliver(stream, r, text, _kind(written.kind is not Entered.TUPLE))
        case _:
            pass
    for r in step.model.replicas:
        begin, end = s.nodes[r].serializer.emitted, t.nodes[r].serializer.emitted
        if end > begin:
            count = _count(t.nodes[r].output.contains) - _count(s.nodes[r].output.contains)
            d.mark(r, f"emits bucket {begin}: {_of(count, 'tuple')}")


def dpc(d: Drawing, step: Seen) -> None:
    """What arrives at the node, and what the client gets."""
    s, t = step.before, step.after
    match step.name, step.arguments:
        case "read_tuple", (a, _):
            d.deliver(a, "node", "tuple")
        case "read_boundary", (a,):
            d.deliver(a, "node", "boundary", Kind.CONTROL)
        case "fail", (a,):
            d.fail(a)
        case "heal", (a,):
            d.recover(a)
        case _:
            pass
    if step.name == "crash":
        d.mark("node", f"crashes: {t.node.condition.name}")
    elif t.node.condition is not s.node.condition:
        d.mark("node", t.node.condition.name)
    sent = []
    if t.client.tail_count > s.client.tail_count:
        sent.append(f"{t.client.tail_count - s.client.tail_count} tentative")
    if t.client.tail_count < s.client.tail_count:
        sent.append("UNDO")
    if t.client.stable_count > s.client.stable_count:
        sent.append(f"{t.client.stable_count - s.client.stable_count} stable")
    if t.client.settled and not s.client.settled:
        sent.append("REC_DONE")
    if sent:
        d.deliver("node", "client", ", ".join(sent))


def dpc_chain(d: Drawing, step: Seen) -> None:
    """The clock, the boundaries that pass along the chain, and what each node has emitted."""
    s, t, model = step.before, step.after, step.model
    match step.name, step.arguments:
        case "tick", ():
            d.mark(CLOCK, f"{t.clock}")
        case "read_boundary", (h, a):
            source = a if model.is_first[h] else model.before[h]
            d.deliver(source, h, f"boundary {model.given(s, h, a)}", Kind.CONTROL)
        case "stall", ():
            for a in _may_stall(model):
                d.fail(a)
        case "heal", ():
            for a in _may_stall(model):
                d.recover(a)
        case _:
            pass
    for h in model.hops:
        before, after = s.nodes[h].condition, t.nodes[h].condition
        told = [] if before is after else [after.name]
        for b in model.buckets:
            old, new = s.label[h, b], t.label[h, b]
            if old is not new:
                told.append(f"revokes {b}" if new.name == "NONE" else f"{b} {new.value}")
        if told:
            d.mark(h, ", ".join(told))


def egress(d: Drawing, step: Seen) -> None:
    """Outputs to the client, acks, and notes from copy to copy."""
    s, t = step.before, step.after
    match step.name, step.arguments:
        case "give", (c,):
            d.mark(c, f"output {s.pair[c].next}")
        case "send", (c,):
            for number in range(s.connections[c].sent, t.connections[c].sent):
                d.send(("output", c, number), c, "client", f"output {number}")
        case "receive", (c,):
            d.receive(("output", c, s.connections[c].received), "client")
            is_new = t.seen.count > s.seen.count
            d.mark("client", "takes it" if is_new else "has it: drops it")
        case "acknowledge", (c,):
            d.deliver("client", c, f"has {t.pair[c].begin}", Kind.CONTROL)
        case "note", (c, other):
            d.deliver(c, other, f"client has {s.pair[c].begin}", Kind.CONTROL)
        case "replace_copy", (c, _):
            d.recover(c)
        case _:
            pass
    _failures(d, s.up, t.up, lambda c: c)
    for c in step.model.copies:
        if t.pair[c].active and not s.pair[c].active:
            d.mark(c, "takes over")


def merge_order(d: Drawing, step: Seen) -> None:
    """Choices, the order log, and outputs."""
    s, t = step.before, step.after
    copies = list(step.model.copies)
    match step.name, step.arguments:
        case "merge", (c, k, x):
            d.mark(c, f"chooses {x}")
            for other in copies:
                if other != c and s.up[other]:
                    d.send(("choice", other, k), c, other, f"{k}: {x}", Kind.CONTROL)
        case "receive_choice", (c, k):
            d.receive(("choice", c, k), c)
        case "acknowledge_log", (c, other):
            d.deliver(other, c, f"has {t.mergers[c].logged}", Kind.CONTROL)
        case "follow", (c, _, x):
            d.mark(c, f"follows: {x}")
        case "lead", (c,):
            d.mark(c, "leads")
        case "give", (c, k):
            d.deliver(c, "client", f"output of {k}")
        case "replace_copy", (c, _):
            d.recover(c)
        case _:
            pass
    _failures(d, s.up, t.up, lambda c: c)


def permission(d: Drawing, step: Seen) -> None:
    """Requests, grants and releases between replicas; those to oneself are marks."""
    s, t = step.before, step.after
    received = {"receive_request": "request", "receive_release": "release"}
    match step.name, step.arguments:
        case (("receive_request" | "receive_release"), (r, q)):
            d.receive((received[step.name], r, q), q)
        case "receive_grant", (r, q):
            d.receive(("grant", q, r), r)
        case "restart", (r,):
            d.recover(r)
        case "notice", (_, q):
            d.mark(q, "lease ends")
        case _:
            pass
    for kind in ("request", "grant", "release"):
        for (r, q), is_under_way in getattr(t, f"{kind}s").items():
            if is_under_way and not getattr(s, f"{kind}s")[r, q] and r != q:
                d.send((kind, r, q), r, q, kind, Kind.CONTROL)
    _failures(d, s.up, t.up, lambda r: r)
    for r in step.model.replicas:
        before, after = s.machines[r].phase, t.machines[r].phase
        if before is not after and t.up[r]:
            d.mark(r, "done" if after is Phase.IDLE else after.name)
    match step.name, step.arguments:
        case (("ask" | "give"), (r, q)) if r == q:
            d.mark(q, "asks itself" if step.name == "ask" else "grants itself")
        case _:
            pass


def subscription(d: Drawing, step: Seen) -> None:
    """What a subscriber asks for and gets, and what replicas emit and forget."""
    s, t = step.before, step.after
    match step.name, step.arguments:
        case "emit", (u,):
            d.mark(u, f"emits stable {s.buffers[u].stable}")
        case "guess", (u,):
            d.mark(u, "emits a tentative one")
        case "ask", (to, u):
            text = f"subscribe from {t.connections[to].stable}"
            d.send(("ask", to), to, u, text, Kind.CONTROL)
        case "answer", (to,):
            d.receive(("ask", to), t.connections[to].source)
        case (("send_undo" | "send_stable" | "send_tentative"), (to, x)):
            source, text = s.connections[to].source, step.name.removeprefix("send_")
            key = (to, source, s.connections[to].sent, x)
            d.send(key, source, to, text.upper() if text == "undo" else text)
        case "receive", (to, x):
            connection = s.connections[to]
            d.receive((to, connection.source, connection.received, x), to)
            _shown(d, step, to)
        case "ack", (to, u, x):
            d.deliver(to, u, f"has {step.model.place[x]}", Kind.CONTROL)
        case "truncate", (u, _):
            d.mark(u, f"forgets before {t.buffers[u].begin}")
        case "cut", (to,):
            d.mark(to, "connection cut")
        case _:
            pass
    for u in step.model.upstreams:
        if s.conditions[u] is not t.conditions[u]:
            d.mark(u, t.conditions[u].name)


def flux(d: Drawing, step: Seen) -> None:
    """Tuples from producer copies to consumer copies, and acks back, also crosswise."""
    s, t = step.before, step.after
    match step.name, step.arguments:
        case "produce", (x, c):
            d.mark(_producer(c), f"tuple {s.producers[x, c].next}")
        case "send", (x, c, to):
            number = s.producers[x, c].outlets[to].sent
            d.send(("tuple", x, c, to, number), _producer(c), _consumer(to), f"tuple {number}")
        case "receive", (x, c, to):
            d.receive(("tuple", x, c, to, s.received[x, c, to]), _consumer(to))
            is_new = t.applied[x, to].count > s.applied[x, to].count
            d.mark(_consumer(to), "applies it" if is_new else "has it: drops it")
        case "acknowledge", (x, c, to, incarnation, end):
            key, text = ("ack", x, c, to, incarnation, end), f"has {step.model.value[end]}"
            d.send(key, _consumer(to), _producer(c), text, Kind.CONTROL)
        case "receive_ack", (x, c, to, incarnation, end):
            d.receive(("ack", x, c, to, incarnation, end), _producer(c))
        case "begin_to_retain", (p, c, _):
            d.mark(_copy(step.model, p, c), "is retained for")
        case "fold_in", (p, c, _):
            d.recover(_copy(step.model, p, c))
        case _:
            pass
    _failures(d, s.up, t.up, lambda key: _copy(step.model, *key))
    for (x, c), producer in t.producers.items():
        began = {to for to, outlet in producer.outlets.items() if outlet.feeds}
        fed = {to for to, outlet in s.producers[x, c].outlets.items() if outlet.feeds}
        if step.name == "fail" and began - fed:
            d.mark(_producer(c), "feeds both")


LENSES = {
    "chandy_lamport": Lens(lambda m: list(m.processes), chandy_lamport),
    "token_passing": Lens(lambda m: list(m.processes), chandy_lamport),
    "sunion": Lens(lambda m: [*m.streams, *m.replicas], sunion),
    "dpc": Lens(lambda m: [*m.streams, "node", "client"], dpc),
    "dpc_crash": Lens(lambda m: [*m.streams, "node", "client"], dpc),
    "dpc_chain": Lens(lambda m: [CLOCK, *m.streams, *m.hops], dpc_chain),
    "egress": Lens(lambda m: [*m.copies, "client"], egress),
    "merge_order": Lens(lambda m: [*m.copies, "client"], merge_order),
    "permission": Lens(lambda m: list(m.replicas), permission),
    "subscription": Lens(lambda m: [*m.upstreams, *m.subscribers], subscription),
    "flux": Lens(
        lambda m: [*map(_producer, m.copies), *map(_consumer, m.copies)],
        flux,
    ),
}
"""How the models of each file are drawn, by the file's name."""


def _may_stall(model: Any) -> list[Any]:
    return [a for a in model.streams if model.may_stall[a]]


def _shown(d: Drawing, step: Seen, to: Any) -> None:
    before, after = step.before.clients[to], step.after.clients[to]
    if after.stable > before.stable:
        d.mark(to, "shows it")
    elif after.tentative > before.tentative:
        d.mark(to, "shows it as tentative")
    elif after.tentative < before.tentative:
        d.mark(to, "revokes the tentative ones")


def _failures(d: Drawing, before: Any, after: Any, line: Callable[[Any], object]) -> None:
    for key, is_up in after.items():
        if before[key] and not is_up:
            d.fail(line(key))


def _producer(copy: Any) -> str:
    return f"producer {copy}"


def _consumer(copy: Any) -> str:
    return f"consumer {copy}"


def _copy(model: Any, partition: Any, copy: Any) -> str:
    is_source = any(model.source[x] == partition for x in model.lanes)
    return _producer(copy) if is_source else _consumer(copy)


def _kind(is_control: bool) -> Kind:
    return Kind.CONTROL if is_control else Kind.MESSAGE


def _count(contains: Any) -> int:
    return sum(is_in for _, is_in in contains.items())


def _of(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
