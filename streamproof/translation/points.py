"""Points: plain values on which a traced form is compared with the code that it was traced from."""

from __future__ import annotations

import functools
import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from streamproof.checker.ranges import bound
from streamproof.lang import Disabled, StreamproofError
from streamproof.lang.evaluate import rebuild
from streamproof.lang.form import TracedModel, Variable
from streamproof.lang.model import Model, Role
from streamproof.lang.sorts import BoolSort, ElementSort, EnumSort, IntSort, Range, ScalarSort
from streamproof.translation.cells import Cell, Cells, Domains, ValueOf, cells_of, keys_of
from streamproof.translation.shapes import MethodShape, Point, Shape

RANDOM_POINTS = {1: 12, 2: 20, 3: 6}
"""Random points of each method, by the number of elements in every domain."""
PLAIN_SIZE, BORDERS = 2, 24
"""Elements in every domain of points that are plain but for one number, and how many of these."""
VARIED = (0.5, 0.5, 0.05, 0.2)
"""For each point near another one: which share of its scalars is drawn anew."""
VARIED_SIZE = 3
"""Elements in every domain of points near another one, at least."""
SMALL = (0, 1, 2, 3, -1)
CELLS_MAX = 4_000
"""A model with states of more scalars is not walked: its smaller sizes are."""


@dataclass(frozen=True)
class Chance:
    """Draws values of sorts; the same ones for the same seed on every machine.

    Attributes
    ----------
    numbers : those that the code names, and their neighbours
    """

    draw: random.Random
    numbers: tuple[int, ...]

    @classmethod
    def of(cls, seed: str, named: set[int]) -> Chance:
        """Prepare to draw numbers that the code names, too."""
        near = {number + step for number in named for step in (-1, 0, 1)}
        return cls(random.Random(seed), tuple(sorted(near)))  # noqa: S311 - nothing is secret

    def scalar(self, sort: ScalarSort, domains: Domains, low: Any = None, high: Any = None) -> Any:
        """Draw a value of a sort.

        Raises
        ------
        IndexError : if there is none
        """
        draw = self.draw
        match sort:
            case BoolSort():
                return draw.random() < 0.5
            case EnumSort(cls):
                return draw.choice(list(cls))
            case ElementSort(name):
                return draw.choice(domains[name].elements)
            case IntSort():
                return self._number(low, high)

    def _number(self, low: int | None, high: int | None) -> int:
        draw = self.draw
        if low is None or high is None or high < low:
            which = draw.random()
            if which < 0.15:
                size = draw.getrandbits(draw.choice((4, 8, 16, 33, 64)))
                return -size if draw.random() < 0.3 else size
            return draw.choice(self.numbers if self.numbers and which < 0.5 else SMALL)
        if self.numbers and draw.random() < 0.15:
            return draw.choice(self.numbers)  # a proof knows no ranges
        within = [number for number in self.numbers if low <= number <= high]
        which = draw.random()
        if within and which < 0.5:
            return draw.choice(within)
        if which < 0.8:
            return max(low, min(high, draw.choice((low, low + 1, high - 1, high))))
        return draw.randint(low, high)


def random_points(shape: Shape, chance: Chance, size: int, wanted: int) -> Iterator[Point]:
    """Draw points of a size.

    Values that a class of the model refuses to be built from are left out.
    """
    domains = shape.domains(size)
    for _ in range(wanted):
        point = built(shape, domains, _lookup(_drawn(shape, chance, domains)))
        if point is not None:
            yield point


def _drawn(
    shape: Shape, chance: Chance, domains: Domains, kept: Cells | None = None, share: float = 1.0
) -> Cells:
    """Draw every scalar; of those that are kept, a share."""
    values = dict(kept or {})
    for variable in shape.variables:
        low, high = _declared(variable.sort)
        for keys in keys_of(variable, domains):
            cell = (variable.name, keys)
            if cell not in values or chance.draw.random() < share:
                values[cell] = chance.scalar(variable.sort, domains, low, high)
    return values


def border_points(shape: Shape, chance: Chance) -> Iterator[Point]:
    """Yield plain points with one special number: one that the code names, or next to it."""
    domains = shape.domains(PLAIN_SIZE)
    plain: dict[Cell, Any] = {
        (variable.name, keys): _plain(variable.sort, domains)
        for variable in shape.variables
        for keys in keys_of(variable, domains)
    }
    sorts = {variable.name: variable.sort for variable in shape.variables}
    cells = [cell for cell in plain if isinstance(sorts[cell[0]], IntSort)]
    changes = [(cell, number) for cell in cells for number in chance.numbers]
    chosen = changes if len(changes) <= BORDERS else chance.draw.sample(changes, BORDERS)
    for cell, number in chosen:
        point = built(shape, domains, _lookup({**plain, cell: number}))
        if point is not None:
            yield point


def points_near(shape: Shape, chance: Chance, point: Point) -> Iterator[Point]:
    """Yield points that differ from one in some scalars, half of them with more elements.

    A point that Z3 finds has the same value wherever nothing else is asked for, and hides what
    reads one scalar for another.
    """
    cells, own = shape.cells(point), point.place.domains
    larger = shape.domains(max(VARIED_SIZE, *map(len, own.values()), 0))
    for number, share in enumerate(VARIED):
        domains = larger if number % 2 else own
        varied = built(shape, domains, _lookup(_drawn(shape, chance, domains, cells, share)))
        if varied is not None:
            yield varied


def _plain(sort: ScalarSort, domains: Domains) -> Any:
    match sort:
        case BoolSort():
            return False
        case EnumSort(cls):
            return next(iter(cls))
        case ElementSort(name):
            return domains[name].elements[0]
        case IntSort():
            return 0


def _lookup(values: dict[Cell, Any]) -> ValueOf:
    return lambda name, keys: values[name, keys]


def built(shape: Shape, domains: Domains, value: ValueOf) -> Point | None:
    """Build a point; None if a class of the model refuses the values."""
    try:
        return shape.point(domains, value)
    except Exception:  # noqa: BLE001 - a check of the model's own
        return None


def _declared(sort: ScalarSort) -> tuple[int | None, int | None]:
    """Return the bounds of a range that are numbers."""
    if isinstance(sort, IntSort) and isinstance(sort.range, Range):
        low, high = sort.range.low, sort.range.high
        return (
            low if isinstance(low, int) else None,
            high if isinstance(high, int) else None,
        )
    return None, None


# --------------------------------------------------------------------------- runs


@dataclass(frozen=True)
class Walker:
    """Walks at random through the runs of a model, and around them."""

    traced: TracedModel
    model: Model[Any]
    chance: Chance

    @functools.cached_property
    def domains(self) -> Domains:
        """The model's domains."""
        return MethodShape(self.traced, 0, ()).at(self.model, (), ()).place.domains

    @functools.cached_property
    def actions(self) -> list[tuple[str, list[tuple[Any, ...]]]]:
        """The actions that have arguments, with the domains of their parameters."""
        found = []
        for method in self.model.methods(Role.ACTION):
            domains = [self.model.domain_of(note, method.name) for _, note in method.parameters]
            if all(map(len, domains)):
                found.append((method.name, [domain.elements for domain in domains]))
        return found

    def states(self, walks: int, steps: int) -> Iterator[Any]:
        """Yield reached states."""
        starts = self._starts()
        for walk in range(walks if starts else 0):
            state = starts[walk % len(starts)]
            for _ in range(steps):
                yield state
                after = self._step(state)
                if after is None:
                    break
                state = after

    def _starts(self) -> list[Any]:
        try:
            return list(islice(self.model.initial_states(), 16))
        except Exception:  # noqa: BLE001 - an engine reports it
            return []

    def _step(self, state: Any) -> Any:
        for _ in range((4 * len(self.actions) + 8) if self.actions else 0):
            name, domains = self.chance.draw.choice(self.actions)
            arguments = [self.chance.draw.choice(elements) for elements in domains]
            try:
                return getattr(self.model, name)(state, *arguments)
            except (Disabled, AssertionError):
                continue
            except Exception:  # noqa: BLE001 - the comparison tells of it
                return None
        return None

    def arguments(self, shape: MethodShape) -> tuple[Any, ...] | None:
        """Draw arguments of a method; None if there are none."""
        try:
            return tuple(self.chance.scalar(sort, self.domains) for _, sort in shape.parameters)
        except IndexError:  # an empty domain
            return None

    def beside(self, state: Any) -> Any:
        """Return a state that differs in a few scalars; None if its class refuses it."""
        sort, variables = self.traced.state_sort, {v.name: v for v in self.traced.variables}
        cells = cells_of(sort, state)
        changed = min(len(cells), 1 + self.chance.draw.randrange(3))
        for cell in self.chance.draw.sample(list(cells), changed):
            cells[cell] = self._value(variables[cell[0]])
        try:
            return rebuild(sort, self.domains, lambda name, keys: cells[name, keys])
        except Exception:  # noqa: BLE001 - a check of the model's own
            return None

    def _value(self, variable: Variable) -> Any:
        low = high = None
        if isinstance(variable.sort, IntSort) and variable.sort.range is not None:
            try:
                low = bound(self.model, variable.sort.range.low)
                high = bound(self.model, variable.sort.range.high)
            except StreamproofError:
                low = high = None
        return self.chance.scalar(variable.sort, self.domains, low, high)


def is_walkable(model: Model[Any], traced: TracedModel) -> bool:
    """Return whether a model is small enough to be walked through in plain Python."""
    domains = MethodShape(traced, 0, ()).at(model, (), ()).place.domains
    sizes = {name: len(domain) for name, domain in domains.items()}
    total = 0
    for variable in (*traced.constants, *traced.variables):
        product = 1
        for key in variable.keys:
            product *= sizes[key.name]
        total += product
    return total <= CELLS_MAX and max(sizes.values(), default=0) <= 64
