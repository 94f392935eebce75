"""Kernels as C functions: compiled by numba when they are not in the cache, called without it.

numba takes longer to load than a search of some ten thousand states. So its code for a kernel is
kept as an object file, and called by its own calling convention: the function gives a status,
writes the result behind its first argument, and takes arrays apart into numbers. No runtime of
numba's is there to help: a kernel allocates nothing and raises nothing.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from threading import Lock
from typing import Annotated, Any, get_type_hints

import numpy as np

from streamproof.checker.native.code.machine_code import (
    COUNT,
    WORDS,
    Library,
    compile_text,
    keep,
    kept,
    machine_name,
)

VERSION = 1
"""Raised when the same kernel would be called in another way."""


@dataclass(frozen=True, slots=True)
class Array:
    """An array in C order, as a kernel's argument."""

    dtype: type[np.generic]
    axes: int = 1


Words = Annotated[Any, Array(np.uint64)]
Rows = Annotated[Any, Array(np.uint64, axes=2)]
Links = Annotated[Any, Array(np.uint32)]
Numbers = Annotated[Any, Array(np.int64)]
Halves = Annotated[Any, Array(np.int32)]
Kinds = Annotated[Any, Array(np.int8)]
Marks = Annotated[Any, Array(np.bool_)]


class Kernel:
    """A function of this package's files for numba, as a C function; it may run in many threads.

    Parameters
    ----------
    file, name : where it is
    arguments : what it takes: arrays, `np.uint64`, `np.int64`, or a named tuple of these
    result : what it gives, `np.uint64` or `np.int64`, if anything
    """

    def __init__(self, file: str, name: str, *arguments: Any, result: Any = None) -> None:
        self.file, self.name, self._arguments, self._result = file, name, arguments, result
        self._layouts = list(_flat(arguments))
        self._lock = Lock()

    def __call__(self, *arguments: Any) -> int:
        """Run the kernel on arrays as they lie in memory."""
        result = np.zeros(1, self._result or np.int64)
        given = (result, None, *_taken_apart(self._layouts, _leaves(arguments)))
        status = self._function(*given)
        assert status in {0, -2}  # a kernel raises nothing; numba's -2 stands for None
        return int(result[0])

    @property
    def _function(self) -> Any:
        with self._lock:
            return self._loaded

    @cached_property
    def _loaded(self) -> Any:
        about, image = self._compiled()
        types: list[Any] = [WORDS, WORDS]
        for layout in self._layouts:
            if isinstance(layout, Array):
                types += [WORDS, WORDS, COUNT, COUNT, WORDS, *[COUNT] * 2 * layout.axes]
            else:
                types.append(COUNT)
        return Library(image, [about["symbol"]]).function(about["symbol"], ctypes.c_int32, *types)

    def _compiled(self) -> tuple[dict[str, Any], bytes]:
        """Look the code up, or compile and keep it."""
        here = Path(__file__).parent
        constants = (here.parent / "table.py", here.parent / f"{self.file}.py")
        read = (*sorted(here.glob("*.py")), *constants)
        sources = [file.read_text() for file in read]
        layouts = [f"{layout}" for layout in self._layouts]
        parts = (VERSION, version("numba"), np.__version__, sources, self.name, layouts)
        key = f"{machine_name()}\n{parts}"
        found = kept(key)
        if found is None:
            from streamproof.checker.native.kernels.compile import compiled  # loads numba

            examples = [_example(part) for part in self._arguments]
            symbol, text = compiled(self.file, self.name, examples)
            found = {"symbol": symbol}, compile_text(text)
            keep(key, *found)
        return found


def _flat(layouts: Any) -> Iterator[Any]:
    """List the layouts of arrays and numbers in arguments."""
    for layout in layouts:
        if isinstance(layout, type) and issubclass(layout, tuple):
            yield from _flat(get_type_hints(layout, include_extras=True).values())
        else:
            yield layout.__metadata__[0] if hasattr(layout, "__metadata__") else layout


def _leaves(arguments: Any) -> Iterator[Any]:
    for argument in arguments:
        if isinstance(argument, tuple):
            yield from _leaves(argument)
        else:
            yield argument


def _taken_apart(layouts: Any, leaves: Any) -> Iterator[Any]:
    """Yield what numba's convention passes: for arrays owner, object, sizes, data, shape, strides.

    Raises
    ------
    TypeError : if an array is not of the kernel's type; it would be read as something else
    """
    for layout, leaf in zip(layouts, leaves, strict=True):
        if not isinstance(layout, Array):
            yield int(leaf)
            continue
        alike = leaf.dtype == layout.dtype and leaf.ndim == layout.axes and leaf.flags.c_contiguous
        if not alike:
            raise TypeError(
                f"a kernel takes {layout} in C order and was given {leaf.dtype} {leaf.shape}. It "
                "would read other numbers than are there. Convert the array"
            )
        yield None
        yield None
        yield leaf.size
        yield leaf.itemsize
        yield leaf
        yield from leaf.shape
        yield from leaf.strides


def _example(layout: Any) -> Any:
    """Make a value of an argument's type, which numba reads off it."""
    if isinstance(layout, type) and issubclass(layout, tuple):
        hints = get_type_hints(layout, include_extras=True)
        return layout(*(_example(part) for part in hints.values()))
    if hasattr(layout, "__metadata__"):
        array = layout.__metadata__[0]
        return np.empty((0,) * array.axes, array.dtype)
    return layout(0)
