"""Records: frozen dataclasses, put together again from their fields."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from streamproof.lang.origin import is_plain_dataclass
from streamproof.lang.refusals import untraceable


def assembled(cls: type[Any], parts: Mapping[str, Any]) -> Any:
    """Put a record together from the values of its fields, which it had before.

    What a class does to new records, as in `__post_init__`, was done when the record was made.
    """
    record = object.__new__(cls)
    for name, part in parts.items():
        object.__setattr__(record, name, part)
    return record


def changed_record(record: Any, part: Callable[[Any], Any]) -> Any:
    """Put a record together again, from a function of each field's name."""
    refuse_more_than_fields(record)
    cls = type(record)
    return assembled(cls, {field.name: part(field.name) for field in dataclasses.fields(cls)})


def changed_tuple(old: tuple[Any, ...], parts: Iterable[Any]) -> Any:
    """Put a tuple together again, which may be a named one."""
    cls: Any = type(old)
    return tuple(parts) if cls is tuple else cls._make(parts)


def are_like_tuples(left: Any, right: Any) -> bool:
    """Return whether two values are tuples of one kind and length."""
    return isinstance(left, tuple) and type(left) is type(right) and len(left) == len(right)


def refuse_more_than_fields(record: Any) -> None:
    """Refuse a record that keeps something beside its fields."""
    cls = type(record)
    known = {field.name for field in dataclasses.fields(cls)}
    for name in getattr(record, "__dict__", {}).keys() - known:
        if not isinstance(getattr(cls, name, None), functools.cached_property):
            raise untraceable(
                f"it gives a {cls.__name__} that keeps {name}, which is no field of it",
                "Declare a field for it, or compute it in a property",
            )


def has_parts(value: Any) -> bool:
    """Return whether a value is a record or a tuple, so that it is compared part by part."""
    return isinstance(value, tuple) or (
        dataclasses.is_dataclass(value) and not isinstance(value, type)
    )


def parts_compared(left: Any, right: Any) -> list[tuple[Any, Any]] | None:
    """Return the parts that `==` compares of two values; None if it says that they differ.

    Records of unlike classes are never equal, whatever their fields say; a tuple may be named.
    """
    for value in filter(has_parts, (left, right)):
        _refuse_own_equality(type(value))
    if isinstance(left, tuple) and isinstance(right, tuple):
        return list(zip(left, right, strict=True)) if len(left) == len(right) else None
    if type(left) is not type(right):
        return None
    names = [field.name for field in dataclasses.fields(left)]
    return [(getattr(left, name), getattr(right, name)) for name in names]


def _refuse_own_equality(cls: Any) -> None:
    """Refuse to compare values of a class by their parts, where it compares otherwise."""
    if issubclass(cls, tuple):
        is_plain = cls.__eq__ is tuple.__eq__
    else:
        is_plain = is_plain_dataclass(cls, "__eq__")
        is_plain &= all(field.compare for field in dataclasses.fields(cls))
    if not is_plain:
        raise untraceable(
            f"it compares maps of {cls.__name__}, which has an equality of its own",
            "Leave __eq__ to @dataclass(frozen=True), and compare the fields that are meant",
        )
