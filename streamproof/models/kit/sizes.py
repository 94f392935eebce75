"""Sizes: a model's settings, given by name, as values, or as text on the command line."""

from __future__ import annotations

import dataclasses
import inspect
import re
import traceback
import typing
from collections.abc import Mapping
from enum import Enum
from typing import Any

from streamproof.lang import Domain, StreamproofError
from streamproof.lang.model import Model


class UnknownSize(StreamproofError, LookupError):
    """A model has no size of this name, or no such setting, or a setting has no such value."""


class FailedSize(StreamproofError, RuntimeError):
    """The code of a model that makes it at a size, such as its `sized`, has failed."""


def named_size(model_class: type[Model[Any]], name: str) -> tuple[str, Mapping[str, Any]]:
    """Return one of a model's sizes with its name; for an empty name `default`, or else the first.

    Raises
    ------
    UnknownSize : if there is none of that name
    """
    sizes = model_class.sizes
    if not name and not sizes:
        return "", {}
    wanted = name or ("default" if "default" in sizes else next(iter(sizes)))
    if wanted not in sizes:
        raise UnknownSize(
            f"{model_class.__name__} has no size {wanted!r}, so how large to make it is not known. "
            f"Use --size with {', '.join(sizes) or 'none (it has no named sizes)'}, or --set with "
            f"{_described(model_class)}"
        )
    return wanted, sizes[wanted]


def parsed(model_class: type[Model[Any]], texts: Mapping[str, str]) -> dict[str, Any]:
    """Read settings given as text: whole numbers, names of an Enum's members, tuples with commas.

    Raises
    ------
    UnknownSize : if a setting is not known, or has no such value
    """
    known = settings(model_class)
    for name in texts:
        if name not in known:
            raise UnknownSize(
                f"{model_class.__name__} has no setting {name!r}, so the size is not known. Its "
                f"settings are {_described(model_class)}"
            )
    return {name: _setting(name, known[name], text) for name, text in texts.items()}


def at_size(model_class: type[Model[Any]], size: Mapping[str, Any]) -> Model[Any]:
    """Build a model at a size. Where a number is given for a Domain, it is the domain's size.

    Raises
    ------
    UnknownSize : if a setting is missing or unknown
    FailedSize : if the model's own code fails as it is made
    """
    known = settings(model_class)
    made = {}
    for name, value in size.items():
        element = typing.get_args(known.get(name))
        is_domain = typing.get_origin(known.get(name)) is Domain
        made[name] = Domain(element[0], value) if is_domain and isinstance(value, int) else value
    try:
        inspect.signature(model_class.sized).bind(**made)
        inspect.signature(model_class).bind(**made) if _is_plain(model_class) else None
    except TypeError as wrong:
        raise UnknownSize(
            f"{model_class.__name__} cannot be built from {dict(size)}: {wrong}. Its settings are "
            f"{_described(model_class)}"
        ) from None
    try:
        return model_class.sized(**made)
    except StreamproofError:
        raise
    except Exception as error:
        frame = traceback.extract_tb(error.__traceback__)[-1]
        raise FailedSize(
            f"{model_class.__name__} could not be made at size {dict(size)}: "
            f"{type(error).__name__}: {error} ({frame.filename}:{frame.lineno}). So there is no "
            "model to ask. Correct the code there, or give another size"
        ) from error


def settings(model_class: type[Model[Any]]) -> Mapping[str, Any]:
    """Return the annotations of a model's settings: the parameters of `sized`, or its fields."""
    if _is_plain(model_class):
        hints = typing.get_type_hints(model_class)
        return {field.name: hints[field.name] for field in dataclasses.fields(model_class)}
    hints = typing.get_type_hints(model_class.sized)
    return {name: hints.get(name, int) for name in inspect.signature(model_class.sized).parameters}


def completed(model_class: type[Model[Any]], size: Mapping[str, Any]) -> dict[str, Any]:
    """Add the settings that a size leaves as they are by default."""
    if _is_plain(model_class):
        fields = dataclasses.fields(model_class)
        known = {f.name: f.default for f in fields if f.default is not dataclasses.MISSING}
    else:
        parameters = inspect.signature(model_class.sized).parameters.values()
        known = {p.name: p.default for p in parameters if p.default is not p.empty}
    return {**known, **size}


def _is_plain(model_class: type[Model[Any]]) -> bool:
    """Return whether `sized` was not overridden, so that the fields are the settings."""
    return getattr(model_class.sized, "__func__", None) is getattr(Model.sized, "__func__", None)


def _setting(name: str, annotation: Any, text: str) -> Any:
    """Read one setting; where several were given as one, say so."""
    try:
        return _value(name, annotation, text)
    except UnknownSize:
        first, *others = re.split(r",\s*(?=[^\W\d]\w*=)", text)
        if not others:
            raise
        apart = " ".join(f"--set {setting}" for setting in (f"{name}={first}", *others))
        raise UnknownSize(
            f"{name}={text} gives {len(others) + 1} settings as one, so the size is not known. "
            f"Write {apart}"
        ) from None


def _value(name: str, annotation: Any, text: str) -> Any:
    """Read one setting as its annotation says."""
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Annotated:
        return _value(name, arguments[0], text)
    if origin is tuple:
        return _tuple(name, arguments, text)
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        known = {member.name.lower(): member for member in annotation}
        if text.lower() in known:
            return known[text.lower()]
        raise _no_value(name, text, f"one of {', '.join(known)}")
    if annotation is bool:
        if text.lower() in ("true", "false"):
            return text.lower() == "true"
        raise _no_value(name, text, "true or false")
    if annotation is int or origin is Domain:
        try:
            return int(text)
        except ValueError:
            raise _no_value(name, text, "a whole number") from None
    if annotation is str:
        return text
    raise _no_value(name, text, f"a {annotation}, which cannot be written here: use a named --size")


def _tuple(name: str, arguments: tuple[Any, ...], text: str) -> tuple[Any, ...]:
    parts = [part.strip() for part in text.strip("()").split(",") if part.strip()]
    if len(arguments) == 2 and arguments[1] is Ellipsis:
        arguments = (arguments[0],) * len(parts)
    if len(arguments) != len(parts):
        raise _no_value(name, text, f"{len(arguments)} values with commas between them")
    return tuple(_value(name, kind, part) for kind, part in zip(arguments, parts, strict=True))


def _no_value(name: str, text: str, wanted: str) -> UnknownSize:
    return UnknownSize(f"{name}={text} is no value of that setting: give {wanted}")


def _described(model_class: type[Model[Any]]) -> str:
    parts = [f"{name} ({_kind(kind)})" for name, kind in settings(model_class).items()]
    return ", ".join(parts) or "none"


def _kind(annotation: Any) -> str:
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return " | ".join(member.name.lower() for member in annotation)
    if typing.get_origin(annotation) is Domain:
        return "int"
    return getattr(annotation, "__name__", str(annotation))
