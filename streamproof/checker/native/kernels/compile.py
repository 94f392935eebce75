"""Compiling a kernel with numba, to what LLVM reads."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from numba import njit, typeof


def compiled(file: str, name: str, examples: list[Any]) -> tuple[str, str]:
    """Compile a function of this package for arguments like some examples.

    Returns
    -------
    The function's symbol, and the text of a module that needs no other.
    """
    function = getattr(import_module(f"{__package__}.{file}"), name)
    # Without numba's runtime an allocation does not compile, and arrays have no owners to count.
    dispatcher: Any = njit(
        _nrt=False, no_cpython_wrapper=True, no_cfunc_wrapper=True, error_model="numpy"
    )(function)
    signature = tuple(map(typeof, examples))
    dispatcher.compile(signature)
    symbol = dispatcher.overloads[signature].fndesc.llvm_func_name
    return symbol, dispatcher.inspect_llvm(signature)
