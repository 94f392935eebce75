"""Symmetry: which elements of a size may change places without anything telling the difference.

The language has no literal for an element and compares elements for equality alone, so actions and
properties cannot tell two of them apart: only constants and initial states can. Elements are alike
if exchanging them changes neither. One state then stands for its orbit, all that exchanges make of
it: they are reachable together, in as many steps, and the same holds in them [ID96].
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations, product
from math import factorial, prod
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from streamproof.checker.native.code.cells import Encoder, Keys
from streamproof.lang.form import Variable
from streamproof.lang.sorts import ElementSort

Permutation: TypeAlias = dict[str, tuple[int, ...]]
"""Where the elements of each domain go, by index."""

ORDERS_TRIED_MAX = factorial(7)
"""How many orders of elements may be tried for each state."""
ORDERS_MAX = factorial(150)
"""How many orders there may be in all, to be counted as floats."""


@dataclass(frozen=True, slots=True)
class Alike:
    """Elements of one domain that nothing tells apart, two at least, by index."""

    domain: str
    members: tuple[int, ...]

    @property
    def orders(self) -> int:
        """In how many orders they can be put."""
        return factorial(len(self.members))


class Symmetry:
    """How the states of an orbit become one, its representative: the least of them.

    Where no changing variable has an element of a domain as its value, or two as its keys, a column
    of cells belongs to each element, and sorting the columns gives the least state. Of the elements
    of other domains all orders are tried.

    Parameters
    ----------
    alike : elements that nothing tells apart
    fixed : cells that never change

    Attributes
    ----------
    columns : for each set of elements that is sorted, the cells of each element's column
    tried : elements of which all orders are tried
    """

    def __init__(self, encoder: Encoder, alike: Sequence[Alike], fixed: Collection[int]) -> None:
        self.encoder = encoder
        self._changing = [number for number in range(len(encoder.places)) if number not in fixed]
        sortable = self._sortable(alike)
        others = [group for group in alike if group.domain not in sortable]
        self.tried = _within(others, ORDERS_TRIED_MAX)
        sorted_ = _within([group for group in alike if group.domain in sortable], ORDERS_MAX)
        found = {group: self._columns(group) for group in sorted_}
        self.columns = {group: columns for group, columns in found.items() if columns[0]}

    @property
    def used(self) -> tuple[Alike, ...]:
        """All elements that are made use of."""
        return *self.columns, *self.tried

    @property
    def order(self) -> int:
        """How many permutations there are."""
        return prod(group.orders for group in self.used)

    @property
    def cell_order(self) -> list[int]:
        """All cells, those of a column one behind the other, for words in which they lie so."""
        columns = [cell for group in self.columns.values() for column in group for cell in column]
        others = sorted(set(range(len(self.encoder.places))) - set(columns))
        return [*others, *columns]

    def moves(self, pair: Alike) -> dict[int, int]:
        """Return where the changing cells go that move if two elements change places."""
        exchange = identity(self.encoder)
        send(exchange, pair, (1, 0))
        targets = Move(self.encoder, self.encoder.traced.variables, exchange).targets
        return {n: int(targets[n]) for n in self._changing if targets[n] != n}

    def between(self, state: Keys, representative: Keys) -> Permutation:
        """Return a permutation that makes the representative out of a state of its orbit.

        Raises
        ------
        LookupError : if there is none
        """
        for permutation in self._orders():
            here = moved(self.encoder, state, permutation)
            for group, columns in self.columns.items():
                targets = _ranked(columns, representative)
                sources = dict(zip(targets, _ranked(columns, here), strict=True))
                send(permutation, group, [sources[number] for number in range(len(columns))])
            if moved(self.encoder, state, permutation) == representative:
                return permutation
        raise LookupError(f"no permutation makes {representative} of {state}")

    def sending(self, pairs: Iterable[tuple[str, int, int]]) -> Permutation | None:
        """Return a permutation that sends elements of domains to others; None if there is none."""
        alike = {(part.domain, member): part for part in self.used for member in part.members}
        permutation = identity(self.encoder)
        settled: dict[tuple[str, int], int] = {}
        for domain, source, target in pairs:
            if source != target and (
                (domain, source) not in alike
                or alike[domain, source] != alike.get((domain, target))
            ):
                return None
            if settled.setdefault((domain, source), target) != target:
                return None
            sent = list(permutation[domain])
            other = sent.index(target)
            sent[source], sent[other] = target, sent[source]
            permutation[domain] = tuple(sent)
        sent_rightly = all(permutation[name][here] == to for (name, here), to in settled.items())
        return permutation if sent_rightly else None

    def _orders(self) -> Iterator[Permutation]:
        """List the permutations of the elements that are tried."""
        for orders in product(*(permutations(range(len(g.members))) for g in self.tried)):
            permutation = identity(self.encoder)
            for group, order in zip(self.tried, orders, strict=True):
                send(permutation, group, order)
            yield permutation

    def _sortable(self, alike: Sequence[Alike]) -> set[str]:
        """Choose domains whose columns can be sorted, no two of which share a cell."""
        weight: dict[str, int] = {}
        for group in alike:
            weight[group.domain] = weight.get(group.domain, 1) * group.orders
        variables = {self.encoder.places[number][0] for number in self._changing}
        chosen: set[str] = set()
        for domain in sorted(weight, key=lambda name: -weight[name]):
            if all(_is_column(variable, domain, chosen) for variable in variables):
                chosen.add(domain)
        return chosen

    def _columns(self, group: Alike) -> list[list[int]]:
        """List the changing cells that have each element as a key, in the same order for all."""
        columns: list[list[int]] = [[] for _ in group.members]
        for number in self._changing:
            variable, keys = self.encoder.places[number]
            for sort, key in zip(variable.keys, keys, strict=True):
                if sort.name == group.domain and key in group.members:
                    columns[group.members.index(key)].append(number)
        return columns


def identity(encoder: Encoder) -> Permutation:
    """Return the permutation that leaves everything where it is."""
    return {name: tuple(range(len(domain))) for name, domain in encoder.domains.items()}


def moved(encoder: Encoder, state: Keys, permutation: Permutation) -> Keys:
    """Let elements change places in a state."""
    move = Move(encoder, encoder.traced.variables, permutation)
    return tuple(move.rows(np.array([state], np.int64))[0].tolist())


class Move:
    """A permutation of elements, as what it does to tables with a column for each place.

    Attributes
    ----------
    targets : where what stands at each place goes
    """

    def __init__(
        self, encoder: Encoder, variables: Iterable[Variable], permutation: Permutation
    ) -> None:
        parts: list[NDArray[np.intp]] = [np.empty(0, np.intp)]
        self._elements: list[tuple[slice, NDArray[Any]]] = []
        first = 0
        for variable in variables:
            shape = [encoder.size(sort) for sort in variable.keys]
            end = first + prod(shape)
            grid = np.arange(first, end).reshape(shape)
            for axis, sort in enumerate(variable.keys):
                grid = grid.take(permutation[sort.name], axis=axis)
            parts.append(grid.ravel())
            if isinstance(variable.sort, ElementSort):
                sent = np.array(permutation[variable.sort.name], np.int64)
                self._elements.append((slice(first, end), sent))
            first = end
        self.targets = np.concatenate(parts)

    def places(self, table: NDArray[Any]) -> NDArray[Any]:
        """Move what stands at each place, and leave it as it is."""
        moved = np.empty_like(table)
        moved[:, self.targets] = table
        return moved

    def rows(self, table: NDArray[Any]) -> NDArray[Any]:
        """Move what stands at each place, elements among it too."""
        table = table.copy()
        for columns, sent in self._elements:
            table[:, columns] = sent[table[:, columns]]
        return self.places(table)


def _ranked(columns: Sequence[Sequence[int]], state: Keys) -> list[int]:
    """Rank columns by what they hold."""
    return sorted(range(len(columns)), key=lambda number: [state[cell] for cell in columns[number]])


def send(permutation: Permutation, group: Alike, order: Sequence[int]) -> None:
    """Put the members of a group, none of which has moved, in another order."""
    sent = list(permutation[group.domain])
    for to, number in zip(group.members, order, strict=True):
        sent[group.members[number]] = to
    permutation[group.domain] = tuple(sent)


def _is_column(variable: Variable, domain: str, others: Collection[str]) -> bool:
    """Return whether each cell of a variable belongs to one element of a domain, or to none."""
    if isinstance(variable.sort, ElementSort) and variable.sort.name == domain:
        return False
    names = [sort.name for sort in variable.keys]
    shared = any(name in others for name in names)
    return names.count(domain) == 0 or (names.count(domain) == 1 and not shared)


def _within(groups: Sequence[Alike], left: int) -> tuple[Alike, ...]:
    """Use as many elements of groups as have no more orders than there may be."""
    kept = []
    for group in groups:
        members = group.members
        while factorial(len(members)) > left:
            members = members[:-1]
        left //= factorial(len(members))
        if len(members) > 1:
            kept.append(Alike(group.domain, members))
    return tuple(kept)
