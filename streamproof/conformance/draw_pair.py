"""What the copies of a pair did, as a space-time diagram."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from streamproof.conformance.draw import UNEXPLAINED
from streamproof.conformance.explain import Violation
from streamproof.conformance.replay import BEGIN, Life
from streamproof.diagrams.spacetime import Drawing, Kind
from streamproof.spark_bindings.layout.events import Event

ROWS_MAX = 60
CLIENT = "client"


def drawing_of_pair(
    name: str, lives: Mapping[str, Sequence[Life]], violation: Violation | None
) -> Drawing:
    """Draw the last steps of the copies, in the order of their turns.

    Parameters
    ----------
    name : of the pair
    lives : of its copies, by their names
    violation : the step that is not explained, if there is one
    """
    lines = {copy: f"{name}/{copy}" for copy in lives}
    drawing = Drawing((*lines.values(), CLIENT))
    steps = [
        (turn, copy, event)
        for copy, own in lives.items()
        for life in own
        for turn, event in life.events
        if _is_drawn(event)
    ]
    for turn, copy, event in sorted(steps, key=lambda step: step[0])[-ROWS_MAX:]:
        other = next(line for each, line in lines.items() if each != copy)
        drawing.begin_step(f"{event['event']} {lines[copy]}, turn {turn}")
        _draw(drawing, event, lines[copy], other)
    if violation is not None:
        drawing.begin_step(f"{violation.process}, {violation.where}")
        if violation.process in drawing.lines:
            drawing.cross(violation.process, UNEXPLAINED)
    drawing.finish("" if violation is None else violation.reason)
    return drawing


def _is_drawn(event: Event) -> bool:
    if event["machine"] == "merge_order":
        return event["event"] in ("choose", "follow")
    return event["event"] in (BEGIN, "send", "take_over")


def _draw(drawing: Drawing, event: Event, line: str, other: str) -> None:
    match event["event"]:
        case "begin":
            drawing.mark(line, f"starts, with {event['state']['next']} turns")
        case "choose":
            _, place, *_, lane, end = event["done"][-1]
            drawing.deliver(line, other, f"turn {place}: {lane} to {end}", Kind.CONTROL)
        case "follow":
            _, place, lane, end = event["done"][-1]
            drawing.mark(line, f"turn {place}: {lane} to {end}")
        case "send":
            drawing.deliver(line, CLIENT, f"output of turn {event['arguments'][0] - 1}")
        case _:
            drawing.mark(line, f"is primary {event['incarnation']}")
