"""Flattening: records and maps as variables, and what a step changes as updates of these."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from streamproof.lang.errors import WrongDefinition
from streamproof.lang.expr import Var
from streamproof.lang.fork import Ending, Path
from streamproof.lang.form import ClaimForm, Update, Variable
from streamproof.lang.map import Map
from streamproof.lang.records import refuse_more_than_fields
from streamproof.lang.refusals import untraceable
from streamproof.lang.scalars import lift, scalar
from streamproof.lang.sorts import DomainSort, MapSort, RecordSort, Sort


def variables_of(sort: Sort, name: str, keys: tuple[Any, ...] = ()) -> Iterator[Variable]:
    """Flatten a sort into variables over scalar sorts."""
    match sort:
        case RecordSort(_, fields):
            for field, part in fields:
                yield from variables_of(part, dotted(name, field), keys)
        case MapSort(key_sorts, value):
            yield from variables_of(value, name, (*keys, *key_sorts))
        case DomainSort():
            raise WrongDefinition(
                f"{name} is a domain inside a state: a state cannot change a size"
            )
        case _:
            yield Variable(name, keys, sort)


def dotted(name: str, field: str) -> str:
    """Name a field of a variable, which may be the whole state."""
    return f"{name}.{field}" if name else field


def claims_of(name: str, parameters: tuple[Var, ...], path: Path) -> Iterator[ClaimForm]:
    """List the claims of a path: one that it breaks, and those inside of lambdas."""
    if path.ending is Ending.BROKEN_CLAIM:
        yield ClaimForm(name, parameters, path.condition, path.value)
    for condition, where in path.claims:
        yield ClaimForm(name, parameters, (*path.condition, condition), where)


def updates_of(
    sort: Sort, name: str, after: Any, before: Any, keys: tuple[Var, ...]
) -> Iterator[Update]:
    """List the variables that a step changes; all of them where there is no state before."""
    match sort:
        case RecordSort(cls, fields):
            if not isinstance(after, cls):
                raise untraceable(
                    f"it gives {after!r} where a {cls.__name__} belongs",
                    "Return the whole next state, as by dataclasses.replace(state, ...)",
                )
            refuse_more_than_fields(after)
            for field, part in fields:
                old = None if before is None else getattr(before, field)
                yield from updates_of(part, dotted(name, field), getattr(after, field), old, keys)
        case MapSort(key_sorts, value):
            if not isinstance(after, Map):
                raise untraceable(
                    f"it gives {after!r} where a {sort} belongs", "Give a Map over the same domains"
                )
            fresh = tuple(
                Var(f"{str(key)[0].lower()}{len(keys) + index}'", key)
                for index, key in enumerate(key_sorts)
            )
            key = tuple(scalar(part) for part in fresh)
            at = key[0] if len(key) == 1 else key
            old = None if before is None else before[at]
            yield from updates_of(value, name, after[at], old, (*keys, *fresh))
        case DomainSort():
            raise AssertionError(name)  # variables_of has refused it
        case _:
            new = lift(after, sort)
            if before is None or new != lift(before, sort):
                yield Update(name, keys, new)
