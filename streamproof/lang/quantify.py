"""Quantifiers over domains and over the keys of maps."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import CodeType
from typing import Any, TypeAlias, cast

from streamproof.lang.domain import key_space
from streamproof.lang.map import domains_of, is_open


def forall(*domains_and_claim: Any) -> bool:
    """Tell whether a claim holds for every element: ``forall(processes, lambda p: ...)``.

    Over several domains, or a map's keys, the function takes one argument for each:
    ``forall(sent, lambda p, q: received[p, q] <= sent[p, q])``.
    """
    *arguments, claim = domains_and_claim
    domains = domains_of(arguments)
    if is_open(domains):
        return cast("bool", domains[0].symbolic_quantifier("forall", domains, claim))
    return all(_values(domains, claim))


def exists(*domains_and_claim: Any) -> bool:
    """Tell whether a claim holds for some element."""
    *arguments, claim = domains_and_claim
    domains = domains_of(arguments)
    if is_open(domains):
        return cast("bool", domains[0].symbolic_quantifier("exists", domains, claim))
    return any(_values(domains, claim))


def count(*domains_and_claim: Any) -> int:
    """Count the elements for which a claim holds. The prover, which knows no sizes, refuses it."""
    *arguments, claim = domains_and_claim
    domains = domains_of(arguments)
    if is_open(domains):
        return cast("int", domains[0].symbolic_quantifier("count", domains, claim))
    return sum(bool(value) for value in _values(domains, claim))


def implies(premise: bool, conclusion: bool) -> bool:
    """Give ``not premise or conclusion``; both are evaluated."""
    observe = _observer.get()
    if observe is not None:
        observe(sys._getframe(1).f_code, premise)  # noqa: SLF001 - whose premise it is
    return (not premise) or conclusion


Premises: TypeAlias = dict[CodeType, bool]
"""Per function that calls `implies`: whether its premise has ever held."""
Observer: TypeAlias = Callable[[CodeType, Any], None]
"""Told the function that calls `implies`, and the premise."""
_observer: ContextVar[Observer | None] = ContextVar("observer", default=None)


@contextmanager
def observing_premises(observer: Observer) -> Iterator[None]:
    """Tell an observer of every premise while this lasts."""
    token = _observer.set(observer)
    try:
        yield
    finally:
        _observer.reset(token)


@contextmanager
def observed_premises() -> Iterator[Premises]:
    """Note whose premises hold while this lasts: one that never does says nothing."""
    observed: Premises = {}

    def observe(code: CodeType, premise: Any) -> None:
        observed[code] = observed.get(code, False) or bool(premise)

    with observing_premises(observe):
        yield observed


def note_premise(code: CodeType, held: bool) -> None:
    """Tell who observes premises of one that was evaluated otherwise than by `implies`."""
    observe = _observer.get()
    if observe is not None:
        observe(code, held)


def _values(domains: tuple[Any, ...], claim: Any) -> Iterator[Any]:
    keys = key_space(domains).keys
    if len(domains) == 1:
        return (claim(key) for key in keys)
    return (claim(*key) for key in keys)
