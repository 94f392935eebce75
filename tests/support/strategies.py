"""Hypothesis strategies for values of the language, from their sorts, and how they are tried.

They make arbitrary values, not only those that runs reach: a transition and its traced form must
agree everywhere. Integers are few and small, so that guards that compare two of them hold often.
"""

from __future__ import annotations

import dataclasses
import functools
import typing
from collections.abc import Callable, Iterator, Mapping, Sequence
from math import prod
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis import strategies as st

from streamproof.lang import Domain, Map
from streamproof.lang.model import Model
from streamproof.lang.sorts import (
    BoolSort,
    DomainSort,
    ElementSort,
    EnumSort,
    IntSort,
    MapSort,
    RecordSort,
    Sort,
    sort_of,
)
from streamproof.lang.trace import state_sort_of

SMALL_INTS = (0, 1, 2, -1)
DOMAIN_SIZES = {"Process": 2, "Snapshot": 2, "Token": 2}
"""How many elements of each sort; 2 of any other."""


SHRINKING = pytest.mark.timeout(900)
"""For tests whose examples take seconds: Hypothesis shrinks what fails for up to five minutes."""


def tried(examples: int, attempt: int = 0) -> Callable[[Any], Any]:
    """Try a test on so many examples, the same ones every time; each attempt has others."""
    limits = settings(
        max_examples=examples,
        phases=[Phase.generate, Phase.shrink],
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
    )
    return lambda test: seed(attempt)(limits(test))


def values(sort: Sort, domains: Mapping[str, Domain[Any]]) -> st.SearchStrategy[Any]:
    """Make values of a sort.

    A value is drawn as one string with a byte for each scalar. Drawing the scalars one by one takes
    ten times as long, and Hypothesis then makes most of them equal.
    """
    size = scalars_in(sort, domains)
    return st.binary(min_size=size, max_size=size).map(
        lambda drawn: built(sort, domains, iter(drawn))
    )


def scalars_in(sort: Sort, domains: Mapping[str, Domain[Any]]) -> int:
    """Count the scalars of a value of a sort."""
    match sort:
        case RecordSort(_, fields):
            return sum(scalars_in(part, domains) for _, part in fields)
        case MapSort(keys, part):
            return prod(len(domains[key.name]) for key in keys) * scalars_in(part, domains)
        case DomainSort():
            return 0
        case _:
            return 1


def built(sort: Sort, domains: Mapping[str, Domain[Any]], drawn: Iterator[int]) -> Any:
    """Build a value of a sort, each scalar from the next of the drawn numbers."""
    match sort:
        case RecordSort(cls, fields):
            return cls(*(built(part, domains, drawn) for _, part in fields))
        case MapSort(keys, part):
            return Map.build(
                *(domains[key.name] for key in keys), lambda *_: built(part, domains, drawn)
            )
        case DomainSort(element):
            return domains[element.name]
        case BoolSort():
            return next(drawn) % 2 == 1
        case IntSort():
            return chosen(SMALL_INTS, drawn)
        case EnumSort(cls):
            return chosen(list(cls), drawn)
        case ElementSort(name):
            return chosen(domains[name].elements, drawn)


def chosen(options: Sequence[Any], drawn: Iterator[int]) -> Any:
    """Choose one of some options; the first is the simplest."""
    return options[next(drawn) % len(options)]


@functools.cache
def models(model_class: type[Model[Any]]) -> st.SearchStrategy[Any]:
    """Make models of a class with arbitrary constants and domains of the usual sizes."""
    hints = typing.get_type_hints(model_class, include_extras=True)
    sorts = {field.name: sort_of(hints[field.name]) for field in dataclasses.fields(model_class)}
    fields = {name: values(sort, domains_of(model_class)) for name, sort in sorts.items()}
    return st.builds(model_class, **fields)


@functools.cache
def states(model_class: type[Model[Any]]) -> st.SearchStrategy[Any]:
    """Make states of a model."""
    return values(state_sort_of(model_class), domains_of(model_class))


def domains_of(model_class: type[Model[Any]]) -> dict[str, Domain[Any]]:
    """Return a model's domains by the name of their elements' sort."""
    hints = typing.get_type_hints(model_class)
    found = {}
    for field in dataclasses.fields(model_class):
        if typing.get_origin(hints[field.name]) is Domain:
            (element,) = typing.get_args(hints[field.name])
            found[element.__name__] = Domain(element, DOMAIN_SIZES.get(element.__name__, 2))
    return found
