"""The nodes of the intermediate representation, and what is read off them."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias, assert_never

from streamproof.lang.hashed import Hashed, hashed_once
from streamproof.lang.sorts import BoolSort, IntSort, ScalarSort

BOOL = BoolSort()
INT = IntSort()


@dataclass(frozen=True, slots=True)
class Const:
    """A literal: bool, int or an `Enum` member."""

    value: bool | int | Enum
    sort: ScalarSort


@dataclass(frozen=True, slots=True)
class Var:
    """An action's parameter, or a variable bound by a quantifier or an update."""

    name: str
    sort: ScalarSort


@hashed_once
@dataclass(frozen=True, slots=True)
class Read(Hashed):
    """A state variable, constant or field of one, at its keys: ``recorders.closed[p, k, c]``."""

    variable: str
    keys: tuple[Expr, ...]
    sort: ScalarSort


@hashed_once
@dataclass(frozen=True, slots=True)
class Apply(Hashed):
    """An operator: not, and, or, eq, lt, le, add, sub, mul or ite."""

    operator: str
    arguments: tuple[Expr, ...]
    sort: ScalarSort


@hashed_once
@dataclass(frozen=True, slots=True)
class Quantified(Hashed):
    """A quantifier (forall, exists, count) over bound variables."""

    kind: str
    variables: tuple[Var, ...]
    body: Expr
    sort: ScalarSort


Expr: TypeAlias = Const | Var | Read | Apply | Quantified

TRUE: Expr = Const(True, BOOL)
FALSE: Expr = Const(False, BOOL)


def height(expr: Expr) -> int:
    """Return the depth of nested quantifiers."""
    match expr:
        case Const() | Var():
            return 0
        case Read(_, keys, _):
            return max(map(height, keys), default=0)
        case Apply(_, arguments, _):
            return max(map(height, arguments))
        case Quantified(_, _, body, _):
            return height(body) + 1
        case _:
            assert_never(expr)


def depth(expr: Expr) -> int:
    """Return the depth of nested operators."""
    if isinstance(expr, Const | Var):
        return 0
    try:
        known = expr._depth  # noqa: SLF001 - kept there for this function
    except AttributeError:
        match expr:
            case Read(_, parts, _) | Apply(_, parts, _):
                known = 1 + max(map(depth, parts), default=0)
            case Quantified():
                known = 1 + depth(expr.body)
        object.__setattr__(expr, "_depth", known)
    return known


@functools.cache
def free_variables(expr: Expr) -> tuple[Var, ...]:
    """List the parameters and bound variables that an expression does not bind itself."""
    match expr:
        case Var():
            return (expr,)
        case Read(_, parts, _) | Apply(_, parts, _):
            return tuple(dict.fromkeys(v for part in parts for v in free_variables(part)))
        case Quantified(_, variables, body, _):
            return tuple(v for v in free_variables(body) if v not in variables)
        case _:
            return ()


def conjuncts(expr: Expr) -> tuple[Expr, ...]:
    """Split a conjunction into its parts."""
    if isinstance(expr, Apply) and expr.operator == "and":
        return expr.arguments
    return () if expr == TRUE else (expr,)


def variables_read(expr: Expr) -> frozenset[str]:
    """Name the state variables and constants that an expression reads."""
    match expr:
        case Const() | Var():
            return frozenset()
        case Read(variable, keys, _):
            return frozenset({variable}).union(*map(variables_read, keys))
        case Apply(_, arguments, _):
            return frozenset[str]().union(*map(variables_read, arguments))
        case Quantified(_, _, body, _):
            return variables_read(body)
        case _:
            assert_never(expr)
