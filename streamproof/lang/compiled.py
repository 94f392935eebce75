"""Libraries written in C. Their code may ask a symbolic value for anything.

No hook is called when such code runs. It is recognised by its class, before it runs.
"""

from __future__ import annotations

import sys
import types

_HEAP_TYPE = 1 << 9
"""The flag of a class that was made while Python ran (Py_TPFLAGS_HEAPTYPE)."""


def is_compiled(cls: type) -> bool:
    """Return whether a class, or one that it is derived from, is of a library written in C."""
    return any(_is_written_in_c(base) for base in cls.__mro__)


def is_made_by_running(cls: type) -> bool:
    """Return whether a class was made while Python ran, like all that are written in Python."""
    return bool(cls.__flags__ & _HEAP_TYPE)


def _is_written_in_c(cls: type) -> bool:
    top = cls.__module__.partition(".")[0]
    if top == "builtins" or top.removeprefix("_") in sys.stdlib_module_names:
        return False  # these are known by name
    makes, calls = vars(cls).get("__new__"), vars(cls).get("__call__")
    return (
        not is_made_by_running(cls)
        or isinstance(makes, types.BuiltinFunctionType)
        or isinstance(calls, types.WrapperDescriptorType)
    )
