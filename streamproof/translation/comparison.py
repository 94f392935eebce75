"""Comparing methods with their traced forms, one point after the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, assert_never

from streamproof.lang import StreamproofError
from streamproof.lang.expr import Apply, Const, Expr, Quantified, Read, Var, free_variables
from streamproof.lang.fork import Questions
from streamproof.lang.form import TracedModel
from streamproof.lang.model import Model
from streamproof.lang.show import show
from streamproof.lang.sorts import BoolSort
from streamproof.translation.executed import Beyond, Executed
from streamproof.translation.points import (
    RANDOM_POINTS,
    Chance,
    Walker,
    border_points,
    is_walkable,
    points_near,
    random_points,
)
from streamproof.translation.shapes import MethodShape, Point
from streamproof.translation.undecided import TranslationUndecided
from streamproof.translation.units import Unit
from streamproof.translation.witnesses import Search, Wish

WALKS, FURTHER_WALKS, STEPS = 5, 1, 12
"""Runs of the first sized model of a class, of each further one, and steps of a run."""
TELLING = 16
"""Points near which a unit is compared once more, at most."""


class TracingDisagrees(StreamproofError, AssertionError):
    """The traced form of a method is not the method: what rests on it would mean nothing."""


class Comparison:
    """Compares units one point after the other.

    Attributes
    ----------
    what : the name of what the units belong to
    compared : how many points were
    impossible : paths and outcomes of conditions for which there is no point of any size
    """

    def __init__(self, what: str, units: Sequence[Unit], executed: Executed) -> None:
        self.what, self.units = what, units
        self.chance = Chance.of(what, executed.numbers())
        self.compared = self.impossible = 0
        self.executed = executed
        self._beyond = Beyond(executed)

    @property
    def outcomes(self) -> int:
        """How many paths and outcomes of conditions were seen."""
        return sum(unit.outcomes for unit in self.units)

    def everywhere(self, model: Model[Any] | None, traced: TracedModel | None) -> None:
        """Compare on runs of a sized model, on random points, and on what these have not reached.

        Raises
        ------
        TracingDisagrees : if a method and its traced form differ at one of them
        """
        if model is not None and traced is not None and is_walkable(model, traced):
            self.along_runs(model, traced, WALKS)
        for size, wanted in RANDOM_POINTS.items():
            for unit in self.units:
                for point in random_points(unit.shape, self.chance, size, wanted):
                    self.compare(unit, point)
        for unit, paths in zip(self.units, self.executed.paths, strict=True):
            for point in border_points(unit.shape, self.chance):
                self.compare(unit, point)
            self._at_witnesses(unit, paths)
        for unit in self.units:
            self._near_what_was_new(unit)

    def along_runs(self, model: Model[Any], traced: TracedModel, walks: int) -> None:
        """Compare in states of runs, and in states that differ from them a little."""
        walker = Walker(traced, model, self.chance)
        before = None
        for state in walker.states(walks, STEPS):
            around = [here for here in (state, walker.beside(state)) if here is not None]
            for unit in self.units:
                for point in _points_at(unit, walker, around, before):
                    self.compare(unit, point)
            before = state

    def _at_witnesses(self, unit: Unit, paths: Sequence[Questions]) -> None:
        """Compare on a point for each outcome not yet seen, and for each path."""
        search = Search(unit.shape)
        for wish in _wishes(unit, paths):
            try:
                self._at_points(unit, search.points(wish))
            except TranslationUndecided as undecided:
                raise TranslationUndecided(
                    f"{self.what}.{unit.name} could not be compared with its traced form where "
                    f"{show(wish.plainly[-1])} holds: {undecided}. Nobody knows whether the two "
                    "agree there, so no verdict can rest on the traced form. Write the condition "
                    "more simply (products of variables are the usual cause), or use: streamproof "
                    "check --engine reference"
                ) from None

    def _at_points(self, unit: Unit, points: Iterator[tuple[Point, bool]]) -> None:
        """Compare on points until something is seen that had to be; else it is impossible."""
        before = unit.outcomes
        for point, is_sure in points:
            self.compare(unit, point)
            if is_sure or unit.outcomes > before:
                return
        self.impossible += 1

    def _near_what_was_new(self, unit: Unit) -> None:
        """Compare near each point at which something was seen for the first time."""
        telling = unit.telling
        if len(telling) > TELLING:
            telling = self.chance.draw.sample(telling, TELLING)
        for point in tuple(telling):
            for near in points_near(unit.shape, self.chance, point):
                self.compare(unit, near)

    def compare(self, unit: Unit, point: Point) -> None:
        """Compare a method with its traced form at a point.

        Raises
        ------
        TracingDisagrees : if they differ
        """
        beyond = self._beyond
        with beyond.looking():
            plain = unit.plain(point)
        difference = plain.difference(unit.traced(point))
        self.compared += 1
        if difference is None and beyond.place is None:
            return
        place = f", in {beyond.place}" if beyond.place else ""
        raise TracingDisagrees(
            f"{self.what}.{unit.name} is not what it was traced as: "
            f"{difference or 'it executes what no traced path executes'}{place}, at {point}. The "
            "traced form is what native engines and proofs work on, so their verdicts would not be "
            "about this code. Let no code depend on the type, the text or the attributes of a "
            "value, or on anything but its arguments; or use: streamproof check --engine reference"
        )


def _wishes(unit: Unit, paths: Sequence[Questions]) -> Iterator[Wish]:
    """List what was not seen; a point that is compared meanwhile may show several at once.

    Where several paths give the same, the traced form may have lost what tells them apart.
    """
    for number, part in enumerate(unit.alternatives):
        if number not in unit.seen:
            yield Wish((part.guard,), (part.guard,))
    for condition, outcome in unit.conditions.unseen():
        alone = condition.asked(outcome, is_alone=True)
        yield Wish(condition.asked(outcome), alone, condition.variables)
    known = {_signature(condition.expr) for condition in unit.conditions.all}
    own = {Var(variable.name, variable.sort) for variable in unit.shape.variables}
    for path in paths:
        if any(_signature(part) not in known for held in path for part in _atoms(held)):
            free = dict.fromkeys(part for held in path for part in free_variables(held))
            yield Wish(path, path, tuple(part for part in free if part not in own))


def _atoms(expr: Expr) -> Iterator[Expr]:
    """List what an expression joins by and, or, not and if."""
    joined = ("and", "or", "not", "ite")
    if isinstance(expr, Apply) and isinstance(expr.sort, BoolSort) and expr.operator in joined:
        for part in expr.arguments:
            yield from _atoms(part)
    else:
        yield expr


def _signature(expr: Expr) -> Any:
    """Return what an expression shares with its negation, and with itself under other names."""
    match expr:
        case Const(value, _):
            return value
        case Var(_, sort):
            return sort
        case Read(variable, keys, _):
            return (variable, *map(_signature, keys))
        case Quantified(_, variables, body, _):
            return (*(variable.sort for variable in variables), _signature(body))
        case Apply("not", (inner,), _):
            return _signature(inner)
        case Apply(operator, arguments, _):
            kind = _ALIKE.get(operator, operator)
            return kind, frozenset(map(_signature, arguments))
        case _:
            assert_never(expr)


_ALIKE = {"or": "and", "le": "lt"}
"""Operators that take each other's place in a negation."""


def _points_at(unit: Unit, walker: Walker, states: Sequence[Any], before: Any) -> Iterator[Point]:
    shape = unit.shape
    assert isinstance(shape, MethodShape)
    for state in states:
        taken = ((), (state,), (before if before is not None else state, state))[shape.states]
        arguments = walker.arguments(shape)
        if arguments is not None:
            yield shape.at(walker.model, taken, arguments)
