"""Roles: what the methods of a model are, and that each name in a model means one thing.

A property must not be lost without a word: to a name that `Model` itself uses, to a second
decorator, to a field or value that takes its place, or to a wrapper that hides its role.
"""

from __future__ import annotations

import abc
import dataclasses
import functools
import inspect
import typing
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeAlias, TypeVar

from streamproof.lang.as_listed import Listed, list_code
from streamproof.lang.errors import WrongDefinition
from streamproof.lang.marked import (
    OF_MODEL,
    is_in_its_model,
    marked_in,
    marks_of,
    place_of,
)

F = TypeVar("F", bound=Callable[..., Any])


class Fairness(Enum):
    """Fairness: when an action that stays enabled must happen.

    Examples
    --------
    >>> @action(fairness=Fairness.WEAK)
    ... def receive(self, state): ...
    """

    NONE = "none"
    """Never: it may be postponed forever, like a crash."""
    WEAK = "weak"
    """It happens if it is enabled without a break."""
    STRONG = "strong"
    """It happens if it is enabled again and again."""


class Role(Enum):
    """What a method of a model is."""

    INIT = "init"
    ACTION = "action"
    ALWAYS = "always"
    EVERY_STEP = "every_step"
    SOMETIMES = "sometimes"
    LEADS_TO = "leads_to"
    EVENTUALLY = "eventually"
    FINAL = "final"
    ASSUME = "assume"


PROMISES = (Role.LEADS_TO, Role.EVENTUALLY)
"""Roles that speak of infinite runs."""
STATED = (Role.ALWAYS, Role.EVERY_STEP, Role.SOMETIMES, *PROMISES)
"""Roles of what a model states of its runs."""


@dataclass(frozen=True, slots=True)
class Method:
    """A declared method: its role, and for an action its fairness.

    Attributes
    ----------
    parameters : name and annotation of what follows the state argument(s)
    """

    name: str
    role: Role
    fairness: Fairness
    parameters: tuple[tuple[str, Any], ...]


STATES_TAKEN = {Role.INIT: 0, Role.ASSUME: 0, Role.EVERY_STEP: 2}
"""How many states a method of a role takes before its parameters; one if it is not listed."""

_Marked: TypeAlias = tuple[Role, Fairness]
_OPEN_NAMES = ("sizes", "protocol_name", "sized", "ruled_out", "initial_states")
"""Attributes of `Model` that a model may have of its own."""
_BY_POSITION = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_FINDINGS = ("actions", "claims", "deadlock", "properties")
"""What reports call the rows that no property stands for."""


def declare(method: F, role: Role, fairness: Fairness = Fairness.NONE) -> F:
    """Note what a method is; of two roles nothing is forgotten."""
    noted = getattr(method, "__streamproof__", ())
    if (role, fairness) not in noted:
        method.__streamproof__ = (*noted, (role, fairness))  # type: ignore[attr-defined]
    return method


def methods_of(cls: type[Any]) -> tuple[Method, ...]:
    """List the methods of a model that have a role, in order, base classes first.

    An override without a decorator keeps the role and fairness of what it overrides; one with a
    decorator says what it is itself.

    Raises
    ------
    WrongDefinition : if a name means two things, or a property would never be asked
    """
    found: tuple[Method, ...] = _methods_of(cls)  # type: ignore[arg-type] # a class does hash
    return found


def require_traced_starts(cls: type[Any]) -> None:
    """Refuse a model whose initial states are not those of its @init, which are traced.

    Raises
    ------
    WrongDefinition : if it lists them itself, and as `methods_of` does
    """
    methods_of(cls)
    if "initial_states" in dict(_own_names(cls)):
        raise WrongDefinition(
            f"{cls.__name__} lists its initial_states itself, so that what is traced or proven of "
            "its @init would be about other states. Mark a method with @init for each kind of them"
        )


@functools.cache
def _methods_of(cls: Any) -> tuple[Method, ...]:
    reserved, found = _attributes_of_model(cls), _found_in(cls)
    for name, owner in _own_names(cls):
        if name in reserved and (name in found or name not in _OPEN_NAMES):
            raise WrongDefinition(
                f"{owner.__name__}.{name} takes the place of what Model itself calls {name}, so "
                f"that nothing could be explored. Rename {name}"
            )
    for field in dataclasses.fields(cls) if dataclasses.is_dataclass(cls) else ():
        if field.name in found or field.name in reserved:
            raise WrongDefinition(
                f"{cls.__name__} has a field {field.name}, and {field.name} is also a method, "
                "which would never be asked. Rename one of them"
            )
    methods = tuple(_method(getattr(cls, name), name, *marked) for name, marked in found.items())
    code_when_listed(cls)
    return methods


def _found_in(cls: Any) -> dict[str, _Marked]:
    """Find the methods that have a role, and refuse those that no search would ask."""
    found: dict[str, _Marked] = {}
    listed = [vars(owner)[name] for name, owner in _own_names(cls)]
    for base in reversed(cls.__mro__):
        for name, member in vars(base).items():
            where = f"{base.__name__}.{name}"
            if _is_model_itself(base):
                _refuse_marked(where, member)
                continue
            _take(where, name, member, found)
            if name not in _OF_CLASSES:
                _refuse_lost(where, member, found.get(name), base, listed)
    for meta in type(cls).__mro__:
        for name, member in vars(meta).items() if meta is not object else ():
            _refuse_lost(f"{meta.__name__}.{name}", member, None, meta, listed)
    return found


@functools.cache
def code_when_listed(cls: Any) -> Listed:
    """Return the classes of a model as they were when its methods were listed, once."""
    return list_code(cls.__mro__)


def _take(where: str, name: str, member: Any, found: dict[str, _Marked]) -> None:
    """Note what one member of a model or of one of its bases is."""
    roles = marks_of(member)
    if roles and isinstance(member, staticmethod | classmethod):
        raise WrongDefinition(
            f"{where} is marked @{roles[0][0].value}{place_of(member.__func__)}, and made a "
            f"{type(member).__name__}, so that it would never be asked. Let @{roles[0][0].value} "
            f"be the outermost decorator of a plain method, {_WRAPS}"
        )
    if len(roles) > 1:
        both = " and ".join(f"@{role.value}" for role, _ in roles)
        raise WrongDefinition(
            f"{where} is marked {both}, and one of them would be forgotten. Write a method for each"
        )
    if not roles and name not in found:
        return
    role, fairness = roles[0] if roles else found[name]
    if name.startswith("__") and name.endswith("__"):
        raise WrongDefinition(
            f"{where} is marked @{role.value}, and Python calls it by itself. Rename it"
        )
    if role not in (Role.INIT, Role.ACTION) and name in _FINDINGS:
        raise WrongDefinition(
            f"{where} is called as a report calls what no property stands for, so that one would "
            "be taken for the other. Rename it"
        )
    if not callable(member):
        raise WrongDefinition(
            f"{where} is {member!r}, and takes the place of the @{role.value} method of this name, "
            "which would never be asked. Rename it, or override the method by a method"
        )
    found[name] = (role, fairness)


_WRAPS = "or let the decorators above it use functools.wraps"
_OF_CLASSES = ("__annotations__", "__orig_bases__", "__parameters__", "__dict__", "__weakref__")
"""What a class is made of, and no attribute that anybody would ask."""


def _refuse_lost(
    where: str, member: Any, asked: _Marked | None, cls: Any, listed: list[Any]
) -> None:
    """Refuse a member that holds a function with a role, if no search would ask the function.

    Parameters
    ----------
    where, member : the member, and what it is called
    asked : what the member itself is asked as; None if it is not
    cls : the class that the member stands in; of what globals hold, its own functions are lost
    listed : members that are asked by their own names
    """
    for part, by_name in marked_in(member):
        if any(part is known for known in listed) or (asked and marks_of(part) == (asked,)):
            continue
        is_others = not getattr(part, "__qualname__", "").startswith(f"{cls.__qualname__}.")
        if by_name and (is_others or getattr(part, "__module__", None) != cls.__module__):
            continue
        if (asked or issubclass(cls, type)) and is_in_its_model(part):
            continue  # who is asked may ask another model, and a metaclass may keep many
        role = marks_of(part)[0][0].value
        raise WrongDefinition(
            f"{where} holds a function that is marked @{role}{place_of(part)}, and is not marked "
            f"so itself, so that it would never be asked. Let @{role} be the outermost decorator "
            f"of a plain method, {_WRAPS}"
        )


def _refuse_marked(where: str, member: Any) -> None:
    if marks_of(member):
        raise WrongDefinition(
            f"{where} is marked @{marks_of(member)[0][0].value}{place_of(member)}, and stands in "
            "no model of its own, so that it would never be asked. Write it in a model"
        )


def _is_model_itself(base: Any) -> bool:
    # By identity: a class that `type(...)` makes bears the name of whatever module has called it.
    return base in (object, typing.Generic, abc.ABC) or OF_MODEL in vars(base)


def _attributes_of_model(cls: Any) -> set[str]:
    return {
        name
        for base in cls.__mro__
        if OF_MODEL in vars(base)
        for name in vars(base)
        if not name.startswith("_")
    }


def _own_names(cls: Any) -> Iterator[tuple[str, Any]]:
    for base in cls.__mro__:
        if not _is_model_itself(base):
            yield from ((name, base) for name in vars(base))


@functools.cache
def _method(function: Callable[..., Any], name: str, role: Role, fairness: Fairness) -> Method:
    hints = typing.get_type_hints(function, include_extras=True)
    taken = list(inspect.signature(function).parameters.values())
    first = 1 + STATES_TAKEN.get(role, 1)
    if len(taken) < first or any(part.kind not in _BY_POSITION for part in taken):
        raise WrongDefinition(
            f"{name} takes ({', '.join(map(str, taken))}), and @{role.value} asks it with the model"
            f"{', a state' * (first - 1)} and an element for each further parameter, by position. "
            "Write its parameters in this order, one by one"
        )
    names = [part.name for part in taken[first:]]
    for parameter in names:
        if parameter not in hints:
            raise WrongDefinition(
                f"parameter {parameter} of {name} has no type, so the values that it ranges over "
                f"are not known. Annotate it with an Element class"
            )
    return Method(name, role, fairness, tuple((part, hints[part]) for part in names))
