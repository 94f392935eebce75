"""The story of the takeover example: feed a pair, kill its primary, look at the output."""

from __future__ import annotations

import math
import time
from pathlib import Path

from client import Client, Progress
from pair import Pair, Unfinished
from rich.console import Console
from standby import shop
from timeline import Timeline

from streamproof.spark_bindings import Pipeline

ORDER_SECONDS = 0.1
WARM_OUTPUTS = 5
"""Outputs before the timeline begins: the first batches of a JVM take seconds."""


def run(place: Path, seconds: float, out: Console) -> Timeline:
    """Feed a pair for so long, and kill the primary after a third of it."""
    timeline, begun = Timeline(), time.monotonic()
    pipeline = shop(place / "shop")
    pair = Pair(place, pipeline)
    try:
        out.print("starting two copies of the query")
        pair.await_ready()
        timeline.seconds["start"] = time.monotonic() - begun
        feed(pipeline, pair, timeline, seconds, out)
        timeline.seconds["run"] = time.monotonic() - begun - timeline.seconds["start"]
    except Unfinished as error:
        timeline.unfinished = f"not finished in {time.monotonic() - begun:.0f} s: {error}"
        out.print(timeline.unfinished)
    finally:
        pair.end()
    return timeline


def feed(pipeline: Pipeline, pair: Pair, timeline: Timeline, seconds: float, out: Console) -> None:
    """Append orders, note outputs, and kill the copy that delivers once the other is in sync."""
    client, progress = Client(pipeline), Progress(pipeline)
    warm_up(client, progress)
    begun, before, end = time.monotonic(), client.orders, math.inf
    while True:
        now = time.monotonic() - begun
        if now < end and client.orders - before < now / ORDER_SECONDS:
            client.append_order()
        timeline.orders = client.orders
        outputs = client.take_outputs()
        timeline.outputs += [(now, copy) for copy in outputs]
        is_due = not timeline.killed[1] and now > seconds / 3
        if is_due and (primary := pair.primary(replaceable=True)) is not None and primary.copy:
            pair.kill(primary)
            now = time.monotonic() - begun
            timeline.killed, end = (now, primary.copy.value), now + seconds * 2 / 3
            out.print(f"second {now:.1f}: copy {primary.copy.value}, which delivers, is killed")
        if now >= end:
            timeline.wrong, may_mend = client.wrong()
            if not (timeline.wrong and may_mend):
                return
        if progress.is_over(outputs):
            give_up(timeline, is_stalled=progress.is_stalled)
            return
        time.sleep(0.01)


def warm_up(client: Client, progress: Progress) -> None:
    """Feed orders until the first outputs have come."""
    warm = 0
    while warm < WARM_OUTPUTS:
        client.append_order()
        time.sleep(ORDER_SECONDS)
        outputs = client.take_outputs()
        warm += len(outputs)
        if progress.is_over(outputs):
            raise Unfinished("the first outputs have not come yet")


def give_up(timeline: Timeline, *, is_stalled: bool) -> None:
    """Report why nothing is known. A fault stands if the other copy delivers and nothing moves.

    Raises
    ------
    Unfinished : if a faster machine might have shown it
    """
    if timeline.is_taken_over and is_stalled:
        return
    timeline.wrong = ""
    if not timeline.killed[1]:
        raise Unfinished("the other copy is not in sync yet, so none was killed")
    if not timeline.is_taken_over:
        raise Unfinished("the copy that took over has not delivered yet")
    raise Unfinished("the copy that took over still delivers")
