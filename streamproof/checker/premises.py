"""Premises of `implies`: which were tried, and what is said of a property with one that was not.

Both engines are asked the same: whether, in some state or step that was visited, the property is
asked and the premise holds. One that an `or` or a branch leaves out, or that never holds, leaves
the property undetermined, since it may hold because nothing happens. An `implies` in an action is a
part of a guard or a claim, and one in an @assume speaks of constants: these need not be tried.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from streamproof.checker.properties import checks_of
from streamproof.lang.model import PROMISES, Model, Role
from streamproof.lang.premises import premise_sites
from streamproof.lang.quantify import Premises, has_held

_ASKED_SELDOM = (Role.SOMETIMES, *PROMISES, Role.FINAL)
"""Properties that a search need not ask in every state."""


def try_premises(model: Model[Any], states: Iterable[Any]) -> None:
    """Ask properties whose premises were not seen to hold, in all states, until they are."""
    sites = premise_sites(type(model))
    for role in _ASKED_SELDOM:
        for check in checks_of(model, role):
            name = check.name
            for state in states if sites.get(name) else ():
                if all(has_held(name, site) for site in sites[name]):
                    break
                with suppress(Exception):  # where the search had no need to ask, it may fail
                    check.ask(state, *check.call.arguments)


def untried(
    model: Model[Any], name: str, premises: Premises, looked_at: str, more: str
) -> str | None:
    """Report a property's premise that was never seen to hold; None without one.

    Parameters
    ----------
    model, name : whose property
    premises : what was observed
    looked_at, more : how much was looked at, and what to do if that was not enough, in words
    """
    seen = [site for owner, site in premises if owner == name]
    sites = {*premise_sites(type(model)).get(name, ()), *seen}
    for site in sorted(sites, key=lambda site: site.place):
        if not premises.get((name, site)):
            return (
                f"the premise of an implies in {name} (line {site.line}) holds in none of "
                f"{looked_at} where it is asked, so it was never tried. {more}"
            )
    return None
