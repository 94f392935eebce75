"""Evident code: what answers alike in every process, as can be seen from what it names.

Numbers, records, maps, and functions that are written with these know nothing of hashes, addresses
or the order of a set. Whoever uses none but them need not be asked in another process. A name that
is not known to be harmless is none of them.
"""

from __future__ import annotations

import builtins
import dataclasses
import dis
import enum
import functools
import itertools
import math
import operator
import typing
from abc import ABC, ABCMeta
from enum import Enum, EnumType
from types import (
    CodeType,
    FunctionType,
    GenericAlias,
    MappingProxyType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
    UnionType,
)
from typing import Any

import streamproof.lang as language
from streamproof.lang.compiled import is_made_by_running
from streamproof.lang.decorators import KNOWN_DECORATORS
from streamproof.lang.errors import StreamproofError
from streamproof.lang.makers import is_made_plainly, makers_of
from streamproof.lang.model import Model
from streamproof.lang.named import trees_of
from streamproof.lang.origin import Origin, instructions_of, origin_of
from streamproof.lang.reached import Reached, is_special, reached_from, roots_of, unwrapped
from streamproof.lang.set_order import reads_text
from streamproof.lang.trace import field_sorts, state_sort_of

_BUILTINS = frozenset((
    abs, all, any, bool, dict, divmod, enumerate, filter, int, isinstance, issubclass, iter, len,
    list, map, max, min, next, pow, property, range, reversed, round, slice, sorted, sum, super,
    tuple, zip, staticmethod, classmethod, object,
))  # fmt: skip
_LIBRARY = frozenset((
    dataclasses.replace, dataclasses.dataclass, dataclasses.field, functools.reduce,
    functools.partial, functools.wraps, functools.cached_property, itertools.chain,
    itertools.combinations, itertools.pairwise, itertools.permutations, itertools.product,
    itertools.islice, itertools.repeat, math.prod, math.gcd, operator.add, operator.and_,
    operator.eq, operator.mul, operator.ne, operator.or_, operator.sub, typing.cast,
    typing.assert_never, typing.NamedTuple, enum.auto, *KNOWN_DECORATORS,
))  # fmt: skip
_METACLASSES = (type, EnumType, ABCMeta, type(typing.Protocol))
_SCALARS = (type(None), bool, int, float, str, bytes, range, type(...), type(NotImplemented))
_HARMLESS = (ModuleType, MemberDescriptorType, Enum, language.Element)
_ELEMENTS = (language.Element, Enum, str, int)
_OF_TYPES = (GenericAlias, UnionType, typing.TypeVar, type(typing.Any), type(list[int]))
_MAKES_SETS = ("BUILD_SET", "SET_ADD", "SET_UPDATE", "IMPORT_NAME", "IMPORT_FROM")
_LOADS = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_DEREF", "LOAD_CLASSDEREF")
_ATTRIBUTES = ("LOAD_ATTR", "LOAD_METHOD", "LOAD_SUPER_ATTR")
_OF_INSTANCES = ("__init__", "__post_init__", "__new__", "__setattr__", "__class__")
_NOT_KNOWN = object()
_WRAPPERS = (
    property, staticmethod, classmethod, functools.cached_property, type(functools.cache(len)),
)  # fmt: skip


def is_evident(model: Model[Any]) -> bool:
    """Return whether a model's methods, and all they call, evidently answer alike everywhere."""
    values = (getattr(model, field.name) for field in dataclasses.fields(model))
    cls: Any = type(model)
    return is_evident_class(cls) and all(map(_has_plain_elements, values))


def _has_plain_elements(value: Any) -> bool:
    """Return whether all elements of a constant's domains have no parts."""
    domains = value.domains if isinstance(value, language.Map) else (value,)
    known = (domain.elements for domain in domains if isinstance(domain, language.Domain))
    return all(isinstance(element, _ELEMENTS) for elements in known for element in elements)


@functools.cache
def is_evident_class(cls: Any) -> bool:
    """Return whether a class answers alike everywhere, whatever its fields are."""
    try:
        state_sort_of(cls)
        list(field_sorts(cls))
    except (StreamproofError, NameError):
        return False  # a value of any class, a set among them
    if not is_made_plainly(cls):
        return False
    roots = roots_of(cls)
    parts = [*reached_from(cls, roots), *reached_from(cls, makers_of(cls))]
    codes = {part.code for part in parts}
    asked = {getattr(root, "__code__", None) for root in roots}
    return all(_Looks(part, codes, tells=part.code in asked).is_evident() for part in parts)


class _Looks:
    """Looks at what one function names.

    Parameters
    ----------
    codes : all that was reached, and is looked at, too
    tells : whether the function is asked by a search, which reads no text of it
    """

    def __init__(self, part: Reached, codes: set[CodeType], *, tells: bool) -> None:
        self.part, self.codes, self.tells = part, codes, tells

    def is_evident(self) -> bool:
        """Return whether nothing in the function may differ between processes."""
        values = [value for _, value in self.part.values]
        is_one_name = self.part.code.co_name == "<module>" and len(values) == 1
        if not all(map(self._is_known, values)) and not is_one_name:
            return False  # of one name alone, the methods that it may run are looked at themselves
        instructions = instructions_of(self.part.code)
        following = [*instructions[1:], None]
        return all(map(self._is_harmless, instructions, following))

    def _is_harmless(self, instruction: dis.Instruction, after: dis.Instruction | None) -> bool:
        value = instruction.argval
        match instruction.opname:
            case "LOAD_CONST" if isinstance(value, frozenset):
                return after is not None and after.opname == "CONTAINS_OP"
            case "LOAD_CONST" if isinstance(value, str):
                return not is_special(value)
            case "FORMAT_VALUE":
                return self.tells and not any(map(reads_text, trees_of(self.part.code)))
            case name if name in _MAKES_SETS:
                return False
            case name if name in _ATTRIBUTES:
                return not is_special(value) or value in _OF_INSTANCES
            case name if name in _LOADS and value not in self.part.names:
                return name == "LOAD_DEREF" or self._is_known(getattr(builtins, value, _NOT_KNOWN))
            case _:
                return True

    def _is_known(self, value: Any) -> bool:
        """Return whether a value is harmless, and so is what it holds."""
        kind: Any = type(value)
        if kind in _SCALARS or isinstance(value, _HARMLESS):
            return True  # a module gives what is named, which is looked at itself
        if isinstance(value, type):
            return self._is_known_class(value)
        if isinstance(value, functools.partial | MethodType):
            return all(map(self._is_known, _parts_of_call(value)))
        if isinstance(value, (FunctionType, *_WRAPPERS)):
            return all(map(self._is_known_function, unwrapped(value)))
        if isinstance(value, list | tuple):
            return all(map(self._is_known, value))
        if isinstance(value, dict | MappingProxyType):
            return all(map(self._is_known, (*value.keys(), *value.values())))
        if isinstance(value, language.Domain):
            return all(map(self._is_known, value.elements))
        if isinstance(value, language.Map):
            return all(self._is_known(entry) for _, entry in value.items())
        if self._is_known_class(kind) and dataclasses.is_dataclass(value):
            return all(self._is_known(getattr(value, f.name)) for f in dataclasses.fields(value))
        return isinstance(value, _OF_TYPES) or _is_of_typing(kind) or _is_listed(value)

    def _is_known_class(self, cls: type[Any]) -> bool:
        if cls in _BUILTINS | _LIBRARY or issubclass(cls, BaseException | Enum):
            return cls not in (RecursionError, MemoryError)
        if cls.__module__.startswith(f"{language.__name__}.") or _is_of_typing(cls):
            return True
        is_plain = type(cls) in _METACLASSES and is_made_by_running(cls)
        return bool(
            is_plain
            and (
                dataclasses.is_dataclass(cls)
                or issubclass(cls, tuple | language.Element)
                or vars(cls).get("_is_protocol")
            )
        )

    def _is_known_function(self, function: Any) -> bool:
        """Return whether a function is harmless, or what only keeps one."""
        if not isinstance(function, FunctionType):
            return isinstance(function, _WRAPPERS)
        if function.__code__ in self.codes or _is_listed(function):
            return True
        origin = origin_of(function.__code__)
        is_wrapper = origin is Origin.STANDARD_LIBRARY and hasattr(function, "__wrapped__")
        return is_wrapper or origin in (Origin.LANGUAGE, Origin.GENERATED)


def _is_of_typing(cls: type[Any]) -> bool:
    return cls is ABC or vars(typing).get(cls.__name__) is cls


def _parts_of_call(call: Any) -> tuple[Any, ...]:
    if isinstance(call, MethodType):
        return (call.__func__, call.__self__)
    return (call.func, *call.args, *call.keywords.values())


def _is_listed(value: Any) -> bool:
    try:
        return value in _BUILTINS or value in _LIBRARY
    except TypeError:
        return False
