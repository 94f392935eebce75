"""Cells: the scalars that the states of one size consist of, and states as tuples of their numbers.

A truth is 0 or 1, an `Enum` member or an element its index, a number itself.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any, TypeAlias

from streamproof.checker.native.code.terms import check_width
from streamproof.checker.ranges import bound as bound_of
from streamproof.lang import Domain
from streamproof.lang.evaluate import World, rebuild
from streamproof.lang.expr import Read, Var
from streamproof.lang.form import TracedModel
from streamproof.lang.model import Call, Model
from streamproof.lang.sorts import (
    BoolSort,
    ElementSort,
    EnumSort,
    IntSort,
    Range,
    ScalarSort,
)

Keys: TypeAlias = tuple[int, ...]
"""Elements by index; also a whole state, a number for each cell."""
Ranges: TypeAlias = Mapping[str, tuple[int, int]]
"""What numbers without a declared range lie between, as far as is known, by variable."""

FIRST_GUESS = 3
"""How far above its initial values a number without a declared range is taken to go at first."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One scalar of a state: a variable at concrete keys.

    Attributes
    ----------
    low, high : what it may be; for a number without a declared range, what it has been so far
    is_declared : whether leaving that range is a mistake of the model
    """

    variable: str
    keys: Keys
    sort: ScalarSort
    low: int
    high: int
    is_declared: bool


class Encoder:
    """Turns states into tuples of numbers, one for each cell, and back.

    Attributes
    ----------
    constants : the model's fields
    domains : by the name of their sort
    places : each cell's variable and keys
    """

    def __init__(self, traced: TracedModel, model: Model[Any]) -> None:
        self.model, self.traced = model, traced
        fields = dataclasses.fields(model)
        self.constants = {part.name: getattr(model, part.name) for part in fields}
        self.domains: dict[str, Domain[Any]] = {
            value.name: value for value in self.constants.values() if isinstance(value, Domain)
        }
        self._index = {
            name: {element: index for index, element in enumerate(domain)}
            for name, domain in self.domains.items()
        }
        self.places = [
            (variable, keys)
            for variable in traced.variables
            for keys in self.keys_of(variable.keys)
        ]
        self._position = {
            (variable.name, keys): number for number, (variable, keys) in enumerate(self.places)
        }

    def size(self, sort: ScalarSort) -> int:
        """Count the elements of a sort."""
        return len(self.domains[str(sort)])

    def count(self, variables: Iterable[Var]) -> int:
        """Count the combinations of elements that variables may stand for."""
        return prod(self.size(variable.sort) for variable in variables)

    def keys_of(self, sorts: Iterable[ScalarSort]) -> Iterator[Keys]:
        """List every combination of elements."""
        return product(*(range(self.size(sort)) for sort in sorts))

    def encode(self, state: Any) -> Keys:
        """Return a state's cells."""
        parts = {part.name: getattr(state, part.name) for part in dataclasses.fields(state)}
        world = World(self.domains, parts)
        return tuple(
            self._number_at(world, variable.name, variable.keys, variable.sort, keys)
            for variable, keys in self.places
        )

    def decode(self, cells: Keys) -> Any:
        """Return the state that has these cells."""

        def value(name: str, elements: tuple[Any, ...]) -> Any:
            keys = tuple(self._index[type(part).__name__][part] for part in elements)
            number = self._position[name, keys]
            return self._value(cells[number], self.places[number][0].sort)

        return rebuild(self.traced.state_sort, self.domains, value)

    def constant_at(self, read: Read, keys: Keys) -> int:
        """Read a field of the model."""
        world = World(self.domains, self.constants)
        sorts = [key.sort for key in read.keys]
        return self._number_at(world, read.variable, sorts, read.sort, keys)

    def constant_values(self) -> Keys:
        """Read every field of the model at all keys, in the order of the traced constants."""
        world = World(self.domains, self.constants)
        return tuple(
            self._number_at(world, part.name, part.keys, part.sort, keys)
            for part in self.traced.constants
            for keys in self.keys_of(part.keys)
        )

    def arguments_of(self, call: Call) -> list[tuple[ElementSort, int]]:
        """Return the arguments of an action or a property, each by its sort and its number."""
        sorts = [ElementSort(type(part).__name__) for part in call.arguments]
        return [
            (sort, self.number(part, sort))
            for sort, part in zip(sorts, call.arguments, strict=True)
        ]

    def number(self, value: Any, sort: ScalarSort) -> int:
        """Return the number that stands for a value."""
        match sort:
            case EnumSort(cls):
                return list(cls).index(value)
            case ElementSort(name):
                return self._index[name][value]
            case _:
                return int(value)

    def _value(self, number: int, sort: ScalarSort) -> Any:
        match sort:
            case BoolSort():
                return bool(number)
            case EnumSort(cls):
                return list(cls)[number]
            case ElementSort(name):
                return self.domains[name].elements[number]
            case _:
                return number

    def _number_at(
        self, world: World, name: str, sorts: Sequence[ScalarSort], sort: ScalarSort, keys: Keys
    ) -> int:
        pairs = zip(sorts, keys, strict=True)
        elements = tuple(self.domains[str(key)].elements[index] for key, index in pairs)
        return self.number(world.read(name, elements), sort)


def cells_of(encoder: Encoder, initial: Sequence[Keys], ranges: Ranges) -> tuple[Cell, ...]:
    """List the cells of an encoder's model, with what each may be.

    Parameters
    ----------
    initial : the initial states; a number without a declared range starts from what it is there
    ranges : what such numbers were found to need
    """
    hulls = [(min(values), max(values)) for values in zip(*initial, strict=True)]
    hulls = hulls if initial else [(0, 0)] * len(encoder.places)
    cells = []
    for (variable, keys), (first, last) in zip(encoder.places, hulls, strict=True):
        low, high, is_declared = 0, 1, True
        match variable.sort:
            case EnumSort(cls):
                high = len(cls) - 1
            case ElementSort() as sort:
                high = encoder.size(sort) - 1
            case IntSort(Range() as limits):
                low = bound_of(encoder.model, limits.low)
                high = bound_of(encoder.model, limits.high)
            case IntSort():
                known = ranges.get(variable.name, (first, last + FIRST_GUESS))
                low, high, is_declared = min(known[0], first), max(known[1], last), False
        check_width(low, high)
        cells.append(Cell(variable.name, keys, variable.sort, low, high, is_declared))
    return tuple(cells)
