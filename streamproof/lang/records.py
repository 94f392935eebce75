"""Records: frozen dataclasses, put together again from their fields."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
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


def refuse_own_equality(cls: type[Any]) -> None:
    """Refuse to compare records of a class by their fields, where it compares otherwise."""
    if not is_plain_dataclass(cls, "__eq__") or not all(f.compare for f in dataclasses.fields(cls)):
        raise untraceable(
            f"it compares maps of {cls.__name__}, which has an equality of its own",
            "Leave __eq__ to @dataclass(frozen=True), and compare the fields that are meant",
        )
