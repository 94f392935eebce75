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


def refuse_own_equality(cls: type[Any]) -> None:
    """Refuse to compare records of a class by their fields, where it compares otherwise."""
    if not is_plain_dataclass(cls, "__eq__") or not all(f.compare for f in dataclasses.fields(cls)):
        raise untraceable(
            f"it compares maps of {cls.__name__}, which has an equality of its own",
            "Leave __eq__ to @dataclass(frozen=True), and compare the fields that are meant",
        )
