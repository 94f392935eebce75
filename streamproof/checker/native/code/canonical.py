"""Representatives: LLVM functions that make one state out of an orbit, and count its states.

``least(state)``
    makes a state its representative, in place, and gives how many of the tried orders lead there.
``weigh(state)``
    gives the number of states in a representative's orbit, as a float: exact below 2**53.
``represent(states, count)`` and ``weigh_all(states, count)``
    make states representatives, in place, and add up the orbits of representatives.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import reduce
from itertools import pairwise

from llvmlite import ir

from streamproof.checker.native.code.block import I1, I64, VOID, WORDS
from streamproof.checker.native.code.layout import Field, Layout, placed
from streamproof.checker.native.code.loops import each, function, load, state_at, store
from streamproof.checker.native.code.symmetry import Alike, Symmetry
from streamproof.lang.sorts import ElementSort
from streamproof.models.kit.verdict import EXACT_BELOW

F64 = ir.DoubleType()
I16 = ir.IntType(16)


class Representatives:
    """Writes the functions into a module.

    Attributes
    ----------
    least, weigh : as the module's docstring says
    """

    def __init__(self, module: ir.Module, symmetry: Symmetry, layout: Layout) -> None:
        self.module, self.symmetry, self.layout = module, symmetry, layout
        self.columns = [
            [[layout.fields[cell] for cell in column] for column in columns]
            for columns in symmetry.columns.values()
        ]
        self.least = self._write_min()
        self.weigh = self._write_weigh()
        self._write_all()

    def _write_min(self) -> ir.Function:
        build, (state,) = function(self.module, "least", I64, [WORDS])
        words = self._sorted(build, load(build, state, self.layout.words))
        if not self.symmetry.tried:
            store(build, words, state)
            build.ret(I64(1))
            return _kept_apart(build.function)
        current, best, ties = (build.alloca(I64, size) for size in (len(words), len(words), 1))
        for place in (current, best):
            store(build, words, place)
        build.store(I64(1), ties)
        walk = list(_all_exchanges(self.symmetry.tried))
        kinds = list(dict.fromkeys(walk))
        table = ir.GlobalVariable(self.module, ir.ArrayType(I16, len(walk)), "exchanges")
        table.global_constant, table.linkage = True, "internal"
        table.initializer = table.value_type([kinds.index(exchange) for exchange in walk])
        with each(build, I64(len(walk))) as number:
            kind = build.load(build.gep(table, [I64(0), number]))
            self._write_exchange(build, kind, kinds, current)
            words = self._sorted(build, load(build, current, len(words)))
            store(build, words, current)
            _keep_min(build, words, best, ties)
        store(build, load(build, best, len(words)), state)
        build.ret(build.load(ties))
        return _kept_apart(build.function)

    def _write_exchange(
        self, build: ir.IRBuilder, kind: ir.Value, kinds: list[Alike], current: ir.Value
    ) -> None:
        """Let the two elements of one of several pairs change places in the current state."""
        done = build.append_basic_block("exchanged")
        switch = build.switch(kind, done)
        for number, pair in enumerate(kinds):
            block = build.append_basic_block("exchange")
            switch.add_case(I16(number), block)
            build.position_at_end(block)
            words = load(build, current, self.layout.words)
            store(build, self._exchanged(build, words, pair), current)
            build.branch(done)
        build.position_at_end(done)

    def _exchanged(self, build: ir.IRBuilder, words: list[ir.Value], pair: Alike) -> list[ir.Value]:
        """Move the cells of two elements to each other's places, and the elements in all cells."""
        one, other = (I64(member) for member in pair.members)
        fields, moves = self.layout.fields, self.symmetry.moves(pair)
        taken = [(fields[source], fields[target]) for source, target in moves.items()]
        named = [
            (fields[number], fields[moves.get(number, number)])
            for number, (variable, _) in enumerate(self.symmetry.encoder.places)
            if number in fields and variable.sort == ElementSort(pair.domain)
        ]
        plain = [part for part in taken if part not in named]
        result = _moved(build, words, plain, _cleared(build, words, [t for _, t in taken + named]))
        for source, target in named:
            bits = build.and_(words[source.word], I64(source.mask))
            value = build.lshr(bits, I64(source.shift))
            back = build.select(build.icmp_unsigned("==", value, other), one, value)
            value = build.select(build.icmp_unsigned("==", value, one), other, back)
            value = build.shl(value, I64(target.shift))
            result[target.word] = build.or_(result[target.word], value)
        return result

    def _sorted(self, build: ir.IRBuilder, words: list[ir.Value]) -> list[ir.Value]:
        """Sort the columns of every set of elements that is sorted."""
        for columns in self.columns:
            keys = _keys(build, words, columns)
            for low, high in _network(len(keys)):
                _put_in_order(build, keys, low, high)
            fields = [field for column in columns for field in column]
            words = _cleared(build, words, fields)
            for column, key in zip(columns, keys, strict=True):
                words = _moved(build, key, zip(placed(column), column, strict=True), words)
        return words

    def _write_weigh(self) -> ir.Function:
        """Divide the size of the group by the number of permutations that change nothing."""
        build, (state,) = function(self.module, "weigh", F64, [WORDS])
        words = load(build, state, self.layout.words)
        copy = build.alloca(I64, len(words))
        store(build, words, copy)
        same = build.uitofp(build.call(self.least, [copy]), F64)
        for columns in self.columns:
            keys = _keys(build, words, columns)
            run: ir.Value = F64(1.0)
            for before, after in pairwise(keys):
                longer = build.fadd(run, F64(1.0))
                run = build.select(_same(build, before, after), longer, F64(1.0))
                same = build.fmul(same, run)
        weight = build.fdiv(F64(float(self.symmetry.order)), same)
        whole = build.uitofp(build.fptoui(build.fadd(weight, F64(0.5)), I64), F64)
        is_exact = build.fcmp_ordered("<", weight, F64(float(EXACT_BELOW)))
        build.ret(build.select(is_exact, whole, weight))
        return _kept_apart(build.function)

    def _write_all(self) -> None:
        width = self.layout.words
        build, (states, count) = function(self.module, "represent", VOID, [WORDS, I64])
        with each(build, count) as position:
            build.call(self.least, [state_at(build, states, position, width)])
        build.ret_void()
        build, (states, count) = function(self.module, "weigh_all", F64, [WORDS, I64])
        total = build.alloca(F64)
        build.store(F64(0.0), total)
        with each(build, count) as position:
            weight = build.call(self.weigh, [state_at(build, states, position, width)])
            build.store(build.fadd(build.load(total), weight), total)
        build.ret(build.load(total))


def _all_exchanges(groups: Iterable[Alike]) -> Iterator[Alike]:
    """List exchanges of two elements that lead through all orders of all groups, each once."""

    def nested(inner: list[Alike], group: Alike) -> list[Alike]:
        found = list(inner)
        for place in _exchanges(len(group.members)):
            found += [Alike(group.domain, group.members[place : place + 2]), *inner]
        return found

    none: list[Alike] = []
    yield from reduce(nested, groups, none)


def _exchanges(count: int) -> list[int]:
    """List exchanges of neighbours that lead through all orders of some things, each once.

    The last of them wanders through the others to and fro; at each end the others take a step
    of their own: the algorithm of Steinhaus, Johnson and Trotter.
    """
    if count < 2:
        return []
    found: list[int] = []
    for turn, step in enumerate([*_exchanges(count - 1), None]):
        is_leftwards = turn % 2 == 0
        found += range(count - 2, -1, -1) if is_leftwards else range(count - 1)
        if step is not None:
            found.append(step + 1 if is_leftwards else step)
    return found


def _network(count: int) -> Iterator[tuple[int, int]]:
    """List the comparisons of Batcher's odd-even merge sort for any number of things."""
    step = top = 1 << max(count - 1, 0).bit_length() >> 1
    while step:
        reach, offset, distance = top, 0, step
        while True:
            yield from ((n, n + distance) for n in range(count - distance) if n & step == offset)
            if reach == step:
                break
            reach, offset, distance = reach >> 1, step, reach - step
        step >>= 1


def _put_in_order(build: ir.IRBuilder, keys: list[list[ir.Value]], low: int, high: int) -> None:
    a, b = keys[low], keys[high]
    is_wrong = _less(build, b, a)
    keys[low] = [build.select(is_wrong, y, x) for x, y in zip(a, b, strict=True)]
    keys[high] = [build.select(is_wrong, x, y) for x, y in zip(a, b, strict=True)]


def _keep_min(build: ir.IRBuilder, words: list[ir.Value], best: ir.Value, ties: ir.Value) -> None:
    """Keep a state if it is less than the best so far, or count it if it is the same."""
    known = load(build, best, len(words))
    is_less, is_same = _less(build, words, known), _same(build, words, known)
    kept = [build.select(is_less, word, old) for word, old in zip(words, known, strict=True)]
    store(build, kept, best)
    count = build.load(ties)
    more = build.select(is_same, build.add(count, I64(1)), count)
    build.store(build.select(is_less, I64(1), more), ties)


def _less(build: ir.IRBuilder, left: list[ir.Value], right: list[ir.Value]) -> ir.Value:
    """Compare words, the first of them first."""
    result: ir.Value = I1(0)
    for a, b in reversed(list(zip(left, right, strict=True))):
        behind = build.and_(build.icmp_unsigned("==", a, b), result)
        result = build.or_(build.icmp_unsigned("<", a, b), behind)
    return result


def _same(build: ir.IRBuilder, left: list[ir.Value], right: list[ir.Value]) -> ir.Value:
    result: ir.Value = I1(1)
    for a, b in zip(left, right, strict=True):
        result = build.and_(result, build.icmp_unsigned("==", a, b))
    return result


def _keys(
    build: ir.IRBuilder, words: list[ir.Value], columns: list[list[Field]]
) -> list[list[ir.Value]]:
    """Read each column as words of its own."""
    keys = []
    for column in columns:
        targets = placed(column)
        empty: list[ir.Value] = [I64(0)] * (targets[-1].word + 1)
        keys.append(_moved(build, words, zip(column, targets, strict=True), empty))
    return keys


def _cleared(build: ir.IRBuilder, words: list[ir.Value], fields: Iterable[Field]) -> list[ir.Value]:
    masks = [(1 << 64) - 1] * len(words)
    for field in fields:
        masks[field.word] &= ~field.mask
    return [build.and_(word, I64(mask)) for word, mask in zip(words, masks, strict=True)]


def _moved(
    build: ir.IRBuilder,
    words: list[ir.Value],
    pairs: Iterable[tuple[Field, Field]],
    into: list[ir.Value],
) -> list[ir.Value]:
    """Copy fields to other places that are empty; those that move alike are moved together."""
    masks: dict[tuple[int, int, int], int] = {}
    for source, target in pairs:
        way = source.word, target.word, target.shift - source.shift
        masks[way] = masks.get(way, 0) | source.mask
    result = list(into)
    for (here, there, by), mask in masks.items():
        bits = build.and_(words[here], I64(mask))
        bits = build.shl(bits, I64(by)) if by >= 0 else build.lshr(bits, I64(-by))
        result[there] = build.or_(result[there], bits)
    return result


def _kept_apart(made: ir.Function) -> ir.Function:
    """Keep a function from being copied to everywhere it is called."""
    made.linkage = "internal"
    made.attributes.add("noinline")
    return made
