"""Which constructs of the language a model uses, and which there are.

Those of the language itself are listed from it: what it exports, roles, fairness, sorts, operators,
quantifiers, the methods of maps and what symbolic values can do. So a new one is missed at once.
"""

from __future__ import annotations

import ast
import typing
from typing import Any

from streamproof import lang
from streamproof.lang import Fairness, Map, StreamproofError
from streamproof.lang import expr as ex
from streamproof.lang.model import Role
from streamproof.lang.scalars import Symbolic, scalar
from streamproof.lang.sorts import Sort
from streamproof.lang.trace import trace_model
from tests.fuzz.shapes import SHAPES, Used

NOT_DRAWN = {
    "Step": "what a protocol's transition gives; a model's actions give states",
    "Map.items": "cannot be traced",
    "Map.domains": "names the keys, as a quantifier over the map does",
    "DomainSort": "a field of the model, which is no state",
    "sorts: a type variable": "of a protocol's records; a model's are closed",
}
"""What is part of the language, and no part of a random model; and why."""

OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.USub: "negative",
    ast.Not: "not",
    ast.And: "and",
    ast.Or: "or",
    ast.BitAnd: "&",
    ast.BitOr: "|",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.In: "in",
    ast.NotIn: "not in",
    ast.IfExp: "conditional expression",
    ast.Match: "match",
    ast.Assert: "assert",
    ast.Lambda: "lambda",
}
SYMBOLIC = {
    "__add__": "+",
    "__radd__": "+",
    "__sub__": "-",
    "__rsub__": "-",
    "__mul__": "*",
    "__rmul__": "*",
    "__neg__": "negative",
    "__lt__": "<",
    "__le__": "<=",
    "__gt__": ">",
    "__ge__": ">=",
    "__eq__": "==",
    "__ne__": "!=",
    "__and__": "&",
    "__rand__": "&",
    "__or__": "|",
    "__ror__": "|",
    "__bool__": "truth of a number",
}
"""What symbolic values can do, by the method that Python calls."""
# ---------------------------------------------------------------------------- what there is


def language() -> set[str]:
    """List the constructs that the language itself names."""
    exported = {
        name
        for name in lang.__all__
        if not (
            isinstance(part := getattr(lang, name), type) and issubclass(part, StreamproofError)
        )
    }
    roles = {f"role: {role.value}" for role in Role}
    fairness = {f"fairness: {kind.value}" for kind in Fairness}
    sorts = {f"sort: {part.__name__}" for union in typing.get_args(Sort) for part in leaves(union)}
    operators = {f"operator: {name}" for name in ex._BUILDERS}
    maps = {f"Map.{name}" for name in vars(Map) if not name.startswith("_")}
    symbolic = {
        SYMBOLIC.get(name, f"unknown: {name}")
        for value in (scalar(ex.Read("flag", (), ex.BOOL)), scalar(ex.Read("number", (), ex.INT)))
        for name in dir(type(value))
        if name in SYMBOLIC or gives_an_expression(value, name)
    }
    found = exported | roles | fairness | sorts | operators | maps | symbolic
    return (found | set(SHAPES) | set(OPERATORS.values())) - set(NOT_DRAWN) - {"sort: DomainSort"}


def gives_an_expression(value: Any, name: str) -> bool:
    """Return whether a method of a symbolic value writes something down; others refuse."""
    method = getattr(type(value), name)
    if not (name.startswith("__") and callable(method)):
        return False
    for arguments in ((), (value,)):
        try:
            found = method(value, *arguments)
        except Exception:  # noqa: BLE001 - it refuses, or takes something else
            continue
        if isinstance(found, Symbolic) and found is not value:  # a copy is itself
            return True
    return False


def leaves(union: Any) -> tuple[Any, ...]:
    """List the members of a union of unions."""
    inner = typing.get_args(union)
    return tuple(part for one in inner for part in leaves(one)) if inner else (union,)


# ---------------------------------------------------------------------------- what is used


def used_by(text: str, model: Any, asked: set[str]) -> set[str]:
    """List the constructs that a model uses, of those that are asked for."""
    used = Used(text, model)
    found = {name for name, test in SHAPES.items() if name in asked and test(used)}
    found |= {name for node in used.nodes for kind, name in OPERATORS.items() if type(node) is kind}
    found |= {node.id for node in used.nodes if isinstance(node, ast.Name)}
    found |= {
        f"Map.{node.func.attr}" for node in used.calls if isinstance(node.func, ast.Attribute)
    }
    found |= {f"role: {role.value}" for role in Role if model.methods(role)}
    found |= {f"fairness: {method.fairness.value}" for method in model.methods(Role.ACTION)}
    found |= {f"sort: {type(sort).__name__}" for sort in used.sorts()}
    if any(name.startswith("operator: ") for name in asked):
        found |= {f"operator: {name}" for name in operators_in(trace_model(type(model)))}
    return found & asked


def operators_in(form: Any) -> set[str]:
    """List the operators of a traced form."""
    found: set[str] = set()

    def look(part: Any) -> None:
        match part:
            case ex.Apply(name, arguments, _):
                found.add(name)
                look(arguments)
            case ex.Quantified(kind, _, body, _):
                found.add(kind)
                look(body)
            case ex.Read(_, keys, _):
                look(keys)
            case tuple():
                for one in part:
                    look(one)

    for command in (*form.initial, *form.commands):
        look((command.guard, tuple(update.value for update in command.updates)))
    for claim in form.claims:
        look(claim.broken_if)
    for asked in form.properties:
        look(tuple(part for _, part in asked.conjuncts))
    return found
