"""Expressions of the traced form in LLVM's intermediate language, with quantifiers as loops.

Where a size is so large that writing out every element would take longer than the search, keys are
numbers that are known only when the code runs, and a variable's cells lie in words like an array.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias, assert_never

from llvmlite import ir

from streamproof.checker.native.code.block import I1, I64, literal
from streamproof.checker.native.code.cells import Encoder
from streamproof.checker.native.code.layout import WORD_BITS, Field
from streamproof.checker.native.code.loops import each
from streamproof.checker.native.code.terms import check_width
from streamproof.lang.expr import Apply, Const, Expr, Quantified, Read, Var
from streamproof.lang.sorts import ScalarSort
from streamproof.lang.trace import AFTER

Bound: TypeAlias = Mapping[Var, ir.Value]
"""The numbers of the elements that variables stand for."""


@dataclass(frozen=True, slots=True)
class Array:
    """The cells of a variable, in the order of their keys.

    Attributes
    ----------
    cell : number of the first
    first : its field; if all fit into the rest of that word they lie there, else each word from
        there on holds as many as fit
    count : how many cells
    high : the largest value; `first.low` is the least
    is_declared : whether leaving that range is a mistake of the model
    """

    cell: int
    first: Field
    count: int
    high: int
    is_declared: bool

    @property
    def per_word(self) -> int:
        """How many lie in one word."""
        return self.count if self.is_short else WORD_BITS // self.first.bits

    @property
    def is_short(self) -> bool:
        """Whether all lie in one word."""
        return self.first.shift + self.first.bits * self.count <= WORD_BITS

    def field(self, number: int) -> Field:
        """Return the field of one of the cells."""
        first, per_word = self.first, max(1, self.per_word)
        shift = first.shift + number % per_word * first.bits
        return Field(first.word + number // per_word, shift, first.bits, first.low)

    def at(self, build: ir.IRBuilder, number: ir.Value) -> tuple[ir.Value, ir.Value]:
        """Compute the word and the shift of one of the cells."""
        first = self.first
        bits = I64(first.bits)
        if self.is_short:
            return I64(first.word), build.add(build.mul(number, bits), I64(first.shift))
        per_word = I64(self.per_word)
        word = build.add(build.udiv(number, per_word), I64(first.word))
        return word, build.mul(build.urem(number, per_word), bits)


class Expressions:
    """Writes expressions over a state, or over the two states of a step.

    Attributes
    ----------
    arrays : where the variables that change lie, by name
    values : those of constants and of variables that never change, at all keys, by name
    """

    def __init__(
        self,
        encoder: Encoder,
        module: ir.Module,
        arrays: Mapping[str, Array],
        values: Mapping[str, Sequence[int]],
    ) -> None:
        self.encoder, self.module, self.arrays, self.values = encoder, module, arrays, values
        self._hulls = {name: (min(part), max(part)) for name, part in values.items() if part}
        self._tables: dict[str, ir.GlobalVariable] = {}

    def table(self, name: str) -> ir.GlobalVariable:
        """Write values that never change, if they are asked for."""
        if name not in self._tables:
            numbers = self.values[name]
            kind = ir.ArrayType(I64, len(numbers))
            table = ir.GlobalVariable(self.module, kind, f"table {name}")
            table.global_constant, table.linkage = True, "internal"
            table.initializer = kind([literal(number) for number in numbers])
            self._tables[name] = table
        return self._tables[name]

    def over(
        self, build: ir.IRBuilder, state: ir.Value, after: ir.Value | None = None
    ) -> Evaluation:
        """Return a writer of expressions over the state at an address, and the one after a step."""
        return Evaluation(self, build, state, after)

    def position(
        self, build: ir.IRBuilder, keys: Iterable[tuple[ScalarSort, ir.Value]]
    ) -> ir.Value:
        """Compute the index of keys in the lexicographic order of all keys."""
        place: ir.Value = I64(0)
        for sort, key in keys:
            place = build.add(build.mul(place, I64(self.encoder.size(sort))), key)
        return place

    def keys_at(
        self, build: ir.IRBuilder, variables: Sequence[Var], position: ir.Value
    ) -> dict[Var, ir.Value]:
        """Compute the keys at a place."""
        found = {}
        for variable in reversed(variables):
            size = I64(max(1, self.encoder.size(variable.sort)))
            found[variable] = build.urem(position, size)
            position = build.udiv(position, size)
        return found

    def interval(self, expr: Expr) -> tuple[int, int]:
        """Return what a number lies between."""
        match expr:
            case Const(value, sort):
                number = self.encoder.number(value, sort)
                return number, number
            case Read(variable, _, _):
                name = variable.removeprefix(f"{AFTER}.")
                if name in self.arrays:
                    return self.arrays[name].first.low, self.arrays[name].high
                return self._hulls.get(name, (0, 0))  # without cells it is never read
            case Apply(("add" | "sub" | "mul") as operator, (left, right), _):
                a, b = self.interval(left), self.interval(right)
                join = {"add": int.__add__, "sub": int.__sub__, "mul": int.__mul__}[operator]
                corners = [join(x, y) for x in a for y in b]
                return min(corners), max(corners)
            case Apply("ite", (_, then, otherwise), _):
                a, b = self.interval(then), self.interval(otherwise)
                return min(a[0], b[0]), max(a[1], b[1])
            case Quantified("count", variables, _, _):
                return 0, self.encoder.count(variables)
            case Var(_, sort):
                return 0, self.encoder.size(sort)
            case _:
                return 0, 1


class Evaluation:
    """Writes what computes expressions where a builder stands."""

    def __init__(
        self,
        expressions: Expressions,
        build: ir.IRBuilder,
        state: ir.Value,
        after: ir.Value | None,
    ) -> None:
        self.known, self.build, self.state, self.after = expressions, build, state, after

    def truth(self, expr: Expr, bound: Bound) -> ir.Value:
        """Compute a truth, as one bit."""
        build = self.build
        match expr:
            case Apply("not", (part,), _):
                return build.not_(self.truth(part, bound))
            case Apply("and", parts, _):
                return self.all_of(parts, bound)
            case Apply("or", parts, _):
                return self._until(1, [partial(self.truth, part, bound) for part in parts])
            case Apply(("eq" | "lt" | "le") as operator, (left, right), _):
                known = self._compared(operator, left, right)
                if known is not None:
                    return I1(known)
                sign = {"eq": "==", "lt": "<", "le": "<="}[operator]
                a, b = self.number(left, bound), self.number(right, bound)
                return build.icmp_signed(sign, a, b)
            case Quantified(("forall" | "exists") as kind, _, _, _):
                decisive = 1 if kind == "exists" else 0
                return self._loop(
                    expr.variables, bound, decisive, lambda inner: self.truth(expr.body, inner)
                )
            case _:
                return build.icmp_unsigned("!=", self.number(expr, bound), I64(0))

    def number(self, expr: Expr, bound: Bound) -> ir.Value:
        """Compute any expression, as a word."""
        build = self.build
        match expr:
            case Const(value, sort):
                return literal(self.known.encoder.number(value, sort))
            case Var():
                return bound[expr]
            case Read():
                return self._read(expr, bound)
            case Apply(("add" | "sub" | "mul") as operator, (left, right), _):
                check_width(*self.known.interval(expr))
                join = {"add": build.add, "sub": build.sub, "mul": build.mul}[operator]
                return join(self.number(left, bound), self.number(right, bound))
            case Apply("ite", (condition, then, otherwise), _):
                return self._choose(condition, then, otherwise, bound)
            case Quantified("count", _, _, _):
                return self._count(expr, bound)
            case Apply() | Quantified():
                return build.zext(self.truth(expr, bound), I64)
            case _:
                assert_never(expr)

    def _compared(self, operator: str, left: Expr, right: Expr) -> bool | None:
        """Compare two numbers that lie apart, one of which may be too large to compute with."""
        a, b = self.known.interval(left), self.known.interval(right)
        if a[1] < b[0] or b[1] < a[0]:
            return operator != "eq" and a[1] < b[0]
        return None

    def all_of(self, parts: Iterable[Expr], bound: Bound) -> ir.Value:
        """Compute a conjunction, up to the first part that is false."""
        return self._until(0, [partial(self.truth, part, bound) for part in parts])

    def for_all(self, variables: Sequence[Var], parts: Sequence[Expr]) -> ir.Value:
        """Compute whether all parts hold for all elements."""
        return self._loop(variables, {}, 0, lambda bound: self.all_of(parts, bound))

    def for_some(self, variables: Sequence[Var], parts: Sequence[Expr]) -> ir.Value:
        """Compute whether all parts hold for some elements."""
        return self._loop(variables, {}, 1, lambda bound: self.all_of(parts, bound))

    def _until(self, decisive: int, parts: Sequence[Callable[[], ir.Value]]) -> ir.Value:
        """Compute parts up to the first that decides."""
        build = self.build
        if not parts:
            return I1(1 - decisive)
        done = build.append_basic_block("decided")
        exits = []
        for number, part in enumerate(parts):
            found = part()
            exits.append((found, build.block))
            if number == len(parts) - 1:
                build.branch(done)
            else:
                further = build.append_basic_block("further")
                ways = (done, further) if decisive else (further, done)
                build.cbranch(found, *ways)
                build.position_at_end(further)
        build.position_at_end(done)
        result = build.phi(I1)
        for found, block in exits:
            result.add_incoming(found, block)
        return result

    def _choose(self, condition: Expr, then: Expr, otherwise: Expr, bound: Bound) -> ir.Value:
        build = self.build
        chosen = self.truth(condition, bound)
        blocks = [build.append_basic_block(name) for name in ("then", "otherwise", "chosen")]
        build.cbranch(chosen, *blocks[:2])
        exits = []
        for block, part in zip(blocks, (then, otherwise), strict=False):
            build.position_at_end(block)
            exits.append((self.number(part, bound), build.block))
            build.branch(blocks[2])
        build.position_at_end(blocks[2])
        result = build.phi(I64)
        for value, block in exits:
            result.add_incoming(value, block)
        return result

    def _loop(
        self,
        variables: Sequence[Var],
        bound: Bound,
        decisive: int,
        body: Callable[[Bound], ir.Value],
    ) -> ir.Value:
        """Ask for one combination of elements after the other, up to the first that decides."""
        build = self.build
        count = I64(self.known.encoder.count(variables))
        done = build.append_basic_block("searched")
        with each(build, count) as position:
            found = body({**bound, **self.known.keys_at(build, variables, position)})
            decided_at = build.block
            further = build.append_basic_block("further")
            build.cbranch(found, *((done, further) if decisive else (further, done)))
            build.position_at_end(further)
        exhausted_at = build.block
        build.branch(done)
        build.position_at_end(done)
        result = build.phi(I1)
        result.add_incoming(I1(decisive), decided_at)
        result.add_incoming(I1(1 - decisive), exhausted_at)
        return result

    def _count(self, expr: Quantified, bound: Bound) -> ir.Value:
        build = self.build
        entry = build.block
        with each(build, I64(self.known.encoder.count(expr.variables))) as position:
            body = build.block
            build.position_at_start(position.parent)
            total = build.phi(I64, "total")
            total.add_incoming(I64(0), entry)
            build.position_at_end(body)
            keys = self.known.keys_at(build, expr.variables, position)
            found = self.truth(expr.body, {**bound, **keys})
            total.add_incoming(build.add(total, build.zext(found, I64)), build.block)
        return total

    def _read(self, read: Read, bound: Bound) -> ir.Value:
        build = self.build
        first, _, rest = read.variable.partition(".")
        name, state = (rest, self.after) if first == AFTER else (read.variable, self.state)
        keys = [(key.sort, self.number(key, bound)) for key in read.keys]
        place = self.known.position(build, keys)
        if name in self.known.values:
            return build.load(build.gep(self.known.table(name), [I64(0), place]))
        if name not in self.known.arrays:
            return I64(0)  # it has no cells, so this is never run
        array = self.known.arrays[name]
        word, shift = array.at(build, place)
        value = build.lshr(build.load(build.gep(state, [word])), shift)
        value = build.and_(value, I64((1 << array.first.bits) - 1))
        return build.add(value, literal(array.first.low))
