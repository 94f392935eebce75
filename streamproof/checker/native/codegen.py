"""Code generation: a ground model as LLVM functions over packed states.

The functions are written straight in LLVM's intermediate language, whose front end numba is: they
are shifts, masks and comparisons, of which numba would first have to infer the types, one by one.

``expand(states, count, out, hashes, origins, room, owners, produced, fired, event)``
    writes the other states that steps lead to, with their hashes and where they come from: the
    position of a state, and in the upper half of the word the ground action. Each goes to the
    partition that its hash says, of `owners`, a power of two: that of number n has its `room`
    places in the three arrays from n * room on, and `produced[n]` counts them. It stops before a
    state for whose successors there may be no room, and at the first event. `event` gets the kind,
    the position of the state where it stopped, the action and the cell.
``hash(states, count, hashes)``
    hashes states.
``mark_<n>(states, count, marks)``
    writes a byte for each state: whether the n-th term of the promises is true in it.
``first_breaking(states, count)`` and ``first_<n>(states, count)``
    give the position of the first state that breaks an invariant, or in which the n-th `sometimes`
    property holds or, after these, the premise of an invariant; `count` if there is none.
"""

from __future__ import annotations

from enum import IntEnum

from llvmlite import ir

from streamproof.checker.native.block import BYTES, I1, I8, I64, VOID, WORDS, Block, hash_of
from streamproof.checker.native.canonical import F64, Representatives
from streamproof.checker.native.grounding import GroundClaim, GroundCommand, GroundModel
from streamproof.checker.native.layout import Layout
from streamproof.checker.native.loops import each, function, load, state_at, store
from streamproof.checker.native.symmetry import Symmetry
from streamproof.checker.native.terms import Term

ALL_BITS = (1 << 64) - 1
OWNER_SHIFT = 52
"""Where the bits of a hash begin that say which partition a state belongs to."""


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
    """A step breaks a property of steps."""


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
    _Expand(module, ground, layout, representatives).write()
    _write_hash(module, layout)
    _write_first(module, ground, layout, "first_breaking", ground.terms.negate(ground.always))
    for number, term in enumerate([*ground.sometimes, *ground.premises]):
        _write_first(module, ground, layout, f"first_{number}", term)
    for number, term in enumerate(ground.promises):
        _write_marks(module, ground, layout, f"mark_{number}", term)
    return module


class _Expand:
    """Writes `expand`: a loop over states, with a branch for each path of each ground action."""

    def __init__(
        self,
        module: ir.Module,
        ground: GroundModel,
        layout: Layout,
        representatives: Representatives | None,
    ) -> None:
        self.ground, self.layout, self.representatives = ground, layout, representatives
        kind = ir.FunctionType(
            VOID, [WORDS, I64, WORDS, WORDS, WORDS, I64, I64, WORDS, WORDS, WORDS]
        )
        function = ir.Function(module, kind, "expand")
        for argument in function.args:
            if isinstance(argument.type, ir.PointerType):
                argument.add_attribute("noalias")
        self.states, self.count, self.out, self.hashes = function.args[:4]
        self.origins, self.room, self.owners, self.produced = function.args[4:8]
        self.fired, self.event = function.args[8:]
        self.build = ir.IRBuilder(function.append_basic_block("entry"))
        self.successors = self.build.alloca(I64, name="successors")  # of the state at hand
        self.fullest = self.build.alloca(I64, name="fullest")  # an upper bound of all in `produced`

        self.scratch = self.build.alloca(I64, layout.words, "scratch")

    def write(self) -> None:
        """Write the function."""
        build = self.build
        build.store(I64(0), self.fullest)
        with each(build, self.count) as position:
            self.position = position
            needed = build.add(build.load(self.fullest), I64(len(self.ground.commands)))
            with build.if_then(build.icmp_unsigned(">", needed, self.room), likely=False):
                self._stop(Event.NONE)
            state = state_at(build, self.states, position, self.layout.words)
            if self.representatives:
                self.weight = build.call(self.representatives.weigh, [state])
            words = load(build, state, self.layout.words)
            block = Block(build, self.ground, self.layout, words)
            build.store(I64(0), self.successors)
            self._write_actions(block)
            self._write_deadlock(block)
        self.position = self.count
        self._stop(Event.NONE)

    def _write_actions(self, block: Block) -> None:
        """Write commands and claims in the order of actions, claims of an action first."""
        parts: list[GroundClaim | GroundCommand] = [*self.ground.claims, *self.ground.commands]
        for part in sorted(parts, key=lambda part: part.action):  # which keeps claims first
            if isinstance(part, GroundCommand):
                self._write_command(block, part)
            else:
                with self.build.if_then(block.truth(part.broken_if), likely=False):
                    self._stop(Event.CLAIM, part.action)

    def _write_deadlock(self, block: Block) -> None:
        if self.ground.terms.value(self.ground.final):
            return
        stuck = self.build.icmp_unsigned("==", self.build.load(self.successors), I64(0))
        with self.build.if_then(stuck, likely=False):
            is_final = block.inner().truth(self.ground.final)
            with self.build.if_then(self.build.not_(is_final)):
                self._stop(Event.DEADLOCK)

    def _write_command(self, block: Block, command: GroundCommand) -> None:
        build = self.build
        with build.if_then(block.truth(command.guard)):
            inner = block.inner()
            for cell, term in command.updates.items():
                self._check_range(inner, command.action, cell, term)
            if self.ground.terms.value(command.keeps) != 1:
                breaks = build.not_(inner.truth(command.keeps))
                with build.if_then(breaks, likely=False):
                    self._stop(Event.STEP, command.action)
            self._write_successor(inner, command)

    def _check_range(self, block: Block, action: int, cell: int, term: Term) -> None:
        """Stop where an update leaves its range, if that is possible at all."""
        build, node, declared = self.build, self.ground.terms[term], self.ground.cells[cell]
        kind = Event.LEFT_RANGE if declared.is_declared else Event.WIDEN
        tests = []
        if node.low < declared.low:
            tests.append(build.icmp_signed("<", block.number(term), I64(declared.low)))
        if node.high > declared.high:
            tests.append(build.icmp_signed(">", block.number(term), I64(declared.high)))
        for test in tests:
            with build.if_then(test, likely=False):
                self._stop(kind, action, cell)

    def _write_successor(self, block: Block, command: GroundCommand) -> None:
        """Count a step, and write where it leads unless it changes nothing."""
        build = self.build
        target = self._target(block, command)
        build.store(build.add(build.load(self.successors), I64(1)), self.successors)
        fired = build.gep(self.fired, [I64(command.action)])
        if self.representatives:
            fired = build.bitcast(fired, F64.as_pointer())
            build.store(build.fadd(build.load(fired), self.weight), fired)
        else:
            build.store(build.add(build.load(fired), I64(1)), fired)
        differs = ir.Constant(I1, 0)
        for before, after in zip(block.words, target, strict=True):
            if after is not before:
                differs = build.or_(differs, build.icmp_unsigned("!=", before, after))
        with build.if_then(differs):
            self._write_candidate(target, command.action)

    def _write_candidate(self, target: list[ir.Value], action: int) -> None:
        build, width = self.build, self.layout.words
        if self.representatives:
            store(build, target, self.scratch)
            build.call(self.representatives.least, [self.scratch])
            target = load(build, self.scratch, width)
        hash_ = hash_of(build, target)
        owner = build.and_(build.lshr(hash_, I64(OWNER_SHIFT)), build.sub(self.owners, I64(1)))
        counter = build.gep(self.produced, [owner])
        produced = build.load(counter)
        at = build.add(build.mul(owner, self.room), produced)
        for number, value in enumerate(target):
            index = build.add(build.mul(at, I64(width)), I64(number))
            build.store(value, build.gep(self.out, [index]))
        build.store(hash_, build.gep(self.hashes, [at]))
        origin = build.or_(self.position, I64(action << 32))
        build.store(origin, build.gep(self.origins, [at]))
        produced = build.add(produced, I64(1))
        build.store(produced, counter)
        fullest = build.load(self.fullest)
        is_fuller = build.icmp_unsigned(">", produced, fullest)
        build.store(build.select(is_fuller, produced, fullest), self.fullest)

    def _target(self, block: Block, command: GroundCommand) -> list[ir.Value]:
        """Compute the words of the next state: the changed fields cleared, then set."""
        build = self.build
        kept = [ALL_BITS] * self.layout.words
        added: list[list[ir.Value]] = [[] for _ in kept]
        for cell, term in command.updates.items():
            place = self.layout.fields[cell]
            kept[place.word] &= ~place.mask
            value = block.number(term)
            value = build.sub(value, I64(place.low)) if place.low else value
            added[place.word].append(build.shl(value, I64(place.shift)))
        target = []
        for word, mask, parts in zip(block.words, kept, added, strict=True):
            value = word if mask == ALL_BITS else build.and_(word, I64(mask))
            for part in parts:
                value = build.or_(value, part)
            target.append(value)
        return target

    def _stop(self, kind: Event, action: int = 0, cell: int = 0) -> None:
        build = self.build
        for number, value in enumerate((I64(kind), self.position, I64(action), I64(cell))):
            build.store(value, build.gep(self.event, [I64(number)]))
        build.ret_void()


def _write_first(
    module: ir.Module, ground: GroundModel, layout: Layout, name: str, term: Term
) -> None:
    build, (states, count) = function(module, name, I64, [WORDS, I64])
    with each(build, count) as position:
        words = load(build, state_at(build, states, position, layout.words), layout.words)
        block = Block(build, ground, layout, words)
        with build.if_then(block.truth(term), likely=False):
            build.ret(position)
    build.ret(count)


def _write_marks(
    module: ir.Module, ground: GroundModel, layout: Layout, name: str, term: Term
) -> None:
    build, (states, count, marks) = function(module, name, VOID, [WORDS, I64, BYTES])
    with each(build, count) as position:
        words = load(build, state_at(build, states, position, layout.words), layout.words)
        block = Block(build, ground, layout, words)
        build.store(build.zext(block.truth(term), I8), build.gep(marks, [position]))
    build.ret_void()


def _write_hash(module: ir.Module, layout: Layout) -> None:
    build, (states, count, hashes) = function(module, "hash", VOID, [WORDS, I64, WORDS])
    with each(build, count) as position:
        words = load(build, state_at(build, states, position, layout.words), layout.words)
        build.store(hash_of(build, words), build.gep(hashes, [position]))
    build.ret_void()
