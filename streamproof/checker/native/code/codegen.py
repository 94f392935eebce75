"""Code generation: a ground model as LLVM functions over packed states.

The functions are written straight in LLVM's intermediate language, whose front end numba is: they
are shifts, masks and comparisons, of which numba would first have to infer the types, one by one.

``expand(states, count, first, out, hashes, origins, room, owners, produced, fired, event, recent,
kept)``
    writes the other states that steps lead to, with their hashes and where they come from: the
    number of a state in the search, and in the upper half of the word the ground action. `first` is
    the number of the first state; those of the others lie `owners` apart. Each successor goes to
    the partition that the topmost bits of its hash say, of `owners`, a power of two: that of number
    n has its `room` places in the three arrays from n * room on, and `produced[n]` counts them,
    also over several calls. It stops before a state for whose successors there may be no room, and
    at the first event. `event` gets the kind, the position of the state where it stopped, the
    action and the cell. What was written lately is not written again: `recent` has places for as
    many states as `kept` says, a power of two, by hash; at first each must hold a state that is
    known. If `kept` is 0 every successor is written.
``expand_ranges(ranges, count, stores, out, ..., kept)``
    expands several ranges of states, each three words: whose they are, the first of them there, and
    how many. `stores` has the address of each owner's states. It stops where `expand` stops before
    the end of one; a fifth word of `event` says in which.
``hash(states, count, hashes)``
    hashes states.
``mark_<n>(instance, states, count, marks)``
    writes a byte for each state: whether the n-th term of the promises is true in it.
``first_breaking(instance, states, count)`` and ``first_<n>(instance, states, count)``
    give the position of the first state that breaks an invariant, or in which the n-th `sometimes`
    property holds or, after these, the premise of an invariant; `count` if there is none.

An instance is the place of a property's arguments among all. Here each function is about one, and
takes no notice of it; in `rolled` one function is about all instances of a property.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from enum import IntEnum
from typing import TypeAlias

from llvmlite import ir

from streamproof.checker.native.code.block import (
    BYTES,
    I1,
    I8,
    I64,
    VOID,
    WORDS,
    Block,
    hash_of,
    literal,
)
from streamproof.checker.native.code.canonical import F64, Representatives
from streamproof.checker.native.code.grounding import GroundClaim, GroundCommand, GroundModel
from streamproof.checker.native.code.layout import Layout
from streamproof.checker.native.code.loops import each, function, load, state_at, store
from streamproof.checker.native.code.symmetry import Symmetry
from streamproof.checker.native.code.terms import Term

Truth: TypeAlias = Callable[[ir.IRBuilder, ir.Value, ir.Value], ir.Value]
"""Writes what tells for an instance whether it is true in the state at an address, as one bit."""
ZERO = I64(0)
ALL_BITS = (1 << 64) - 1


class Event(IntEnum):
    """Why `expand` stopped."""

    NONE = 0
    CLAIM = 1
    """An action breaks a claim."""
    DEADLOCK = 2
    """A state has no successor, and is not final."""
    LEFT_RANGE = 3
    """An action drives a cell out of its declared range."""
    WIDEN = 4
    """An action needs more room for a number without a declared range."""
    STEP = 5
    """A step breaks a property of steps; where it leads was written, as the last."""


def write_module(
    ground: GroundModel, layout: Layout, symmetry: Symmetry | None = None
) -> ir.Module:
    """Write all functions of a ground model whose states have a layout.

    Parameters
    ----------
    symmetry : if given, one state stands for each orbit: `represent` and `weigh_all` are there, as
        `canonical` describes them, and `fired` counts the steps of whole orbits, as floats
    """
    module = ir.Module("streamproof")
    representatives = Representatives(module, symmetry, layout) if symmetry else None
    _GroundExpand(module, layout, representatives, ground).write()
    write_hash(module, layout)

    def truth_of(term: Term) -> Truth:
        def truth(build: ir.IRBuilder, _: ir.Value, state: ir.Value) -> ir.Value:
            return Block(build, ground, layout, load(build, state, layout.words)).truth(term)

        return truth

    write_first(module, layout, "first_breaking", truth_of(ground.terms.negate(ground.always)))
    for number, term in enumerate([*ground.sometimes, *ground.premises]):
        write_first(module, layout, f"first_{number}", truth_of(term))
    for number, term in enumerate(ground.promises):
        write_marks(module, layout, f"mark_{number}", truth_of(term))
    return module


class Expand(ABC):
    """Writes `expand`: a loop over states, and in it whatever takes their steps.

    Attributes
    ----------
    branching : the most successors of a state
    state, words : the packed state at hand: its address, and what stands there
    """

    branching: int

    def __init__(
        self, module: ir.Module, layout: Layout, representatives: Representatives | None
    ) -> None:
        self.layout, self.representatives = layout, representatives
        kind = ir.FunctionType(
            VOID, [WORDS, I64, I64, WORDS, WORDS, WORDS, I64, I64, *(WORDS,) * 4, I64]
        )
        expand = ir.Function(module, kind, "expand")
        for argument in expand.args:
            if isinstance(argument.type, ir.PointerType):
                argument.add_attribute("noalias")
        self.states, self.count, self.first = expand.args[:3]
        self.out, self.hashes, self.origins = expand.args[3:6]
        self.room, self.owners, self.produced = expand.args[6:9]
        self.fired, self.event, self.recent, self.recent_count = expand.args[9:]
        self.build = ir.IRBuilder(expand.append_basic_block("entry"))
        self.successors = self.build.alloca(I64, name="successors")  # of the state at hand
        self.fullest = self.build.alloca(I64, name="fullest")  # an upper bound of all in `produced`
        self.scratch = self.build.alloca(I64, layout.words, "scratch")

    @abstractmethod
    def write_actions(self) -> None:
        """Write commands and claims in the order of ground actions, claims of an action first."""

    @abstractmethod
    def is_final(self) -> ir.Value | None:
        """Compute whether nothing more needs to happen; None if that is so in every state."""

    def write(self) -> None:
        """Write the function."""
        build = self.build
        build.store(I64(0), self.fullest)
        with each(build, self.owners) as owner:
            self._note_fullness(build.load(build.gep(self.produced, [owner])))
        with each(build, self.count) as position:
            self.position = position
            needed = build.add(build.load(self.fullest), I64(self.branching))
            with build.if_then(build.icmp_unsigned(">", needed, self.room), likely=False):
                self.stop(Event.NONE)
            self.state = state_at(build, self.states, position, self.layout.words)
            if self.representatives:
                self.weight = build.call(self.representatives.weigh, [self.state])
            self.words = load(build, self.state, self.layout.words)
            build.store(I64(0), self.successors)
            self.write_actions()
            self._write_deadlock()
        self.position = self.count
        self.stop(Event.NONE)
        self._write_ranges()

    def _write_ranges(self) -> None:
        expand = self.build.function
        shared = [argument.type for argument in expand.args[3:]]
        kinds = [WORDS, I64, WORDS.as_pointer(), *shared]
        build, arguments = function(expand.module, "expand_ranges", VOID, kinds)
        ranges, count, stores, *places = arguments
        owners, event = places[4], places[7]
        with each(build, count) as number:
            build.store(number, build.gep(event, [I64(4)]))
            owner, begin, size = load(build, state_at(build, ranges, number, 3), 3)
            store_ = build.load(build.gep(stores, [owner]))
            states = state_at(build, store_, begin, self.layout.words)
            first = build.add(build.mul(begin, owners), owner)
            build.call(expand, [states, size, first, *places])
            reached = build.load(build.gep(event, [I64(1)]))
            with build.if_then(build.icmp_unsigned("<", reached, size), likely=False):
                build.ret_void()
        build.store(count, build.gep(event, [I64(4)]))
        build.ret_void()

    def _write_deadlock(self) -> None:
        build = self.build
        stuck = build.icmp_unsigned("==", build.load(self.successors), I64(0))
        with build.if_then(stuck, likely=False):
            is_final = self.is_final()
            if is_final is not None:
                with build.if_then(build.not_(is_final)):
                    self.stop(Event.DEADLOCK)

    def write_successor(self, target: list[ir.Value], action: ir.Value) -> None:
        """Count a step, and write where it leads unless it changes nothing."""
        build = self.build
        build.store(build.add(build.load(self.successors), I64(1)), self.successors)
        fired = build.gep(self.fired, [action])
        if self.representatives:
            fired = build.bitcast(fired, F64.as_pointer())
            build.store(build.fadd(build.load(fired), self.weight), fired)
        else:
            build.store(build.add(build.load(fired), I64(1)), fired)
        differs = ir.Constant(I1, 0)
        for before, after in zip(self.words, target, strict=True):
            if after is not before:
                differs = build.or_(differs, build.icmp_unsigned("!=", before, after))
        with build.if_then(differs):
            self._write_candidate(target, action)

    def _write_candidate(self, target: list[ir.Value], action: ir.Value) -> None:
        build, width = self.build, self.layout.words
        if self.representatives:
            store(build, target, self.scratch)
            build.call(self.representatives.least, [self.scratch])
            target = load(build, self.scratch, width)
        hash_ = hash_of(build, target)
        every = build.icmp_unsigned("==", self.recent_count, ZERO)
        mask = build.select(every, ZERO, build.sub(self.recent_count, I64(1)))
        seen = state_at(build, self.recent, build.and_(hash_, mask), width)
        differs = every
        for word, known in zip(target, load(build, seen, width), strict=True):
            differs = build.or_(differs, build.icmp_unsigned("!=", word, known))
        with build.if_then(differs):
            store(build, target, seen)
            self._send(target, hash_, action)

    def _send(self, target: list[ir.Value], hash_: ir.Value, action: ir.Value) -> None:
        build, width = self.build, self.layout.words
        upper = build.lshr(hash_, I64(32))
        owner = build.lshr(build.mul(upper, self.owners), I64(32))  # the topmost bits
        counter = build.gep(self.produced, [owner])
        produced = build.load(counter)
        at = build.add(build.mul(owner, self.room), produced)
        store(build, target, state_at(build, self.out, at, width))
        build.store(hash_, build.gep(self.hashes, [at]))
        number = build.add(self.first, build.mul(self.position, self.owners))
        origin = build.or_(number, build.shl(action, I64(32)))
        build.store(origin, build.gep(self.origins, [at]))
        produced = build.add(produced, I64(1))
        build.store(produced, counter)
        self._note_fullness(produced)

    def _note_fullness(self, produced: ir.Value) -> None:
        build = self.build
        fullest = build.load(self.fullest)
        is_fuller = build.icmp_unsigned(">", produced, fullest)
        build.store(build.select(is_fuller, produced, fullest), self.fullest)

    def stop(self, kind: Event, action: ir.Value = ZERO, cell: ir.Value = ZERO) -> None:
        """End the function with an event."""
        build = self.build
        for number, value in enumerate((I64(kind), self.position, action, cell)):
            build.store(value, build.gep(self.event, [I64(number)]))
        build.ret_void()


class _GroundExpand(Expand):
    """A branch for each path of each ground action."""

    def __init__(
        self,
        module: ir.Module,
        layout: Layout,
        representatives: Representatives | None,
        ground: GroundModel,
    ) -> None:
        super().__init__(module, layout, representatives)
        self.ground, self.branching = ground, len(ground.commands)

    def write_actions(self) -> None:
        """Write every branch."""
        self.block = Block(self.build, self.ground, self.layout, self.words)
        parts: list[GroundClaim | GroundCommand] = [*self.ground.claims, *self.ground.commands]
        for part in sorted(parts, key=lambda part: part.action):  # which keeps claims first
            if isinstance(part, GroundCommand):
                self._write_command(part)
            else:
                with self.build.if_then(self.block.truth(part.broken_if), likely=False):
                    self.stop(Event.CLAIM, I64(part.action))

    def is_final(self) -> ir.Value | None:
        """Compute it from the ground term."""
        always = self.ground.terms.value(self.ground.final)
        return None if always else self.block.inner().truth(self.ground.final)

    def _write_command(self, command: GroundCommand) -> None:
        build = self.build
        with build.if_then(self.block.truth(command.guard)):
            inner = self.block.inner()
            for cell, term in command.updates.items():
                self._check_range(inner, command.action, cell, term)
            self.write_successor(self._target(inner, command), I64(command.action))
            if self.ground.terms.value(command.keeps) != 1:
                breaks = build.not_(inner.truth(command.keeps))
                with build.if_then(breaks, likely=False):
                    self.stop(Event.STEP, I64(command.action))

    def _check_range(self, block: Block, action: int, cell: int, term: Term) -> None:
        """Stop where an update leaves its range, if that is possible at all."""
        build, node, declared = self.build, self.ground.terms[term], self.ground.cells[cell]
        kind = Event.LEFT_RANGE if declared.is_declared else Event.WIDEN
        tests = []
        if node.low < declared.low:
            tests.append(build.icmp_signed("<", block.number(term), literal(declared.low)))
        if node.high > declared.high:
            tests.append(build.icmp_signed(">", block.number(term), literal(declared.high)))
        for test in tests:
            with build.if_then(test, likely=False):
                self.stop(kind, I64(action), I64(cell))

    def _target(self, block: Block, command: GroundCommand) -> list[ir.Value]:
        """Compute the words of the next state: the changed fields cleared, then set."""
        build = self.build
        kept = [ALL_BITS] * self.layout.words
        added: list[list[ir.Value]] = [[] for _ in kept]
        for cell, term in command.updates.items():
            place = self.layout.fields[cell]
            kept[place.word] &= ~place.mask
            value = block.number(term)
            value = build.sub(value, literal(place.low)) if place.low else value
            added[place.word].append(build.shl(value, I64(place.shift)))
        target = []
        for word, mask, parts in zip(block.words, kept, added, strict=True):
            value = word if mask == ALL_BITS else build.and_(word, I64(mask))
            for part in parts:
                value = build.or_(value, part)
            target.append(value)
        return target


def write_first(module: ir.Module, layout: Layout, name: str, truth: Truth) -> None:
    """Write a function that finds the first state in which something is true."""
    build, (instance, states, count) = function(module, name, I64, (I64, WORDS, I64))
    with each(build, count) as position:
        found = truth(build, instance, state_at(build, states, position, layout.words))
        with build.if_then(found, likely=False):
            build.ret(position)
    build.ret(count)


def write_marks(module: ir.Module, layout: Layout, name: str, truth: Truth) -> None:
    """Write a function that says for each state whether something is true."""
    build, (instance, states, count, marks) = function(module, name, VOID, (I64, WORDS, I64, BYTES))
    with each(build, count) as position:
        found = truth(build, instance, state_at(build, states, position, layout.words))
        build.store(build.zext(found, I8), build.gep(marks, [position]))
    build.ret_void()


def write_hash(module: ir.Module, layout: Layout) -> None:
    """Write a function that hashes states."""
    build, (states, count, hashes) = function(module, "hash", VOID, [WORDS, I64, WORDS])
    with each(build, count) as position:
        words = load(build, state_at(build, states, position, layout.words), layout.words)
        build.store(hash_of(build, words), build.gep(hashes, [position]))
    build.ret_void()
