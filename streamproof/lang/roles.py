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

from streamproof.lang.errors import WrongDefinition

F = TypeVar("F", bound=Callable[..., Any])


class Fairness(Enum):
    """What an action that stays enabled is owed."""

    NONE = "none"
    """Nothing: it may be postponed for ever, like a crash."""
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
    reserved = _attributes_of_model(cls)
    found: dict[str, _Marked] = {}
    for base in reversed(cls.__mro__):
        if not _is_model_itself(base):
            for name, member in vars(base).items():
                _take(base, name, member, found)
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
    return tuple(_method(getattr(cls, name), name, *marked) for name, marked in found.items())


def _take(base: Any, name: str, member: Any, found: dict[str, _Marked]) -> None:
    """Note what one member of a model or of one of its bases is."""
    where, roles = f"{base.__name__}.{name}", getattr(member, "__streamproof__", ())
    hidden = _role_inside(member) or (None if roles or name in found else _role_lost(name, member))
    if hidden:
        raise WrongDefinition(
            f"{where} is marked @{hidden.value}, and then made a {type(member).__name__}, so that "
            f"it would never be asked. Let @{hidden.value} be the outermost decorator of a plain "
            "method"
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


def _role_inside(member: Any) -> Role | None:
    """Find the role of a method that was made a property, a static method or the like."""
    inner: Any = [getattr(member, part, None) for part in ("__func__", "fget", "func")]
    if isinstance(member, staticmethod | classmethod):
        inner.append(member)
    return next((part.__streamproof__[0][0] for part in inner if _has_role(part)), None)


def _role_lost(name: str, member: Any) -> Role | None:
    """Find the role of the method of this name that a wrapper without a role calls."""
    cells = getattr(member, "__closure__", None) or ()
    inner = [cell.cell_contents for cell in cells if _is_filled(cell)]
    same = (part for part in inner if _has_role(part) and part.__name__ == name)
    return next((part.__streamproof__[0][0] for part in same), None)


def _has_role(value: Any) -> bool:
    return not isinstance(value, type) and bool(getattr(value, "__streamproof__", ()))


def _is_filled(cell: Any) -> bool:
    try:
        cell.cell_contents  # noqa: B018 - reading it is the question
    except ValueError:
        return False
    return True


def _is_model_itself(base: Any) -> bool:
    # By identity: a class that `type(...)` makes bears the name of whatever module has called it.
    return base in (object, typing.Generic, abc.ABC) or "__streamproof_model__" in vars(base)


def _attributes_of_model(cls: Any) -> set[str]:
    return {
        name
        for base in cls.__mro__
        if "__streamproof_model__" in vars(base)
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
