"""Ruled out: the actions that a model's size excludes, after a check of their names."""

from __future__ import annotations

from typing import Any

from streamproof.lang import WrongDefinition
from streamproof.lang.model import Model, Role

_COLLECTIONS = (tuple, list, set, frozenset)


def names_ruled_out(model: Model[Any]) -> frozenset[str]:
    """Return the actions that a model's size rules out; ask twice, and refuse an unclear answer.

    A text has parts of names in it, and a generator has its names only once.

    Raises
    ------
    WrongDefinition : if an answer is no collection of names of actions, or the answers differ
    """
    first, second = _asked(model), _asked(model)
    if first != second:
        raise WrongDefinition(
            f"{type(model).__name__}.ruled_out was asked twice, and gave {sorted(first)}, then "
            f"{sorted(second)}, so it is not known what this size excludes. Let it depend on the "
            "model's fields alone"
        )
    return first


def _asked(model: Model[Any]) -> frozenset[str]:
    given: Any = model.ruled_out()
    if type(given) not in _COLLECTIONS:
        raise _wrong(model, given, f"is a {type(given).__name__}, and no collection of names")
    actions = {method.name for method in model.methods(Role.ACTION)}
    for name in given:
        if type(name) is not str or name not in actions:
            raise _wrong(model, given, f"has {name!r} in it, which is the name of no action")
    return frozenset(given)


def _wrong(model: Model[Any], given: object, what: str) -> WrongDefinition:
    return WrongDefinition(
        f"{type(model).__name__}.ruled_out gave {given!r}, which {what}, so it is not known what "
        "this size excludes. Return a tuple of the names of actions"
    )
