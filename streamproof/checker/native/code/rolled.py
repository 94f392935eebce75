"""Code generation for large sizes: the functions of `codegen`, with loops over elements.

A ground model has a term for every element that a quantifier ranges over and a branch for every
ground action. Beyond a few hundred of these it takes longer to compile than most searches. Here the
code is as long as the model's text, whatever the size, and a few times slower.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from math import prod

from llvmlite import ir

from streamproof.checker.native.code.block import I64, literal
from streamproof.checker.native.code.canonical import Representatives
from streamproof.checker.native.code.cells import Cell, Encoder, Keys
from streamproof.checker.native.code.codegen import (
    Event,
    Expand,
    Truth,
    write_first,
    write_hash,
    write_marks,
)
from streamproof.checker.native.code.expressions import Array, Evaluation, Expressions
from streamproof.checker.native.code.grounding import OF_STATES, premises_of
from streamproof.checker.native.code.layout import WORD_BITS, Field, Layout
from streamproof.checker.native.code.loops import each, load, store
from streamproof.checker.native.code.symmetry import Symmetry
from streamproof.lang.expr import Apply, Expr, Quantified, Read, Var
from streamproof.lang.form import ClaimForm, Command, PropertyForm, Update
from streamproof.lang.model import PROMISES, Role
from streamproof.lang.quantify import Site

BRANCHES_MAX = 200
"""How many paths of ground actions are written out before loops are written instead."""
TERMS_MAX = 10_000_000
"""The same for terms, of which many are the same and are written once."""


def is_large(encoder: Encoder) -> bool:
    """Return whether a ground model would have so many terms that loops are better."""
    return branching_of(encoder) > BRANCHES_MAX or sum(_terms(encoder)) > TERMS_MAX


def evened(cells: Sequence[Cell]) -> tuple[Cell, ...]:
    """Let all cells of a variable have the same range, as those of an array must."""
    found: list[Cell] = []
    for _, group in groupby(cells, key=lambda cell: cell.variable):
        same = list(group)
        low, high = min(cell.low for cell in same), max(cell.high for cell in same)
        found += [replace(cell, low=low, high=high) for cell in same]
    return tuple(found)


def branching_of(encoder: Encoder) -> int:
    """Return the most successors of a state."""
    return sum(encoder.count(command.parameters) for command in encoder.traced.commands)


def fixed_cells(encoder: Encoder, cells: Sequence[Cell], initial: Sequence[Keys]) -> dict[int, int]:
    """Return the values of the cells of variables that no action changes."""
    changed = {update.variable for c in encoder.traced.commands for update in c.updates}
    known = initial[0] if initial else ()
    fixed: dict[int, int] = {}
    for name, group in groupby(range(len(known)), key=lambda number: cells[number].variable):
        numbers = list(group)
        same = all(state[number] == known[number] for state in initial for number in numbers)
        if name not in changed and same:
            fixed |= {number: known[number] for number in numbers}
    return fixed


def lay_out(cells: Sequence[Cell], fixed: Mapping[int, int]) -> Layout:
    """Lay variables out as arrays."""
    arrays = _arrays(cells, fixed)
    fields = {
        array.cell + number: array.field(number)
        for array in arrays.values()
        for number in range(array.count)
    }
    words = max((field.word for field in fields.values()), default=0) + 1
    return Layout(words, fields, fixed)


def write_rolled_module(
    encoder: Encoder,
    cells: Sequence[Cell],
    layout: Layout,
    symmetry: Symmetry | None = None,
    premise: Site | None = None,
) -> ir.Module:
    """Write all functions of an encoder's model, whose states have the given cells and layout.

    Parameters
    ----------
    symmetry : as in `codegen.write_module`
    premise : as in `grounding.ground`
    """
    module = ir.Module("streamproof")
    arrays = _arrays(cells, layout.fixed)
    values = _values(encoder, layout.fixed)
    known = Expressions(encoder, module, arrays, values)
    representatives = Representatives(module, symmetry, layout) if symmetry else None
    _RolledExpand(module, layout, representatives, known, premise).write()
    write_hash(module, layout)
    traced = encoder.traced

    def breaks(at: Evaluation) -> ir.Value:
        return at.build.not_(_all_hold(at, traced.properties_of(Role.ALWAYS)))

    write_first(module, layout, "first_breaking", lambda b, _, state: breaks(known.over(b, state)))
    asked = [
        _for_instance(known, form.parameters, [part for _, part in form.conjuncts])
        for form in traced.properties_of(Role.SOMETIMES)
    ]
    for form, _, premise_ in premises_of(traced, *OF_STATES):
        asked.append(_some(known, form.parameters, premise_))
    for number, part in enumerate(asked):
        write_first(module, layout, f"first_{number}", part)
    sides = [(form, side) for form, promise in _promised(encoder) for side in promise]
    for number, (form, side) in enumerate(sides):
        truth = _for_instance(known, form.parameters, [side])
        write_marks(module, layout, f"mark_{number}", truth)
    return module


def asked_of(encoder: Encoder) -> tuple[list[int], list[int]]:
    """Count the instances of each `first_<n>`, and of each promise, which has two `mark_<n>`."""
    traced = encoder.traced
    sometimes = [encoder.count(form.parameters) for form in traced.properties_of(Role.SOMETIMES)]
    premises = [1 for _ in premises_of(traced, *OF_STATES)]
    return [*sometimes, *premises], [
        encoder.count(form.parameters) for form, _ in _promised(encoder)
    ]


class _RolledExpand(Expand):
    """A loop over the elements that each action is taken for."""

    def __init__(
        self,
        module: ir.Module,
        layout: Layout,
        representatives: Representatives | None,
        known: Expressions,
        premise: Site | None,
    ) -> None:
        super().__init__(module, layout, representatives)
        self.known, self.premise = known, premise
        self.encoder, self.traced = known.encoder, known.encoder.traced
        self.branching = branching_of(self.encoder)
        self.target = self.build.alloca(I64, layout.words, "target")

    def write_actions(self) -> None:
        """Write a loop for each action."""
        build, first = self.build, 0
        for method in self.encoder.model.methods(Role.ACTION):
            claims = [form for form in self.traced.claims if form.name == method.name]
            commands = self.traced.commands_of(method.name)
            calls = sum(1 for _ in self.encoder.model.calls(method))
            with each(build, I64(calls)) as position:
                action = build.add(position, I64(first))
                self._write_claims(claims, position, action)
                for command in commands:
                    self._write_command(command, position, action)
            first += calls

    def is_final(self) -> ir.Value | None:
        """Compute it from the properties of that role."""
        at, build = self.known.over(self.build, self.state), self.build
        found: ir.Value = ir.Constant(ir.IntType(1), 0)
        for form in self.traced.properties_of(Role.FINAL):
            parts = [part for _, part in form.conjuncts]
            found = build.or_(found, at.for_some(form.parameters, parts))
        return found

    def _write_claims(
        self, claims: Iterable[ClaimForm], position: ir.Value, action: ir.Value
    ) -> None:
        build = self.build
        for claim in claims:
            bound = self.known.keys_at(build, claim.parameters, position)
            broken = self.known.over(build, self.state).all_of(claim.broken_if, bound)
            with build.if_then(broken, likely=False):
                self.stop(Event.CLAIM, action)

    def _write_command(self, command: Command, position: ir.Value, action: ir.Value) -> None:
        build, at = self.build, self.known.over(self.build, self.state, self.target)
        bound = self.known.keys_at(build, command.parameters, position)
        with build.if_then(at.all_of(command.guard, bound)):
            store(build, self.words, self.target)
            for update in command.updates:
                self._write_update(at, update, bound, action)
            self.write_successor(load(build, self.target, self.layout.words), action)
            breaks = self._breaks_a_step(at)
            if breaks is not None:
                with build.if_then(breaks, likely=False):
                    self.stop(Event.STEP, action)

    def _write_update(
        self, at: Evaluation, update: Update, bound: Mapping[Var, ir.Value], action: ir.Value
    ) -> None:
        if update.variable not in self.known.arrays:
            return  # it has no cells
        build, array = self.build, self.known.arrays[update.variable]
        low, high = literal(array.first.low), literal(array.high)
        with each(build, I64(array.count)) as place:
            keys = self.known.keys_at(build, update.keys, place)
            value = at.number(update.value, {**bound, **keys})
            leaves = build.or_(
                build.icmp_signed("<", value, low), build.icmp_signed(">", value, high)
            )
            with build.if_then(leaves, likely=False):
                kind = Event.LEFT_RANGE if array.is_declared else Event.WIDEN
                self.stop(kind, action, build.add(place, I64(array.cell)))
            word, shift = array.at(build, place)
            target = build.gep(self.target, [word])
            mask = build.shl(I64((1 << array.first.bits) - 1), shift)
            kept = build.and_(build.load(target), build.not_(mask))
            build.store(build.or_(kept, build.shl(build.sub(value, low), shift)), target)

    def _breaks_a_step(self, at: Evaluation) -> ir.Value | None:
        """Compute whether a step breaks a property, or whether the premise holds in it."""
        if self.premise is None:
            forms = self.traced.properties_of(Role.EVERY_STEP)
            return self.build.not_(_all_hold(at, forms)) if forms else None
        found: ir.Value = ir.Constant(ir.IntType(1), 0)
        for form, site, premise in premises_of(self.traced, Role.EVERY_STEP):
            if site is self.premise:
                found = self.build.or_(found, at.for_some(form.parameters, [premise]))
        return found


def _all_hold(at: Evaluation, forms: Iterable[PropertyForm]) -> ir.Value:
    found: ir.Value = ir.Constant(ir.IntType(1), 1)
    for form in forms:
        parts = [part for _, part in form.conjuncts]
        found = at.build.and_(found, at.for_all(form.parameters, parts))
    return found


def _some(known: Expressions, variables: Sequence[Var], part: Expr) -> Truth:
    return lambda build, _, state: known.over(build, state).for_some(variables, [part])


def _for_instance(known: Expressions, variables: Sequence[Var], parts: Sequence[Expr]) -> Truth:
    """Write a conjunction for the elements whose place among all an instance is."""

    def truth(build: ir.IRBuilder, instance: ir.Value, state: ir.Value) -> ir.Value:
        bound = known.keys_at(build, variables, instance)
        return known.over(build, state).all_of(parts, bound)

    return truth


def _promised(encoder: Encoder) -> Iterator[tuple[PropertyForm, tuple[Expr, ...]]]:
    """List the promises with premise and goal."""
    for role in PROMISES:
        for form in encoder.traced.properties_of(role):
            yield form, form.sides


def _arrays(cells: Sequence[Cell], fixed: Mapping[int, int]) -> dict[str, Array]:
    """Place variables one behind the other; those that share a word with none begin a new one."""
    arrays: dict[str, Array] = {}
    word = shift = 0
    for name, group in groupby(range(len(cells)), key=lambda number: cells[number].variable):
        numbers = list(group)
        cell = cells[numbers[0]]
        if numbers[0] in fixed:
            continue
        bits = (cell.high - cell.low).bit_length()
        if shift and shift + max(1, bits * len(numbers)) > WORD_BITS:
            word, shift = word + 1, 0
        first = Field(word, shift, bits, cell.low)
        arrays[name] = Array(numbers[0], first, len(numbers), cell.high, cell.is_declared)
        last = arrays[name].field(len(numbers) - 1)
        word, shift = last.word, last.shift + bits
    return arrays


def _values(encoder: Encoder, fixed: Mapping[int, int]) -> dict[str, list[int]]:
    """Return the values of constants, and of variables that never change, at all keys."""
    values: dict[str, list[int]] = {}
    rest = list(encoder.constant_values())
    for part in encoder.traced.constants:
        size = prod(map(encoder.size, part.keys))
        values[part.name], rest = rest[:size], rest[size:]
    for number, value in fixed.items():
        values.setdefault(encoder.places[number][0].name, []).append(value)
    return values


def _terms(encoder: Encoder) -> Iterator[int]:
    """Estimate how many ground terms a model has, part by part."""

    def terms(expr: Expr) -> int:
        match expr:
            case Quantified(_, variables, body, _):
                return encoder.count(variables) * terms(body)
            case Apply(_, parts, _):
                return 1 + sum(map(terms, parts))
            case Read(_, keys, _):
                unknown = (key for key in keys if not isinstance(key, Var))
                return prod(encoder.size(key.sort) * terms(key) for key in unknown)
            case _:
                return 1

    def all_terms(form: PropertyForm) -> int:
        return encoder.count(form.parameters) * sum(terms(part) for _, part in form.conjuncts)

    traced = encoder.traced
    of_step = sum(map(all_terms, traced.properties_of(Role.EVERY_STEP)))
    for command in traced.commands:
        changes = sum(encoder.count(u.keys) * terms(u.value) for u in command.updates)
        yield encoder.count(command.parameters) * (
            sum(map(terms, command.guard)) + changes + of_step
        )
    yield from (all_terms(form) for form in traced.properties if not form.takes_a_step)
