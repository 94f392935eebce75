"""Premises: where the properties of a model call `implies`, read off their bytecode.

An `implies` that is never asked, since an `or` or an `if` before it decides, says as little as one
whose premise never holds. Running a property shows only those that are asked.
"""

from __future__ import annotations

import functools
from typing import Any

from streamproof.lang.model import Model, Role, methods_of
from streamproof.lang.quantify import Site, implies, site_at
from streamproof.lang.reached import reached_from

_NO_PROPERTIES = (Role.INIT, Role.ACTION, Role.ASSUME)


def premise_sites(cls: type[Model[Any]]) -> dict[str, tuple[Site, ...]]:
    """List where each property of a model may call `implies`, in the order of the lines."""
    found: dict[str, tuple[Site, ...]] = _premise_sites(cls)  # type: ignore[arg-type] # hashable
    return found


@functools.cache
def _premise_sites(cls: Any) -> dict[str, tuple[Site, ...]]:
    return {
        method.name: _sites_of(cls, method.name)
        for method in methods_of(cls)
        if method.role not in _NO_PROPERTIES
    }


def _sites_of(cls: type[Any], name: str) -> tuple[Site, ...]:
    sites = {
        site_at(part.code, instruction.offset)
        for part in reached_from(cls, [getattr(cls, name)])
        for instruction, value in part.values
        if value is implies
    }
    return tuple(sorted(sites, key=lambda site: site.place))
