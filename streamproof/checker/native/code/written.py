"""Written values: what code was compiled from, such that nothing that differs is written alike.

A `repr` will not do: a class writes its own, fields may be left out of a record's, and a domain's
tells no elements. Code that is kept under such a text would be run for another model.
"""

from __future__ import annotations

import dataclasses
import uuid
from collections.abc import Iterable
from enum import Enum
from hashlib import sha256
from typing import Any

from streamproof.lang import Domain, Element, Map

_PLAIN = (bool, int, float, str, bytes, type(None))
_LENGTH_MAX = 400
"""Letters of a text; expressions share parts, each of which would be written many times."""


def written(value: Any) -> str:
    """Write down all of a value, alike in every process; an unknown value equals no other."""
    return _Writer().text(value)


class _Writer:
    """Writes values down, each once.

    Attributes
    ----------
    known : what was written and its text, by number; kept, so that no other has the number
    """

    def __init__(self) -> None:
        self.known: dict[int, tuple[Any, str]] = {}

    def text(self, value: Any) -> str:
        """Write down a value; a digest stands for a long text."""
        cls = type(value)
        if cls in _PLAIN:
            return f"{cls.__name__} {value!r}"
        if id(value) not in self.known:
            text = self._text_of(value, cls)
            if len(text) > _LENGTH_MAX:
                text = f"{_name(cls)} {sha256(text.encode()).hexdigest()}"
            self.known[id(value)] = value, text
        return self.known[id(value)][1]

    def _text_of(self, value: Any, cls: type[Any]) -> str:
        if isinstance(value, type):
            return self._of_class(value)
        if isinstance(value, Enum):
            return f"{_name(cls)} {value._name_}"
        if isinstance(value, Element):
            return f"{_name(cls)} {value.index}"
        if isinstance(value, Domain):
            return f"{_name(cls)} {value.name} {self._joined(value.elements)}"
        if cls is Map:
            entries = (part for entry in value.items() for part in entry)
            return f"{_name(cls)} {self._joined(value.domains)} {self._joined(entries)}"
        if isinstance(value, str) and cls.__module__.startswith("streamproof.lang."):
            return f"{_name(cls)} {str.__repr__(value)}"
        return f"{_name(cls)} {self._inside(value, cls)}"

    def _inside(self, value: Any, cls: type[Any]) -> str:
        if cls in (tuple, list):
            return self._joined(value)
        if cls is dict:
            return self._joined(part for entry in value.items() for part in entry)
        if cls in (set, frozenset):
            return ", ".join(sorted(map(self.text, value)))
        if dataclasses.is_dataclass(cls):
            return self._joined(_fields_of(value, cls))
        return str(uuid.uuid4())

    def _joined(self, parts: Iterable[Any]) -> str:
        return f"({', '.join(map(self.text, parts))})"

    def _of_class(self, cls: type[Any]) -> str:
        names = list(cls.__members__) if issubclass(cls, Enum) else []
        return f"class {_name(cls)} {self._joined(names)}"


def _fields_of(record: Any, cls: type[Any]) -> Iterable[Any]:
    for field in dataclasses.fields(cls):
        yield field.name
        yield object.__getattribute__(record, field.name)


def _name(cls: type[Any]) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"
