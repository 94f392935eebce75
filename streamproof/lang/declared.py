"""What a protocol declares beside its functions, as text: enums, records, constants, defaults."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import sys
import textwrap
import typing
from collections.abc import Iterator
from enum import Enum
from types import FunctionType, ModuleType
from typing import Any

from streamproof.lang.errors import Untraceable, WrongDefinition
from streamproof.lang.sorts import sort_of
from streamproof.lang.source_text import source_digest


def show_declared(protocol: ModuleType) -> str:
    """Print what a protocol's file declares, by name: names of a module may be set again.

    Raises
    ------
    Untraceable : if something in it is called like a function and is none, so that its traced form
        is not known
    """
    lines: list[str] = []
    for name, value in sorted(vars(protocol).items()):
        if name.startswith("__"):
            continue
        if isinstance(value, type):
            if value.__module__ == protocol.__name__:
                lines += _show_class(name, value)
        elif isinstance(value, FunctionType) and value.__module__ == protocol.__name__:
            lines += _show_defaults(name, value)
            lines += _show_wrappers(name, value)
        elif isinstance(value, bool | int | str | Enum | tuple | frozenset):
            lines.append(f"constant {name} = {_plain(value)}")
        elif callable(value) and not name.startswith("_"):
            _require_function(protocol, name, value)
    return "\n".join(lines)


def _show_class(name: str, cls: type[Any]) -> Iterator[str]:
    bases = [base.__name__ for base in cls.__bases__ if base is not object]
    inherits = f" of {', '.join(bases)}" if bases else ""
    if issubclass(cls, Enum):
        yield f"enum {name}{inherits}:"
        # With the aliases, which a list of the members does not show.
        for label, member in cls.__members__.items():
            yield f"  {label} = {_plain(member.value)}"
        yield from _show_defined(cls, ())
        return
    kind = "record" if dataclasses.is_dataclass(cls) else "class"
    yield f"{kind} {name}{inherits}:"
    if dataclasses.is_dataclass(cls):
        hints = typing.get_type_hints(cls, include_extras=True)
        for field in dataclasses.fields(cls):
            yield f"  {field.name}: {_sort(hints[field.name])}{_default(field)}"
    yield from _show_defined(cls, (bool, int, str, Enum, tuple))


def _show_defined(cls: type[Any], constants: tuple[type, ...]) -> Iterator[str]:
    """Print what stands in a class beside its fields or members."""
    for own, value in sorted(vars(cls).items()):
        if isinstance(value, FunctionType | property | classmethod | staticmethod):
            if not isinstance(value, FunctionType) or _is_written(value, cls):
                yield f"  defines {own} {_bodies(value)}"
        elif not own.startswith("__") and isinstance(value, constants):
            yield f"  {own} = {_plain(value)}"


def _is_written(function: FunctionType, cls: type[Any]) -> bool:
    """Return a method that stands in the file from one that a dataclass has made."""
    home = sys.modules.get(cls.__module__)
    return function.__code__.co_filename == getattr(home, "__file__", None)


def _sort(hint: Any) -> str:
    try:
        return str(sort_of(hint))
    except WrongDefinition:
        return _plain(hint)


def _default(field: dataclasses.Field[Any]) -> str:
    if field.default is not dataclasses.MISSING:
        return f" = {_plain(field.default)}"
    if field.default_factory is not dataclasses.MISSING:
        made: Any = field.default_factory
        body = f" {_body(made)}" if isinstance(made, FunctionType) else ""
        return f" = {_plain(made)}(){body}"
    return ""


def _bodies(value: Any) -> str:
    """Hash the source of what a class defines: it is not traced by itself."""
    match value:
        case property():
            parts = [value.fget, value.fset, value.fdel]
        case classmethod() | staticmethod():
            parts = [value.__func__]
        case _:
            parts = [value]
    return " ".join(_body(part) for part in parts if isinstance(part, FunctionType))


def _body(function: FunctionType) -> str:
    try:
        source = textwrap.dedent(inspect.getsource(function))
        tree = ast.parse(source)
    except (OSError, SyntaxError):  # written where no file is, or a lambda amid an expression
        return f"without a source, named {function.__qualname__}"
    return f"#{source_digest(tree, docstrings=False)[:16]}"


def _show_wrappers(name: str, function: FunctionType) -> Iterator[str]:
    """Show what stands between a name and the function that the file writes under it."""
    inner: Any = function
    while isinstance(inner, FunctionType) and hasattr(inner, "__wrapped__"):
        code = inner.__code__
        yield f"{name} is wrapped by {code.co_qualname} {_code_body(inner)}"
        inner = inner.__wrapped__


def _code_body(wrapper: FunctionType) -> str:
    # `inspect` would unwrap the wrapper itself.
    bare = FunctionType(wrapper.__code__, {}, "wrapper", None, wrapper.__closure__)
    return _body(bare)


def _show_defaults(name: str, function: FunctionType) -> Iterator[str]:
    for parameter in inspect.signature(function).parameters.values():
        if parameter.default is not parameter.empty:
            yield f"default {name}({parameter.name} = {_plain(parameter.default)})"


def _plain(value: Any) -> str:
    """Print a value so that the text is the same in every process."""
    if isinstance(value, Enum):
        return f"{type(value).__name__}.{value.name}"
    if isinstance(value, bool | int | str | bytes | float) or value is None:
        return f"{value!r}"
    if isinstance(value, tuple | list):
        return f"({', '.join(map(_plain, value))})"
    if isinstance(value, set | frozenset):
        return f"{{{', '.join(sorted(map(_plain, value)))}}}"
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        parts = ((field.name, getattr(value, field.name)) for field in dataclasses.fields(value))
        return f"{type(value).__name__}({', '.join(f'{n}={_plain(v)}' for n, v in parts)})"
    named = getattr(value, "__qualname__", None)
    return str(named or f"a {type(value).__qualname__}")


def _require_function(protocol: ModuleType, name: str, value: Any) -> None:
    """Refuse what is called like a function, is none, and was not imported."""
    if typing.get_origin(value) is not None or type(value).__module__ == "typing":
        return
    home = sys.modules.get(getattr(value, "__module__", None) or "")
    if home is not protocol and getattr(home, getattr(value, "__name__", ""), None) is value:
        return
    raise Untraceable(
        name,
        protocol.__file__ or protocol.__name__,
        f"it is {type(value).__name__}, not a function that this file defines, so no traced form "
        "is known of what it does",
        f"Write it as a function: def {name}(...), and use functools.wraps in a decorator",
    )
