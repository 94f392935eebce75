"""Values taken apart: each scalar of a value of some sort, by its variable and its keys."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import product
from typing import Any, TypeAlias

from streamproof.lang.domain import Domain
from streamproof.lang.form import Variable
from streamproof.lang.map import Map
from streamproof.lang.sorts import BoolSort, EnumSort, IntSort, MapSort, RecordSort, Sort

Cell: TypeAlias = tuple[str, tuple[Any, ...]]
"""A variable and its keys."""
Cells: TypeAlias = dict[Cell, Any]
ValueOf: TypeAlias = Callable[[str, tuple[Any, ...]], Any]
"""Gives the value of a variable at its keys."""
Domains: TypeAlias = Mapping[str, Domain[Any]]
"""By the name of their element sort."""


class NotOfSort(TypeError):
    """A value is not of its declared sort; the message names the place and the value."""


def cells_of(sort: Sort, value: Any, name: str = "", keys: tuple[Any, ...] = ()) -> Cells:
    """Take a value apart.

    Raises
    ------
    NotOfSort : if a part of it is not of its sort, which Python's `==` might not tell
    """
    return dict(_cells(sort, value, name, keys))


def _cells(sort: Sort, value: Any, name: str, keys: tuple[Any, ...]) -> Iterator[tuple[Cell, Any]]:
    match sort:
        case RecordSort(cls, fields) if isinstance(value, cls):
            for field, part in fields:
                inner, place = getattr(value, field), f"{name}.{field}" if name else field
                if _is_leaf(part, inner):
                    yield (place, keys), inner
                else:
                    yield from _cells(part, inner, place, keys)
        case MapSort(_, part) if isinstance(value, Map):
            for key, inner in value.items():
                here = (*keys, *(key if len(value.domains) > 1 else (key,)))
                if _is_leaf(part, inner):
                    yield (name, here), inner
                else:
                    yield from _cells(part, inner, name, here)
        case RecordSort() | MapSort():
            raise NotOfSort(f"{name or 'it'} is {value!r}, which is no {sort}")
        case _ if not _is_scalar(sort, value):
            raise NotOfSort(f"{name or 'it'} is {value!r}, which is no {sort}")
        case _:
            yield (name, keys), value


def _is_leaf(sort: Sort, value: Any) -> bool:
    return not isinstance(sort, RecordSort | MapSort) and _is_scalar(sort, value)


def _is_scalar(sort: Sort, value: Any) -> bool:
    match sort:
        case BoolSort():
            return type(value) is bool
        case IntSort():
            return type(value) is int
        case EnumSort(cls):
            return isinstance(value, cls)
        case _:  # elements may be anything: a binding's are names
            return True


def keys_of(variable: Variable, domains: Domains) -> Iterator[tuple[Any, ...]]:
    """List the keys of a variable."""
    return product(*(domains[key.name] for key in variable.keys))


def first_difference(plain: Cells, traced: Cells) -> str | None:
    """Return where two values differ; None if they do not."""
    for cell in plain.keys() | traced.keys():
        missing = object()
        left, right = plain.get(cell, missing), traced.get(cell, missing)
        if left is not right and (type(left) is not type(right) or left != right):
            variable, keys = cell
            place = variable + (f"[{', '.join(map(repr, keys))}]" if keys else "")
            return f"{place} is {left!r} when it runs, and {right!r} in the traced form"
    return None
