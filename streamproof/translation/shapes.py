"""Shapes: what a traced form is about, and how plain values of it are made."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import typing
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from streamproof.lang.domain import Domain, Element
from streamproof.lang.evaluate import rebuild, values_of
from streamproof.lang.expr import Expr
from streamproof.lang.flatten import variables_of
from streamproof.lang.form import TracedModel, TracedTransition, Variable
from streamproof.lang.model import Model
from streamproof.lang.sorts import DomainSort, ElementSort, Sort, sort_of
from streamproof.lang.trace import AFTER, field_sorts
from streamproof.proofs.bounded import domain_classes
from streamproof.translation.cells import Cells, Domains, ValueOf, cells_of
from streamproof.translation.reading import Place


@dataclasses.dataclass(frozen=True, slots=True)
class Point:
    """Plain values on which a method is run, and its traced form is evaluated.

    Attributes
    ----------
    model : the sized model; None for a function of a protocol
    values : the states and arguments, in the order in which the method takes them
    place : the same for the traced form
    """

    model: Model[Any] | None
    values: tuple[Any, ...]
    place: Place

    def __str__(self) -> str:
        values = ", ".join(map(repr, self.values))
        return f"({values})" + (f" of {self.model!r}" if self.model is not None else "")


class Shape(Protocol):
    """What is needed to make points."""

    @property
    def variables(self) -> tuple[Variable, ...]:
        """Everything that has a value, flattened: constants, states and parameters."""

    @property
    def assumptions(self) -> tuple[Expr, ...]:
        """What holds of the constants."""

    def domains(self, size: int | Mapping[str, int]) -> Domains:
        """Make every domain of a size, or each of its own."""

    def point(self, domains: Domains, value: ValueOf) -> Point:
        """Build a point from the values of the variables."""

    def cells(self, point: Point) -> Cells:
        """Take a point apart, into the values of the variables."""


@dataclasses.dataclass(frozen=True)
class MethodShape:
    """What a method of a model takes: so many states, then its parameters."""

    traced: TracedModel
    states: int
    parameters: tuple[tuple[str, ElementSort], ...]

    @functools.cached_property
    def variables(self) -> tuple[Variable, ...]:
        """The constants, the variables of each state, and the parameters."""
        later = tuple(
            dataclasses.replace(variable, name=f"{AFTER}.{variable.name}".removesuffix("."))
            for variable in self.traced.variables
        )
        of_states = (*self.traced.variables, *later)[: self.states * len(later)]
        own = (Variable(name, (), sort) for name, sort in self.parameters)
        return (*self.traced.constants, *of_states, *own)

    @functools.cached_property
    def _fields(self) -> tuple[tuple[str, Sort], ...]:
        return tuple(field_sorts(self.traced.model_class))

    @property
    def assumptions(self) -> tuple[Expr, ...]:
        """What the model assumes."""
        return self.traced.assumptions

    def domains(self, size: int | Mapping[str, int]) -> Domains:
        """Make every domain of a size, or each of its own."""
        return _sized(domain_classes(self.traced), size)

    def point(self, domains: Domains, value: ValueOf) -> Point:
        """Build a model, its states and the arguments."""
        model = self.traced.model_class(
            **{
                name: domains[sort.element.name]
                if isinstance(sort, DomainSort)
                else rebuild(sort, domains, value, name)
                for name, sort in self._fields
            }
        )
        sort = self.traced.state_sort
        roots = ("", AFTER)[: self.states]
        states = tuple(rebuild(sort, domains, value, root) for root in roots)
        return self.at(model, states, tuple(value(name, ()) for name, _ in self.parameters))

    def cells(self, point: Point) -> Cells:
        """Take a model, its states and the arguments apart."""
        cells: Cells = {}
        for name, sort in self._fields:
            if not isinstance(sort, DomainSort):
                cells |= cells_of(sort, getattr(point.model, name), name)
        for root, state in zip(("", AFTER), point.values[: self.states], strict=False):
            cells |= cells_of(self.traced.state_sort, state, root)
        arguments = point.values[self.states :]
        own = zip(self.parameters, arguments, strict=True)
        return cells | {(name, ()): value for (name, _), value in own}

    def at(self, model: Model[Any], states: tuple[Any, ...], arguments: tuple[Any, ...]) -> Point:
        """Return the point of a model's states."""
        fields = {field.name: getattr(model, field.name) for field in dataclasses.fields(model)}
        domains = {value.name: value for value in fields.values() if isinstance(value, Domain)}
        if states:
            fields |= values_of(states[0])
        fields |= dict(zip((AFTER,), states[1:], strict=False))
        names = (name for name, _ in self.parameters)
        bound = dict(zip(names, arguments, strict=True))
        return Point(model, (*states, *arguments), Place(domains, fields, bound))


@dataclasses.dataclass(frozen=True)
class FunctionShape:
    """What a function of a protocol takes."""

    sorts: tuple[tuple[str, Sort], ...]
    assumptions: tuple[Expr, ...] = ()

    @classmethod
    def of(cls, function: Callable[..., Any]) -> FunctionShape:
        """Read a function's annotations."""
        hints = typing.get_type_hints(function, include_extras=True)
        names = inspect.signature(function).parameters
        return cls(tuple((name, sort_of(hints[name])) for name in names))

    @functools.cached_property
    def variables(self) -> tuple[Variable, ...]:
        """What the parameters are made of."""
        return tuple(
            variable
            for name, sort in self.sorts
            if not isinstance(sort, DomainSort)
            for variable in variables_of(sort, name)
        )

    def domains(self, size: int | Mapping[str, int]) -> Domains:
        """Make a domain for each element sort, of a size, or each of its own."""
        names = {key.name for variable in self.variables for key in variable.keys}
        names |= {v.sort.name for v in self.variables if isinstance(v.sort, ElementSort)}
        names |= {sort.element.name for _, sort in self.sorts if isinstance(sort, DomainSort)}
        return _sized({name: _element_class(name) for name in sorted(names)}, size)

    def point(self, domains: Domains, value: ValueOf) -> Point:
        """Build the arguments."""
        roots = {
            name: domains[sort.element.name]
            if isinstance(sort, DomainSort)
            else rebuild(sort, domains, value, name)
            for name, sort in self.sorts
        }
        return Point(None, tuple(roots.values()), Place(domains, roots, dict(roots)))

    def cells(self, point: Point) -> Cells:
        """Take the arguments apart."""
        cells: Cells = {}
        for (name, sort), value in zip(self.sorts, point.values, strict=True):
            if not isinstance(sort, DomainSort):
                cells |= cells_of(sort, value, name)
        return cells


def _sized(classes: Mapping[str, Any], size: int | Mapping[str, int]) -> Domains:
    return {
        name: Domain(cls, size if isinstance(size, int) else size[name])
        for name, cls in classes.items()
    }


@functools.cache
def _element_class(name: str) -> Any:
    return type(name, (Element,), {"__slots__": ()})


def function_result(function: Callable[..., Any], traced: TracedTransition) -> Sort:
    """Return the sort of a function's result: for a step, the sort of its state."""
    hints = typing.get_type_hints(function, include_extras=True)
    result = hints["return"]
    return sort_of(typing.get_args(result)[0] if traced.is_step else result)
