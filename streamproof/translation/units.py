"""Units: what is compared, a method with its traced form, and what either makes of a point."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from types import ModuleType
from typing import Any

from streamproof.lang import expr as ex
from streamproof.lang.errors import Disabled, WrongDefinition
from streamproof.lang.expr import Expr, Var
from streamproof.lang.flatten import variables_of
from streamproof.lang.form import (
    Command,
    PropertyForm,
    TracedModel,
    TracedTransition,
    Variable,
)
from streamproof.lang.model import STATES_TAKEN, Method, Role, answers_of
from streamproof.lang.sorts import Sort
from streamproof.lang.trace import RESULT, parameters_of
from streamproof.translation.cells import Cells, NotOfSort, cells_of, first_difference, keys_of
from streamproof.translation.reading import Conditions, Place, Reader, Reading
from streamproof.translation.shapes import (
    FunctionShape,
    MethodShape,
    Point,
    Shape,
    function_result,
)


class Kind(Enum):
    """What became of a run."""

    VALUE = "gives a value"
    DISABLED = "is disabled"
    CLAIM = "breaks a claim"
    ERROR = "fails"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a method, run plainly or by its traced form.

    Attributes
    ----------
    cells : the value, taken apart
    more : effects, with their fields taken apart; or in words how a run failed
    """

    kind: Kind
    cells: Cells = dataclasses.field(default_factory=dict)
    more: Any = ()

    def difference(self, traced: Outcome) -> str | None:
        """Return where another outcome differs; None if it does not."""
        if self.kind is not traced.kind:
            failure = f" ({self.more})" if self.kind is Kind.ERROR else ""
            otherwise = f"{traced.kind.value} in the traced form"
            return f"it {self.kind.value}{failure} when it runs, and {otherwise}"
        if self.more != traced.more or repr(self.more) != repr(traced.more):
            return f"its effects are {self.more} when it runs, and {traced.more} in the traced form"
        return first_difference(self.cells, traced.cells)


@dataclass(frozen=True, slots=True)
class Alternative:
    """One path of a traced form: where it is taken, and what it gives there."""

    guard: Expr
    is_taken: Reader
    gives: Callable[[Place], Outcome]


@dataclass(frozen=True)
class Unit:
    """A method or function, and its traced form.

    Attributes
    ----------
    run : runs it plainly; the result is still to be read
    read : takes a result apart
    seen : which alternatives were taken
    telling : the points at which an alternative, or an outcome of a condition, was seen first
    """

    name: str
    shape: Shape
    run: Callable[[Point], Any]
    read: Callable[[Any], Outcome]
    alternatives: tuple[Alternative, ...]
    conditions: Conditions
    seen: set[int] = dataclasses.field(default_factory=set)
    telling: list[Point] = dataclasses.field(default_factory=list)

    @property
    def outcomes(self) -> int:
        """How many paths and outcomes of conditions were seen."""
        return len(self.seen) + len(self.conditions.seen)

    def plain(self, point: Point) -> Outcome:
        """Run it as Python does."""
        try:
            answer = self.run(point)
        except Disabled:
            return Outcome(Kind.DISABLED)
        except AssertionError:
            return Outcome(Kind.CLAIM)
        except Exception as error:  # noqa: BLE001 - what it does is what is asked
            return Outcome(Kind.ERROR, more=f"{type(error).__name__}: {error}")
        try:
            return self.read(answer)
        except (NotOfSort, WrongDefinition) as error:
            return Outcome(Kind.ERROR, more=str(error))

    def traced(self, point: Point) -> Outcome:
        """Evaluate its traced form."""
        place, before = point.place, self.outcomes
        taken = [n for n, part in enumerate(self.alternatives) if part.is_taken(place)]
        self.seen.update(taken)
        found = [self.alternatives[number].gives(place) for number in taken]
        self.conditions.settle()
        if self.outcomes > before:
            self.telling.append(point)
        if any(part.kind is Kind.CLAIM for part in found):
            return Outcome(Kind.CLAIM)
        if len(found) > 1:
            return Outcome(Kind.ERROR, more=f"{len(found)} paths are possible at once")
        return found[0] if found else Outcome(Kind.DISABLED)


# --------------------------------------------------------------------------- models


def model_units(traced: TracedModel) -> list[Unit]:
    """List a model's methods with their traced forms."""
    cls = traced.model_class
    units = []
    for method in cls.methods(Role.INIT):
        commands = tuple(command for command in traced.initial if command.name == method.name)
        units.append(_step_unit(traced, method, commands))
    units += [
        _step_unit(traced, method, traced.commands_of(method.name))
        for method in cls.methods(Role.ACTION)
    ]
    units += [_property_unit(traced, form) for form in traced.properties]
    pairs = zip(cls.methods(Role.ASSUME), traced.assumptions, strict=True)
    units += [_assumption_unit(traced, method, form) for method, form in pairs]
    return units


def _shape(traced: TracedModel, method: Method, parameters: tuple[Var, ...]) -> MethodShape:
    own = tuple((parameter.name, parameter.sort) for parameter in parameters)
    return MethodShape(traced, STATES_TAKEN.get(method.role, 1), own)  # type: ignore[arg-type] # elements


def _method_runner(name: str) -> Callable[[Point], Any]:
    return lambda point: getattr(point.model, name)(*point.values)


def _step_unit(traced: TracedModel, method: Method, commands: tuple[Command, ...]) -> Unit:
    conditions = Conditions()
    broken = [
        ex.conjunction(*claim.broken_if) for claim in traced.claims if claim.name == method.name
    ]
    return Unit(
        method.name,
        _shape(traced, method, parameters_of(method)),
        _method_runner(method.name),
        lambda state: Outcome(Kind.VALUE, cells_of(traced.state_sort, state)),
        (
            *(_command(part, traced.variables, conditions) for part in commands),
            *(claim_alternative(condition, conditions) for condition in broken),
        ),
        conditions,
    )


def _command(
    command: Command, variables: tuple[Variable, ...], conditions: Conditions
) -> Alternative:
    guard = ex.conjunction(*command.guard)
    reading = Reading(conditions)
    within = reading.within(guard)
    updates = {
        part.variable: (part.keys, within.over(*part.keys).of(part.value))
        for part in command.updates
    }
    stays = {
        variable.name: reading.of_variable(variable.name, _fresh(variable))
        for variable in variables
        if variable.name not in updates
    }
    effects = [
        (effect.name, [(name, within.of(value)) for name, value in effect.fields])
        for effect in command.effects
    ]

    def gives(place: Place) -> Outcome:
        cells: Cells = {}
        for variable in variables:
            keys, read = updates.get(variable.name) or (_fresh(variable), stays[variable.name])
            names = [key.name for key in keys]
            for here in keys_of(variable, place.domains):
                place.bound.update(zip(names, here, strict=True))
                cells[variable.name, here] = read(place)
        more = tuple(
            (name, tuple((field, read(place)) for field, read in fields))
            for name, fields in effects
        )
        return Outcome(Kind.VALUE, cells, more)

    return Alternative(guard, reading.of(guard), gives)


def _fresh(variable: Variable) -> tuple[Var, ...]:
    """Name keys as no parameter and no bound variable is named."""
    return tuple(Var(f"@{index}", key) for index, key in enumerate(variable.keys))


def claim_alternative(broken_if: Expr, conditions: Conditions) -> Alternative:
    """Make the path on which a claim fails."""
    is_broken = Reading(conditions).of(broken_if)
    return Alternative(broken_if, is_broken, lambda _: Outcome(Kind.CLAIM))


def _property_unit(traced: TracedModel, form: PropertyForm) -> Unit:
    methods = traced.model_class.methods(form.role)
    method = next(part for part in methods if part.name == form.name)
    return truth_unit(
        form.name,
        _shape(traced, method, form.parameters),
        _method_runner(form.name),
        form.conjuncts,
        lambda answer: truths(form.name, form.role, answer),
    )


def _assumption_unit(traced: TracedModel, method: Method, form: Expr) -> Unit:
    shape = dataclasses.replace(_shape(traced, method, ()), states=0)
    return truth_unit(
        method.name,
        shape,
        _assumption_runner(method),
        (("", form),),
        lambda answers: {"": all(_is_true(method, answer) for answer in answers)},
    )


def _assumption_runner(method: Method) -> Callable[[Point], Any]:
    """Ask an assumption for every element, as a search does."""

    def run(point: Point) -> list[Any]:
        model: Any = point.model
        return [getattr(model, method.name)(*call.arguments) for call in model.calls(method)]

    return run


def _is_true(method: Method, answer: Any) -> bool:
    return all(truths(method.name, method.role, answer).values())


def truth_unit(
    name: str,
    shape: Shape,
    run: Callable[[Point], Any],
    conjuncts: tuple[tuple[str, Expr], ...],
    read: Callable[[Any], Mapping[str, bool]],
) -> Unit:
    """Make the unit of what is true or false: `read` names the truths of an answer."""
    conditions = Conditions()
    readers = [(part, Reading(conditions).of(form)) for part, form in conjuncts]

    def gives(place: Place) -> Outcome:
        return Outcome(Kind.VALUE, {(part, ()): reader(place) for part, reader in readers})

    def taken_apart(answer: Any) -> Outcome:
        return Outcome(Kind.VALUE, {(part, ()): held for part, held in read(answer).items()})

    always = Alternative(ex.TRUE, lambda _: True, gives)
    return Unit(name, shape, run, taken_apart, (always,), conditions)


def truths(name: str, role: Role, answer: Any) -> dict[str, bool]:
    """Read a property's answer: the truth of each of its conjuncts, by name.

    Raises
    ------
    WrongDefinition : if it is none
    """
    found = answers_of(name, role, answer)
    for held in found.values():
        if type(held) is not bool:
            raise WrongDefinition(f"it answers {held!r}, which is neither True nor False")
    return found


# --------------------------------------------------------------------------- protocols


def protocol_units(module: ModuleType, functions: tuple[TracedTransition, ...]) -> list[Unit]:
    """List a protocol's public functions with their traced forms."""
    return [_function_unit(getattr(module, form.name), form) for form in functions]


def _function_unit(function: Callable[..., Any], traced: TracedTransition) -> Unit:
    conditions, shape = Conditions(), FunctionShape.of(function)
    sort = function_result(function, traced)
    root = shape.sorts[0][0] if traced.is_step else RESULT
    variables = tuple(variables_of(sort, root))
    broken = [ex.conjunction(*claim.broken_if) for claim in traced.claims]
    return Unit(
        traced.name,
        shape,
        lambda point: function(*point.values),
        lambda answer: _step_read(sort, root, answer, is_step=traced.is_step),
        (
            *(_command(part, variables, conditions) for part in traced.commands),
            *(claim_alternative(condition, conditions) for condition in broken),
        ),
        conditions,
    )


def _step_read(sort: Sort, root: str, answer: Any, *, is_step: bool) -> Outcome:
    after, effects = answer if is_step else (answer, ())
    more = tuple(
        (
            type(effect).__name__,
            tuple((f.name, getattr(effect, f.name)) for f in dataclasses.fields(effect)),
        )
        for effect in effects
    )
    return Outcome(Kind.VALUE, cells_of(sort, after, root), more)
