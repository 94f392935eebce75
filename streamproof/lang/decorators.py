"""Decorators that are known: of Python's library and the language, which do the same everywhere."""

from __future__ import annotations

import abc
import contextlib
import dataclasses
import enum
import functools
import typing
from types import FunctionType
from typing import Any

from streamproof.lang.origin import Origin, origin_of

KNOWN_DECORATORS = (
    property, staticmethod, classmethod, dataclasses.dataclass, functools.cache,
    functools.lru_cache, functools.cached_property, functools.total_ordering, functools.wraps,
    functools.singledispatch, functools.singledispatchmethod, contextlib.contextmanager,
    abc.abstractmethod, enum.unique, enum.verify, enum.member, enum.nonmember, enum.property,
    typing.final, typing.overload, typing.no_type_check, typing.runtime_checkable,
)  # fmt: skip


def is_known_decorator(value: Any) -> bool:
    """Return whether a decorator is of Python's library or of the language."""
    if isinstance(value, FunctionType) and origin_of(value.__code__) is Origin.LANGUAGE:
        return True
    return any(value is known for known in KNOWN_DECORATORS)
