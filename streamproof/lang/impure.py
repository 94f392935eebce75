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
import inspect
import pathlib
import random
import sys
from collections.abc import Iterator, Sequence
from types import (
    BuiltinFunctionType,
    CodeType,
    FunctionType,
    MethodType,
    MethodWrapperType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import Any

from streamproof import lang as language
from streamproof.lang.addresses import find_text_of_address
from streamproof.lang.cached import find_coarse_key, told_of
from streamproof.lang.class_texts import find_text_of_class
from streamproof.lang.errors import StreamproofError
from streamproof.lang.makers import makers_of
from streamproof.lang.named import trees_of
from streamproof.lang.origin import Origin, asks_models, instructions_of, origin_of
from streamproof.lang.reached import Reached, Reader, kept_in, reached_from, roots_of
from streamproof.lang.reflective import imported_by_text
from streamproof.lang.set_order import find_use_of_order
from streamproof.lang.whereabouts import find_whereabouts

_MODULES = (
    "random", "secrets", "time", "uuid", "os", "posix", "socket", "subprocess", "tempfile", "gc",
    "inspect", "traceback", "weakref", "_weakref", "contextvars", "_contextvars", "ctypes",
    "_ctypes", "threading", "_thread", "queue", "_queue", "multiprocessing", "warnings",
    "_warnings", "platform", "linecache", "email.utils", "resource", "sched", "asyncio", "select",
    "locale", "pickle", "_pickle",
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
    "decimal.getcontext", "decimal.localcontext", "_csv.field_size_limit",
)  # fmt: skip
_FOR_MODELS = ("streamproof.lang.machine",)
"""Modules of streamproof, beside the language's names, whose functions models are made of."""
_CONSTANT = {
    "uuid": {
        "UUID", "SafeUUID", "uuid3", "uuid5",
        "NAMESPACE_DNS", "NAMESPACE_URL", "NAMESPACE_OID", "NAMESPACE_X500",
    },
}  # fmt: skip
"""What impure modules have that is the same each time."""
_CHANGES = {"sys": ("set", "get"), "operator": (), "_operator": (), "builtins": ()}
"""How functions begin that change, or ask, what all of a process shares; elsewhere with `set`."""
_WRITTEN_IN_C = (BuiltinFunctionType, MethodWrapperType, WrapperDescriptorType)
_DEPTHS = ("RecursionError", "MemoryError")
_OF_A_CACHE = ("cache_info", "cache_clear")
_MOMENTS = ("now", "utcnow", "today")


class ImpureModel(StreamproofError, ValueError):
    """A method may give, or gave, two answers to one question."""


def require_pure(cls: type[Any]) -> None:
    """Refuse a model whose methods may run what is impure.

    Raises
    ------
    ImpureModel : if one may; it names function, file and line
    """
    _require_pure(cls)  # type: ignore[arg-type] # a class does hash
    require_exact_keys(cls)


def require_exact_keys(cls: type[Any]) -> None:
    """Refuse a model that asks a cached function whose key may take one value for another.

    Raises
    ------
    ImpureModel : if one does; it names function, file and line
    """
    caches, classes = _caches_of(cls)  # type: ignore[arg-type] # a class does hash
    for cache in caches:
        if found := find_coarse_key(cache, classes):
            line, what, instead = told_of(found, cache)
            code = inspect.unwrap(cache).__code__
            raise ImpureModel(
                f"{code.co_name} ({code.co_filename}:{line}) {what}: a search would believe an "
                f"answer that depends on what was asked before. {instead}"
            )


@functools.cache
def _caches_of(cls: Any) -> tuple[list[Any], list[type[Any]]]:
    """List the cached functions that a model may ask, and the classes whose methods they may be."""
    reader = Reader(cls)
    for _ in reader.read(roots_of(cls)):
        pass
    return reader.caches, [*cls.__mro__, *reader.classes]


@functools.cache
def _require_pure(cls: Any) -> None:
    for part in reached_from(cls, roots_of(cls)):
        seen = (
            *_impurities(part),
            *find_use_of_order(part, cls),
            *find_text_of_address(part, cls),
            *find_whereabouts(part),
            *find_text_of_class(part, cls),
        )
        for line, what, instead in seen:
            raise ImpureModel(
                f"{part.code.co_name} ({part.code.co_filename}:{line}) {what}, so it may answer "
                "otherwise when it is asked again, or in another process: a verdict would hold for "
                f"this one alone. {instead}"
            )
    for part in reached_from(cls, makers_of(cls)):
        seen = (
            *_of_another_process(part),
            *find_use_of_order(part, cls),
            *find_whereabouts(part, is_maker=True),
            *find_text_of_class(part, cls),
        )
        for line, what, instead in seen:
            raise ImpureModel(
                f"{part.code.co_name} ({part.code.co_filename}:{line}) {what}, and the model is "
                "made of it, so another process would make another model: a verdict would hold for "
                f"this one alone. {instead}"
            )


def _of_another_process(part: Reached) -> Iterator[tuple[int, str, str]]:
    """List what differs in another process. The content of a file, or a user's input, does not."""
    for line, what, _ in _impurities(part):
        if "hash" in what and _makes_a_hash(part.code):
            continue  # which counts where it is asked for, and is found there
        if what == _IMPORTS_UNKNOWN:
            yield line, what, _AT_THE_HEAD
        elif any(map(_is_of_a_process, what.split())) or "random" in what:
            yield line, what, "Write down what it gives, as a constant"


def _makes_a_hash(code: CodeType) -> bool:
    """Recognise a method `__hash__`, and the body of a class that is given one."""
    return code.co_name == "__hash__" or "__hash__" in code.co_varnames


def _is_of_a_process(word: str) -> bool:
    """Return whether a word of an impurity names something that depends on time or process."""
    name = word.strip(",").removesuffix("()")
    owner, _, attribute = name.rpartition(".")
    is_moment = attribute in _MOMENTS or name in _OF_A_PROCESS or owner in _OF_A_PROCESS
    return is_moment or (owner in _OF_SYSTEM and attribute in _NUMBERS)


_OF_A_PROCESS = (
    "hash", "id", "__hash__", "secrets", "time", "uuid", "gc", "resource",
    "email.utils", "logging.LogRecord", "logging.makeLogRecord", "numpy.datetime64",
    "asyncio", "sched", "eval", "exec", "compile", "sys.modules",
)  # fmt: skip
_OF_SYSTEM = ("os", "posix", "threading", "_thread")
_NUMBERS = (
    "getpid", "getppid", "getloadavg", "times", "urandom", "getrandom", "get_ident",
    "get_native_id", "current_thread",
)  # fmt: skip


def _impurities(part: Reached) -> Iterator[tuple[int, str, str]]:
    """List what is impure in one function: line, what it does, and what to write instead."""
    line, function = part.code.co_firstlineno, part.function
    for default in (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values()):
        if told := _source(default):
            yield line, f"has a default argument that is {told}", _IN_STATE
    for tree in trees_of(part.code):
        for name in imported_by_text(tree, part.names):
            if not name or name in _MODULES:
                yield line, f"uses {name}" if name else _IMPORTS_UNKNOWN, _AT_THE_HEAD
    known: dict[int, list[Any]] = {}
    for instruction, value in part.values:
        known.setdefault(instruction.offset, []).append(value)
    owner: Any = None  # what the instruction before has loaded
    instructions = instructions_of(part.code)
    for place, instruction in enumerate(instructions):
        line = instruction.starts_line or line
        found = known.get(instruction.offset, [])
        asked = [] if _is_asked_for_constant(found, instructions[place + 1 : place + 2]) else found
        sources = (_source(kept) for value in asked for kept in kept_in(value))
        yield from ((line, f"uses {source}", _instead_of(source)) for source in sources if source)
        yield from ((line, *what) for what in _done_by(part, instruction, owner))
        owner = found[-1] if found else None


def _is_asked_for_constant(found: list[Any], after: Sequence[dis.Instruction]) -> bool:
    """Return whether code asks an impure module only for what is the same each time."""
    names = (_CONSTANT.get(getattr(value, "__name__", ""), set()) for value in found)
    return bool(found and after) and all(after[0].argval in own for own in names)


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
        is_impure = name in (*_MODULES, "__main__") or name.endswith(".random")
        return name if is_impure else None
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
    return _of_the_process(value) or _of_a_library(value) or _of_streamproof(value)


def _of_streamproof(value: Any) -> str | None:
    """Name a function of streamproof's own, which may tell what asks a model."""
    if not isinstance(value, FunctionType):
        return None
    if origin_of(value.__code__) is not Origin.LANGUAGE and not asks_models(value.__code__):
        return None
    owner = value.__qualname__.partition(".")[0]
    is_public = owner in language.__all__ or value.__module__ in _FOR_MODELS
    return None if is_public else f"{value.__module__}.{value.__qualname__}"


def _of_the_process(value: Any) -> str | None:
    """Name a value that differs from process to process."""
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
    is_constant = name in _CONSTANT.get(str(owner), ())
    is_impure = (owner in _MODULES and not is_constant) or (owner == "sys" and name in _OF_SYS)
    if isinstance(owner, str) and owner in sys.stdlib_module_names:
        is_impure |= name.startswith(_CHANGES.get(owner, ("set",)))
    return f"{owner}.{name}" if is_impure or f"{owner}.{name}" in _OF_LIBRARIES else None


def _instead_of(source: str) -> str:
    if source.startswith(f"{language.__name__.partition('.')[0]}."):
        return "Use what streamproof.lang offers to models"
    return _AS_A_FIELD if source == "__main__" else _AS_PARAMETER


_IMPORTS_UNKNOWN = "imports a module whose name is not written there"
_AT_THE_HEAD = "Import it by its name, at the head of the file"
_AS_A_FIELD = "Give the model a field for what should differ, and decide by that"
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
