"""Disturbances: what a method of a model changes beside its answer, found after each call.

A method with a side effect answers by what was asked before. Where the source of a model shows
that there may be one, whatever its methods use is looked at after each call, and the state too. So
what is changed and changed back, or changed in a late state alone, is found as well.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Set as AbstractSet
from typing import Any, TypeAlias

from streamproof.checker.forms import form_of
from streamproof.lang import Element
from streamproof.lang.fingerprint import Fingerprint, cannot_be_seen, hidden_in
from streamproof.lang.impure import ImpureModel
from streamproof.lang.model import Call, Model
from streamproof.lang.reached import hinted_classes_of
from streamproof.lang.side_effects import Effect, side_effects_of
from streamproof.lang.surroundings import changed, computed_once, surroundings
from streamproof.models.kit.trace import show

Ask: TypeAlias = Callable[..., Any]


class Watch:
    """Looks after each call of a model's methods whether it has changed something.

    Parameters
    ----------
    model : what its methods use has to stay as it is now
    effects : what they may change
    """

    def __init__(self, model: Model[Any], effects: AbstractSet[Effect]) -> None:
        self._model, self._around = model, surroundings(model)
        self._before = Fingerprint(model, effects)
        self._looks_at_states = Effect.ATTRIBUTES in effects or any(
            map(computed_once, hinted_classes_of(type(model)))  # type: ignore[arg-type] # a class does hash
        )
        self._last, self._form = object(), None

    def over(self, name: str, ask: Ask) -> Ask:
        """Return a method that refuses to go on once it has changed something.

        Parameters
        ----------
        name : of the method, with its arguments
        ask : takes states, then arguments
        """

        def asked(*arguments: Any) -> Any:
            forms = [self._form_before(argument) for argument in arguments]
            try:
                answer = ask(*arguments)
            except Exception:
                self._require_same(name, arguments, forms)
                raise
            self._require_same(name, arguments, forms)
            return answer

        return asked

    def _form_before(self, argument: Any) -> Any:
        """Return the form of an argument; of the state that was asked about last, as it was then.

        A state is asked about by one method after the other.
        """
        if not self._looks_at_states or isinstance(argument, Element | int | str):
            return None
        if argument is not self._last:
            self._last, self._form = argument, form_of(argument)
        return self._form

    def _require_same(self, name: str, arguments: tuple[Any, ...], forms: list[Any]) -> None:
        for argument, form in zip(arguments, forms, strict=True):
            if form is not None and form_of(argument) != form:
                raise changed_in_place(argument)
        if found := self._before.difference():
            raise ImpureModel(
                f"{name} of {type(self._model).__name__} has changed something beside its answer: "
                f"{self._told(found)}. What the methods answer may depend on what was asked "
                "before. Let it be a field of the state, or use functools.cache for what is only "
                "remembered"
            )

    def _told(self, found: tuple[str, str]) -> str:
        """Describe a change: by its name, if what it belongs to has one."""
        now = surroundings(self._model)
        if named := changed(self._around, now):
            what, old, new = named
            return f"{what} was {old} and is {new} now"
        old, new = map(_shortened, found)
        return f"({old}) was there, and ({new}) is there now"


def changed_in_place(state: Any) -> ImpureModel:
    """Return the error of a state that changed after it was found."""
    return ImpureModel(
        f"a state was changed in place, and is {show(state)} now: what it was before is lost to "
        "the search. Let each action give a new state, as by dataclasses.replace"
    )


def _shortened(text: str) -> str:
    return text if len(text) <= _SHOWN_MAX else f"{text[:_SHOWN_MAX]}..."


_SHOWN_MAX = 200
"""Characters of what was changed that a message shows."""


def undisturbed_actions(model: Model[Any]) -> list[tuple[Call, Ask]]:
    """List the ground actions of a model, each watched if the model's methods are."""
    watch = watch_of(model)
    if watch is None:
        return list(model.ground_actions)
    return [(call, watch.over(str(call), act)) for call, act in model.ground_actions]


def watch_of(model: Model[Any]) -> Watch | None:
    """Return a watch over a model's methods; None if none can have a side effect."""
    effects = side_effects_of(type(model))
    if _hidden_in(model):
        effects |= {Effect.ENTRIES}
    return Watch(model, effects) if effects else None


def _hidden_in(model: Model[Any]) -> tuple[Any, ...]:
    """List what may change by any call, once for the model that was asked about last."""
    if not _known or _known[0] is not model:
        _known[:] = [model, hidden_in(model)]
    hidden: tuple[Any, ...] = _known[1]
    return hidden


_known: list[Any] = []
"""A model, and what was found of it."""


def require_visible(model: Model[Any]) -> None:
    """Refuse a model whose methods use an object of which nothing tells what it holds.

    Raises
    ------
    ImpureModel : if they use one
    """
    for value in _hidden_in(model):
        if cannot_be_seen(value):
            raise ImpureModel(
                f"the methods of {type(model).__name__} use {value!r}, and nothing tells what it "
                "holds. It may change as it is used, and so would what they answer. Let a method "
                "make it anew, or let it be a field of the state"
            )
