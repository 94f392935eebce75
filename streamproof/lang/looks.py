"""Looks at code: what could see that a value is symbolic, or keep a value between paths.

Python runs a traced function once a path, so all code that matters is code that runs. Each function
of a user is looked at when it is entered: at the names that it uses, and what they stand for.
"""

from __future__ import annotations

import dataclasses
import dis
import functools
import inspect
import re
import types
from abc import ABCMeta
from collections.abc import Iterable, Iterator
from enum import EnumType
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any

import streamproof.lang as language
from streamproof.lang.allowed import is_allowed_builtin, is_allowed_in_library, remedy_for
from streamproof.lang.caught import caught_by
from streamproof.lang.compiled import is_compiled
from streamproof.lang.held import held
from streamproof.lang.literal_names import asks_by_literal_names
from streamproof.lang.origin import Origin, instructions_of, origin_of

_GLOBALS = ("LOAD_GLOBAL", "LOAD_NAME")
_ATTRIBUTES = ("LOAD_ATTR", "LOAD_METHOD")
_ASKING = (*_ATTRIBUTES, "LOAD_SUPER_ATTR")
_OF_CALLS = ("CACHE", "PRECALL", "PUSH_NULL")
_MAKING = ("__init__", "__post_init__", "__new__", "__setattr__")
"""Functions that may give a new object its fields."""
_SPECIAL = re.compile(r"__\w+__\Z")
_NO_VALUE = object()
_BY_EQUALITY = "Write == or !=, or isinstance for a class"
_KEPT = "A transition gives the whole next state and changes nothing else: return a changed copy"


@dataclasses.dataclass(frozen=True)
class Use:
    """Something that a function uses from outside of itself, and where.

    Attributes
    ----------
    value : what it is
    """

    line: int
    name: str
    value: Any

    @functools.cached_property
    def parts(self) -> list[Any]:
        """The value, and all that it holds."""
        return list(held(self.value))


@dataclasses.dataclass(frozen=True, slots=True)
class Doubt:
    """Something that may not mean the same for symbolic values as for plain ones.

    Attributes
    ----------
    ends : whether Python itself may refuse it, in other words
    """

    line: int
    what: str
    remedy: str
    ends: bool = False


def doubts_about(frame: FrameType) -> tuple[list[Doubt], list[Use]]:
    """Look at the code that a frame begins to run.

    Returns
    -------
    The doubts, and what it uses from outside, which must not change meanwhile.
    """
    code = frame.f_code
    doubts = list(_in_itself(code))
    found = list(_uses(code, frame.f_globals, frame.f_builtins))
    given, around = list(_arguments(frame)), list(_enclosed(frame))
    found += _class_attributes(code, [*found, *given, *around])
    looked_at = [*found, *around, *given]
    doubts += _about_attributes(code, found)
    doubts += [Doubt(*told) for told in caught_by(frame, [(u.line, u.parts) for u in looked_at])]
    for use in looked_at:
        doubt = _doubt_about(use)
        if doubt is not None:
            doubts.append(doubt)
    return doubts, found


@functools.cache
def _in_itself(code: CodeType) -> tuple[Doubt, ...]:
    """Look at what code does, whatever its names stand for."""
    return tuple(_instructions(code))


def _instructions(code: CodeType) -> Iterator[Doubt]:
    before = None
    for instruction, line in _lines(code):
        name = instruction.argval
        match instruction.opname:
            case "IS_OP" if _is_truth(before):
                what = "it compares with True or False by identity: `is`, or a literal in a `case`"
                yield Doubt(line, what, "Write a guard: case Node(voted=v) if not v")
            case "IS_OP" if not _is_none(before):
                what = "it compares by identity (is, is not), which is never true of a symbolic"
                yield Doubt(line, f"{what} value", _BY_EQUALITY)
            case "STORE_GLOBAL" | "DELETE_GLOBAL":
                yield Doubt(line, f"it changes the global variable {name}", _KEPT)
            case "STORE_ATTR" | "DELETE_ATTR" if code.co_name not in _MAKING:
                yield Doubt(line, f"it changes the attribute {name} of an object", _KEPT, True)
            case "IMPORT_NAME":
                yield Doubt(line, f"it imports {name}", "Import it at the head of the file")
            case "LOAD_ATTR" | "LOAD_METHOD" | "LOAD_SUPER_ATTR" if _is_special(name):
                if not (name == "__setattr__" and code.co_name in _MAKING) and name not in _MAKING:
                    what = f"it asks for {name}, which tells a symbolic value from a plain one"
                    yield Doubt(line, what, remedy_for(name, ""))
            case "LOAD_CONST" if _is_special(name) and {"getattr", "hasattr"} & {*code.co_names}:
                what = f"it names {name}, which tells a symbolic value from a plain one"
                yield Doubt(line, what, remedy_for(name, ""))
        before = instruction


def _lines(code: CodeType) -> Iterator[tuple[dis.Instruction, int]]:
    for instruction in instructions_of(code):
        positions = instruction.positions
        line = positions.lineno if positions is not None else None
        yield instruction, line or code.co_firstlineno


def _is_none(instruction: dis.Instruction | None) -> bool:
    return instruction is not None and (instruction.opname, instruction.argval) == (
        "LOAD_CONST",
        None,
    )


def _is_truth(instruction: dis.Instruction | None) -> bool:
    return (
        instruction is not None
        and instruction.opname == "LOAD_CONST"
        and isinstance(instruction.argval, bool)
    )


def _is_special(name: object) -> bool:
    return isinstance(name, str) and _SPECIAL.match(name) is not None


# --------------------------------------------------------------------------- what names stand for


def _uses(code: CodeType, names: dict[str, Any], builtin: Any) -> Iterator[Use]:
    """List what a function uses by its global names, and by attributes of modules and classes."""
    found: Use | None = None
    for instruction, line in _lines(code):
        name = instruction.argval
        if instruction.opname in _OF_CALLS:
            continue
        if instruction.opname in _ATTRIBUTES and _has_parts(found):
            assert found is not None
            if not isinstance(found.value, ModuleType):
                yield found
            found = Use(line, name, _part(found.value, name))
            continue
        if found is not None and found.value is not _NO_VALUE:
            yield found
        found = None
        if instruction.opname in _GLOBALS and not str(name).startswith("@py"):  # pytest's own
            found = Use(line, name, names.get(name, builtin.get(name, _NO_VALUE)))
    if found is not None and found.value is not _NO_VALUE:
        yield found


def _has_parts(use: Use | None) -> bool:
    return use is not None and isinstance(use.value, ModuleType | type)


def _part(value: Any, name: str) -> Any:
    if isinstance(value, ModuleType | EnumType):
        return getattr(value, name, _NO_VALUE)
    part = inspect.getattr_static(value, name, _NO_VALUE)
    return getattr(part, "__func__", part)  # of a static method or a class method


def _enclosed(frame: FrameType) -> Iterator[Use]:
    """List the variables of the functions around a function."""
    code = frame.f_code
    if code.co_freevars:
        values = frame.f_locals
        for name in code.co_freevars:
            if name in values and name != "__class__":  # which super() needs
                yield Use(code.co_firstlineno, name, values[name])


def _arguments(frame: FrameType) -> Iterator[Use]:
    """List a function's arguments: the defaults of some are from outside."""
    code = frame.f_code
    count = code.co_argcount + code.co_kwonlyargcount
    for name in code.co_varnames[:count]:
        if name in frame.f_locals:
            yield Use(code.co_firstlineno, name, frame.f_locals[name])


_CALLED = (
    types.BuiltinFunctionType
    | types.MethodDescriptorType
    | types.ClassMethodDescriptorType
    | types.WrapperDescriptorType
    | types.MethodWrapperType
)
"""Functions written in C. Python tells a profile function of the first two kinds alone."""
_COMPILED = _CALLED | types.GetSetDescriptorType | types.MemberDescriptorType


def _is_callable_as_it_is(value: Any) -> bool:
    return issubclass(type(value), type | _CALLED)


def _class_attributes(code: CodeType, uses: list[Use]) -> Iterator[Use]:
    """List what classes have under the names that a function uses: of what it is given and uses."""
    for cls in _classes(part for use in uses for part in use.parts):
        for name in code.co_names:
            part = inspect.getattr_static(cls, name, _NO_VALUE)
            if type(part) is ModuleType:
                yield from _asked_of_module(code, name, part)
                continue
            part = getattr(part, "__func__", part)
            part = getattr(part, "fget", getattr(part, "func", part))  # of a property
            is_plain = _is_callable_as_it_is(part) or not hasattr(type(part), "__get__")
            if part is not _NO_VALUE and (is_plain or _is_users_function(part)):
                yield Use(code.co_firstlineno, name, part)


def _asked_of_module(code: CodeType, name: str, module: ModuleType) -> Iterator[Use]:
    """List what code asks of a module that a class has: its parts, or it as a whole."""
    instructions = [part for part in _lines(code) if part[0].opname not in _OF_CALLS]
    following = [*instructions[1:], None]
    for (instruction, line), after in zip(instructions, following, strict=True):
        if instruction.opname in _ASKING and instruction.argval == name:
            if after is not None and after[0].opname in _ATTRIBUTES:
                part = after[0].argval
                yield Use(line, part, getattr(module, part, _NO_VALUE))
            else:
                yield Use(line, name, module)


def _is_users_function(value: Any) -> bool:
    return type(value) is FunctionType and origin_of(value.__code__) is Origin.USER


def _classes(values: Iterable[Any]) -> set[type]:
    """List the users' classes among values, and of them."""
    classes = {value if isinstance(value, type) else type(value) for value in values}
    return {
        cls
        for cls in classes
        if cls.__module__ != "builtins"
        and not _is_from_library(cls)
        and not _is_of_the_language(cls)
    }


# --------------------------------------------------------------------------- whether they are safe


def _about_attributes(code: CodeType, uses: list[Use]) -> Iterator[Doubt]:
    """Report names that are made up while code runs: they may be special ones."""
    asks = [use for use in uses if _asks_by_name(use.value)]
    if asks and not asks_by_literal_names(code):
        what = f"it calls {asks[0].name} with a name that may be a special one"
        yield Doubt(asks[0].line, what, "Name the attribute: value.name")


def _asks_by_name(value: Any) -> bool:
    return value is getattr or value is hasattr


def _doubt_about(use: Use) -> Doubt | None:
    """Return what is doubtful about a value, or about something that it holds."""
    if _asks_by_name(use.value) or use.name in _MAKING:
        return None  # which is asked of the call
    for part in use.parts:
        doubt = _doubt_about_part(Use(use.line, use.name, part))
        if doubt is not None:
            return doubt
    return None


def _doubt_about_part(use: Use) -> Doubt | None:
    kind = type(use.value)
    if issubclass(kind, type):
        return _doubt_about_class(use, use.value)
    if kind is ModuleType:
        return _refused(use, use.value)
    if kind is FunctionType:
        return _doubt_about_function(use, use.value)
    if kind is functools._lru_cache_wrapper:  # noqa: SLF001 - the class of what @cache makes
        what = f"it calls {use.name}, whose results are kept from one path to the next"
        return Doubt(use.line, what, "Leave @cache out")
    if issubclass(kind, _COMPILED):
        return None if is_allowed_builtin(use.value) else _refused(use, use.value)
    if kind.__module__ == "operator" and kind.__name__ != "itemgetter":
        return _refused(use, kind)
    if _is_from_library(kind) and kind.__module__ not in _PLAIN:
        return _refused(use, kind)
    return _refused(use, kind) if is_compiled(kind) else None


_PLAIN = frozenset(("builtins", "types", "typing", "collections", "functools", "re", "operator"))


def _doubt_about_class(use: Use, cls: type) -> Doubt | None:
    if issubclass(cls, BaseException):
        return None
    if cls.__module__ == "builtins" or _is_from_library(cls):
        known = is_allowed_builtin(cls) or is_allowed_in_library(cls.__module__, cls.__name__)
        return None if known else _refused(use, cls)
    if _is_of_the_language(cls):
        return None if _is_public(cls) else _refused(use, cls)
    return None if _asks_for_classes(cls) and not is_compiled(cls) else _refused(use, cls)


def _asks_for_classes(cls: type) -> bool:
    """Return whether `isinstance` with a class asks a value for its class, and for nothing more."""
    hooks = any("__subclasshook__" in vars(base) for base in cls.__mro__ if base is not object)
    return type(cls) is type or isinstance(cls, EnumType) or (type(cls) is ABCMeta and not hooks)


def _doubt_about_function(use: Use, function: FunctionType) -> Doubt | None:
    origin = origin_of(function.__code__)
    if origin is Origin.LANGUAGE:
        owner, _, name = function.__qualname__.rpartition(".")
        is_method = owner in language.__all__ and not name.startswith("_")
        return None if _is_public(function) or is_method else _refused(use, function)
    if origin is Origin.STANDARD_LIBRARY and function.__module__ in _library():
        known = is_allowed_in_library(function.__module__, function.__name__)
        return None if known else _refused(use, function)
    return None


def _is_public(value: Any) -> bool:
    return any(value is getattr(language, name) for name in language.__all__)


def _is_of_the_language(cls: type) -> bool:
    return cls.__module__.startswith(f"{language.__name__}.")


def _is_from_library(cls: type) -> bool:
    return cls.__module__.partition(".")[0] in _library()


@functools.cache
def _library() -> frozenset[str]:
    import sys

    return sys.stdlib_module_names - {"__main__"}


def _refused(use: Use, value: Any) -> Doubt:
    module = getattr(value, "__module__", "") or ""
    what = (
        f"it uses {use.name}, which may tell a symbolic value from a plain one, or two runs apart"
    )
    return Doubt(use.line, what, remedy_for(getattr(value, "__name__", use.name), module))
