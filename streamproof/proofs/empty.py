"""Empty domains: Z3's sorts have an element at least, and a domain of a model may have none.

What is said of an empty domain needs no quantifier: all of nothing holds, and nothing exists. So
each obligation is asked again with every set of domains that can be empty at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, combinations
from typing import assert_never

from streamproof.lang import expr as ex
from streamproof.lang.expr import Apply, Const, Expr, Quantified, Read, Var
from streamproof.lang.form import TracedModel, Variable
from streamproof.lang.sorts import ElementSort
from streamproof.proofs.bounded import domain_classes
from streamproof.proofs.obligations import Obligation


def without_elements(
    traced: TracedModel, obligation: Obligation
) -> Iterator[tuple[tuple[str, ...], Obligation]]:
    """List what an obligation asks where domains are empty, with their names.

    Only what differs from the obligation is listed, and what is not plain to see.
    """
    inhabited = {str(p.sort) for p in obligation.parameters if isinstance(p.sort, ElementSort)}
    names = [name for name in domain_classes(traced) if name not in inhabited]
    whole = (obligation.premises, obligation.conclusion)
    known = {whole}
    for empty in chain.from_iterable(combinations(names, n + 1) for n in range(len(names))):
        if any(_needs_element(part, empty) for part in (*traced.constants, *traced.variables)):
            continue
        premises = tuple(_emptied(premise, empty) for premise in obligation.premises)
        conclusion = _emptied(obligation.conclusion, empty)
        if (premises, conclusion) in known or conclusion == ex.TRUE or ex.FALSE in premises:
            continue
        known.add((premises, conclusion))
        yield empty, replace(obligation, premises=premises, conclusion=conclusion)


def _needs_element(variable: Variable, empty: tuple[str, ...]) -> bool:
    """Return whether a variable has a place that holds an element of an empty domain."""
    holds = isinstance(variable.sort, ElementSort) and variable.sort.name in empty
    return holds and not any(key.name in empty for key in variable.keys)


def _emptied(expr: Expr, empty: tuple[str, ...]) -> Expr:
    """Return the same of domains of which some are empty."""
    match expr:
        case Const() | Var():
            return expr
        case Read(variable, keys, sort):
            return Read(variable, tuple(_emptied(key, empty) for key in keys), sort)
        case Quantified(kind, variables, _, _) if any(str(v.sort) in empty for v in variables):
            return ex.literal(0) if kind == "count" else ex.truth(kind == "forall")
        case Quantified(kind, variables, body, _):
            return ex.quantify(kind, variables, _emptied(body, empty))
        case Apply(operator, arguments, _):
            return ex.rebuild(operator, tuple(_emptied(part, empty) for part in arguments))
        case _:
            assert_never(expr)
