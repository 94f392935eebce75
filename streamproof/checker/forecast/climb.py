"""Climbing: which smaller sizes of a model are searched for a forecast, and what was found there.

They lie on one path up to the wanted size, as far as there is room, on arms that leave it for a
step on each axis, and just below the wanted size.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from streamproof.checker.engines import Engine
from streamproof.checker.exploration import INTERRUPTED, Exploration
from streamproof.checker.forecast.growth import Kind, Point, down, estimate, is_below
from streamproof.checker.forecast.ladder import Ladder
from streamproof.checker.limits import Limits
from streamproof.checker.progress import OnProgress
from streamproof.checker.properties import check_assumptions
from streamproof.lang import StreamproofError
from streamproof.lang.model import Model
from streamproof.models.kit.sizes import at_size

SIZES_MAX = 14
"""Smaller sizes that are searched."""
ROOM = 10
"""How many times the states of a size must fit before a domain or tuple grows further."""


@dataclass(frozen=True, slots=True)
class Searched:
    """A size, and what a search of it found; None if there is no such size, or nothing in it."""

    size: Mapping[str, Any]
    result: Exploration | None


@dataclass
class Climb:
    """Searches of sizes below a wanted one.

    Attributes
    ----------
    ladder : the sizes; an axis that is no measure of size is taken out of it
    states_max : distinct states of each size
    engine : searches them
    found : what was found, by the text of the size; the wanted one is there from the start
    searches : smaller sizes that were searched on this ladder
    """

    model_class: type[Model[Any]]
    ladder: Ladder
    states_max: int
    engine: Engine
    on_progress: OnProgress
    found: dict[str, Searched]
    searches: int = 0

    def run(self) -> str:
        """Search smaller sizes; say why that is of no use, if it is."""
        first = self.found[repr(dict(self.ladder.size))].result
        assert first is not None
        if first.broken:
            names = ", ".join(broken.name for broken in first.broken)
            return f"the search ends early: {names} does not hold. Run streamproof check"
        if first.stopped == INTERRUPTED:
            return INTERRUPTED
        if not self.ladder.axes:
            return "no setting is a number that could be smaller"
        while not self.ladder.is_too_long:
            try:
                if self._walk():
                    self._reach_out()
            except KeyboardInterrupt:
                return INTERRUPTED
            shrinking = self._shrinking()
            if shrinking is None:
                return ""
            self.ladder, self.searches = self.ladder.without(*shrinking), 0
        return "there are too many smaller sizes on the way: ask for a smaller one"

    def counts(self, what: str) -> dict[Point, int]:
        """Return a count of every size of the ladder that was searched to its end."""
        known = {}
        for point in self.ladder.points():
            search = self.found.get(repr(self.ladder.size_at(point)))
            if search and search.result and not search.result.unfinished:
                known[point] = getattr(search.result.counts, what)
        return known

    def most_found(self, what: str) -> int:
        """Return the largest count of a size of the ladder, of which none has more than the top."""
        keys = {repr(self.ladder.size_at(point)) for point in self.ladder.points()}
        results = (search.result for key, search in self.found.items() if key in keys)
        most: int = max(getattr(result.counts, what) for result in results if result)
        return most

    def _search(self, point: Point) -> Exploration | None:
        """Search a size; None if it makes no sense, or enough sizes were searched."""
        size = self.ladder.size_at(point)
        key = repr(size)
        if key not in self.found:
            if self.searches == SIZES_MAX:
                return None
            self.searches += 1
            try:
                model = at_size(self.model_class, size)
                check_assumptions(model)
                found = self._explore(model)
                self.found[key] = Searched(size, found if found.counts.distinct else None)
            except (StreamproofError, ValueError, LookupError, ArithmeticError):
                self.found[key] = Searched(size, None)
        return self.found[key].result

    def _explore(self, model: Model[Any]) -> Exploration:
        limits = Limits(states_max=self.states_max)
        found = self.engine(model, limits=limits, on_progress=self.on_progress)
        if found.stopped == INTERRUPTED:
            raise KeyboardInterrupt
        return found

    def _walk(self) -> bool:
        """Search one path of sizes, from the smallest up to where it becomes too much.

        It ends early, and gives False, where a step up leads to fewer states.
        """
        point = self.ladder.bottom
        self._search(point)
        closed: set[int] = set()
        while (choice := self._next_on_path(point, closed)) is not None:
            axis, above = choice
            is_near = self._expected(above) <= self.states_max
            found = self._search(above) if is_near else None
            if not is_near or (found is not None and found.stopped is not None):
                closed.add(axis)
            else:
                point = above
            if self._shrinking() is not None:
                return False
        return True

    def _next_on_path(self, point: Point, closed: set[int]) -> tuple[int, Point] | None:
        """Choose the axis that is furthest behind; domains and lengths come first."""
        choices = []
        is_crowded = self._expected(point) * ROOM > self.states_max and any(
            axis.kind is Kind.NUMBER for axis in self.ladder.axes
        )
        for number, axis in enumerate(self.ladder.axes):
            above = down(point, number, -1)
            if number in closed or not self.ladder.has(above) or above == self.ladder.top:
                continue
            share = (point[number] - axis.least) / (axis.wanted - axis.least)
            waits = is_crowded and axis.kind is Kind.SIZE
            choices.append((waits, axis.kind, share, number, above))
        return min(choices)[-2:] if choices else None

    def _reach_out(self) -> None:
        """Search a step up on every axis, and what lies just below the wanted size."""
        for number, axis in enumerate(self.ladder.axes):
            for level in range(axis.least + 1, axis.wanted + 1):
                known = self.counts("distinct")
                above = (down(point, number, -1) for point in known if point[number] == level - 1)
                near = [(self._expected(point), point) for point in above if self._is_open(point)]
                for _, point in sorted(near)[-1:]:
                    self._search(point)
        top, axes = self.ladder.top, range(len(self.ladder.axes))
        pairs = {down(down(top, one), other) for one in axes for other in axes if one != other}
        for point in [*sorted(pairs), *(down(top, number) for number in axes)]:
            if self._is_open(point):
                self._search(point)

    def _is_open(self, point: Point) -> bool:
        """Return whether a size lies below the wanted one and within reach."""
        is_below = self.ladder.has(point) and point != self.ladder.top
        return is_below and self._expected(point) <= self.states_max

    def _expected(self, point: Point) -> float:
        """Guess the states of a size from those that were searched; at least what there are."""
        below = [other for other in self.ladder.points() if is_below(other, point)]
        known = {key: value for key, value in self.counts("distinct").items() if key in below}
        guess = estimate(known, below, self.ladder.axes)
        return guess.value if guess else max(known.values(), default=1)

    def _shrinking(self) -> tuple[int, int] | None:
        """Find an axis, and a level of it, from where a step up led to fewer states.

        That level is no measure of size: 0, say, which may stand for no bound at all.
        """
        known = self.counts("distinct")
        for number in range(len(self.ladder.axes)):
            for point, states in known.items():
                if states < known.get(down(point, number), 0):
                    return number, point[number] - 1
        return None
