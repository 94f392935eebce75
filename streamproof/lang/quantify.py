"""Quantifiers over domains and over the keys of maps."""

from __future__ import annotations

import sys
from collections.abc import Iterator
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
    observed = _premises.get()
    if observed is not None:
        code = sys._getframe(1).f_code  # noqa: SLF001 - whose premise it is
        observed[code] = observed.get(code, False) or bool(premise)
    return (not premise) or conclusion


Premises: TypeAlias = dict[CodeType, bool]
"""Per function that calls `implies`: whether its premise has ever held."""
_premises: ContextVar[Premises | None] = ContextVar("premises", default=None)


@contextmanager
def observed_premises() -> Iterator[Premises]:
    """Note whose premises hold while this lasts: one that never does says nothing."""
    observed: Premises = {}
    token = _premises.set(observed)
    try:
        yield observed
    finally:
        _premises.reset(token)


def _values(domains: tuple[Any, ...], claim: Any) -> Iterator[Any]:
    keys = key_space(domains).keys
    if len(domains) == 1:
        return (claim(key) for key in keys)
    return (claim(*key) for key in keys)
