"""`streamproof prove`: show with Z3 that an invariant holds for any number of processes."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from streamproof.checker.reach import reach
from streamproof.cli.check import print_counterexample
from streamproof.cli.options import AsJson
from streamproof.cli.render import (
    about_translation,
    console,
    error_console,
    print_json,
    remark_on,
    status_text,
)
from streamproof.lang.model import PROMISES, Role
from streamproof.models.kit.registry import load, module_of, split
from streamproof.models.kit.verdict import ExitCode, Reachable, Refuted, exit_code
from streamproof.proofs.obligations import RLIMIT, Obligation

if TYPE_CHECKING:  # Z3 is loaded by the command that needs it
    from streamproof.proofs.induction import Outcome, ProofReport
    from streamproof.proofs.invariant import Invariant

Proved: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="PROTOCOL",
        help="A protocol of streamproof, or a file of your own that has an INVARIANT: path/x.py.",
    ),
]
OnObligation: TypeAlias = Callable[[int, int, Obligation], None]


def prove(
    target: Proved,
    rlimit: Annotated[
        int,
        typer.Option(
            min=1,
            metavar="STEPS",
            help="Z3's own steps for one obligation, and for each question in the search for an"
            " example, whatever the machine.",
        ),
    ] = RLIMIT,
    *,
    as_json: AsJson = False,
) -> ExitCode:
    """Prove a protocol's invariant for any number of processes and messages."""
    from streamproof.proofs.induction import prove as run_proof

    invariant = _invariant_of(target)
    promises = [method for role in PROMISES for method in invariant.model_class.methods(role)]
    not_asked = tuple(method.name for method in promises)
    with obligation_line() as on_progress:
        report = run_proof(invariant, rlimit=rlimit, reach=reach, on_progress=on_progress)
    if as_json:
        print_json({"target": target, **report.to_json(), "not_asked": list(not_asked)})
    else:
        print_proof(console(), report, target, not_asked)
    return exit_code(report.verdict)


def _invariant_of(target: str) -> Invariant:
    """Find the invariant of a target; where its file has none, show how one is written.

    Raises
    ------
    UnknownInvariant : if there is none
    """
    from streamproof.proofs.find import UnknownInvariant, find_invariant

    try:
        return find_invariant(target)
    except UnknownInvariant as error:
        if split(target)[1] or hasattr(module_of(target), "INVARIANT"):
            raise
        model = load(target).main
        names = [method.name for method in model.methods(Role.ALWAYS) if not method.parameters]
        conjuncts = ", ".join(f"lambda m, s: m.{name}(s)" for name in names)
        raise UnknownInvariant(
            f"{error}, for example\n\n"
            "    from streamproof.proofs.invariant import Invariant\n\n"
            f"    INVARIANT = Invariant({model.__name__}, "
            f"conjuncts=({conjuncts or 'lambda m, s: ...'},))\n\n"
            "Each conjunct is true in every state that can be reached. If the proof fails, its "
            "example shows which one to add"
        ) from None


@contextmanager
def obligation_line() -> Iterator[OnObligation]:
    """Show a line that tells which obligation is being discharged, on a terminal only."""
    if not sys.stderr.isatty():
        yield lambda *_: None
        return
    with error_console().status("tracing") as status:
        yield lambda done, total, current: status.update(f"{done} of {total}: {current}")


def print_proof(
    out: Console, report: ProofReport, target: str, not_asked: tuple[str, ...] = ()
) -> None:
    """Print a row for each kind of obligation, then every failure with its examples.

    Parameters
    ----------
    report, target : what was found out, and what the user calls the protocol
    not_asked : the model's promises
    """
    table = Table("obligations", "unsat", "of", "Z3 steps", box=None, pad_edge=False)
    kinds = Counter(part.obligation.kind for part in report.outcomes)
    for kind, total in kinds.items():
        same = [part for part in report.outcomes if part.obligation.kind is kind]
        unsat = sum(part.is_discharged for part in same)
        steps = sum(part.rlimit for part in same)
        table.add_row(kind.value, str(unsat), str(total), f"{steps:,}")
    title = f"{target} ({report.model}): any number of elements in every domain, unbounded numbers"
    out.print(Text(f"{title}\n"))
    out.print(table)
    out.print()
    for outcome in report.failed:
        print_failure(out, outcome)
    if not_asked:
        promises = ", ".join(not_asked)
        out.print(
            f"not asked, since liveness is no part of a proof: {promises}. At one size, "
            "streamproof check asks it",
            markup=False,
            soft_wrap=True,
        )
    out.print(f"{len(report.outcomes)} obligations, {report.seconds:.1f} s")
    if report.translation:
        out.print(about_translation(report.translation))
    verdict = report.verdict
    if isinstance(verdict, Refuted):
        print_counterexample(out, verdict)
    remark = remark_on(verdict)
    out.print(status_text(verdict.status) + Text(f"  {remark}" if remark else ""), soft_wrap=True)


def print_failure(out: Console, outcome: Outcome) -> None:
    """Print an obligation that is not discharged, with small states that show why."""
    lines = [outcome.told]
    for example in outcome.examples:
        lines.append(f"  with {example.size} elements in every domain, {example.reachable.value}")
        lines += [f"      {name} = {value}" for name, value in example.constants]
        if example.before:
            lines.append("    a state that differs from the initial one by")
            lines += [f"      {change}" for change in example.before]
        else:
            lines.append("    the initial state")
        lines += [f"    {example.step}"] * bool(example.step)
        lines += [f"      {change}" for change in example.changes]
        if example.reachable is Reachable.NO:
            lines.append("    no run reaches it: add a conjunct that excludes this state")
    if outcome.without:
        lines.append("  if there is always one, say so: @assume that exists(..., lambda _: True)")
    elif not outcome.examples:
        lines.append("  no example with 2 or 3 elements in every domain and small numbers")
    out.print(Text("\n".join(lines)), soft_wrap=True)
    out.print()
