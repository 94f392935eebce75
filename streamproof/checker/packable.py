"""What must hold before states are packed: everything in them has a number, within its range.

An element is packed as its place in the model's domain of its class. A model may have two domains
of one class, or a map over a third; the reference engine takes such states as they are.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

from streamproof.checker.counterexample import BrokenModel, LeftRange
from streamproof.checker.declared import find_wrong_state
from streamproof.checker.exploration import Path
from streamproof.checker.ranges import find_outside
from streamproof.checker.states import look_at
from streamproof.lang import Domain, StreamproofError, Untraceable, WrongDefinition
from streamproof.lang.model import Model
from streamproof.lang.sorts import (
    BoolSort,
    ElementSort,
    EnumSort,
    IntSort,
    MapSort,
    RecordSort,
    Sort,
)
from streamproof.lang.trace import field_sorts, state_sort_of, trace_model
from streamproof.models.kit.trace import show

Domains = Mapping[str, Domain[Any]]
"""The model's, by the name of their element class."""


class Unpackable(StreamproofError, TypeError):
    """A model's states cannot be packed into words, though its methods can be traced."""


class NotCompiled(StreamproofError, RuntimeError):
    """LLVM refused the code of a model. Streamproof or LLVM is wrong, and the model is not."""


def is_packable(model: Model[Any]) -> bool:
    """Return whether the native engine can take a model."""
    return why_not_packable(model) is None


def why_not_packable(model: Model[Any]) -> str | None:
    """Return why the native engine cannot take a model; None if it can."""
    try:
        trace_model(type(model))
        _require_packable(model, model.initial_states())
    except (Untraceable, WrongDefinition, Unpackable) as refusal:
        return str(refusal)
    except Exception:  # noqa: BLE001 - an @init that fails: any engine reports it
        return None
    return None


def check_start(model: Model[Any]) -> None:
    """Look at the initial states of a model whose states are to be packed.

    Raises
    ------
    BrokenModel : if an @init fails
    LeftRange : if a number is outside its declared range from the beginning
    UnfitState : if a value is not of the sort that its field declares
    Untraceable, WrongDefinition : if the model cannot be traced
    Unpackable : if a state or a field of the model holds what has no number
    """
    trace_model(type(model))
    outside = find_outside(model)
    try:
        states = list(model.initial_states())
    except WrongDefinition:
        raise
    except Exception as error:
        raise BrokenModel.by(model, None, "@init", error) from error
    wrong = find_wrong_state(model)
    for start, state in enumerate(states):
        look_at(state, wrong)
        if outside and (found := outside(state)):
            raise LeftRange.of(model, Path(start, ()), "@init", found)
    _require_packable(model, states)


def _require_packable(model: Model[Any], states: Iterable[Any]) -> None:
    """Look at a model's fields and initial states.

    Raises
    ------
    Unpackable : if one holds what has no number
    """
    sort = state_sort_of(type(model))
    if not isinstance(sort, RecordSort):
        raise _unpackable(model, f"its states are of sort {sort}, and no records")
    domains: dict[str, Domain[Any]] = {}
    for field in dataclasses.fields(model):
        value = getattr(model, field.name)
        if isinstance(value, Domain) and domains.setdefault(value.name, value) != value:
            raise _unpackable(model, f"it has two different domains of {value.name}")
    for name, part in field_sorts(type(model)):
        _require(model, part, getattr(model, name), domains, f"its {name}")
    for state in states:
        _require(model, sort, state, domains, "in an initial state, ")


def _require(model: Model[Any], sort: Sort, value: Any, domains: Domains, place: str) -> None:
    match sort:
        case RecordSort(fields=fields):
            for name, part in fields:
                _require(model, part, getattr(value, name), domains, f"{place}.{name}")
        case MapSort(keys, part):
            if value.domains != tuple(domains.get(str(key)) for key in keys):
                raise _unpackable(model, f"{place} is a map over another domain than the model's")
            if isinstance(part, BoolSort | IntSort | EnumSort):
                return  # every value has a number, however many there are
            for key, entry in value.items():
                _require(model, part, entry, domains, f"{place}[{show(key)}]")
        case ElementSort(name):
            if name not in domains or value not in domains[name].elements:
                what = f"{place} is {show(value)}, which is not in the model's domain"
                raise _unpackable(model, what)
        case _:
            return


def _unpackable(model: Model[Any], what: str) -> Unpackable:
    return Unpackable(
        f"{type(model).__name__} cannot be packed: {what}. The native engine keeps records, and in "
        "them an element as its place in the model's one domain of its class; this it would take "
        "for something else. Leave out --engine native, or let states be records over the model's "
        "own domains"
    )
