"""Forecasts: how large a search will be, from searches of smaller sizes and the first part of it.

The sizes are chosen along one path up to the wanted size, as far as the limits allow, and by arms
that leave it for a step along each axis.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from streamproof.checker.engines import explore, explore_natively
from streamproof.checker.exploration import INTERRUPTED, Exploration
from streamproof.checker.growth import Estimate, Kind, Point, down, estimate, is_below
from streamproof.checker.ladder import Ladder
from streamproof.checker.limits import Limits, memory_mb
from streamproof.checker.multipliers import Multipliers, multipliers_of
from streamproof.checker.progress import OnProgress, Progress, ignore
from streamproof.checker.properties import check_assumptions
from streamproof.checker.reference import explore as explore_by_reference
from streamproof.lang import StreamproofError, Untraceable, WrongDefinition
from streamproof.lang.model import Model
from streamproof.lang.trace import trace_model
from streamproof.models.sizes import at_size
from streamproof.models.verdict import Counts

SIZES_MAX = 14
"""Smaller sizes that are searched."""
KNOWN_LEAST = 3
"""Smaller sizes without which nothing is said."""
ROOM = 10
"""How many times the states of a size must fit before a domain or tuple grows further."""
SMALL = 3_000
"""States up to which each is looked at in Python, for what multiplies them."""
FACTOR_MAX = 30.0
"""How far off an estimate may be before it is none."""
TIME_FACTOR = 2.0
"""How much faster or slower a step may be than those at the start of the search."""
_MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Budget:
    """How much may be searched for a forecast.

    Attributes
    ----------
    states : distinct states of each size by the native engine
    states_reference : the same where a model cannot be traced
    """

    states: int = 1_000_000
    states_reference: int = 20_000


@dataclass(frozen=True, slots=True)
class Explored:
    """A size that was searched.

    Attributes
    ----------
    outcome : empty if all states were found, else why not
    grew_by : how many times the states of one step less on `grew_on`; None if that is not known
    """

    size: Mapping[str, Any]
    counts: Counts
    outcome: str = ""
    grew_by: float | None = None
    grew_on: str = ""


@dataclass(frozen=True, slots=True)
class Cost:
    """What a search of the wanted size takes.

    Attributes
    ----------
    bytes_per_state : with its share of the index
    seconds_per_step : as measured at the start of the search
    """

    bytes_per_state: float
    seconds_per_step: float

    def memory_mb(self, states: float) -> float:
        """Give the memory of so many states, in MiB."""
        return states * self.bytes_per_state / _MIB

    def seconds(self, steps: float) -> tuple[float, float]:
        """Give the time of so many steps: at least, at most."""
        about = steps * self.seconds_per_step
        return about / TIME_FACTOR, about * TIME_FACTOR


@dataclass(frozen=True, slots=True)
class Forecast:
    """How large a search will be, and from what that is known.

    Attributes
    ----------
    engine : which engine the costs are of
    sizes : what was searched, in that order; the wanted size comes first
    states, steps : estimates; without a deviation where they are exact; None if there is none
    settings : by axis, how many times as many states a step of it makes, at the largest size known
    reason : why there is no estimate; empty if there is one
    """

    engine: str
    sizes: tuple[Explored, ...]
    cost: Cost
    states: Estimate | None
    steps: Estimate | None
    settings: Mapping[str, float]
    multipliers: Multipliers | None
    reason: str = ""

    @property
    def is_exact(self) -> bool:
        """Whether the wanted size itself was searched to its end."""
        return not self.sizes[0].outcome

    @property
    def seconds(self) -> tuple[float, float] | None:
        """How long the search takes, at least and at most; None if that is not known."""
        return self.cost.seconds(self.steps.value) if self.steps else None


def forecast(
    model_class: type[Model[Any]],
    size: Mapping[str, Any],
    *,
    budget: Budget | None = None,
    on_progress: OnProgress = ignore,
) -> Forecast:
    """Say how many states a model has at a size, and what a search of them takes.

    Parameters
    ----------
    size : settings as `at_size` takes them
    budget : how much may be searched for that

    Raises
    ------
    UnknownSize, BrokenAssumption : if there is no such size
    """
    return _Forecaster(model_class, size, budget or Budget(), on_progress).run()


@dataclass(frozen=True, slots=True)
class _Search:
    """A size, and what a search of it found; None if there is no such size."""

    size: Mapping[str, Any]
    result: Exploration | None


@dataclass
class _Clock:
    """Measures how fast a search goes once it does, and passes its progress on."""

    on_progress: OnProgress
    first: tuple[float, int] | None = None
    last: tuple[float, int] = (0.0, 0)

    def __call__(self, progress: Progress) -> None:
        self.last = (time.perf_counter(), progress.expanded)
        if self.first is None or progress.expanded < self.first[1]:
            self.first = self.last  # a search that was begun anew counts from there
        self.on_progress(progress)

    @property
    def seconds_per_state(self) -> float:
        """Seconds for each state whose steps were taken; 0 if it went too fast to tell."""
        if self.first is None or self.last[1] <= self.first[1]:
            return 0.0
        return (self.last[0] - self.first[0]) / (self.last[1] - self.first[1])


@dataclass
class _Forecaster:
    model_class: type[Model[Any]]
    size: Mapping[str, Any]
    budget: Budget
    on_progress: OnProgress
    ladder: Ladder = field(init=False)
    found: dict[str, _Search] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.ladder = Ladder.to(self.model_class, self.size)
        try:
            trace_model(self.model_class)
            self.is_traced = True
        except (Untraceable, WrongDefinition):
            self.is_traced = False
        budget = self.budget
        self.states_max = budget.states if self.is_traced else budget.states_reference

    def run(self) -> Forecast:
        model = at_size(self.model_class, self.size)
        check_assumptions(model)
        first, cost = self._search_wanted(model)
        self.found[repr(dict(self.size))] = _Search(self.size, first)
        reason = self._climb(first) if first.unfinished else ""
        states = self._estimate("distinct") if not reason else None
        steps = self._estimate("generated") if not reason else None
        reason = reason or self._doubt(states)
        return Forecast(
            "native" if self.is_traced else "reference",
            tuple(self._explored()),
            cost,
            None if reason else states,
            None if reason else steps,
            self._last_steps(),
            self._multipliers(),
            reason,
        )

    # ----------------------------------------------------------------------- searching

    def _search_wanted(self, model: Model[Any]) -> tuple[Exploration, Cost]:
        """Search the first part of the wanted size, and measure what it costs."""
        clock = _Clock(self.on_progress)
        before = memory_mb()
        engine = explore_natively if self.is_traced else explore_by_reference
        found = engine(model, limits=Limits(states_max=self.states_max), on_progress=clock)
        seconds = clock.seconds_per_state * found.counts.distinct / found.counts.generated
        if not self.is_traced:
            held = max(1, memory_mb() - before) * _MIB / found.counts.distinct
            return found, Cost(held, seconds)
        from streamproof.checker.native.partition import bytes_per_state
        from streamproof.checker.native.program import Program

        return found, Cost(bytes_per_state(Program(model, {}).layout.words), seconds)

    def _climb(self, first: Exploration) -> str:
        """Search smaller sizes; say why that is of no use, if it is."""
        if first.broken:
            names = ", ".join(broken.name for broken in first.broken)
            return f"the search ends early: {names} does not hold. Run streamproof check"
        if first.stopped == INTERRUPTED:
            return INTERRUPTED
        if not self.ladder.axes:
            return "no setting is a number that could be smaller"
        while not self.ladder.is_too_long:
            try:
                self._walk()
                self._reach_out()
            except KeyboardInterrupt:
                return INTERRUPTED
            shrinking = self._shrinking()
            if shrinking is None:
                return ""
            self.ladder = self.ladder.without(shrinking)
        return "there are too many smaller sizes on the way: ask for a smaller one"

    def _search(self, point: Point) -> Exploration | None:
        """Search a size; None if it makes no sense, or enough sizes were searched."""
        size = self.ladder.size_at(point)
        key = repr(size)
        if key not in self.found:
            if len(self.found) > SIZES_MAX:
                return None
            try:
                model = at_size(self.model_class, size)
                check_assumptions(model)
                self.found[key] = _Search(size, self._explore(model))
            except (StreamproofError, ValueError, LookupError, ArithmeticError):
                self.found[key] = _Search(size, None)
        return self.found[key].result

    def _explore(self, model: Model[Any]) -> Exploration:
        engine = explore if self.is_traced else explore_by_reference
        limits = Limits(states_max=self.states_max)
        found = engine(model, limits=limits, on_progress=self.on_progress)
        if found.stopped == INTERRUPTED:
            raise KeyboardInterrupt
        return found

    def _walk(self) -> None:
        """Search one path of sizes, from the smallest up to where it becomes too much."""
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
                known = self._counts("distinct")
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
        """Tell whether a size lies below the wanted one and within reach."""
        is_below = self.ladder.has(point) and point != self.ladder.top
        return is_below and self._expected(point) <= self.states_max

    # ----------------------------------------------------------------------- what is known

    def _counts(self, what: str) -> dict[Point, int]:
        """Give a count of every size of the ladder that was searched to its end."""
        known = {}
        for point in self.ladder.points():
            search = self.found.get(repr(self.ladder.size_at(point)))
            if search and search.result and not search.result.unfinished:
                known[point] = getattr(search.result.counts, what)
        return known

    def _expected(self, point: Point) -> float:
        """Guess the states of a size from those that were searched; at least what there are."""
        below = [other for other in self.ladder.points() if is_below(other, point)]
        known = {key: value for key, value in self._counts("distinct").items() if key in below}
        guess = estimate(known, below, self.ladder.axes)
        return guess.value if guess else max(known.values(), default=1)

    def _estimate(self, what: str) -> Estimate | None:
        return estimate(self._counts(what), self.ladder.points(), self.ladder.axes)

    def _shrinking(self) -> int | None:
        """Find an axis on which a step up did not lead to more states: it is no measure of size."""
        known = self._counts("distinct")
        for number in range(len(self.ladder.axes)):
            for point, states in known.items():
                if states < known.get(down(point, number), 0):
                    return number
        return None

    def _doubt(self, states: Estimate | None) -> str:
        """Say why an estimate is none."""
        if self.is_exact:
            return ""
        known = len(self._counts("distinct"))
        if states is None or known < KNOWN_LEAST:
            return f"only {known} smaller sizes could be searched to their end: too few to go by"
        if states.factor > FACTOR_MAX:
            return (
                f"it is too far away, or growth is too uneven: anything from "
                f"{states.value / states.factor:,.3g} to {states.value * states.factor:,.3g} "
                "states would be possible"
            )
        return ""

    @property
    def is_exact(self) -> bool:
        return self.ladder.top in self._counts("distinct")

    def _last_steps(self) -> dict[str, float]:
        """Give for each axis the growth over it that was measured at the largest size."""
        known = self._counts("distinct")
        factors: dict[str, float] = {}
        for point, states in sorted(known.items(), key=lambda pair: pair[1]):
            for number, axis in enumerate(self.ladder.axes):
                if (below := down(point, number)) in known:
                    factors[str(axis)] = states / known[below]
        return dict(sorted(factors.items(), key=lambda pair: -pair[1]))

    def _explored(self) -> Iterator[Explored]:
        """List what was searched, with the growth over a size that is one step smaller."""
        known = self._counts("distinct")
        points = {repr(self.ladder.size_at(point)): point for point in self.ladder.points()}
        for key, search in self.found.items():
            if search.result is None:
                continue
            point, counts = points.get(key), search.result.counts
            grown = [
                (counts.distinct / known[below], str(axis))
                for number, axis in enumerate(self.ladder.axes)
                if point in known and (below := down(point, number)) in known
            ]
            by, on = max(grown, default=(None, ""))
            yield Explored(search.size, counts, search.result.unfinished or "", by, on)

    def _multipliers(self) -> Multipliers | None:
        """Measure them at the largest size that is small enough."""
        small = [
            (search.result.counts.distinct, number, search.size)
            for number, search in enumerate(self.found.values())
            if search.result
            and not search.result.unfinished
            and search.result.counts.distinct <= SMALL
        ]
        if not small:
            return None
        _, _, size = max(small, key=lambda part: part[:2])
        return multipliers_of(at_size(self.model_class, size), size)
