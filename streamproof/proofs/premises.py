"""Premises: a proof of `implies` is empty if its premise holds in no state with the invariant.

Z3 is asked for a state that satisfies the premise, of any size. Where it gives up, a small one is
looked for, and then Z3 has more time. Only what it shows to be impossible is called untried.
"""

from __future__ import annotations

from collections.abc import Iterator

import z3

from streamproof.lang import expr as ex
from streamproof.lang.expr import Expr, Var
from streamproof.lang.form import PropertyForm
from streamproof.lang.model import Role
from streamproof.lang.premises import premise_sites
from streamproof.proofs.bounded import Question, find_instance
from streamproof.proofs.invariant import across_step
from streamproof.proofs.obligations import RLIMIT, Theory, own_names
from streamproof.proofs.to_z3 import OpenTranslator

SIZE = 2
"""Elements per domain of the small states."""


def untried_premises(theory: Theory) -> Iterator[str]:
    """Name the premises that say nothing of any state with the invariant."""
    for form in theory.traced.properties:
        if form.role in (Role.ALWAYS, Role.EVERY_STEP):
            asked = dict(form.premises)
            sites = {*asked, *premise_sites(theory.traced.model_class).get(form.name, ())}
            for site in sorted(sites, key=lambda site: site.place):
                if site not in asked or not _is_tried(theory, form, asked[site]):
                    yield (
                        f"the premise of an implies in {form.name} (line {site.line}) holds in no "
                        "state with the invariant where it is asked, so nothing is said there"
                    )


def _is_tried(theory: Theory, form: PropertyForm, premise: Expr) -> bool:
    return any(
        _has_instance(theory, premises, parameters)
        for premises, parameters in _questions(theory, form, premise)
    )


def _questions(
    theory: Theory, form: PropertyForm, premise: Expr
) -> Iterator[tuple[tuple[Expr, ...], tuple[Var, ...]]]:
    """List what must be satisfied for a premise to be tried: by a state, or by one of the steps."""
    if form.role is Role.ALWAYS:
        yield (*theory.assumed, premise), form.parameters
        return
    names = own_names(form.name, (variable.name for variable in form.parameters))
    own = tuple(Var(names[part.name], part.sort) for part in form.parameters)
    asked = ex.substitute(premise, dict(zip(form.parameters, own, strict=True)))
    for _, command in theory.paths():
        premises = (*theory.assumed, *command.guard, across_step(asked, command))
        yield premises, (*own, *command.parameters)


def _has_instance(theory: Theory, premises: tuple[Expr, ...], parameters: tuple[Var, ...]) -> bool:
    answer = ask(premises, RLIMIT // 100)
    if answer == z3.unknown:
        if find_instance(Question(theory.traced, premises, parameters, SIZE)) is not None:
            return True
        answer = ask(premises, RLIMIT)
    return bool(answer != z3.unsat)


def ask(premises: tuple[Expr, ...], rlimit: int) -> z3.CheckSatResult:
    """Ask Z3 whether some state, of any size, satisfies premises.

    Raises
    ------
    NotProvable : if they count the elements of a domain
    """
    translator = OpenTranslator()
    solver = z3.Solver(ctx=translator.context)
    solver.set("rlimit", rlimit)
    solver.set("ctrl_c", False)  # else Z3 keeps an interrupt to itself
    solver.add(*(translator.term(part) for part in premises))
    return solver.check()
