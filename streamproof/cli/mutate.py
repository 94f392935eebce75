"""`streamproof mutate`: check that every known mistake in a model is caught."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Column, Table
from rich.text import Text

from streamproof.checker.mutation import Fate, MutantResult, MutationReport, run_mutants
from streamproof.cli.options import AsJson, Memory, StatesMax, Target, limits_of
from streamproof.cli.render import console, error_console, fate_colour, print_json
from streamproof.lang.model import STATED
from streamproof.models.kit.meant import closest
from streamproof.models.kit.places import mutants_place, places
from streamproof.models.kit.registry import (
    ModelFile,
    UnknownModel,
    load,
    names,
    original_of,
)
from streamproof.models.kit.sizes import at_size
from streamproof.models.kit.verdict import DEADLOCK, ExitCode


def mutate(
    target: Target,
    only: Annotated[
        list[str] | None,
        typer.Option(metavar="MUTANT", help="Run this one alone; may be given several times."),
    ] = None,
    states_max: StatesMax = None,
    memory: Memory = None,
    *,
    as_json: AsJson = False,
) -> ExitCode:
    """Check every mutant of a model: each must be refuted by the property that it names."""
    file = load(target)
    if not file.mutants:
        raise UnknownModel(_how_to_list_mutants(file))
    mutants = [mutant for mutant in file.mutants if not only or mutant.name in only]
    known = {mutant.name: mutant.model_class for mutant in file.mutants}
    unknown = [name for name in only or () if name not in known]
    if unknown:
        meant = "".join(closest(name, known) for name in unknown)
        raise UnknownModel(
            f"{target} has no mutant {' and no mutant '.join(unknown)}, so nothing was run. {meant}"
            f"It has {', '.join(known)}. Name one of these, or leave --only out to run them all"
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
    table = Table(
        Column("mutant", no_wrap=True),
        "fate",
        "by",
        "steps",
        "states",
        "",
        box=None,
        pad_edge=False,
    )
    for result in report.results:
        table.add_row(*_row(result))
    out.print(table)
    found = report.to_json()
    asked = len(report.results) + report.left
    out.print(f"\n{report.model}: {found['killed']} of {asked} mutants killed")
    if report.left:
        out.print(f"interrupted: {report.left} of {asked} mutants were not checked")


def _how_to_list_mutants(file: ModelFile) -> str:
    """Describe where mutants are listed, with a list of one that is named after the model."""
    model = file.main.__name__
    size = next(iter(file.main.sizes.values()), {})
    killers = [method.name for role in STATED for method in file.main.methods(role)]
    place = "the file of the model"
    if file.name in names():
        place = f"{mutants_place(places()[file.name]).replace('.', '/')}.py"
    return (
        f"{file.name} has no mutants, so nothing shows that its properties would catch a mistake. "
        f"List mistakes that they must catch in {place}, for example\n\n"
        "    from streamproof.models.kit.mutant import Mutant\n\n"
        f"    class Wrong({model}): ...  # one of its actions, written as it must not be\n\n"
        "    MUTANTS = (\n"
        f'        Mutant("wrong", Wrong, {dict(size)!r}, killed_by="{(killers or [DEADLOCK])[0]}", '
        'steps_max=3, story="what goes wrong"),\n'
        "    )\n\n"
        "The size is one that shows the mistake; steps_max is the length of the shortest run that "
        "does"
    )


def _row(result: MutantResult) -> list[str | Text]:
    fate = result.fate
    steps = "" if result.steps is None else f"{result.steps} of {result.mutant.steps_max}"
    told = result.mutant.story if fate is Fate.KILLED else result.reason
    named = result.mutant.killed_by
    by = named if fate is Fate.KILLED else result.killer or f"({named})"
    states = f"{result.distinct:,}"
    return [result.mutant.name, Text(fate.value, fate_colour(fate)), by, steps, states, Text(told)]
