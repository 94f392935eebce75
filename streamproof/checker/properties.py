"""Properties: what a model's methods answer about states and steps, and what that means."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeAlias, TypeVar

from streamproof.checker.declared import find_wrong_state
from streamproof.checker.disturbed import watch_of
from streamproof.checker.orders import in_any_order, truth_of
from streamproof.lang import StreamproofError, WrongDefinition
from streamproof.lang.model import Call, Model, Role
from streamproof.lang.premises import premise_sites
from streamproof.lang.quantify import asking

S = TypeVar("S")

Answer: TypeAlias = bool | str | Mapping[str, bool | str]
"""What a property gives: whether it holds, or why not, or either for each named conjunct."""


STUCK = "no action is possible; a state in which a run may end needs a property marked @final"
"""The reason that is reported for a deadlock."""


class BrokenAssumption(StreamproofError, ValueError):
    """A size contradicts what the model assumes of its constants."""


@dataclass(frozen=True, slots=True)
class Broken:
    """A property that does not hold.

    Attributes
    ----------
    name : the property's name
    reason : what is wrong, in words
    conjuncts : the named conjuncts that failed
    """

    name: str
    reason: str
    conjuncts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Check(Generic[S]):
    """A property with its arguments, ready to be asked.

    Attributes
    ----------
    ask : the method, bound to the model; it takes the state or states, then the arguments
    """

    call: Call
    ask: Callable[..., Answer]

    @property
    def name(self) -> str:
        """The property's name, without arguments."""
        return self.call.name

    def holds(self, *states: S) -> bool:
        """Ask without caring for a reason, which costs time to write."""
        answer = self.ask(*states, *self.call.arguments)
        return answer if isinstance(answer, bool) else judge(self.call, answer) is None

    def broken(self, *states: S) -> Broken | None:
        """Ask about a state, or about the two states of a step."""
        answer = self.ask(*states, *self.call.arguments)
        return None if answer is True else judge(self.call, answer)


@dataclass(frozen=True, slots=True)
class Properties(Generic[S]):
    """A model's properties, each once for every combination of its parameters' values."""

    always: tuple[Check[S], ...]
    every_step: tuple[Check[S], ...]
    sometimes: tuple[Check[S], ...]
    final: tuple[Check[S], ...]

    @classmethod
    def of(cls, model: Model[Any]) -> Properties[Any]:
        """Read a model's properties."""
        return cls(
            checks_of(model, Role.ALWAYS),
            checks_of(model, Role.EVERY_STEP),
            checks_of(model, Role.SOMETIMES),
            checks_of(model, Role.FINAL),
        )

    def broken_in(self, state: S) -> tuple[Broken, ...]:
        """List the invariants that do not hold in a state."""
        answers = [check.broken(state) for check in self.always]
        return tuple(broken for broken in answers if broken)

    def broken_by(self, before: S, after: S) -> tuple[Broken, ...]:
        """List the properties of steps that a step breaks."""
        answers = [check.broken(before, after) for check in self.every_step]
        return tuple(broken for broken in answers if broken)

    def is_final(self, state: S) -> bool:
        """Return whether nothing more needs to happen in a state."""
        return any(check.holds(state) for check in self.final)


def judge(call: Call, answer: object) -> Broken | None:
    """Read an answer: None if the property holds.

    Raises
    ------
    WrongDefinition : if the answer is neither a bool, nor a reason, nor a mapping to such
    """
    match answer:
        case True:
            return None
        case False:
            return Broken(call.name, f"{call} does not hold")
        case str() if answer:
            return Broken(call.name, f"{call}: {answer}" if call.arguments else answer)
        case Mapping() if answer:
            return _judge_conjuncts(call, answer)
        case _:
            raise WrongDefinition(
                f"{call} answered {answer!r}, of type {type(answer).__name__}, which says neither "
                "that it holds nor that it does not. Return True, False, a reason as text, or a "
                "mapping from the names of conjuncts to these; wrap what is merely true in bool()"
            )


def never_asked(model: Model[Any], role: Role) -> tuple[str, ...]:
    """List the properties of a role whose parameters range over an empty domain."""
    methods = model.methods(role)
    return tuple(method.name for method in methods if not any(True for _ in model.calls(method)))


def check_assumptions(model: Model[Any]) -> None:
    """Check what the model assumes of its constants.

    Raises
    ------
    BrokenAssumption : if an assumption does not hold at this size
    """
    for check in checks_of(model, Role.ASSUME):
        if broken := check.broken():
            raise BrokenAssumption(
                f"{type(model).__name__} assumes {check.name}, and at this size {broken.reason}. "
                "What is found under a false assumption means nothing. Choose another size"
            )


def checks_of(model: Model[Any], role: Role) -> tuple[Check[Any], ...]:
    """List the properties of a role; one that calls `implies` tells whose premises it asks for."""
    sites, has_sort = premise_sites(type(model)), find_wrong_state(model) is not None
    found: list[Check[Any]] = []
    methods = model.methods(role)
    watch = watch_of(model) if methods else None
    for method in methods:
        ask = getattr(model, method.name)
        if watch is not None:
            ask = watch.over(method.name, ask)
        if not has_sort:  # so that states may hold sets
            ask = in_any_order(method.name, ask, truth_of)
        if own := sites.get(method.name):
            ask = asking(method.name, own, ask)
        found += [Check(call, ask) for call in model.calls(method)]
    return tuple(found)


def _judge_conjuncts(call: Call, answers: Mapping[str, object]) -> Broken | None:
    failed: dict[str, str] = {}
    for name, answer in answers.items():
        part = judge(Call(f"{call.name}.{name}", call.arguments, call.parameters), answer)
        if part is not None:
            failed[name] = part.reason
    return Broken(call.name, "; ".join(failed.values()), tuple(failed)) if failed else None
