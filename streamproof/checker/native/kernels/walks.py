"""One step of many walks, which `checker.walks` takes one by one."""

from __future__ import annotations

from typing import Any

from numba import njit, uint64

_BEGUN, _ENDED, _STEPS, _LONGEST = range(4)  # places in the totals
_GAMMA = uint64(0x9E3779B97F4A7C15)  # `checker.walks.GAMMA`
_HALF, _POSITION = uint64(32), uint64(0xFFFFFFFF)


@njit(_nrt=False)
def mixed(bits: Any) -> Any:
    """Mix 64 bits, as `checker.walks.mix` does."""
    bits = (bits ^ (bits >> uint64(30))) * uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> uint64(27))) * uint64(0x94D049BB133111EB)
    return bits ^ (bits >> uint64(31))


@njit(_nrt=False)
def chosen(key: Any, number: Any, among: Any) -> Any:
    """Choose one of several things, as `checker.walks.choice` does."""
    return ((mixed(key + number * _GAMMA) >> _HALF) * among) >> _HALF


@njit(_nrt=False)
def begin_at(row: Any, walking: Any, course: Any) -> Any:
    """Begin the next walk in a row; give whether there is one."""
    number = course.totals[_BEGUN]
    if number >= course.until:
        return False
    key = mixed(course.key + number * _GAMMA)
    start = chosen(key, uint64(0), uint64(len(course.starts)))
    walking.numbers[row], walking.keys[row], walking.lengths[row] = number, key, uint64(0)
    for word in range(course.starts.shape[1]):
        walking.states[row, word] = course.starts[start, word]
    course.totals[_BEGUN] += uint64(1)
    return True


@njit(_nrt=False)
def take(pick: Any, written: Any, row: Any, walking: Any, course: Any) -> None:
    """Take the step that is written in a place."""
    walking.lengths[row] += uint64(1)
    for word in range(walking.states.shape[1]):
        walking.states[row, word] = written.words[pick, word]
    course.taken[written.origins[pick] >> _HALF] += uint64(1)
    course.totals[_STEPS] += uint64(1)
    course.totals[_LONGEST] = max(course.totals[_LONGEST], walking.lengths[row])


def advance(walking: Any, count: Any, written: Any, produced: Any, course: Any) -> Any:
    """Let each walk take a step, and the next ones begin where there is room; give how many go on.

    Walks stand in the first rows, `count` of them, and each finds the steps that it may take among
    those that were written, `produced` of them, in the order of the rows.
    """
    end, kept = uint64(0), 0
    for row in range(count):
        first = end
        while end < produced and written.origins[end] & _POSITION == uint64(row):
            end += uint64(1)
        if end > first:
            number = walking.lengths[row] + uint64(1)
            pick = first + chosen(walking.keys[row], number, end - first)
            take(pick, written, row, walking, course)
        else:
            course.totals[_ENDED] += uint64(1)
        is_over = end == first or walking.lengths[row] == course.length_max
        if is_over and not begin_at(row, walking, course):
            continue
        if kept < row:
            for word in range(walking.states.shape[1]):
                walking.states[kept, word] = walking.states[row, word]
            walking.numbers[kept] = walking.numbers[row]
            walking.keys[kept] = walking.keys[row]
            walking.lengths[kept] = walking.lengths[row]
        kept += 1
    while kept < len(walking.numbers) and begin_at(kept, walking, course):
        kept += 1
    return kept
