"""Sorts: what the annotations of states, records and parameters mean."""

from __future__ import annotations

import dataclasses
import types
import typing
from dataclasses import dataclass
from enum import Enum, Flag
from typing import Any, TypeAlias, TypeVar

from streamproof.lang.contents import built_on
from streamproof.lang.domain import Domain, Element
from streamproof.lang.errors import WrongDefinition
from streamproof.lang.map import Map


@dataclass(frozen=True, slots=True)
class Range:
    """The declared range of a bounded integer: ``Annotated[int, Range(0, "messages")]``.

    A bound is a number, or the name of an attribute or property of the model. Engines that pack
    states need ranges, and all engines report an action that leaves one. Proofs do not use them.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from typing import Annotated
    >>> @dataclass(frozen=True)
    ... class State:
    ...     sent: Annotated[int, Range(0, "messages")]  # the model has a field `messages`
    """

    low: int | str
    high: int | str


@dataclass(frozen=True, slots=True)
class BoolSort:
    """True or false."""

    def __str__(self) -> str:
        return "bool"


@dataclass(frozen=True, slots=True)
class IntSort:
    """An integer, bounded if it has a range."""

    range: Range | None = None

    def __str__(self) -> str:
        return "int"


@dataclass(frozen=True, slots=True)
class EnumSort:
    """One of an `Enum`'s members."""

    cls: type[Enum]

    def __str__(self) -> str:
        return self.cls.__name__


@dataclass(frozen=True, slots=True)
class ElementSort:
    """An element of the domain with this name."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class RecordSort:
    """A frozen dataclass, with the sorts of its fields in order."""

    cls: type[Any]
    fields: tuple[tuple[str, Sort], ...]

    def __str__(self) -> str:
        return self.cls.__name__


@dataclass(frozen=True, slots=True)
class MapSort:
    """A total function from the key sorts to a value sort."""

    keys: tuple[ElementSort, ...]
    value: Sort

    def __str__(self) -> str:
        return f"Map[{', '.join(map(str, self.keys))} -> {self.value}]"


@dataclass(frozen=True, slots=True)
class DomainSort:
    """A domain itself: a parameter of a model, whose size the prover leaves open."""

    element: ElementSort

    def __str__(self) -> str:
        return f"Domain[{self.element}]"


ScalarSort: TypeAlias = BoolSort | IntSort | EnumSort | ElementSort
Sort: TypeAlias = ScalarSort | RecordSort | MapSort | DomainSort

Bindings: TypeAlias = dict[Any, Any]


def sort_of(annotation: Any, bindings: Bindings | None = None) -> Sort:
    """Read an annotation.

    Parameters
    ----------
    bindings : what the type variables of a generic record stand for

    Raises
    ------
    WrongDefinition : if the language has no such sort; the message lists those it has
    """
    bindings = bindings or {}
    if isinstance(annotation, TypeVar):
        bound = bindings.get(annotation, annotation)
        if bound is annotation:  # a record of a protocol stays open in its own type variables
            return ElementSort(annotation.__name__)
        return sort_of(bound, bindings)
    origin = typing.get_origin(annotation)
    if origin is typing.Annotated:
        return _annotated(annotation, bindings)
    if origin is None and isinstance(annotation, type):
        return _plain_class(annotation)
    arguments = tuple(_substitute(argument, bindings) for argument in typing.get_args(annotation))
    if origin is Map:
        return _map(arguments)
    if origin is Domain:
        return DomainSort(_element(arguments[0]))
    if isinstance(origin, type) and dataclasses.is_dataclass(origin):
        return record_sort(origin, arguments)
    raise _unknown(annotation)


def record_sort(cls: type[Any], arguments: tuple[Any, ...] = ()) -> RecordSort:
    """Read a frozen dataclass, with its type arguments if it is generic."""
    if not cls.__dataclass_params__.frozen:
        raise WrongDefinition(
            f"{cls.__name__} can be changed in place, so a step could alter the state that it came "
            f"from. Write @dataclass(frozen=True)"
        )
    _require_plain_equality(cls)
    parameters = getattr(cls, "__parameters__", ())
    bindings = dict(zip(parameters, arguments, strict=False))
    hints = typing.get_type_hints(cls, include_extras=True)
    return RecordSort(
        cls,
        tuple(
            (field.name, sort_of(hints[field.name], bindings)) for field in dataclasses.fields(cls)
        ),
    )


def _require_plain_equality(cls: Any) -> None:
    """Refuse a record whose == does not compare all its fields: that of the traced form does."""
    if (base := built_on(cls)) is not None:
        raise WrongDefinition(
            f"{cls.__name__} is built on {base.__name__}, so its objects hold more than their "
            "fields, and no == compares the rest. Let a field hold it"
        )
    generated = getattr(cls.__eq__, "__code__", None)
    fields, known = dataclasses.fields(cls), _compared(cls)
    left_out = [part.name for part in fields if not part.compare or part.name not in known]
    if generated is not None and generated.co_filename.startswith("<") and not left_out:
        return
    why = f"compare=False in {', '.join(left_out)}" if left_out else "an == of its own, or eq=False"
    raise WrongDefinition(
        f"{cls.__name__} has {why}, so that two that differ may be equal, or two of the same "
        "content may not: a search would take the one for the other, and a proof would mean "
        "another ==. Let @dataclass(frozen=True) compare all fields"
    )


def _compared(cls: type[Any]) -> set[str]:
    """Name the fields that a record's == compares: an inherited == compares fewer."""
    owner = next(base for base in cls.__mro__ if "__eq__" in vars(base))
    fields = dataclasses.fields(owner) if dataclasses.is_dataclass(owner) else ()
    return {field.name for field in fields}


def _annotated(annotation: Any, bindings: Bindings) -> Sort:
    inner, *notes = typing.get_args(annotation)
    sort = sort_of(inner, bindings)
    ranges = [note for note in notes if isinstance(note, Range)]
    if ranges and isinstance(sort, IntSort):
        return IntSort(ranges[0])
    return sort


def _plain_class(annotation: type) -> Sort:
    if annotation is bool:
        return BoolSort()
    if annotation is int:
        return IntSort()
    if issubclass(annotation, Enum):
        return _enum(annotation)
    if issubclass(annotation, Element):
        return _element_class(annotation)
    if dataclasses.is_dataclass(annotation):
        return record_sort(annotation)
    raise _unknown(annotation)


def _enum(cls: type[Enum]) -> EnumSort:
    if issubclass(cls, Flag):
        raise WrongDefinition(
            f"{cls.__name__} is a Flag, whose values are more than its members, so they cannot be "
            "told apart by them. Give each flag a field of its own, a bool"
        )
    if cls.__eq__ not in (Enum.__eq__, int.__eq__, str.__eq__):
        raise WrongDefinition(
            f"{cls.__name__} has an equality of its own, so its members may be taken for each "
            "other. Leave __eq__ out"
        )
    if issubclass(cls, int):
        raise WrongDefinition(
            f"{cls.__name__}'s members are numbers, too, so a number may be taken for one of them. "
            "Derive it from Enum alone"
        )
    _require_distinct(cls)
    return EnumSort(cls)


def _require_distinct(cls: type[Enum]) -> None:
    """Refuse an enumeration with two equal members, or with a member of another class."""
    plain: Any = {int.__eq__: int.__int__, str.__eq__: str.__str__}.get(cls.__eq__, id)
    known: dict[Any, Enum] = {}
    for member in vars(cls)["_member_map_"].values():
        if type(member) is not cls:
            raise WrongDefinition(
                f"{cls.__name__} has a member that is {type(member).__name__}. Leave __new__ out"
            )
        other = known.setdefault(plain(member), member)
        if other is not member:
            raise WrongDefinition(
                f"{cls.__name__}.{other.name} and {cls.__name__}.{member.name} are equal by "
                "Python's ==, so they may be taken for each other. Give each another value, or "
                "let the class be an Enum alone"
            )


def _element_class(cls: type[Element]) -> ElementSort:
    if cls.__eq__ is not Element.__eq__:
        raise WrongDefinition(
            f"{cls.__name__} has an equality of its own, so its elements may be taken for each "
            "other. Leave __eq__ out, and keep what they have in common in a Map"
        )
    return ElementSort(cls.__name__)


def _map(arguments: tuple[Any, ...]) -> MapSort:
    key, value = arguments
    keys = typing.get_args(key) if typing.get_origin(key) is tuple else (key,)
    return MapSort(tuple(_element(part) for part in keys), sort_of(value))


def _element(annotation: Any) -> ElementSort:
    sort = sort_of(annotation)
    if not isinstance(sort, ElementSort):
        raise WrongDefinition(
            f"a map's key and a domain's member must be an Element, not {annotation}: others "
            f"have no symbolic reading. Declare a class that derives from Element"
        )
    return sort


def _substitute(annotation: Any, bindings: Bindings) -> Any:
    if isinstance(annotation, TypeVar):
        return bindings.get(annotation, annotation)
    parameters = getattr(annotation, "__parameters__", ())
    if parameters and not isinstance(annotation, type):
        return annotation[tuple(bindings.get(parameter, parameter) for parameter in parameters)]
    return annotation


def _unknown(annotation: Any) -> WrongDefinition:
    name = getattr(annotation, "__name__", str(annotation))
    if isinstance(annotation, types.UnionType):
        name = str(annotation)
    return WrongDefinition(
        f"{name} is not a sort of the language, so it can be run but neither traced nor proven. "
        "Use bool, int, an Enum, an Element, a frozen dataclass of these, or a Map of these"
    )


def element_name(annotation: Any) -> str | None:
    """Return the name of an element sort, or None if the annotation is something else."""
    if isinstance(annotation, TypeVar):
        return annotation.__name__
    if isinstance(annotation, type) and issubclass(annotation, Element):
        return annotation.__name__
    return None
