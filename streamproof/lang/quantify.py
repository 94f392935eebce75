"""Quantifiers over domains and over the keys of maps."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

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
    return (not premise) or conclusion


def _values(domains: tuple[Any, ...], claim: Any) -> Iterator[Any]:
    keys = key_space(domains).keys
    if len(domains) == 1:
        return (claim(key) for key in keys)
    return (claim(*key) for key in keys)
