"""Impure code: what the methods of a model may run that depends on more than state and fields.

A search asks each question once. What a clock, a random number, the environment, a file, the hash
of a text, the order of a set or a counter beside the state has a part in would be answered
otherwise another time, and the tracer would take the answer of one moment for all of them.
"""

from __future__ import annotations

import builtins
import datetime as dt
import dis
import functools
import pathlib
import random
import sys
from collections.abc import Iterator
from types import (
    BuiltinFunctionType,
    FunctionType,
    MethodType,
    MethodWrapperType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import Any

from streamproof.lang.addresses import find_text_of_address
from streamproof.lang.errors import StreamproofError
from streamproof.lang.model import Role, methods_of
from streamproof.lang.reached import Reached, is_special, kept_in, reached_from
from streamproof.lang.set_order import find_use_of_order

_MODULES = (
    "random", "secrets", "time", "uuid", "os", "posix", "socket", "subprocess", "tempfile", "gc",
    "inspect", "traceback", "weakref", "_weakref", "contextvars", "_contextvars", "ctypes",
    "_ctypes", "threading", "_thread", "queue", "_queue", "multiprocessing", "warnings",
    "_warnings", "platform", "linecache", "email.utils",
)  # fmt: skip
_OF_SYS = (
    "_getframe", "_current_frames", "getprofile", "gettrace", "getrefcount", "getrecursionlimit",
    "modules", "getsizeof", "exc_info", "argv", "orig_argv", "flags", "path", "executable",
    "stdin",
)  # fmt: skip
_BUILTINS = (
    "hash", "id", "open", "input", "globals", "locals", "eval", "exec", "compile",
    "__import__",
)  # fmt: skip
_OF_LIBRARIES = (
    "io.open", "_io.open", "_io.FileIO", "codecs.open", "tokenize.open", "gzip.open", "bz2.open",
    "lzma.open", "logging.LogRecord", "logging.makeLogRecord", "numpy.datetime64",
)  # fmt: skip
_WRITTEN_IN_C = (BuiltinFunctionType, MethodWrapperType, WrapperDescriptorType)
_DEPTHS = ("RecursionError", "MemoryError")
_OF_A_CACHE = ("cache_info", "cache_clear")
_MOMENTS = ("now", "utcnow", "today")
_IMMUTABLE = (type(None), bool, int, float, complex, str, bytes, range)


class ImpureModel(StreamproofError, ValueError):
    """A method may give, or gave, two answers to one question."""


def require_pure(cls: type[Any]) -> None:
    """Refuse a model whose methods may run what is impure.

    Raises
    ------
    ImpureModel : if one may; it names function, file and line
    """
    _require_pure(cls)  # type: ignore[arg-type] # a class does hash


@functools.cache
def _require_pure(cls: Any) -> None:
    for part in reached_from(cls, roots_of(cls)):
        seen = (*_impurities(part), *find_use_of_order(part, cls), *find_text_of_address(part, cls))
        for line, what, instead in seen:
            raise ImpureModel(
                f"{part.code.co_name} ({part.code.co_filename}:{line}) {what}, so it may answer "
                "otherwise when it is asked again, or in another process: a verdict would hold for "
                f"this one alone. {instead}"
            )


def roots_of(cls: Any) -> list[Any]:
    """List what a search asks: methods with a role, and `initial_states` where none is @init."""
    methods = methods_of(cls)
    own = [] if any(m.role is Role.INIT for m in methods) else [cls.initial_states]
    return [*(getattr(cls, method.name) for method in methods), *own]


def _impurities(part: Reached) -> Iterator[tuple[int, str, str]]:
    """List what is impure in one function: line, what it does, and what to write instead."""
    line, function = part.code.co_firstlineno, part.function
    for default in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()):
        if told := _source(default):
            yield line, f"has a default argument that is {told}", _IN_STATE
    known: dict[int, list[Any]] = {}
    for instruction, value in part.values:
        known.setdefault(instruction.offset, []).append(value)
    owner: Any = None  # what the instruction before has loaded
    for instruction in dis.get_instructions(part.code):
        line = instruction.starts_line or line
        found = known.get(instruction.offset, [])
        sources = (_source(kept) for value in found for kept in kept_in(value))
        yield from ((line, f"uses {source}", _AS_PARAMETER) for source in sources if source)
        yield from ((line, *what) for what in _done_by(part, instruction, owner))
        owner = found[-1] if found else None


def _done_by(part: Reached, instruction: dis.Instruction, owner: Any) -> Iterator[tuple[str, str]]:
    """List what is impure in one instruction, whatever its value; `owner` is what it asks."""
    name = instruction.argval
    match instruction.opname:
        case "STORE_GLOBAL" | "DELETE_GLOBAL":
            yield f"changes the global {name}", _IN_STATE
        case "STORE_DEREF" if _is_outside(part, name):
            yield f"changes {name}, which is outside of the model", _IN_STATE
        case "LOAD_GLOBAL" if name in _BUILTINS and name not in part.names:
            yield f"calls {name}", _INSTEAD_OF[name]
        case "LOAD_GLOBAL" if name in _DEPTHS and name not in part.names:
            yield f"looks for a {name}, which depends on who calls", _NO_DEPTH
        case "LOAD_ATTR" | "LOAD_METHOD" if name in _OF_A_CACHE:
            yield f"asks a cache for {name}", _IN_STATE
        case "LOAD_ATTR" | "LOAD_METHOD" if name in _OF_SYS and owner is sys:
            yield f"uses sys.{name}", _IN_STATE
        case "LOAD_ATTR" | "LOAD_METHOD" | "LOAD_CONST" if name == "__hash__":
            yield "calls __hash__", _NO_HASH
    if name in _MOMENTS and isinstance(owner, type) and issubclass(owner, dt.date):
        yield f"calls {owner.__name__}.{name}", _AS_PARAMETER


def _is_outside(part: Reached, name: str) -> bool:
    return name in part.function.__code__.co_freevars and name in part.code.co_freevars


def _source(value: Any) -> str | None:
    """Name what a value draws from, if it is no function of the state."""
    if isinstance(value, ModuleType):
        name = value.__name__
        return name if name in _MODULES or name.endswith(".random") else None
    if isinstance(value, pathlib.PurePath) or value is pathlib.Path or value is pathlib.PosixPath:
        return "a file's path"
    is_bound = isinstance(value, BuiltinFunctionType | MethodType)  # nobody else is asked
    bound = value.__self__ if is_bound else None
    for owner in (value, bound):
        is_random = type(owner).__module__.startswith("numpy.random")
        if is_random or isinstance(owner, random.Random):
            return "a source of random numbers"
    if hasattr(type(value), "__next__"):
        return f"the iterator {value!r}, which goes on at each call"
    return _of_the_process(value) or _of_a_library(value)


def _of_the_process(value: Any) -> str | None:
    """Name what is another one in each process."""
    if value is sys.argv or value is sys.flags:
        return "what the program was started with"
    name = getattr(value, "__name__", None) if isinstance(value, _WRITTEN_IN_C) else None
    if name == "__hash__":
        return "__hash__, of a value whose hash may be another one in each process"
    is_pythons = name in _BUILTINS and getattr(builtins, str(name), None) is value
    return f"{name}()" if is_pythons else None


def _of_a_library(value: Any) -> str | None:
    is_function = isinstance(value, BuiltinFunctionType | FunctionType | MethodType | type)
    owner = getattr(value if is_function else type(value), "__module__", None)
    name = getattr(value, "__name__", type(value).__name__)
    is_impure = owner in _MODULES or (owner == "sys" and name in _OF_SYS)
    return f"{owner}.{name}" if is_impure or f"{owner}.{name}" in _OF_LIBRARIES else None


_AS_PARAMETER = "Make what it gives a parameter of the action, over a Domain of all that may come"
_IN_STATE = "Let it be a field of the state, which an action gives anew"
_NO_HASH = "Compare values by ==, or give each a number in a Map or a field"
_NO_DEPTH = "Count how deep it goes, in a parameter, and `require` that it is not too deep"
_INSTEAD_OF = {
    "hash": _NO_HASH,
    "id": _NO_HASH,
    "open": "Read the file before, and let what it says be a field of the model",
    "input": _AS_PARAMETER,
    "globals": _IN_STATE,
    "locals": "Name what is meant",
    "eval": "Write it as code",
    "exec": "Write it as code",
    "compile": "Write it as code",
    "__import__": "Import it at the head of the file",
}


# --------------------------------------------------------------------------- what may change


def surroundings(model: Any) -> dict[str, str]:
    """Write down all that the methods of a model use beside a state: it must stay as it is.

    That are the model's fields, globals, closures, default arguments, and attributes of classes and
    functions.
    """
    cls = type(model)
    found: dict[str, str] = {}
    classes: dict[Any, None] = dict.fromkeys(_own_classes(cls))
    roots = [getattr(cls, method.name) for method in methods_of(cls)]
    for part in reached_from(cls, roots):
        function = part.function
        name = function.__qualname__
        found |= _written(f"an attribute of {name}", function.__dict__)
        defaults = (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values())
        found |= _written(f"a default argument of {name}", dict(enumerate(defaults)))
        named: tuple[str, ...] = (*part.code.co_names, *part.code.co_freevars)
        used = {key: part.names[key] for key in named if key in part.names}
        found |= _written("the global", used)
        for value in used.values():
            if isinstance(value, type):
                classes |= dict.fromkeys(_own_classes(value))
            if isinstance(value, ModuleType):
                attributes = {key: getattr(value, key, None) for key in part.code.co_names}
                found |= _written(f"{value.__name__}'s", attributes)
    for owner in classes:
        found |= _written(f"{owner.__name__}'s", dict(vars(owner)))
    own, computed = getattr(model, "__dict__", {}), computed_once(cls)
    return found | _written("the model's", {n: own[n] for n in own if n not in computed})


def computed_once(cls: type[Any]) -> set[str]:
    """Name what objects of a class keep once it is computed."""
    return {
        name
        for base in cls.__mro__
        for name, value in vars(base).items()
        if isinstance(value, functools.cached_property)
    }


def _own_classes(cls: type[Any]) -> list[Any]:
    return [
        base
        for base in cls.__mro__
        if base.__module__.partition(".")[0] not in ("builtins", "typing", "abc", "enum")
        and not base.__module__.startswith("streamproof.lang")
    ]


def _written(whose: str, values: dict[Any, Any]) -> dict[str, str]:
    """Write values down that may be told apart later: plain ones, collections, and objects."""
    return {
        f"{whose} {name}": text
        for name, value in values.items()
        if not str(name).startswith("__") and (text := _text(value)) is not None
    }


def _text(value: Any) -> str | None:
    if isinstance(value, (*_IMMUTABLE, list, dict, set, frozenset, tuple, bytearray)):
        return repr(value)
    if isinstance(value, type | ModuleType | FunctionType | BuiltinFunctionType):
        return None
    if type(value).__module__ in ("collections", "array"):
        return repr(value)
    if isinstance(value, memoryview) or type(value).__module__ == "numpy":
        return repr(bytes(value)) if isinstance(value, memoryview) else repr(value)
    if isinstance(value, BaseException):
        return repr((value.args, vars(value)))
    if type(value).__module__.startswith("streamproof.lang."):
        return repr(value)  # a hash that it keeps is no change
    computed = computed_once(type(value))
    own = getattr(value, "__dict__", None) or {}
    inside = {name: part for name, part in own.items() if name not in computed}
    for base in type(value).__mro__:
        slots = vars(base).get("__slots__", ())
        names = (slots,) if isinstance(slots, str) else tuple(slots)
        inside |= {name: getattr(value, name, None) for name in names if not is_special(name)}
    return None if not inside or callable(value) else repr(inside)
