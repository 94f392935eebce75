"""Explaining a broken property: the part of it that fails, with the elements that it fails for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from streamproof.lang import expr as ex
from streamproof.lang.evaluate import World, bindings, evaluate
from streamproof.lang.expr import Apply, Expr, Quantified, Var
from streamproof.lang.show import show


def explain(expr: Expr, world: World, bound: Mapping[Var, Any] | None = None) -> str:
    """Print the smallest conjunct of a false expr that is false in a world, elements filled in.

    Parameters
    ----------
    bound : values of the parameters that occur free in it
    """
    bound = dict(bound or {})
    part = expr
    while True:
        if isinstance(part, Apply) and part.operator == "and":
            part = next(arm for arm in part.arguments if not evaluate(arm, world, bound))
        elif isinstance(part, Quantified) and part.kind == "forall":
            failing = (
                one
                for one in bindings(part.variables, world)
                if not evaluate(part.body, world, {**bound, **one})
            )
            bound |= next(failing)
            part = part.body
        else:
            named: dict[Var, Expr] = {
                variable: Var(repr(value), variable.sort) for variable, value in bound.items()
            }
            return show(ex.substitute(part, named))
