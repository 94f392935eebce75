"""Which elements of a size are alike: exchanging two of them changes no constant and no start.

To compare all pairs would take too long where there are many. So elements are first divided by
something that alike ones have in common, and no more pairs are compared than is worth it: elements
that were not compared count as different, which costs states and no verdict.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamproof.checker.native.code.cells import Cell, Encoder, Keys
from streamproof.checker.native.code.symmetry import Alike, Move, identity, send
from streamproof.checker.native.code.terms import NUMBER_MAX
from streamproof.lang.form import Variable
from streamproof.lang.sorts import ElementSort

CLASSES_MAX = 16
"""With how many elements of a domain that differ from each other another one is compared."""
MEMBERS_MAX = 150
"""Beyond how many alike elements more are of no use: they have more than `ORDERS_MAX` orders."""
COMPARED_MAX = 1 << 27
"""How many numbers may be looked at in comparing the elements of one domain."""


def alike_elements(
    encoder: Encoder, cells: Sequence[Cell], initial: Sequence[Keys], fixed: Mapping[int, int]
) -> tuple[Alike, ...]:
    """Find the elements that neither a constant nor the initial states tell apart.

    Nor may grounding have told them apart: by a cell's range, or by what it took to be fixed.
    """
    constants = np.array([_small(encoder.constant_values())], np.int64)
    states = np.array(initial, np.int64).reshape(len(initial), len(cells))
    known = np.array([[number in fixed for number in range(len(cells))]], np.int64)
    ranges = np.array([[cell.low for cell in cells], [cell.high for cell in cells]], np.int64)
    of_constants, of_states = encoder.traced.constants, encoder.traced.variables
    tables = (
        _Table(of_constants, constants, is_set=False, has_elements=True),
        _Table(of_states, np.vstack([known, ranges]), is_set=False, has_elements=False),
        _Table(of_states, states, is_set=True, has_elements=True),
    )
    found = []
    for name in encoder.domains:
        for members in _Comparison(encoder, name, tables).classes():
            found += [Alike(name, tuple(members))] if len(members) > 1 else []
    return tuple(found)


def _small(values: Sequence[int]) -> list[int]:
    """Replace numbers that 64 bits do not hold, equal ones by equal ones."""
    large = dict.fromkeys(value for value in values if abs(value) > NUMBER_MAX)
    small = {value: NUMBER_MAX + 1 + number for number, value in enumerate(large)}
    return [small.get(value, value) for value in values]


@dataclass(frozen=True, slots=True)
class _Table:
    """Rows with a column for each place of some variables.

    Attributes
    ----------
    is_set : whether the order of the rows is of no account; no row is there twice
    has_elements : whether what stands where a variable has elements are elements
    """

    variables: Sequence[Variable]
    rows: NDArray[np.int64]
    is_set: bool
    has_elements: bool

    def about(self, encoder: Encoder, domain: str) -> _Table:
        """Return the columns of variables that have something to do with a domain."""
        kept, columns, first = [], [np.empty(0, np.intp)], 0
        for variable in self.variables:
            end = first + prod(map(encoder.size, variable.keys))
            has_values = self.has_elements and _is_of(variable.sort, domain)
            if has_values or any(_is_of(sort, domain) for sort in variable.keys):
                kept.append(variable)
                columns.append(np.arange(first, end))
            first = end
        rows = self.rows[:, np.concatenate(columns)]
        return _Table(kept, rows, self.is_set, self.has_elements)

    def is_same(self, move: Move) -> bool:
        """Return whether a permutation changes nothing."""
        moved = (move.rows if self.has_elements else move.places)(self.rows)
        changed = (moved != self.rows).any(axis=1)
        if not self.is_set:
            return not changed.any()
        # A permutation keeps apart what is, so the rows that it does not change are out of it.
        return _as_set(moved[changed]) == _as_set(self.rows[changed])


def _as_set(rows: NDArray[np.int64]) -> set[bytes]:
    return {row.tobytes() for row in rows}


class _Comparison:
    """Compares the elements of one domain."""

    def __init__(self, encoder: Encoder, domain: str, tables: Sequence[_Table]) -> None:
        self.encoder, self.domain = encoder, domain
        self.count = len(encoder.domains[domain])
        about = (table.about(encoder, domain) for table in tables)
        self.tables = [table for table in about if table.rows.size]
        cost = sum(table.rows.size for table in self.tables)
        self.pairs_max = COMPARED_MAX // cost if cost else self.count

    def classes(self) -> Iterator[list[int]]:
        """Divide the elements into classes of alike ones."""
        found: dict[int, list[list[int]]] = {}
        for element, common in enumerate(self._in_common().tolist()):
            classes = found.setdefault(common, [])
            if not self._joins(element, classes):
                classes.append([element])
        for classes in found.values():
            yield from classes

    def _joins(self, element: int, classes: Sequence[list[int]]) -> bool:
        """Add an element to the class that it belongs to, if it is known to belong to one."""
        for members in classes[:CLASSES_MAX]:
            if len(members) == MEMBERS_MAX or self.pairs_max == 0:
                return False
            self.pairs_max -= 1
            if self._is_alike(members[0], element):
                members.append(element)
                return True
        return False

    def _is_alike(self, one: int, other: int) -> bool:
        if not self.tables:
            return True
        exchange = identity(self.encoder)
        send(exchange, Alike(self.domain, (one, other)), (1, 0))
        return all(
            table.is_same(Move(self.encoder, table.variables, exchange)) for table in self.tables
        )

    def _in_common(self) -> NDArray[np.uint64]:
        """Number the elements, the same for all that are alike: what stands where it is.

        Each row counts by itself and each place by what stands there, in no order.
        """
        common = np.zeros(self.count, np.uint64)
        for table in self.tables:
            first = 0
            for variable in table.variables:
                shape = [self.encoder.size(sort) for sort in variable.keys]
                values = table.rows[:, first : first + prod(shape)]
                values = values.reshape(len(values), *shape)
                first += prod(shape)
                if table.has_elements and _is_of(variable.sort, self.domain):
                    times = np.bincount(values.ravel(), minlength=self.count)
                    common = _mixed(common + times.astype(np.uint64))
                    continue
                mixed = _mixed(values.astype(np.uint64))
                for axis, sort in enumerate(variable.keys, start=1):
                    if _is_of(sort, self.domain):
                        others = tuple(n for n in range(1, mixed.ndim) if n != axis)
                        sums = mixed.sum(axis=others, dtype=np.uint64)
                        common = _mixed(common + _mixed(sums).sum(axis=0, dtype=np.uint64))
        return common


def _is_of(sort: Any, domain: str) -> bool:
    return isinstance(sort, ElementSort) and sort.name == domain


def _mixed(numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Spread the bits of numbers."""
    numbers = (numbers ^ (numbers >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    return numbers ^ (numbers >> np.uint64(27))
