"""Quantifiers over domains and over the keys of maps."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import starmap
from types import CodeType
from typing import Any, TypeAlias, cast

from streamproof.lang.domain import key_space
from streamproof.lang.map import domains_of, is_open


def forall(*domains_and_claim: Any) -> bool:
    """Return whether a claim holds for every element: ``forall(processes, lambda p: ...)``.

    Over several domains, or a map's keys, the function takes one argument for each:
    ``forall(sent, lambda p, q: received[p, q] <= sent[p, q])``.

    Examples
    --------
    >>> class Process(Element): ...
    >>> processes = Domain(Process, 3)
    >>> forall(processes, processes, lambda p, q: implies(p == q, q == p))
    True
    """
    *arguments, claim = domains_and_claim
    domains = domains_of(arguments)
    if is_open(domains):
        return cast("bool", domains[0].symbolic_quantifier("forall", domains, claim))
    values = _values(domains, claim)
    return all(values) or _also_asked(values, False)


def exists(*domains_and_claim: Any) -> bool:
    """Return whether a claim holds for some element.

    Examples
    --------
    >>> class Process(Element): ...
    >>> exists(Domain(Process, 0), lambda p: True)
    False
    """
    *arguments, claim = domains_and_claim
    domains = domains_of(arguments)
    if is_open(domains):
        return cast("bool", domains[0].symbolic_quantifier("exists", domains, claim))
    values = _values(domains, claim)
    return any(values) and _also_asked(values, True)


def count(*domains_and_claim: Any) -> int:
    """Count the elements for which a claim holds. The prover, which knows no sizes, refuses it.

    Examples
    --------
    >>> class Process(Element): ...
    >>> votes = Map.build(Domain(Process, 3), lambda p: p != Process(0))
    >>> count(votes, lambda p: votes[p])
    2
    """
    *arguments, claim = domains_and_claim
    domains = domains_of(arguments)
    if is_open(domains):
        return cast("int", domains[0].symbolic_quantifier("count", domains, claim))
    return sum(bool(value) for value in _values(domains, claim))


def implies(premise: bool, conclusion: bool) -> bool:
    """Return ``not premise or conclusion``; both are evaluated.

    Examples
    --------
    >>> implies(False, False), implies(True, False)
    (True, False)
    """
    observe = _observer.get()
    if observe is not None:
        caller = sys._getframe(1)  # noqa: SLF001 - whose premise it is
        observe(site_at(caller.f_code, caller.f_lasti), premise)
    return (not premise) or conclusion


@dataclass(frozen=True, slots=True, eq=False)
class Site:
    """A place where a function calls `implies`; the same place is the same object."""

    code: CodeType
    line: int
    column: int

    @property
    def place(self) -> tuple[str, int, int]:
        """Where it stands, to sort by."""
        return self.code.co_filename, self.line, self.column


@functools.cache
def _known() -> tuple[dict[tuple[int, int], Site], dict[tuple[int, int, int], Site]]:
    """Keep places by a function's code, which they keep alive: by instruction, and in the text."""
    return {}, {}


def site_at(code: CodeType, offset: int) -> Site:
    """Return the place of an instruction, which is the same for all of one call."""
    sites, places = _known()
    key = (id(code), offset)
    found = sites.get(key)
    if found is None:
        line, _, column, _ = list(code.co_positions())[offset // 2]
        made = Site(code, line or code.co_firstlineno, column or 0)
        found = places.setdefault((id(code), made.line, made.column), made)
        sites[key] = found
    return found


Premises: TypeAlias = dict[tuple[str, Site], bool]
"""Per property and `implies` in it: whether its premise has ever held."""
Observer: TypeAlias = Callable[[Site, Any], None]
"""Told where `implies` is called, and the premise."""
_observer: ContextVar[Observer | None] = ContextVar("observer", default=None)
_premises: ContextVar[Premises | None] = ContextVar("premises", default=None)
_asked: ContextVar[str] = ContextVar("asked", default="")


@contextmanager
def observing_premises(observer: Observer) -> Iterator[None]:
    """Report every premise to an observer while the context lasts."""
    token = _observer.set(observer)
    try:
        yield
    finally:
        _observer.reset(token)


@contextmanager
def observed_premises() -> Iterator[Premises]:
    """Note which premises of properties hold while this lasts: one that never does says nothing."""
    observed: Premises = {}

    def observe(site: Site, premise: Any) -> None:
        if name := _asked.get():
            key = (name, site)
            observed[key] = observed.get(key, False) or bool(premise)

    token = _premises.set(observed)
    try:
        with observing_premises(observe):
            yield observed
    finally:
        _premises.reset(token)


def asking(name: str, sites: Sequence[Site], ask: Callable[..., Any]) -> Callable[..., Any]:
    """Make a property's method say whose premises it asks for, until all of them have held."""

    def ask_as(*arguments: Any) -> Any:
        if all(has_held(name, site) for site in sites):
            return ask(*arguments)
        token = _asked.set(name)
        try:
            return ask(*arguments)
        finally:
            _asked.reset(token)

    return ask_as


def note_premise(name: str, site: Site, held: bool) -> None:
    """Note a premise of a property that was evaluated otherwise than by `implies`."""
    premises = _premises.get()
    if premises is not None:
        premises[name, site] = premises.get((name, site), False) or held


def has_held(name: str, site: Site) -> bool:
    """Return whether a premise is known to hold somewhere; also if nobody wants to know."""
    premises = _premises.get()
    return premises is None or premises.get((name, site), False)


def _values(domains: tuple[Any, ...], claim: Any) -> Iterator[Any]:
    keys = key_space(domains).keys
    return map(claim, keys) if len(domains) == 1 else starmap(claim, keys)


def _also_asked(values: Iterator[Any], decided: bool) -> bool:
    """Return the verdict; while premises are looked for, ask the other elements for theirs.

    Which element comes first is no part of what a quantifier says: an engine that knows no order,
    or takes processes for each other, would see other premises.
    """
    while _asked.get():
        try:
            next(values)
        except StopIteration:
            break
        except Exception:  # noqa: BLE001, S112 - nobody needs the answer
            continue
    return decided
