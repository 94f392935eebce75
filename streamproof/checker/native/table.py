"""The table of visited states: whole states in the order of discovery, found again by hash.

A state is kept once, and the hash only says where to look: what is found is compared word for word.
A slot of the index holds 32 bits of the hash, its tag, and the state's number. Eight slots are a
line of the cache, and are looked at as one. The index is divided into regions by the top bits of
the hash; each grows on its own and in place, so that growing never needs a second copy of more than
one region.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba import njit, types, uint32, uint64
from numba.core import cgutils
from numba.extending import intrinsic

REGIONS_LOG2 = 4
REGIONS = 1 << REGIONS_LOG2
LINE = 8
"""Slots of a cache line."""
LINES_FIRST = 64
"""Lines of a region at first."""
FILL_MAX = 0.6
"""The share of a region's slots that may be taken."""
GROWTH = 1.5
BATCH = 256
"""States that are looked up side by side, so that their cache misses overlap."""

_ONE, _HALF, _TAG = uint64(1), uint64(32), uint64(0xFFFFFFFF)
_EIGHT, _LOW_BYTE = uint64(LINE), uint64(0xFF)
_REGION_SHIFT = uint64(64 - REGIONS_LOG2)


class Candidates(NamedTuple):
    """States that may be new: their words, a row each, hashes, and where they come from.

    An origin is the parent's number in the search, and above it the ground action.
    """

    words: Any
    hashes: Any
    origins: Any


class Kept(NamedTuple):
    """The states that were found: their words, one after the other, and their parents' numbers."""

    states: Any
    links: Any


class Index(NamedTuple):
    """Where each state is: the slots, and per region its lines and how many slots are taken.

    `spare` is as large as a region may become; what lies in it is of no account.
    """

    slots: Any
    lines: Any
    used: Any
    spare: Any


@intrinsic
def prefetch(_typing: Any, array: Any, index: Any) -> Any:
    """Ask for the cache line that holds an array's element, without waiting for it."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        view = context.make_array(signature.args[0])(context, builder, arguments[0])
        place = builder.bitcast(builder.gep(view.data, [arguments[1]]), cgutils.voidptr_t)
        number = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, number, number, number])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(function, [place, number(0), number(3), number(1)])  # to read, soon, data
        return context.get_dummy_value()

    return types.void(array, index), generate


@intrinsic
def look(_typing: Any, slots: Any, line: Any, tag: Any) -> Any:
    """Look at a line's slots: bits 0 to 7 tell which have the tag, bits 8 to 15 which are free."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        view = context.make_array(signature.args[0])(context, builder, arguments[0])
        word, bits = ir.IntType(64), ir.IntType(LINE)
        row = ir.VectorType(word, LINE)

        def spread(value: Any) -> Any:
            one = builder.insert_element(row(ir.Undefined), value, ir.IntType(32)(0))
            lanes = ir.VectorType(ir.IntType(32), LINE)
            return builder.shuffle_vector(one, row(ir.Undefined), lanes([0] * LINE))

        first = builder.mul(arguments[1], word(LINE))
        place = builder.bitcast(builder.gep(view.data, [first]), row.as_pointer())
        entries = builder.load(place, align=64)
        is_free = builder.icmp_unsigned("==", entries, row([0] * LINE))
        tags = builder.lshr(entries, row([32] * LINE))
        has_tag = builder.icmp_unsigned("==", tags, spread(arguments[2]))
        has_tag = builder.and_(has_tag, builder.not_(is_free))
        low, high = (builder.zext(builder.bitcast(b, bits), word) for b in (has_tag, is_free))
        return builder.or_(low, builder.shl(high, word(LINE)))

    return types.uint64(slots, line, tag), generate


@intrinsic
def lowest_bit(_typing: Any, bits: Any) -> Any:
    """Give the number of the lowest bit that is set; there must be one."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.IntType(1)(1))

    return types.uint64(bits), generate


@njit(nogil=True, cache=True)
def insert(found: Any, begin: Any, end: Any, kept: Any, size: Any, room: Any, index: Any) -> Any:
    """Keep the candidates that are new.

    Parameters
    ----------
    found, begin, end : the candidates: from which place to which
    kept, size, room : the states kept so far, how many there are, and how many there may be
    index : where they are

    Returns
    -------
    How many are kept now, and the place that was reached: the end, unless there was no room.
    """
    while begin < end:
        stop = min(begin + uint64(BATCH), end)
        _ask_for_lines(found.hashes, begin, stop, index)
        _ask_for_states(found.hashes, begin, stop, kept.states, uint64(found.words.shape[1]), index)
        for at in range(begin, stop):
            slot = _find(found, at, kept.states, index)
            if index.slots[slot] == 0:
                if size == room:
                    return size, at
                kept.links[size] = uint32(found.origins[at] & _TAG)
                _keep(found, at, kept, size, index, slot)
                size += _ONE
        begin = stop
    return size, end


@njit(nogil=True, cache=True)
def locate(found: Any, begin: Any, end: Any, states: Any, index: Any, numbers: Any) -> None:
    """Write the numbers of candidates that are all known to be kept."""
    first = begin
    while begin < end:
        stop = min(begin + uint64(BATCH), end)
        _ask_for_lines(found.hashes, begin, stop, index)
        _ask_for_states(found.hashes, begin, stop, states, uint64(found.words.shape[1]), index)
        for at in range(begin, stop):
            slot = _find(found, at, states, index)
            numbers[at - first] = (index.slots[slot] & _TAG) - _ONE
        begin = stop


@njit(nogil=True, cache=True, inline="always")
def _home(hash_: Any, index: Any) -> Any:
    """Give the line at which the search for a state begins."""
    region = hash_ >> _REGION_SHIFT
    return region * _reach(index) + (((hash_ & _TAG) * index.lines[region]) >> _HALF)


@njit(nogil=True, cache=True, inline="always")
def _reach(index: Any) -> Any:
    """Give the lines that a region may grow to."""
    return uint64(index.slots.shape[0] // (REGIONS * LINE))


@njit(nogil=True, cache=True, inline="always")
def _ask_for_lines(hashes: Any, begin: Any, end: Any, index: Any) -> None:
    """Ask for the lines at which the search for candidates begins."""
    for at in range(begin, end):
        prefetch(index.slots, _home(hashes[at], index) * _EIGHT)


@njit(nogil=True, cache=True, inline="always")
def _ask_for_states(hashes: Any, begin: Any, end: Any, states: Any, width: Any, index: Any) -> None:
    """Ask for the states that the candidates' first lines speak of."""
    for at in range(begin, end):
        line = _home(hashes[at], index)
        matches = look(index.slots, line, hashes[at] & _TAG) & _LOW_BYTE
        if matches != 0:
            entry = index.slots[line * _EIGHT + lowest_bit(matches)]
            prefetch(states, ((entry & _TAG) - _ONE) * width)


@njit(nogil=True, cache=True, inline="always")
def _find(found: Any, at: Any, states: Any, index: Any) -> Any:
    """Give the slot of a candidate: taken by the same state, or free."""
    hash_ = found.hashes[at]
    line = _home(hash_, index)
    while True:
        seen: Any = look(index.slots, line, hash_ & _TAG)
        matches = seen & _LOW_BYTE
        while matches != 0:
            slot = line * _EIGHT + lowest_bit(matches)
            if _is_same(found.words, at, states, (index.slots[slot] & _TAG) - _ONE):
                return slot
            matches &= matches - _ONE
        if seen > _LOW_BYTE:
            return line * _EIGHT + lowest_bit(seen >> _EIGHT)
        line = _next(line, hash_ >> _REGION_SHIFT, index)


@njit(nogil=True, cache=True, inline="always")
def _next(line: Any, region: Any, index: Any) -> Any:
    """Give the line behind one; behind the last of a region comes its first."""
    first = region * _reach(index)
    return first if line + _ONE == first + index.lines[region] else line + _ONE


@njit(nogil=True, cache=True, inline="always")
def _is_same(words: Any, at: Any, states: Any, number: Any) -> Any:
    """Compare a candidate with a state that is kept, word for word."""
    width = uint64(words.shape[1])
    same = True
    for j in range(width):
        same &= states[number * width + j] == words[at, j]
    return same


@njit(nogil=True, cache=True, inline="always")
def _keep(found: Any, at: Any, kept: Any, size: Any, index: Any, slot: Any) -> None:
    """Keep a candidate, and let its region grow if too few slots are left."""
    width = uint64(found.words.shape[1])
    for j in range(width):
        kept.states[size * width + j] = found.words[at, j]
    hash_ = found.hashes[at]
    index.slots[slot] = (hash_ & _TAG) << _HALF | (size + _ONE)
    region = hash_ >> _REGION_SHIFT
    index.used[region] += _ONE
    if index.used[region] > uint64(FILL_MAX * LINE * index.lines[region]):
        _grow(index, region)


@njit(nogil=True, cache=True)
def _grow(index: Any, region: Any) -> None:
    """Spread a region over more lines, in place; nearly in order, since lines follow the tags."""
    slots, first, old = index.slots, region * _reach(index), index.lines[region]
    spare = index.spare
    for at in range(old * _EIGHT):
        spare[at] = slots[first * _EIGHT + at]
        slots[first * _EIGHT + at] = 0
    lines = min(uint64(GROWTH * old), _reach(index))
    index.lines[region] = lines
    taken = np.zeros(lines, np.uint8)
    for at in range(old * _EIGHT):
        entry = spare[at]
        if entry != 0:
            line = ((entry >> _HALF) * lines) >> _HALF
            while taken[line] == LINE:
                line = uint64(0) if line + _ONE == lines else line + _ONE
            slots[(first + line) * _EIGHT + uint64(taken[line])] = entry
            taken[line] += 1
