"""Forecasts: how large a search will be, from smaller sizes and the first part of it."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from streamproof.checker.engines import Engine, explore, explore_natively
from streamproof.checker.exploration import INTERRUPTED, Exploration
from streamproof.checker.forecast.climb import Climb, Searched
from streamproof.checker.forecast.growth import Estimate, down, estimate, together
from streamproof.checker.forecast.ladder import Ladder
from streamproof.checker.forecast.levels import estimate_from_levels
from streamproof.checker.forecast.multipliers import Multipliers, multipliers_of
from streamproof.checker.lasso import promise_names
from streamproof.checker.limits import Limits, memory_mb
from streamproof.checker.packable import is_packable
from streamproof.checker.progress import OnProgress, Progress, ignore
from streamproof.checker.properties import check_assumptions
from streamproof.checker.reference import explore as explore_by_reference
from streamproof.lang.model import Model
from streamproof.models.kit.sizes import at_size, completed
from streamproof.models.kit.verdict import Counts

KNOWN_LEAST = 3
"""Smaller sizes without which nothing is said."""
KNOWN_ENOUGH = 6
"""Smaller sizes with which no other setting than those that the user named is looked at."""
SMALL = 3_000
"""States up to which each is looked at in Python, for what multiplies them."""
FACTOR_MAX = 30.0
"""How far off the middle of an interval may be, either way, before there is no estimate."""
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
    bytes_per_state : with its share of the index; of all states, where few of them are kept
    seconds_per_step : as measured at the start of the search
    """

    bytes_per_state: float
    seconds_per_step: float

    def memory_mb(self, states: float) -> float:
        """Return the memory of so many states, in MiB."""
        return states * self.bytes_per_state / _MIB

    def seconds(self, steps: float) -> tuple[float, float]:
        """Return the time of so many steps: at least, at most."""
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
    from_smaller, from_levels : the states as the smaller sizes alone have it, and as the levels of
        the first part of the search have it; `states` is both together, and not below what was
        found already
    settings : by axis, how many times as many states a step of it makes, at the largest size known
    reason : why there is no estimate; empty if there is one
    """

    engine: str
    sizes: tuple[Explored, ...]
    cost: Cost
    states: Estimate | None
    steps: Estimate | None
    from_smaller: Estimate | None
    from_levels: Estimate | None
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
    symmetry: bool | None = None,
    on_progress: OnProgress = ignore,
) -> Forecast:
    """Estimate a model's states at a size, and the cost of their search.

    Parameters
    ----------
    model_class : what is to be searched
    size : settings as `at_size` takes them
    budget : how much may be searched for that
    symmetry : whether the search will make use of symmetry; None for where there are no promises
    on_progress : told now and then how far the search of one size is

    Raises
    ------
    UnknownSize, BrokenAssumption : if there is no such size
    """
    return _Forecaster(model_class, size, budget or Budget(), symmetry, on_progress).run()


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
    symmetry: bool | None
    on_progress: OnProgress
    climb: Climb = field(init=False)

    def __post_init__(self) -> None:
        self.model = at_size(self.model_class, self.size)
        self.is_packed = is_packable(self.model)
        budget = self.budget
        self.states_max = budget.states if self.is_packed else budget.states_reference

    def run(self) -> Forecast:
        check_assumptions(self.model)
        named, self.size = tuple(self.size), completed(self.model_class, self.size)
        first, cost = self._search_wanted(self.model)
        self.climb = Climb(
            self.model_class,
            Ladder.to(self.model_class, self.size, named, 1),
            self.states_max,
            partial(explore, symmetry=self.symmetry) if self.is_packed else explore_by_reference,
            self.on_progress,
            {repr(self.size): Searched(self.size, first)},
        )
        reason = self._climb() if first.unfinished else ""
        smaller = levels = states = steps = None
        if not first.broken and reason != INTERRUPTED:
            smaller, levels = self._from_smaller("distinct"), self._from_levels(first)
            states = together(smaller, levels, self.climb.most_found("distinct"))
            by_levels = levels and levels.times(first.counts.generated / first.expanded)
            generated = self._from_smaller("generated")
            steps = together(generated, by_levels, self.climb.most_found("generated"))
            reason = self._doubt(states, reason)
        return Forecast(
            "native" if self.is_packed else "reference",
            tuple(self._explored()),
            cost,
            None if reason else states,
            None if reason else steps,
            smaller,
            levels,
            self._last_steps(),
            self._multipliers(),
            reason,
        )

    def _climb(self) -> str:
        """Search sizes that are smaller by what the user named; by other settings too, if needed.

        Say why that is of no use, if it is.
        """
        reason = self.climb.run()
        enough = len(self.climb.counts("distinct")) >= KNOWN_ENOUGH
        if reason == INTERRUPTED or (enough and not reason and self._from_smaller("distinct")):
            return reason
        every = Ladder.to(self.model_class, self.size, self.size, 0)
        self.climb.ladder, self.climb.searches = every, 0
        return self.climb.run()

    def _search_wanted(self, model: Model[Any]) -> tuple[Exploration, Cost]:
        """Search the first part of the wanted size, and measure what it costs."""
        clock = _Clock(self.on_progress)
        before = memory_mb()
        natively = partial(explore_natively, symmetry=self.symmetry)
        engine: Engine = natively if self.is_packed else explore_by_reference
        found = engine(model, limits=Limits(states_max=self.states_max), on_progress=clock)
        seconds = clock.seconds_per_state * found.kept / found.counts.generated
        if not self.is_packed:
            held = max(1, memory_mb() - before) * _MIB / found.counts.distinct
            return found, Cost(held, seconds)
        from streamproof.checker.native.code.program import Program
        from streamproof.checker.native.partition import bytes_per_state

        share = found.kept / found.counts.distinct  # with symmetry it only shrinks later on
        return found, Cost(bytes_per_state(Program(model, {}).layout.words) * share, seconds)

    def _from_smaller(self, what: str) -> Estimate | None:
        """Estimate a count from those of smaller sizes; None if they are too few."""
        known, ladder = self.climb.counts(what), self.climb.ladder
        if not self.is_exact and len(known) < KNOWN_LEAST:
            return None
        return estimate(known, ladder.points(), ladder.axes)

    def _from_levels(self, first: Exploration) -> Estimate | None:
        """Estimate the states from the levels of the search's first part.

        With symmetry the last states to be found stand for more than the first, so it does not say.
        """
        if self.is_exact or first.reduction or not first.expanded:
            return None
        return estimate_from_levels(first.level_ends)

    def _doubt(self, states: Estimate | None, reason: str) -> str:
        """Describe why an estimate is none.

        Parameters
        ----------
        states : the estimate, if there is one
        reason : why there are no smaller sizes to go by, if so
        """
        if self.is_exact:
            return ""
        known = len(self.climb.counts("distinct"))
        few = f"only {known} smaller sizes could be searched to their end: too few to go by"
        if states is None:
            return reason or few
        if states.high > FACTOR_MAX**2 * states.low:
            return (
                f"it is too far away, or growth is too uneven: anything from "
                f"{states.low:,.3g} to {states.high:,.3g} states would be possible{self._advice()}"
            )
        return ""

    def _advice(self) -> str:
        if self.symmetry is None and promise_names(self.model):
            return ". With --symmetry alike states count as one, and more can be searched"
        return ""

    @property
    def is_exact(self) -> bool:
        return self.climb.ladder.top in self.climb.counts("distinct")

    def _last_steps(self) -> dict[str, float]:
        """Return for each axis the growth over it that was measured at the largest size."""
        known = self.climb.counts("distinct")
        factors: dict[str, float] = {}
        for point, states in sorted(known.items(), key=lambda pair: pair[1]):
            for number, axis in enumerate(self.climb.ladder.axes):
                if (below := down(point, number)) in known:
                    factors[str(axis)] = states / known[below]
        return dict(sorted(factors.items(), key=lambda pair: -pair[1]))

    def _explored(self) -> Iterator[Explored]:
        """List what was searched, with the growth over a size that is one step smaller."""
        known = self.climb.counts("distinct")
        points = {
            repr(self.climb.ladder.size_at(point)): point for point in self.climb.ladder.points()
        }
        for key, search in self.climb.found.items():
            if search.result is None:
                continue
            point, counts = points.get(key), search.result.counts
            grown = [
                (counts.distinct / known[below], str(axis))
                for number, axis in enumerate(self.climb.ladder.axes)
                if point in known and (below := down(point, number)) in known
            ]
            by, on = max(grown, default=(None, ""))
            yield Explored(search.size, counts, search.result.unfinished or "", by, on)

    def _multipliers(self) -> Multipliers | None:
        """Measure them at the largest size that is small enough."""
        small = [
            (search.result.counts.distinct, number, search.size)
            for number, search in enumerate(self.climb.found.values())
            if search.result
            and not search.result.unfinished
            and search.result.counts.distinct <= SMALL
        ]
        if not small:
            return None
        _, _, size = max(small, key=lambda part: part[:2])
        return multipliers_of(at_size(self.model_class, size), size)
