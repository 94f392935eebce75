"""The constants of a model: of their declared sorts, from the model's own domains, hiding nothing.

A proof is about every size whose constants fit; what a size of the model is said to be must be one.
"""

from __future__ import annotations

import dataclasses
import functools
import typing
from collections.abc import Iterator
from typing import Any

from streamproof.checker.declared import find_wrong
from streamproof.checker.properties import check_assumptions
from streamproof.checker.states import UnfitState
from streamproof.lang import Domain, Element, Map, WrongDefinition
from streamproof.lang.model import Model, domain_fields, methods_of
from streamproof.lang.sorts import DomainSort, Sort, sort_of
from streamproof.models.kit.sizes import at_size
from streamproof.models.kit.trace import show


def look_at_sizes(cls: type[Model[Any]]) -> None:
    """Refuse a model with a named size that no proof covers.

    Raises
    ------
    BrokenAssumption : if a size contradicts an @assume
    UnfitState : if a constant of a size is not of its sort, or is in none of the model's domains
    WrongDefinition : as of `look_at_constants`
    """
    for name, size in cls.sizes.items():
        model = at_size(cls, size)
        if type(model) is not cls:
            raise WrongDefinition(
                f"{cls.__name__}.sized gives a {type(model).__name__} at size {name}, so what is "
                f"proved of {cls.__name__} would say nothing of it. Prove it of the class that is "
                "made"
            )
        look_at_constants(model)
        check_assumptions(model)
        for field in (field.name for field in dataclasses.fields(cls)):
            if told := _outside(model, getattr(model, field)):
                raise UnfitState(
                    f"at size {name}, the model's {field}{told}. A proof is about the elements of "
                    "the model's domains, so it would say nothing of this size. Take elements, and "
                    "the domains of maps, from the model's fields"
                )


def look_at_constants(model: Model[Any]) -> None:
    """Refuse a model with a constant that engines, or the prover, would read otherwise than Python.

    Raises
    ------
    UnfitState : if a constant is not of the sort that its field declares
    WrongDefinition : if an object of the model hides one of its methods, or a domain is not one of
        the elements that its field declares
    """
    _refuse_hidden_methods(model)
    _look_at_domains(model)
    cls: Any = type(model)
    for name, sort in _sorts(cls):
        if isinstance(sort, DomainSort):
            continue
        if told := find_wrong(sort)(getattr(model, name)):
            raise UnfitState(
                f"the model's {name}{told}. Two engines would read it differently. Give a "
                "value of the declared sort, or declare another"
            )


def _refuse_hidden_methods(model: Model[Any]) -> None:
    cls = type(model)
    own = {method.name for method in methods_of(cls)}
    hidden = sorted(own & getattr(model, "__dict__", {}).keys())
    if hidden:
        raise WrongDefinition(
            f"an object of {cls.__name__} has {', '.join(hidden)} of its own, which hides the "
            "method of that name: one engine would ask the object, and another the class. Let the "
            "class alone define what it is"
        )


def _look_at_domains(model: Model[Any]) -> None:
    """Refuse a domain that the traced form would miss: it knows a domain by its elements' class."""
    cls: Any = type(model)
    classes: dict[str, Any] = {}
    for name, element in domain_fields(cls):
        domain = getattr(model, name)
        if not (isinstance(element, type) and issubclass(element, Element)):
            continue  # of other values: only the reference engine searches such a model
        if classes.setdefault(element.__name__, element) is not element:
            raise WrongDefinition(
                f"{cls.__name__} has domains of two classes that are named {element.__name__}, "
                "which would be taken for one. Give one of them another name"
            )
        if not isinstance(domain, Domain) or domain.name != element.__name__:
            raise WrongDefinition(
                f"the model's {name} is {domain!r}, and its field declares a Domain of "
                f"{element.__name__}, by which name engines know it. Write "
                f"Domain({element.__name__}, ...), or Domain.of({element.__name__!r}, ...)"
            )
        for part in domain:
            if type(part) is not element:
                raise WrongDefinition(
                    f"the model's {name} has {show(part)} in it, of class {type(part).__name__}, "
                    f"and its field declares a Domain of {element.__name__}. Give elements of that "
                    "class"
                )


@functools.cache
def _sorts(cls: Any) -> tuple[tuple[str, Sort], ...]:
    """List the fields that have a sort: only what is traced needs one."""
    hints = typing.get_type_hints(cls, include_extras=True)
    found = []
    for field in dataclasses.fields(cls):
        try:
            found.append((field.name, sort_of(hints[field.name])))
        except WrongDefinition:
            continue
    return tuple(found)


def _outside(model: Model[Any], value: Any) -> str | None:
    """Report an element, or a map's keys, outside of the model's domains."""
    fields = (getattr(model, field.name) for field in dataclasses.fields(model))
    own = {domain.name: domain for domain in fields if isinstance(domain, Domain)}
    for part in _parts(value):
        if isinstance(part, Map):
            for other in part.domains:
                if own.get(other.name, other) != other:
                    return f" is a map over {other}, and the model has {own[other.name]}"
            continue
        domain = own.get(type(part).__name__)
        if domain is not None and part not in domain.elements:
            return f" has {show(part)} in it, which is not in the model's {domain}"
    return None


def _parts(value: Any) -> Iterator[Any]:
    """List the maps and elements that a constant is made of."""
    if isinstance(value, Map):
        yield value
        for _, entry in value.items():  # noqa: PERF102 - of a Map, which has nothing else
            yield from _parts(entry)
    elif isinstance(value, Element):
        yield value
    elif dataclasses.is_dataclass(value) and not isinstance(value, Domain | type):
        for field in dataclasses.fields(value):
            yield from _parts(getattr(value, field.name))
