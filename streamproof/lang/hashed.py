"""Hashes and depths of deep values, computed once."""

from __future__ import annotations

from typing import Any, TypeVar

T = TypeVar("T")


class Hashed:
    """Keeps the hash and the depth; no fields: a string has another hash in every process."""

    __slots__ = ("_depth", "_hash")
    _depth: int
    _hash: int


def hashed_once(cls: type[T]) -> type[T]:
    """Make the values of a frozen dataclass, a `Hashed`, compute their hash once each.

    An expression is looked up in a table at every level of another, and would walk through all that
    is below it each time.
    """
    compute: Any = cls.__hash__

    def hash_once(self: Any) -> int:
        try:
            known: int = self._hash
        except AttributeError:
            known = compute(self)
            object.__setattr__(self, "_hash", known)
        return known

    cls.__hash__ = hash_once  # type: ignore[method-assign]
    return cls
