"""Memory: the one place that tells compiled code where arrays lie.

Compiled code is called with arrays, by `call`. An address is made for one call, which holds the
arrays until it returns; nothing else in the engine sees a number that is an address. Where code
needs the addresses of several arrays at once, it is given `Addresses`, which hold these arrays.

Memory that is written beyond its end, or used after it is free, shows much later or never. So there
is a mode for looking for such faults, which is slow: with ``STREAMPROOF_DEBUG_MEMORY=1``

* arrays that are made here lie between pages that nobody may touch, their last byte at the end of
  one, and start with a pattern instead of what happened to be there;
* any other array is copied to such a place for the length of a call, and back;
* what lies in front of an array is looked at when it is free, and from then on nobody may touch it.

So a process ends at the very access that is wrong, with the line that made the call.
"""

from __future__ import annotations

import ctypes
import faulthandler
import mmap
import os
import sys
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from threading import RLock
from typing import Any

import numpy as np
from numpy.typing import NDArray

VARIABLE = "STREAMPROOF_DEBUG_MEMORY"
"""The environment variable that asks for guarded memory."""
IS_GUARDED = os.environ.get(VARIABLE, "0") not in {"", "0"}
_FREED_MAX = 2_000
"""Blocks that nobody may touch any more; the system has room for some ten thousand."""
_PATTERN = 0xA5
_PAGE = mmap.PAGESIZE
_NO_RESERVE = getattr(mmap, "MAP_NORESERVE", 0x4000 if sys.platform == "linux" else 0x40)
_FLAGS = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _NO_RESERVE


class Addresses:
    """Where several arrays lie, for code that chooses between them; it holds these arrays.

    In guarded memory they must have been made by this module: a copy would be another place.
    """

    def __init__(self, arrays: Sequence[NDArray[Any]]) -> None:
        if IS_GUARDED:
            assert all(map(_BLOCKS.holds, arrays)), "made elsewhere"
        self.arrays = tuple(arrays)
        self.table = np.array([_address(array) for array in arrays], np.uint64)


def call(function: Callable[..., Any], arguments: Sequence[Any]) -> Any:
    """Call a compiled function, with the addresses of arrays among the arguments.

    The arrays must lie in memory as one piece, which only who knows the function can check further.

    Raises
    ------
    TypeError : if one does not
    """
    given = [part.table if type(part) is Addresses else part for part in arguments]
    if IS_GUARDED:
        return _call_guarded(function, given)
    # `arguments` and `given` hold every array until the function has returned.
    return function(*[_address(part) if type(part) is np.ndarray else part for part in given])


def empty(shape: tuple[int, ...], dtype: Any) -> NDArray[Any]:
    """Make an array for compiled code, whose content is of no account."""
    return _BLOCKS.array(shape, dtype, _PATTERN) if IS_GUARDED else np.empty(shape, dtype)


def reserve(count: int, dtype: Any) -> NDArray[Any]:
    """Reserve an array of zeros, of which only what is written to takes memory."""
    if IS_GUARDED:
        return _BLOCKS.array((max(count, 1),), dtype)
    size = max(count, 1) * np.dtype(dtype).itemsize
    memory = mmap.mmap(-1, size, flags=_FLAGS)
    if hasattr(mmap, "MADV_HUGEPAGE"):
        memory.madvise(mmap.MADV_HUGEPAGE)
    return np.frombuffer(memory, dtype)


def _address(array: NDArray[Any]) -> int:
    _require_one_piece(array)
    return int(array.ctypes.data)


def _require_one_piece(array: NDArray[Any]) -> None:
    if not array.flags.c_contiguous:
        raise TypeError(
            f"compiled code takes an array in C order and was given one of shape {array.shape} "
            f"with strides {array.strides}. It would read other numbers than are there. Copy it"
        )


def _call_guarded(function: Callable[..., Any], given: Sequence[Any]) -> Any:
    """Call a function with arrays in guarded memory, those that lie elsewhere as copies."""
    copies = {}
    for number, part in enumerate(given):
        if type(part) is np.ndarray and not _BLOCKS.holds(part):
            _require_one_piece(part)
            copies[number] = _BLOCKS.array(part.shape, part.dtype)
            copies[number][...] = part
    there = [copies.get(number, part) for number, part in enumerate(given)]
    result = function(*[_address(part) if type(part) is np.ndarray else part for part in there])
    for number, copy in copies.items():
        if given[number].flags.writeable:
            given[number][...] = copy
    return result


class _Blocks:
    """Arrays between pages that nobody may touch."""

    def __init__(self) -> None:
        self._freed: deque[tuple[int, int]] = deque()
        self._lock = RLock()  # a finalizer may run wherever something is made
        self._system = ctypes.CDLL(None, use_errno=True)
        self._system.mmap.restype = ctypes.c_void_p
        place, length = ctypes.c_void_p, ctypes.c_size_t
        self._system.mmap.argtypes = [place, length, *[ctypes.c_int] * 3, ctypes.c_long]
        self._system.mprotect.argtypes = [place, length, ctypes.c_int]
        self._system.madvise.argtypes = [place, length, ctypes.c_int]
        self._system.munmap.argtypes = [place, length]

    def array(self, shape: tuple[int, ...], dtype: Any, fill: int = 0) -> NDArray[Any]:
        """Make an array that ends where a page begins that nobody may touch."""
        size = int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize
        inside = -(-max(size, 1) // _PAGE) * _PAGE
        base = self._system.mmap(None, inside + 2 * _PAGE, 0, _FLAGS, -1, 0)
        if base in {None, ctypes.c_void_p(-1).value}:
            raise MemoryError(f"there is no room for {size:,} bytes of guarded memory")
        self._system.mprotect(base + _PAGE, inside, mmap.PROT_READ | mmap.PROT_WRITE)
        begin = base + _PAGE + inside - size
        ctypes.memset(base + _PAGE, _PATTERN, inside - size)
        if fill:
            ctypes.memset(begin, fill, size)
        memory = (ctypes.c_char * size).from_address(begin)
        memory.is_guarded = True
        weakref.finalize(memory, self._free, base, inside, size).atexit = False
        return np.ndarray(shape, dtype, memory)

    def holds(self, array: NDArray[Any]) -> bool:
        """Return whether an array, or what it is a part of, was made here and is in use."""
        base: Any = array
        while isinstance(base, np.ndarray):
            base = base.base
        return hasattr(base, "is_guarded")

    def _free(self, base: int, inside: int, size: int) -> None:
        """Guard an array against any access; free the memory of arrays that were freed long ago."""
        slack = ctypes.string_at(base + _PAGE, inside - size)
        self._system.madvise(base + _PAGE, inside, mmap.MADV_DONTNEED)
        self._system.mprotect(base, inside + 2 * _PAGE, 0)
        with self._lock:
            self._freed.append((base, inside + 2 * _PAGE))
            oldest = self._freed.popleft() if len(self._freed) > _FREED_MAX else None
        if oldest:
            self._system.munmap(*oldest)
        if slack != bytes([_PATTERN]) * len(slack):
            # Not raised: of a finalizer's exception nobody takes notice.
            sys.stderr.write(f"compiled code wrote in front of an array of {size:,} bytes\n")
            os.abort()


if IS_GUARDED:
    faulthandler.enable()
_BLOCKS = _Blocks()
