"""Premises: where the properties of a model call `implies`, read off their bytecode.

An `implies` that is never asked, since an `or` or an `if` before it decides, says as little as one
whose premise never holds. Running a property shows only those that are asked, so the others are
looked for in what it may run: its own functions, the methods and functions that these call by name,
and the methods of records that they call.
"""

from __future__ import annotations

import dataclasses
import dis
import functools
import sysconfig
import typing
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from streamproof.lang.errors import StreamproofError
from streamproof.lang.model import Model, Role
from streamproof.lang.quantify import Site, implies, site_at

_HERE = str(Path(__file__).parent)
_LIBRARIES = tuple(str(Path(sysconfig.get_path(name))) for name in ("stdlib", "platstdlib"))
_BY_NAME = ("LOAD_GLOBAL", "LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_NAME")
_OF_VALUES = ("LOAD_ATTR", "LOAD_METHOD", "LOAD_SUPER_ATTR")


def premise_sites(cls: type[Model[Any]]) -> dict[str, tuple[Site, ...]]:
    """List where each property of a model may call `implies`, in the order of the lines."""
    found: dict[str, tuple[Site, ...]] = _premise_sites(cls)  # type: ignore[arg-type] # hashable
    return found


@functools.cache
def _premise_sites(cls: Any) -> dict[str, tuple[Site, ...]]:
    records = tuple(_records_of(cls))
    found: dict[str, tuple[Site, ...]] = {}
    for role in Role:
        if role not in (Role.INIT, Role.ACTION, Role.ASSUME):
            for method in cls.methods(role):
                sites = set(_Reader(cls, records).sites_of(getattr(cls, method.name)))
                found[method.name] = tuple(sorted(sites, key=lambda site: site.place))
    return found


class _Reader:
    """Follows what a method may run, each function once."""

    def __init__(self, cls: type[Any], records: tuple[type[Any], ...]) -> None:
        self.cls, self.records = cls, records
        self.seen: set[CodeType] = set()

    def sites_of(self, value: Any) -> Iterator[Site]:
        for name in ("fget", "func", "__func__", "__wrapped__"):
            value = getattr(value, name, None) or value
        if isinstance(value, FunctionType) and _is_own(value.__code__):
            cells: dict[str, Any] = {}
            pairs = zip(value.__code__.co_freevars, value.__closure__ or (), strict=False)
            for name, cell in pairs:
                with suppress(ValueError):  # it is empty as long as its function runs
                    cells[name] = cell.cell_contents
            yield from self._read(value.__code__, {**value.__globals__, **cells})

    def _read(self, code: CodeType, names: dict[str, Any]) -> Iterator[Site]:
        if code in self.seen:
            return
        self.seen.add(code)
        for const in code.co_consts:
            if isinstance(const, CodeType):
                yield from self._read(const, names)
        owner: Any = None  # the module that the instruction before has loaded, if it did
        for instruction in dis.get_instructions(code):
            found: tuple[Any, ...] = ()
            if instruction.opname in _BY_NAME and instruction.argval in names:
                found = (names[instruction.argval],)
            elif instruction.opname in _OF_VALUES:
                found = tuple(self._attributes(code, owner, instruction.argval))
            for value in found:
                if value is implies:
                    yield site_at(code, instruction.offset)
                else:
                    yield from self.sites_of(value)
            owner = found[0] if found and isinstance(found[0], ModuleType) else None

    def _attributes(self, code: CodeType, owner: Any, name: str) -> Iterator[Any]:
        """List what an attribute may be: of a module, or a method of the model or of a record."""
        if owner is not None:
            yield getattr(owner, name, None)
            return
        bases = self.cls.__mro__ if "super" in code.co_names else ()
        yield getattr(self.cls, name, None)
        for base in (*bases, *self.records):
            yield vars(base).get(name)


def _is_own(code: CodeType) -> bool:
    path = code.co_filename
    is_library = path.startswith(("<frozen", *_LIBRARIES)) and "-packages" not in path
    return not is_library and not path.startswith(_HERE)


def _records_of(cls: type[Any]) -> Iterator[type[Any]]:
    """List the records that a model's states and fields are made of, and their base classes."""
    waiting: list[Any] = []
    for owner in (cls, *(getattr(cls, method.name) for method in cls.methods(Role.INIT))):
        with suppress(NameError, TypeError, StreamproofError):
            waiting += typing.get_type_hints(owner).values()
    seen: set[Any] = set()
    for hint in waiting:  # which grows meanwhile
        waiting += typing.get_args(hint)
        record = typing.get_origin(hint) or hint
        if isinstance(record, type) and dataclasses.is_dataclass(record) and record not in seen:
            seen.add(record)
            yield from (base for base in record.__mro__ if base is not object)
            with suppress(NameError, TypeError):
                waiting += typing.get_type_hints(record).values()
