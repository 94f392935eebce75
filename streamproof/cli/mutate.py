"""`streamproof mutate`: check that every known mistake in a model is caught."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from streamproof.checker.mutation import Fate, MutantResult, MutationReport, run_mutants
from streamproof.cli.options import AsJson, Memory, StatesMax, Target, limits_of
from streamproof.cli.render import console, error_console, print_json
from streamproof.models.registry import UnknownModel, load, names, original_of
from streamproof.models.sizes import at_size
from streamproof.models.verdict import ExitCode


def mutate(
    target: Target,
    only: Annotated[list[str] | None, typer.Option(help="Run these mutants alone.")] = None,
    states_max: StatesMax = None,
    memory: Memory = None,
    *,
    as_json: AsJson = False,
) -> ExitCode:
    """Check every mutant of a model: each must be refuted by the property that it names."""
    file = load(target)
    mutants = [mutant for mutant in file.mutants if not only or mutant.name in only]
    if not mutants or len(mutants) < len(set(only or ())):
        known = ", ".join(mutant.name for mutant in file.mutants) or "none"
        raise UnknownModel(
            f"{target} has the mutants {known}, and {', '.join(only or ['some'])} was asked for. "
            "A model whose mistakes are not known is not shown to be checked well. List them in "
            f"{_place_of_mutants(target)}"
        )
    results = []
    for result in run_mutants(
        mutants,
        original_of=lambda mutant: original_of(mutant, file),
        build=at_size,
        limits=limits_of(states_max, None, memory),
    ):
        results.append(result)
        if error_console().is_terminal:
            error_console().print(f"{result.mutant.name}: {result.fate.value}")
    report = MutationReport(target, tuple(results), len(mutants) - len(results))
    if as_json:
        print_json(report.to_json())
    else:
        print_mutants(report)
    return report.exit_code


def print_mutants(report: MutationReport) -> None:
    """Print a row for each mutant."""
    out = console()
    table = Table("mutant", "fate", "by", "steps", "states", "", box=None, pad_edge=False)
    for result in report.results:
        table.add_row(*_row(result))
    out.print(table)
    found = report.to_json()
    asked = len(report.results) + report.left
    out.print(f"\n{report.model}: {found['killed']} of {asked} mutants killed")
    if report.left:
        out.print(f"interrupted: {report.left} of {asked} mutants were not checked")


def _place_of_mutants(target: str) -> str:
    if target in names():
        return f"streamproof/models/mutants/{target}.py"
    return "MUTANTS, in the file of the model"


def _row(result: MutantResult) -> list[str | Text]:
    fate = result.fate
    colour = {ExitCode.GREEN: "green", ExitCode.UNDETERMINED: "yellow"}.get(fate.exit_code, "red")
    steps = "" if result.steps is None else f"{result.steps} of {result.mutant.steps_max}"
    told = result.mutant.story if fate is Fate.KILLED else result.reason
    named = result.mutant.killed_by
    by = named if fate is Fate.KILLED else result.killer or f"({named})"
    states = f"{result.distinct:,}"
    return [result.mutant.name, Text(fate.value, colour), by, steps, states, Text(told)]
