"""Computing terms of one state in LLVM's intermediate language, each of them once."""

from __future__ import annotations

from typing import Final

from llvmlite import ir

from streamproof.checker.native.code.grounding import GroundModel
from streamproof.checker.native.code.layout import Layout
from streamproof.checker.native.code.terms import Term, check_width

I1, I8, I64 = ir.IntType(1), ir.IntType(8), ir.IntType(64)
BYTES, WORDS, VOID = I8.as_pointer(), I64.as_pointer(), ir.VoidType()

MULTIPLIERS: Final = (0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93)
"""Odd numbers whose bits are well spread: 2**64 by the golden ratio, and that of `rrmxmx`."""


def literal(number: int) -> ir.Constant:
    """Write a number of a model: a value, or a bound of one. All of them come by here.

    LLVM takes the lower 64 bits of whatever it is given, without a word.

    Raises
    ------
    NumberTooLarge : if it is not a number that is computed with
    """
    check_width(number, number)
    return I64(number)


class Block:
    """The terms computed so far, at a place of a function where all of them are known.

    Attributes
    ----------
    words : the packed state
    """

    def __init__(
        self, build: ir.IRBuilder, ground: GroundModel, layout: Layout, words: list[ir.Value]
    ) -> None:
        self.build, self.ground, self.layout, self.words = build, ground, layout, words
        self._known: dict[Term, ir.Value] = {}

    def inner(self) -> Block:
        """Return a branch's block: it knows what is known here, and keeps the rest to itself."""
        inner = Block(self.build, self.ground, self.layout, self.words)
        inner._known = dict(self._known)
        return inner

    def truth(self, term: Term) -> ir.Value:
        """Compute a term as one bit."""
        value = self._value(term)
        return value if value.type == I1 else self.build.icmp_unsigned("!=", value, I64(0))

    def number(self, term: Term) -> ir.Value:
        """Compute a term as a word."""
        value = self._value(term)
        return self.build.zext(value, I64) if value.type == I1 else value

    def _value(self, term: Term) -> ir.Value:
        """Compute the parts of a term, and the term, without recursion, since it may be deep."""
        waiting = [term]
        while waiting:
            newest = waiting[-1]
            missing = [part for part in self._parts(newest) if part not in self._known]
            if newest in self._known or not missing:
                waiting.pop()
                if newest not in self._known:
                    self._known[newest] = self._compute(newest)
            else:
                waiting += reversed(missing)
        return self._known[term]

    def _parts(self, term: Term) -> tuple[Term, ...]:
        node = self.ground.terms[term]
        return () if node.operator in ("constant", "cell") else node.arguments

    def _compute(self, term: Term) -> ir.Value:
        node, build = self.ground.terms[term], self.build
        match node.operator, node.arguments:
            case "constant", (value,):
                return literal(value)
            case "cell", (cell,):
                return self._cell(cell)
            case "not", (part,):
                return build.not_(self.truth(part))
            case ("and" | "or") as operator, parts:
                join = build.and_ if operator == "and" else build.or_
                first, *others = map(self.truth, parts)
                for part in others:
                    first = join(first, part)
                return first
            case "ite", (condition, then, otherwise):
                chosen = self.truth(condition)
                return build.select(chosen, self.number(then), self.number(otherwise))
            case ("eq" | "lt") as operator, (left, right):
                sign = "==" if operator == "eq" else "<"
                return build.icmp_signed(sign, self.number(left), self.number(right))
            case operator, (left, right):
                join = {"add": build.add, "sub": build.sub, "mul": build.mul}[operator]
                return join(self.number(left), self.number(right))
            case _:
                raise AssertionError(node)

    def _cell(self, cell: int) -> ir.Value:
        """Read a field by mask and shift."""
        place, build = self.layout.fields[cell], self.build
        bits = build.and_(self.words[place.word], I64(place.mask))
        value = build.lshr(bits, I64(place.shift))
        return build.add(value, literal(place.low)) if place.low else value


def hash_of(build: ir.IRBuilder, words: list[ir.Value]) -> ir.Value:
    """Mix the words of a state into 64 bits: multiply and fold each in turn."""
    mixed: ir.Value = I64(0)
    for word in words:
        mixed = build.mul(build.xor(mixed, word), I64(MULTIPLIERS[0]))
        mixed = build.xor(mixed, build.lshr(mixed, I64(32)))
    mixed = build.mul(mixed, I64(MULTIPLIERS[1]))
    return build.xor(mixed, build.lshr(mixed, I64(29)))
