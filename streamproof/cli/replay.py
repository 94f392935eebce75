"""`streamproof replay`: run a counterexample again from its key."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.text import Text

from streamproof.checker.counterexample import broken_in_run
from streamproof.checker.counterexample import replay as run_key
from streamproof.cli.options import AsJson, Settings, SizeName, Target, chosen
from streamproof.cli.render import console, print_json, print_trace
from streamproof.models.kit.verdict import ExitCode


def replay(
    target: Target,
    key: Annotated[
        str,
        typer.Argument(metavar="KEY", help="Like 0/3/1 or 0/3/1~2, as a counterexample prints it."),
    ],
    size: SizeName = "",
    settings: Settings = None,
    *,
    as_json: AsJson = False,
) -> ExitCode:
    """Run the steps of a replay key. The exit code is 1 if a property breaks on the way, else 0."""
    sized = chosen(target, size, settings)
    run = run_key(sized.model, key)
    broken = broken_in_run(sized.model, run)
    if as_json:
        found = [{"name": part.name, "reason": part.reason} for part in broken]
        print_json({"target": target, "trace": run.trace.to_json(), "broken": found})
    else:
        out = console()
        print_trace(out, run.trace)
        for part in broken:
            out.print(Text(f"{part.name} is broken: {part.reason}"), soft_wrap=True)
        if not broken:
            what = "states or steps" if run.repeats is None else "the model"
            out.print(f"no property of {what} is broken along this run")
    return ExitCode.REFUTED if broken else ExitCode.GREEN
