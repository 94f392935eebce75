"""A traced form as functions that note which outcome of which condition they have seen.

A condition is a comparison, a truth value that is read, or a quantifier.
"""

from __future__ import annotations

import dataclasses
import operator
from collections.abc import Callable, Iterator, Mapping
from itertools import product
from typing import Any, TypeAlias, assert_never

from streamproof.lang import expr as ex
from streamproof.lang.domain import Domain
from streamproof.lang.expr import Apply, Const, Expr, Quantified, Read, Var
from streamproof.lang.map import Map
from streamproof.lang.sorts import BoolSort, IntSort

Reader: TypeAlias = Callable[["Place"], Any]
"""Evaluates one expression in a place."""

_BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "eq": operator.eq,
    "lt": operator.lt,
    "le": operator.le,
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
}

_BORDERS = {"eq": (-1, 1), "lt": (-1, 0), "le": (0, 1)}
"""By how much the first number is larger than the second where a comparison may be off by one."""
_QUANTIFIERS: dict[str, Callable[[Iterator[Any]], Any]] = {"forall": all, "exists": any}
_QUANTIFIERS["count"] = sum


@dataclasses.dataclass(slots=True)
class Place:
    """Where an expression is evaluated.

    Attributes
    ----------
    domains : by the name of their element sort
    roots : the values that variables begin at: fields of the model and the state
    bound : values of parameters and bound variables, by their names
    """

    domains: Mapping[str, Domain[Any]]
    roots: Mapping[str, Any]
    bound: dict[str, Any]


@dataclasses.dataclass(frozen=True, slots=True)
class Condition:
    """A condition of a traced form, and when it is asked.

    Attributes
    ----------
    variables : those of the quantifiers and updates that it stands in
    context : what holds wherever it is asked
    alone : what holds, too, where nothing but it decides the expression that it is a part of
    """

    expr: Expr
    variables: tuple[Var, ...]
    context: tuple[Expr, ...]
    alone: tuple[Expr, ...]

    def asked(self, outcome: bool, *, is_alone: bool = False) -> tuple[Expr, ...]:
        """Say, over its variables, that it is asked with an outcome, as conjuncts."""
        answer = self.expr if outcome else ex.negate(self.expr)
        return (*self.context, *(self.alone if is_alone else ()), answer)


class Conditions:
    """The conditions of one traced form, and the outcomes that were seen to decide something.

    What is seen within an `and` or `or` counts if it decides it: one part is unlike all others, or
    all are alike. Else a fault in it would not show in the result.
    """

    def __init__(self) -> None:
        self.all: list[Condition] = []
        self.seen: set[tuple[int, bool]] = set()
        self.log: list[tuple[int, bool]] = []

    def settle(self) -> None:
        """Count what was noted since the last time."""
        self.seen.update(self.log)
        self.log.clear()

    def unseen(self) -> Iterator[tuple[Condition, bool]]:
        """List the outcomes that were not seen by the time that it is their turn."""
        for number, condition in enumerate(self.all):
            for outcome in (True, False):
                if (number, outcome) not in self.seen:
                    yield condition, outcome

    def compared(self, near: list[tuple[Condition, int]], left: Reader, right: Reader) -> Reader:
        """Note how near two numbers were; give by how much the first is larger."""
        numbers = {difference: len(self.all) + n for n, (_, difference) in enumerate(near)}
        self.all += [condition for condition, _ in near]
        self.seen.update((number, False) for number in numbers.values())
        log = self.log

        def read(place: Place) -> int:
            difference: int = left(place) - right(place)
            if difference in numbers:
                log.append((numbers[difference], True))
            return difference

        return read

    def noted(self, condition: Condition, reader: Reader) -> Reader:
        """Let a reader note what it gives."""
        number, log = len(self.all), self.log
        self.all.append(condition)

        def read(place: Place) -> Any:
            outcome = reader(place)
            log.append((number, outcome))
            return outcome

        return read

    def joined(self, readers: list[Reader], *, is_and: bool) -> Reader:
        """Evaluate parts of an `and` or `or`, and keep the notes of those that decide it.

        Two parts that are unlike the others decide nothing alone, whatever follows.
        """
        log = self.log

        def read(place: Place) -> bool:
            start = begin = end = len(log)
            is_decided = False
            for part in readers:
                before = len(log)
                if bool(part(place)) is is_and:
                    continue
                if is_decided:
                    del log[start:]
                    return not is_and
                is_decided, begin, end = True, before, len(log)
            if is_decided:
                log[start:] = log[begin:end]
            return is_and is not is_decided

        return read


@dataclasses.dataclass(frozen=True, slots=True)
class Reading:
    """Turns expressions into functions.

    Attributes
    ----------
    variables, context, alone : as of a `Condition` of the expression that is turned
    """

    conditions: Conditions
    variables: tuple[Var, ...] = ()
    context: tuple[Expr, ...] = ()
    alone: tuple[Expr, ...] = ()

    def within(self, *context: Expr) -> Reading:
        """Read what is asked only where something holds."""
        return dataclasses.replace(self, context=(*self.context, *context))

    def over(self, *variables: Var) -> Reading:
        """Read what has free variables."""
        return dataclasses.replace(self, variables=(*self.variables, *variables))

    def of(self, expr: Expr) -> Reader:
        """Turn an expression into a function."""
        match expr:
            case Const(value, _):
                return lambda _: value
            case Var(name, _):
                return self._noted(expr, lambda place: place.bound[name])
            case Read():
                return self._noted(expr, self.of_variable(expr.variable, expr.keys))
            case Quantified():
                return self._noted(expr, self._quantified(expr))
            case Apply():
                return self._apply(expr)
            case _:
                assert_never(expr)

    def _apply(self, expr: Apply) -> Reader:
        match expr.operator, expr.arguments:
            case "and" | "or", _:
                return self._junction(expr)
            case "not", (inner,):
                read = self.of(inner)
                return lambda place: not read(place)
            case "ite", (condition, then, otherwise):
                return self._choice(condition, then, otherwise)
            case "eq" | "lt" | "le", (left, _) if isinstance(left.sort, IntSort):
                return self._noted(expr, self._comparison(expr))
            case name, (left, right):
                return self._noted(expr, self._binary(_BINARY[name], left, right))
            case _:
                raise AssertionError(expr)

    def of_variable(self, variable: str, at: tuple[Expr, ...]) -> Reader:
        """Turn the reading of a variable at its keys into a function that notes nothing."""
        first, *rest = variable.split(".")
        keys = [self.of(key) for key in at]

        def read(place: Place) -> Any:
            here = tuple(key(place) for key in keys)
            value, here = _indexed(place.roots[first], here)
            for name in rest:
                value, here = _indexed(getattr(value, name), here)
            return value

        return read

    def _noted(self, expr: Expr, reader: Reader) -> Reader:
        if not isinstance(expr.sort, BoolSort):
            return reader
        return self.conditions.noted(self._condition(expr), reader)

    def _condition(self, expr: Expr) -> Condition:
        return Condition(expr, self.variables, self.context, self.alone)

    def _binary(self, apply: Callable[[Any, Any], Any], left: Expr, right: Expr) -> Reader:
        first, second = self.of(left), self.of(right)
        return lambda place: apply(first(place), second(place))

    def _comparison(self, expr: Apply) -> Reader:
        """Compare numbers, also at the border: a bound that is off by one shows nowhere else."""
        left, right = expr.arguments
        near = [
            (self._condition(ex.equal(left, ex.add(right, ex.literal(step)))), step)
            for step in _BORDERS[expr.operator]
        ]
        difference = self.conditions.compared(near, self.of(left), self.of(right))
        holds = _BINARY[expr.operator]
        return lambda place: holds(difference(place), 0)

    def _junction(self, expr: Apply) -> Reader:
        parts = expr.arguments
        is_and = expr.operator == "and"
        readers = []
        for index, part in enumerate(parts):
            others = (*parts[:index], *parts[index + 1 :])
            masks = others if is_and else tuple(map(ex.negate, others))
            inner = dataclasses.replace(self, alone=(*self.alone, *masks))
            readers.append(inner.of(part))
        return self.conditions.joined(readers, is_and=is_and)

    def _choice(self, condition: Expr, then: Expr, otherwise: Expr) -> Reader:
        test = self.of(condition)
        yes = self.within(condition).of(then)
        no = self.within(ex.negate(condition)).of(otherwise)
        return lambda place: yes(place) if test(place) else no(place)

    def _quantified(self, expr: Quantified) -> Reader:
        body = self.over(*expr.variables).of(expr.body)
        names = [variable.name for variable in expr.variables]
        sorts = [str(variable.sort) for variable in expr.variables]

        def values(place: Place) -> Iterator[Any]:
            bound = place.bound
            for elements in product(*(place.domains[sort] for sort in sorts)):
                bound.update(zip(names, elements, strict=True))
                yield body(place)

        gather = _QUANTIFIERS[expr.kind]
        return lambda place: gather(values(place))


def _indexed(value: Any, keys: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:
    """Read a map, or a map in a map, at the first of some keys; give the keys that are left."""
    while isinstance(value, Map):
        arity = len(value.domains)
        here, keys = keys[:arity], keys[arity:]
        value = value[here[0] if arity == 1 else here]
    return value, keys
