"""Looking up states in the table of visited ones, and keeping new ones: see `native.table`."""

from __future__ import annotations

from typing import Any

from numba import njit, uint32, uint64

from streamproof.checker.native.kernels.intrinsics import look, lowest_bit, prefetch
from streamproof.checker.native.table import BATCH, FILL_MAX, GROWTH, LINE, REGIONS, REGIONS_LOG2

_ONE, _HALF, _TAG = uint64(1), uint64(32), uint64(0xFFFFFFFF)
_EIGHT, _LOW_BYTE = uint64(LINE), uint64(0xFF)
_REGION_SHIFT = uint64(64 - REGIONS_LOG2)


def insert(found: Any, begin: Any, end: Any, kept: Any, room: Any, index: Any) -> Any:
    """Keep the candidates that are new.

    Parameters
    ----------
    found, begin, end : the candidates: from which place to which
    kept, room : the states kept so far, and how many there may be
    index : where they are

    Returns
    -------
    The place that was reached: the end, unless there was no room.
    """
    while begin < end:
        stop = min(begin + uint64(BATCH), end)
        _ask_for_lines(found.hashes, begin, stop, index)
        _ask_for_states(found.hashes, begin, stop, kept.states, uint64(found.words.shape[1]), index)
        for at in range(begin, stop):
            slot = _find(found, at, kept.states, index)
            if index.slots[slot] == 0:
                if kept.count[0] == room:
                    return at
                kept.links[kept.count[0]] = uint32(found.origins[at] & _TAG)
                _keep(found, at, kept, index, slot)
        begin = stop
    return end


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


@njit(_nrt=False, inline="always")
def _home(hash_: Any, index: Any) -> Any:
    """Return the line at which the search for a state begins."""
    region = hash_ >> _REGION_SHIFT
    return region * _reach(index) + (((hash_ & _TAG) * index.lines[region]) >> _HALF)


@njit(_nrt=False, inline="always")
def _reach(index: Any) -> Any:
    """Return the lines that a region may grow to."""
    return uint64(index.slots.shape[0] // (REGIONS * LINE))


@njit(_nrt=False, inline="always")
def _ask_for_lines(hashes: Any, begin: Any, end: Any, index: Any) -> None:
    """Ask for the lines at which the search for candidates begins."""
    for at in range(begin, end):
        prefetch(index.slots, _home(hashes[at], index) * _EIGHT)


@njit(_nrt=False, inline="always")
def _ask_for_states(hashes: Any, begin: Any, end: Any, states: Any, width: Any, index: Any) -> None:
    """Ask for the states that the candidates' first lines speak of."""
    for at in range(begin, end):
        line = _home(hashes[at], index)
        matches = look(index.slots, line, hashes[at] & _TAG) & _LOW_BYTE
        if matches != 0:
            entry = index.slots[line * _EIGHT + lowest_bit(matches)]
            prefetch(states, ((entry & _TAG) - _ONE) * width)


@njit(_nrt=False, inline="always")
def _find(found: Any, at: Any, states: Any, index: Any) -> Any:
    """Return the slot of a candidate: taken by the same state, or free."""
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


@njit(_nrt=False, inline="always")
def _next(line: Any, region: Any, index: Any) -> Any:
    """Return the line behind one; behind the last of a region comes its first."""
    first = region * _reach(index)
    return first if line + _ONE == first + index.lines[region] else line + _ONE


@njit(_nrt=False, inline="always")
def _is_same(words: Any, at: Any, states: Any, number: Any) -> Any:
    """Compare a candidate with a state that is kept, word for word."""
    width = uint64(words.shape[1])
    same = True
    for j in range(width):
        same &= states[number * width + j] == words[at, j]
    return same


@njit(_nrt=False, inline="always")
def _keep(found: Any, at: Any, kept: Any, index: Any, slot: Any) -> None:
    """Keep a candidate, and let its region grow if too few slots are left."""
    width, size = uint64(found.words.shape[1]), kept.count[0]
    for j in range(width):
        kept.states[size * width + j] = found.words[at, j]
    kept.count[0] = size + _ONE
    hash_ = found.hashes[at]
    index.slots[slot] = (hash_ & _TAG) << _HALF | (size + _ONE)
    region = hash_ >> _REGION_SHIFT
    index.used[region] += _ONE
    if index.used[region] > uint64(FILL_MAX * LINE * index.lines[region]):
        _grow(index, region)


@njit(_nrt=False)
def _grow(index: Any, region: Any) -> None:
    """Spread a region over more lines, in place; nearly in order, since lines follow the tags."""
    slots, first, old = index.slots, region * _reach(index), index.lines[region]
    spare = index.spare
    for at in range(old * _EIGHT):
        spare[at] = slots[first * _EIGHT + at]
        slots[first * _EIGHT + at] = 0
    lines = min(uint64(GROWTH * old), _reach(index))
    index.lines[region] = lines
    for at in range(old * _EIGHT):
        entry = spare[at]
        if entry != 0:
            line = first + (((entry >> _HALF) * lines) >> _HALF)
            free: Any = look(slots, line, uint64(0)) >> _EIGHT
            while free == 0:
                line = _next(line, region, index)
                free = look(slots, line, uint64(0)) >> _EIGHT
            slots[line * _EIGHT + lowest_bit(free)] = entry
