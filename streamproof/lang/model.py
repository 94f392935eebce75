"""Models: closed systems whose every run can be explored, traced and proven about.

A model is a frozen dataclass. Its fields are what a size fixes (domains and constants); its methods
are the initial state, the actions and the properties, all of which take a state and stay pure.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import typing
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Self, TypeVar

from streamproof.lang.claims import claim_text
from streamproof.lang.domain import Domain
from streamproof.lang.errors import Disabled, WrongDefinition
from streamproof.lang.roles import (
    PROMISES,
    STATED,
    STATES_TAKEN,
    Fairness,
    Method,
    Role,
    declare,
    methods_of,
)

__all__ = [
    "PROMISES",
    "STATED",
    "STATES_TAKEN",
    "Call",
    "Fairness",
    "Method",
    "Model",
    "Move",
    "Role",
    "action",
    "always",
    "assume",
    "eventually",
    "every_step",
    "final",
    "init",
    "leads_to",
    "methods_of",
    "promised",
    "sometimes",
]

S = TypeVar("S", bound=Hashable)
F = TypeVar("F", bound=Callable[..., Any])


def init(method: F) -> F:
    """Declare an initial state: a method of the model alone. Parameters give one state each.

    Examples
    --------
    >>> class Lamp(Model[bool]):
    ...     @init
    ...     def dark(self) -> bool:
    ...         return False
    >>> list(Lamp().initial_states())
    [False]
    """
    return declare(method, Role.INIT)


def assume(method: F) -> F:
    """Declare what is assumed of the model's constants, such as that a bound is not negative.

    Examples
    --------
    >>> class Buffer(Model[int]):
    ...     room = 4
    ...     @assume
    ...     def there_is_room(self) -> bool:
    ...         return self.room > 0
    """
    return declare(method, Role.ASSUME)


@typing.overload
def action(method: F) -> F: ...
@typing.overload
def action(*, fairness: Fairness) -> Callable[[F], F]: ...
def action(method: F | None = None, *, fairness: Fairness = Fairness.NONE) -> F | Callable[[F], F]:
    """Declare a guarded action: it gives the next state, or its `require` fails.

    Raises
    ------
    WrongDefinition : if its fairness is none

    Examples
    --------
    >>> class Counter(Model[int]):
    ...     @action
    ...     def add(self, n: int) -> int:
    ...         require(n < 3)
    ...         return n + 1
    >>> [move.target for move in Counter().moves(2)], list(Counter().moves(3))
    ([3], [])
    """
    if not isinstance(fairness, Fairness):
        raise WrongDefinition(
            f"an action has fairness={fairness!r}, so what it is owed is not known. Write: "
            "@action(fairness=Fairness.WEAK), or Fairness.STRONG, or leave it out for none"
        )
    if method is None:
        return functools.partial(declare, role=Role.ACTION, fairness=fairness)
    return declare(method, Role.ACTION)


def always(method: F) -> F:
    """Declare an invariant of every reachable state.

    The method gives True, or False, or a reason as text; or a mapping from the names of its
    conjuncts to such answers.

    Examples
    --------
    >>> class Counter(Model[int]):
    ...     @always
    ...     def is_small(self, n: int) -> bool | str:
    ...         return True if n < 4 else f"{n} is too much"
    >>> Counter().is_small(7)
    '7 is too much'
    """
    return declare(method, Role.ALWAYS)


def every_step(method: F) -> F:
    """Declare a property of every step: the method takes the states before and after it.

    Examples
    --------
    >>> class Counter(Model[int]):
    ...     @every_step
    ...     def only_rises(self, before: int, after: int) -> bool:
    ...         return before <= after
    """
    return declare(method, Role.EVERY_STEP)


def sometimes(method: F) -> F:
    """Declare that some reachable state satisfies this. No search is green without it.

    Examples
    --------
    >>> class Counter(Model[int]):
    ...     @sometimes
    ...     def is_full(self, n: int) -> bool:
    ...         return n == 3
    """
    return declare(method, Role.SOMETIMES)


def leads_to(method: F) -> F:
    """Declare liveness: of the pair given, whenever the first holds, the second follows.

    Examples
    --------
    >>> class Lamp(Model[bool]):
    ...     @leads_to
    ...     def goes_out(self, lit: bool) -> tuple[bool, bool]:
    ...         return lit, not lit
    """
    return declare(method, Role.LEADS_TO)


def promised(name: str, answer: object) -> tuple[Any, Any]:
    """Read a `leads_to` method's answer: whether it is promised in a state, and whether it is kept.

    Raises
    ------
    WrongDefinition : if it is no pair
    """
    match answer:
        case (when, then):
            return when, then
        case _:
            raise WrongDefinition(
                f"{name} answered {answer!r}, which is no pair, so it is not known what leads to "
                "what. Return two truth values: whether it is promised here, and whether it is kept"
            )


def answers_of(name: str, role: Role, answer: object) -> dict[str, Any]:
    """Read the forms that a property's answer may take as truths by name.

    The name of a single one is empty. A reason says that it does not hold.

    Raises
    ------
    WrongDefinition : if a `leads_to` method does not answer with a pair
    """
    if role is Role.LEADS_TO:
        when, then = promised(name, answer)
        return {"when": when, "then": then}
    parts = answer if isinstance(answer, Mapping) else {"": answer}
    return {part: False if isinstance(held, str) and held else held for part, held in parts.items()}


def eventually(method: F) -> F:
    """Declare liveness: whatever happens, at some time this holds.

    Examples
    --------
    >>> class Counter(Model[int]):
    ...     @eventually
    ...     def is_full(self, n: int) -> bool:
    ...         return n == 3
    """
    return declare(method, Role.EVENTUALLY)


def final(method: F) -> F:
    """Declare states in which nothing more needs to happen, so that they are no deadlock.

    Examples
    --------
    >>> class Counter(Model[int]):
    ...     @final
    ...     def is_full(self, n: int) -> bool:
    ...         return n == 3
    """
    return declare(method, Role.FINAL)


@dataclass(frozen=True)
class Call:
    """An action (or a parameterised property) with its arguments."""

    name: str
    arguments: tuple[Any, ...]
    parameters: tuple[str, ...]

    def __str__(self) -> str:
        pairs = zip(self.parameters, self.arguments, strict=True)
        return f"{self.name}({', '.join(f'{name}={value!r}' for name, value in pairs)})"


@dataclass(frozen=True, slots=True)
class Move(Generic[S]):
    """One step that a state allows.

    Attributes
    ----------
    call : the action and its arguments
    target : the next state; None if a claim (`assert`) failed on the way
    broken_claim : where the failed claim stands and what it says
    """

    call: Call
    target: S | None
    broken_claim: str | None = None


@dataclass(frozen=True)
class Model(Generic[S]):
    """A closed system over states of type S, which may be any hashable value.

    Subclasses are frozen dataclasses. To be traced and proven, S must be a frozen dataclass of the
    language's sorts; the reference engine explores any.

    Attributes
    ----------
    sizes : named sizes, as keyword arguments of `sized`
    protocol_name : the file name of the protocol that the model is about, if it is about one

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Lamp(Model[bool]):
    ...     @init
    ...     def dark(self) -> bool:
    ...         return False
    ...
    ...     @action
    ...     def toggle(self, lit: bool) -> bool:
    ...         return not lit
    >>> for move in Lamp().moves(False):
    ...     print(move.call, "leads to", move.target)
    toggle() leads to True
    """

    __streamproof_model__: ClassVar[bool] = True  # its attributes are no model's own
    sizes: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    protocol_name: ClassVar[str] = ""

    def __new__(cls, *_fields: Any, **_named: Any) -> Self:
        """Make a model, once it is known that its names mean what they say."""
        methods_of(cls)
        return super().__new__(cls)

    @classmethod
    def sized(cls, *fields: Any, **size: Any) -> Model[S]:
        """Build the model of a size. Override it where a size is not simply the fields."""
        return cls(*fields, **size)  # any signature may override one that takes anything

    def ruled_out(self) -> Collection[str]:
        """Name the actions that this size rules out, such as repairs where there are none.

        Any other action has to happen somewhere for a search to be green, and these must not.
        """
        return ()

    @classmethod
    def methods(cls, role: Role) -> tuple[Method, ...]:
        """List the methods of a role, in the order of their definition, base classes first.

        Raises
        ------
        WrongDefinition : as `methods_of` does
        """
        return tuple(method for method in methods_of(cls) if method.role is role)

    def domain_of(self, annotation: Any, method: str) -> Domain[Any]:
        """Find the domain that a parameter ranges over, by the element class in its annotation."""
        own = domain_fields(type(self))  # type: ignore[arg-type] # hashable
        found = [field for field, element in own if element is annotation]
        if len(found) == 1:
            domain: Domain[Any] = getattr(self, found[0])
            return domain
        if found:
            raise WrongDefinition(
                f"{type(self).__name__}.{method} takes a parameter of type {annotation.__name__}, "
                f"of which the model has several domains: {', '.join(found)}. It would be asked of "
                "one of them alone. Give each an Element class of its own"
            )
        raise WrongDefinition(
            f"{type(self).__name__}.{method} takes a parameter of type {annotation}, but "
            f"no field of the model is a Domain of it, so its values are unknown. Declare one"
        )

    def calls(self, method: Method) -> Iterator[Call]:
        """List a method's ground instances: one for each combination of its parameters' values."""
        names = tuple(name for name, _ in method.parameters)
        domains = [self.domain_of(annotation, method.name) for _, annotation in method.parameters]
        for arguments in itertools.product(*domains):
            yield Call(method.name, arguments, names)

    def initial_states(self) -> Iterator[S]:
        """List the initial states."""
        declared = self.methods(Role.INIT)
        if not declared:
            raise WrongDefinition(
                f"{type(self).__name__} has no initial state: mark a method with @init"
            )
        for method in declared:
            for call in self.calls(method):
                yield getattr(self, method.name)(*call.arguments)

    @functools.cached_property
    def ground_actions(self) -> tuple[tuple[Call, Callable[..., S]], ...]:
        """All ground actions, in the order of definition and of the domains."""
        return tuple(
            (call, getattr(self, method.name))
            for method in self.methods(Role.ACTION)
            for call in self.calls(method)
        )

    def moves(self, state: S) -> Iterator[Move[S]]:
        """List the steps that a state allows; claims that fail are moves without a target."""
        for call, act in self.ground_actions:
            try:
                target = act(state, *call.arguments)
            except Disabled:
                continue
            except AssertionError as broken:
                yield Move(call, None, claim_text(broken))
                continue
            if target is None:
                raise WrongDefinition(f"{call} gave no state: does it lack a `return`?")
            yield Move(call, target)


@functools.cache
def domain_fields(cls: Any) -> tuple[tuple[str, Any], ...]:
    """List a model's fields that are domains, each with the class of its elements."""
    hints = typing.get_type_hints(cls, include_extras=True)
    fields = ((field.name, hints[field.name]) for field in dataclasses.fields(cls))
    return tuple((n, typing.get_args(h)[0]) for n, h in fields if typing.get_origin(h) is Domain)
