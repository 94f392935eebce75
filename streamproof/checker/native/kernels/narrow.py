"""Searching level by level without returning to Python: see `native.narrow`."""

from __future__ import annotations

from typing import Any

from numba import njit, uint64

from streamproof.checker.native.kernels import table
from streamproof.checker.native.kernels.intrinsics import expand, first_breaking

_DONE, _LEVEL_END, _BEGUN, _NO_ROOM = range(4)  # places in what was reached
_ZERO = uint64(0)
_insert = njit(_nrt=False, error_model="numpy")(table.insert)


def search(
    code: Any, bounds: Any, found: Any, written: Any, kept: Any, index: Any, reached: Any
) -> None:
    """Search on from where a level is, up to a bound or to what ends the search."""
    at, count = reached.at, kept.count
    width = uint64(found.words.shape[1])
    room = uint64(found.words.shape[0])
    stop = at[_DONE] + bounds.states
    while True:
        known, done = count[0], at[_DONE]
        written.produced[0] = _ZERO
        expand(
            code.expand,
            kept.states,
            done * width,
            at[_LEVEL_END] - done,
            done,
            found.words,
            found.hashes,
            found.origins,
            room,
            written.produced,
            written.fired,
            written.event,
            written.recent,
            uint64(written.recent.shape[0]) // width,
        )
        at[_DONE] = done + written.event[1]
        produced = written.produced[0]
        if _insert(found, _ZERO, produced, kept, bounds.room, index) < produced:
            at[_NO_ROOM] = uint64(1)
            return
        fresh = count[0] - known
        if first_breaking(code.first_breaking, kept.states, known * width, fresh) < fresh:
            return
        if written.event[0] != 0 or at[_DONE] >= stop:
            return
        if at[_DONE] == at[_LEVEL_END]:
            waiting = count[0] - at[_DONE]
            if waiting == 0 or waiting >= bounds.width or at[_BEGUN] == bounds.levels:
                return
            reached.ends[at[_BEGUN]] = count[0]
            at[_BEGUN] += uint64(1)
            at[_LEVEL_END] = count[0]
