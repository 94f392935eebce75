"""The states that a search has found: each is kept once, and none is taken for another."""

from __future__ import annotations

from array import array
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from streamproof.checker.declared import FindWrong, find_wrong_state
from streamproof.checker.disturbed import changed_in_place, undisturbed_actions
from streamproof.checker.forms import difference, unfit
from streamproof.checker.orders import in_any_order
from streamproof.lang import StreamproofError
from streamproof.lang.model import Call, Model
from streamproof.models.kit.trace import show

S = TypeVar("S")


class UnfitState(StreamproofError, TypeError):
    """A state that could mislead a search: it has a wrong value, or equals a different state."""


class States(Generic[S]):
    """Distinct states, kept whole. Each state is looked at when it is added.

    Parameters
    ----------
    model : whose states they are; it declares their sorts
    """

    def __init__(self, model: Model[Any]) -> None:
        self._kept: dict[S, S] = {}
        self._hashes = array("q")
        self._wrong = find_wrong_state(model)

    def __len__(self) -> int:
        return len(self._kept)

    def add(self, state: S) -> bool:
        """Keep a state if it is new, and tell whether it is.

        Raises
        ------
        UnfitState : if it holds what is not of its declared sort or can be no part of a state, or
            if it is equal to one that is kept and not the same
        """
        count = len(self._kept)
        kept = self._kept.setdefault(state, state)
        is_new = len(self._kept) > count
        if is_new:
            self._hashes.append(hash(state))
        if is_new or (self._wrong is not None and kept is not state):
            look_at(state, self._wrong)  # of one sort, equal states are the same
        elif kept is not state and (told := difference(kept, state)):
            raise UnfitState(
                f"a state is equal to {show(kept)} by Python's ==, though {_of(told)}. The search "
                "would keep one of them and ask no property of the other. Let each field have "
                "values of one class, compare all its fields, and leave out an __eq__ of your own"
            )
        return is_new

    def require_kept(self, number: int, state: S) -> None:
        """Refuse a state, the one of this number, that is not any more what it was when kept.

        Raises
        ------
        ImpureModel : if an action or property has changed it in place
        """
        if hash(state) != self._hashes[number]:
            raise changed_in_place(state)


def look_at(state: Any, wrong: FindWrong | None) -> None:
    """Refuse a state that no search should meet; `wrong` finds what is not of its declared sort.

    Values of a sort can be kept as they are. Where no sort is declared, each part is looked at.

    Raises
    ------
    UnfitState : if something is wrong
    """
    if state is None:
        raise UnfitState("there is no state: does the method lack a `return`? Let it give one")
    if wrong is None:
        if told := unfit(state):
            raise UnfitState(f"in a state, {_of(told)}. A search cannot keep it as it is")
    elif told := wrong(state):
        raise UnfitState(
            f"in a state, {_of(told)}. Two engines would read it differently. Give a value of the "
            "declared sort, or declare another"
        )


def acts_in_any_order(model: Model[Any]) -> list[tuple[Call, Callable[..., Any]]]:
    """List the ground actions of a model, asked in each order of sets where states may hold any."""
    actions = undisturbed_actions(model)
    if find_wrong_state(model) is not None:
        return actions
    return [(call, in_any_order(str(call), act)) for call, act in actions]


def _of(told: str) -> str:
    """Read what was found about a state or a part of it as a clause."""
    return told.removeprefix(".") if told.startswith((".", "[")) else f"it{told}"
