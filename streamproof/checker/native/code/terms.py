"""Ground terms: whole-number expressions over the cells of one size, each kept once.

Everything is a number here: a truth is 0 or 1, an `Enum` member or an element its index. Equal
terms are one term, so that what two guards share is computed once; each knows the interval that its
value lies in, so that what always holds is not computed at all.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from streamproof.lang import StreamproofError

NUMBER_MAX = 2**62
"""The largest number that is computed with, and the negative of the smallest."""
Term: TypeAlias = int
"""A term's number in its `Terms`."""


@dataclass(frozen=True, slots=True)
class Node:
    """One operation.

    Attributes
    ----------
    operator : constant, cell, variable, or an operator of the traced form
    arguments : terms; of a constant its value, of a cell or a variable its number
    low, high : what the value lies between
    """

    operator: str
    arguments: tuple[int, ...]
    low: int
    high: int


class NumberTooLarge(StreamproofError, ValueError):
    """A number of a model may leave what 64 bits hold, and compiled code would wrap it."""


def check_width(low: int, high: int) -> None:
    """Refuse numbers that machine code cannot compute with.

    Raises
    ------
    NumberTooLarge : if an interval does not lie within 63 bits
    """
    if low < -NUMBER_MAX or high > NUMBER_MAX:
        raise NumberTooLarge(
            f"a number may become anything from {low:,} to {high:,}, and the native engine has 64 "
            "bits for it, in which it would wrap. Nothing was searched. Declare a narrower range, "
            'Annotated[int, Range(0, "most")], or use --engine reference'
        )


class Terms:
    """A growing set of terms without repeats. Building one simplifies it."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self._known: dict[tuple[str, tuple[int, ...]], Term] = {}
        self.false, self.true = self.constant(0), self.constant(1)

    def __getitem__(self, term: Term) -> Node:
        return self.nodes[term]

    def value(self, term: Term) -> int | None:
        """Return a term's value if it is the same in every state."""
        node = self.nodes[term]
        return node.low if node.low == node.high else None

    def constant(self, value: int) -> Term:
        """Return the term of a number."""
        return self._term("constant", (value,), value, value)

    def cell(self, number: int, low: int, high: int) -> Term:
        """Return the term that reads a cell of the state."""
        return self._term("cell", (number,), low, high)

    def negate(self, term: Term) -> Term:
        """Build `not term`."""
        node = self.nodes[term]
        if node.operator == "not":
            return node.arguments[0]
        return self._build("not", (term,), 1 - node.high, 1 - node.low)

    def conjunction(self, parts: Iterable[Term]) -> Term:
        """Build `a and b and ...`, flat, without repeats."""
        return self._junction("and", self.true, self.false, parts)

    def disjunction(self, parts: Iterable[Term]) -> Term:
        """Build `a or b or ...`, flat, without repeats."""
        return self._junction("or", self.false, self.true, parts)

    def equal(self, left: Term, right: Term) -> Term:
        """Build `left == right`."""
        a, b = self.nodes[left], self.nodes[right]
        if left == right:
            return self.true
        if a.high < b.low or b.high < a.low:
            return self.false
        if (a.low, a.high) == (0, 1) and b.low == b.high:
            return left if b.low else self.negate(left)
        if (b.low, b.high) == (0, 1) and a.low == a.high:
            return right if a.low else self.negate(right)
        return self._build("eq", (min(left, right), max(left, right)), 0, 1)

    def less(self, left: Term, right: Term) -> Term:
        """Build `left < right`."""
        a, b = self.nodes[left], self.nodes[right]
        if a.high < b.low:
            return self.true
        if left == right or a.low >= b.high:
            return self.false
        return self._build("lt", (left, right), 0, 1)

    def add(self, left: Term, right: Term) -> Term:
        """Build `left + right`; `(a + 1) + 1` is `a + 2`."""
        a, b = self.nodes[left], self.nodes[right]
        if a.operator == "constant":
            left, right, a, b = right, left, b, a
        if b.operator == "constant":
            if b.low == 0:
                return left
            if a.operator == "add" and self.nodes[a.arguments[1]].operator == "constant":
                inner, more = a.arguments
                return self.add(inner, self.constant(self.nodes[more].low + b.low))
        return self._build("add", (left, right), a.low + b.low, a.high + b.high)

    def subtract(self, left: Term, right: Term) -> Term:
        """Build `left - right`."""
        a, b = self.nodes[left], self.nodes[right]
        if left == right:
            return self.constant(0)
        if b.operator == "constant":
            return self.add(left, self.constant(-b.low))
        return self._build("sub", (left, right), a.low - b.high, a.high - b.low)

    def multiply(self, left: Term, right: Term) -> Term:
        """Build `left * right`."""
        a, b = self.nodes[left], self.nodes[right]
        if self.value(left) == 1 or self.value(right) == 1:
            return right if self.value(left) == 1 else left
        corners = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
        return self._build("mul", (left, right), min(corners), max(corners))

    def choose(self, condition: Term, then: Term, otherwise: Term) -> Term:
        """Build `then if condition else otherwise`."""
        chosen = self.value(condition)
        if chosen is not None:
            return then if chosen else otherwise
        if then == otherwise:
            return then
        a, b = self.nodes[then], self.nodes[otherwise]
        if min(a.low, b.low) >= 0 and max(a.high, b.high) <= 1:
            yes = self.conjunction((condition, then))
            return self.disjunction((yes, self.conjunction((self.negate(condition), otherwise))))
        low, high = min(a.low, b.low), max(a.high, b.high)
        return self._build("ite", (condition, then, otherwise), low, high)

    def _junction(self, operator: str, unit: Term, zero: Term, parts: Iterable[Term]) -> Term:
        flat: set[Term] = set()
        for part in parts:
            node = self.nodes[part]
            flat.update(node.arguments if node.operator == operator else (part,))
        flat.discard(unit)
        if zero in flat or any(self.negate(part) in flat for part in tuple(flat)):
            return zero
        if len(flat) <= 1:
            return next(iter(flat), unit)
        return self._build(operator, tuple(sorted(flat)), 0, 1)

    def _build(self, operator: str, arguments: tuple[int, ...], low: int, high: int) -> Term:
        check_width(low, high)
        if low == high:
            return self.constant(low)
        return self._term(operator, arguments, low, high)

    def _term(self, operator: str, arguments: tuple[int, ...], low: int, high: int) -> Term:
        key = operator, arguments
        if key not in self._known:
            self._known[key] = len(self.nodes)
            self.nodes.append(Node(operator, arguments, low, high))
        return self._known[key]
