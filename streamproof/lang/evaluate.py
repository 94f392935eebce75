"""Evaluating traced forms on concrete states: the second reading of the same text.

Engines and tests compare it with running the plain function.
"""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import product
from typing import Any, assert_never

from streamproof.lang.domain import Domain
from streamproof.lang.expr import Apply, Const, Expr, Quantified, Read, Var
from streamproof.lang.form import Command, Update
from streamproof.lang.map import Map
from streamproof.lang.records import assembled
from streamproof.lang.sorts import BoolSort, DomainSort, EnumSort, MapSort, RecordSort, Sort

_OPERATORS: dict[str, Callable[..., Any]] = {
    "not": operator.not_,
    "eq": operator.eq,
    "lt": operator.lt,
    "le": operator.le,
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
}
_QUANTIFIERS: dict[str, Callable[..., Any]] = {"forall": all, "exists": any, "count": sum}


@dataclasses.dataclass(frozen=True)
class World:
    """What an expression is evaluated in.

    Attributes
    ----------
    domains : by the name of their element sort
    roots : the records that hold the variables: the state, and the model for its constants
    """

    domains: Mapping[str, Domain[Any]]
    roots: Mapping[str, Any]

    def read(self, variable: str, keys: tuple[Any, ...]) -> Any:
        """Look a flattened variable up: ``recorders.closed`` at (p, k, c)."""
        first, *rest = variable.split(".")
        if first not in self.roots:  # the state is a map of records, and has no name
            first, rest = "", [first, *rest]
        value = self.roots[first]
        value, keys = _index(value, keys)
        for name in rest:
            value, keys = _index(getattr(value, name), keys)
        return value


def _index(value: Any, keys: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:
    while isinstance(value, Map):
        arity = len(value.domains)
        here, keys = keys[:arity], keys[arity:]
        value = value[here[0] if arity == 1 else here]
    return value, keys


def world(model: Any, state: Any, **others: Any) -> World:
    """Gather a model's domains and constants, a state's variables, and other named records."""
    fields = {field.name: getattr(model, field.name) for field in dataclasses.fields(model)}
    domains = {value.name: value for value in fields.values() if isinstance(value, Domain)}
    return World(domains, {**fields, **values_of(state), **others})


def values_of(state: Any) -> dict[str, Any]:
    """Return a state's variables by name; a state that is no record is one without a name."""
    if not dataclasses.is_dataclass(state):
        return {"": state}
    return {field.name: getattr(state, field.name) for field in dataclasses.fields(state)}


def evaluate(expr: Expr, world: World, bound: Mapping[Var, Any]) -> Any:
    """Compute an expression's value in a `world`.

    Parameters
    ----------
    bound : values of the parameters and bound variables that occur free in it
    """
    match expr:
        case Const(value, _):
            return value
        case Var():
            return bound[expr]
        case Read(variable, keys, _):
            return world.read(variable, tuple(evaluate(key, world, bound) for key in keys))
        case Quantified(kind, variables, body, _):
            values = (evaluate(body, world, {**bound, **one}) for one in bindings(variables, world))
            return _QUANTIFIERS[kind](values)
        case Apply(name, arguments, _):
            return _apply(name, arguments, world, bound)
        case _:
            assert_never(expr)


def _apply(name: str, arguments: tuple[Expr, ...], world: World, bound: Mapping[Var, Any]) -> Any:
    if name == "and":
        return all(evaluate(part, world, bound) for part in arguments)
    if name == "or":
        return any(evaluate(part, world, bound) for part in arguments)
    if name == "ite":
        condition, then, otherwise = arguments
        return evaluate(then if evaluate(condition, world, bound) else otherwise, world, bound)
    return _OPERATORS[name](*(evaluate(part, world, bound) for part in arguments))


def bindings(variables: tuple[Var, ...], world: World) -> Iterator[dict[Var, Any]]:
    """List every assignment of values to variables, of which none is a number."""
    for values in product(*(_values(variable.sort, world) for variable in variables)):
        yield dict(zip(variables, values, strict=True))


def _values(sort: Sort, world: World) -> Iterable[Any]:
    match sort:
        case BoolSort():
            return (False, True)
        case EnumSort(cls):
            return cls
        case _:
            return world.domains[str(sort)]


def enabled(command: Command, world: World, bound: Mapping[Var, Any]) -> bool:
    """Return whether a command's guard holds."""
    return all(evaluate(part, world, bound) for part in command.guard)


def after(
    command: Command, sort: Sort, world: World, bound: Mapping[Var, Any], *, root: str = ""
) -> Any:
    """Compute the value that a command's updates lead to; what it does not update stays.

    Parameters
    ----------
    sort : of the value
    world, bound : as `evaluate` takes them
    root : the name of the variable that holds the state; empty if its fields are variables
    """
    updates = {update.variable: update for update in command.updates}

    def value(variable: str, keys: tuple[Any, ...]) -> Any:
        update = updates.get(variable)
        if update is None:
            return world.read(variable, keys)
        return evaluate(update.value, world, {**bound, **_at(update, keys)})

    return rebuild(sort, world.domains, value, root)


def _at(update: Update, keys: tuple[Any, ...]) -> dict[Var, Any]:
    return dict(zip(update.keys, keys, strict=True))


def rebuild(
    sort: Sort,
    domains: Mapping[str, Domain[Any]],
    value: Callable[[str, tuple[Any, ...]], Any],
    name: str = "",
    keys: tuple[Any, ...] = (),
) -> Any:
    """Build a record from the values of its flattened variables."""
    match sort:
        case RecordSort(cls, fields):
            parts = {
                field: rebuild(part, domains, value, f"{name}.{field}" if name else field, keys)
                for field, part in fields
            }
            return assembled(cls, parts)
        case MapSort(key_sorts, part):
            over = [domains[key.name] for key in key_sorts]
            if not isinstance(part, RecordSort | MapSort):
                return Map.build(*over, lambda *here: value(name, (*keys, *here)))
            return Map.build(
                *over, lambda *here: rebuild(part, domains, value, name, (*keys, *here))
            )
        case DomainSort():
            raise AssertionError(name)
        case _:
            return value(name, keys)
