"""The order of sets in states: asked again with another one, a method must answer alike.

Equal sets may list their members in different orders, by the history of each and by the hash of a
text, which is another one in every process. So each state that holds a set is rebuilt with its
members in other orders, the same in every process, and what depends on them is refused.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from random import Random
from typing import Any, TypeAlias

from streamproof.checker.canonical import text_of
from streamproof.lang import Disabled, Element, Map
from streamproof.lang.impure import ImpureModel
from streamproof.models.kit.trace import show

Ask: TypeAlias = Callable[..., Any]
Build: TypeAlias = Callable[[type[Any]], Any]
"""Builds a value with sets of a class."""
_UNLIKE = object()  # stands for an answer that cannot be compared


class _Reordered(frozenset[Any]):
    """A frozenset that lists its members in another order, as do the sets that are made of it."""

    __slots__ = ("_members",)
    _members: list[Any]

    def __iter__(self) -> Iterator[Any]:
        try:
            return iter(self._members)
        except AttributeError:
            self._members = self.ordered(_in_one_order(frozenset(self)))
            return iter(self._members)

    def __repr__(self) -> str:
        return f"frozenset({{{', '.join(map(repr, self))}}})"

    @staticmethod
    def ordered(members: list[Any]) -> list[Any]:
        """Return the order."""
        return members[::-1]


def _remade(name: str) -> Any:
    plain = getattr(frozenset, name)

    def method(self: Any, *others: Any) -> Any:
        made = plain(self, *others)
        return type(self)(made) if isinstance(made, frozenset) else made

    return method


for _name in (
    *("__or__", "__and__", "__sub__", "__xor__", "__ror__", "__rand__", "__rsub__", "__rxor__"),
    *("union", "intersection", "difference", "symmetric_difference", "copy"),
):
    setattr(_Reordered, _name, _remade(_name))

PERMUTED_MAX = 4
"""Members of a set that is listed in every order."""
ROTATIONS_MAX = 12
"""Members of a set that come first, and last, in some order. Of larger sets some never do."""
ZIGZAGS_MAX = 6
"""Further orders, in which each two members are neighbours once: going round keeps neighbours."""
SHUFFLES = 3
"""Further orders that are drawn, without any rule."""


@functools.cache
def _orders_of(size: int) -> tuple[type[_Reordered], ...]:
    """Make sets for each order in which a set of this size is listed."""
    if size <= PERMUTED_MAX:
        return tuple(map(_permuted, itertools.permutations(range(size))))
    rotations = map(_rotated, range(min(size, ROTATIONS_MAX)))
    zigzags = map(_zigzag, range(min(size // 2, ZIGZAGS_MAX)))
    return (*rotations, _Reordered, *zigzags, *map(_shuffled, range(SHUFFLES)))


def _permuted(places: tuple[int, ...]) -> type[_Reordered]:
    """Make sets that list their members in this order, smaller ones as far as there are any."""
    return _listed(lambda members: [members[place] for place in places if place < len(members)])


@functools.cache
def _rotated(by: int) -> type[_Reordered]:
    """Make sets that begin with another member, and go round."""

    def rotated(members: list[Any]) -> list[Any]:
        start = by % max(1, len(members))
        return [*members[start:], *members[:start]]

    return _listed(rotated)


@functools.cache
def _zigzag(start: int) -> type[_Reordered]:
    """Make sets that list one member, and the others as on a circle: two steps on, one back."""

    def zigzag(members: list[Any]) -> list[Any]:
        *circle, hub = members
        steps = (step // 2 + 1 if step % 2 else -step // 2 for step in range(len(circle)))
        return [hub, *(circle[(start + step) % len(circle)] for step in steps)]

    return _listed(lambda members: zigzag(members) if len(members) > 2 else members)


@functools.cache
def _shuffled(seed: int) -> type[_Reordered]:
    """Make sets in an order that is drawn once for each size, and is the same everywhere."""

    @functools.cache
    def places(size: int) -> list[int]:
        return Random(seed).sample(range(size), size)  # noqa: S311 - it hides nothing

    return _listed(lambda members: [members[place] for place in places(len(members))])


def _listed(order: Callable[[list[Any]], list[Any]]) -> type[_Reordered]:
    return type("Listed", (_Reordered,), {"__slots__": (), "ordered": staticmethod(order)})


def _in_one_order(members: frozenset[Any]) -> list[Any]:
    """List members in an order that does not depend on hashes, from which the others are made."""
    if len({*map(type, members)} - {str}) == 0:
        return sorted(members)
    return sorted(members, key=text_of)


def other_orders(value: Any) -> list[Any]:
    """Rebuild a value with the members of its sets in other orders; empty if it has no such set.

    These are all orders of small sets. Of larger ones, each member comes first once, and last, all
    go backwards once, and some orders are drawn, in which neighbours are others.
    """
    size, build = _taken_apart(value)
    return [build(cls) for cls in _orders_of(size)] if build is not None else []


def _taken_apart(value: Any) -> tuple[int, Build | None]:
    """Return the size of the largest set in a value, and a function that rebuilds the value.

    There is no such function if no set has two members, since there is one order then.
    """
    match value:
        case frozenset():
            return _joined(value, list(value), _as_set)
        case tuple():
            make = getattr(value, "_make", type(value))
            return _joined(value, value, lambda _, parts: make(parts))
        case Map():
            parts = [part for _, part in value.items()]
            return _joined(value, parts, lambda _, made: _map_of(value, iter(made)))
        case _ if names := _field_names(type(value)):  # type: ignore[arg-type] # a class does hash
            parts = [getattr(value, name) for name in names]
            return _joined(value, parts, lambda _, made: _record_of(type(value), names, made))
        case _:
            return 0, None


def _joined(
    value: Any, parts: Sequence[Any], join: Callable[[type[Any], list[Any]], Any]
) -> tuple[int, Build | None]:
    known = [_taken_apart(part) for part in parts]
    size = max((size for size, _ in known), default=0)
    if isinstance(value, frozenset):
        size = max(size, len(value))
    if size < 2:
        return size, None
    pairs = [(part, build) for part, (_, build) in zip(parts, known, strict=True)]

    def built(cls: type[Any]) -> Any:
        return join(cls, [part if build is None else build(cls) for part, build in pairs])

    return size, built


def _as_set(cls: type[Any], parts: list[Any]) -> Any:
    return cls(parts)


def _map_of(like: Map[Any, Any], parts: Iterator[Any]) -> Map[Any, Any]:
    return like.map(lambda _: next(parts))


def _record_of(cls: type[Any], names: tuple[str, ...], parts: list[Any]) -> Any:
    made = object.__new__(cls)
    for name, part in zip(names, parts, strict=True):
        object.__setattr__(made, name, part)
    return made


@functools.cache
def _field_names(cls: Any) -> tuple[str, ...]:
    """Name the fields of a record; none of any other class."""
    is_record = dataclasses.is_dataclass(cls)
    return tuple(field.name for field in dataclasses.fields(cls)) if is_record else ()


def in_any_order(name: str, ask: Ask, read: Callable[[Any], Any] = lambda answer: answer) -> Ask:
    """Make a method that is asked in other orders of the sets in its states, too.

    Parameters
    ----------
    name : what the method is called
    ask : the method, which takes a state or two, and elements
    read : what of an answer counts

    Raises
    ------
    ImpureModel : by the method that is made, if two answers differ
    """

    def ask_in_any_order(*arguments: Any) -> Any:
        orders = [_known.of(argument) for argument in arguments]
        if not any(orders):
            return ask(*arguments)
        end: Disabled | AssertionError | None = None
        answer, first = None, None
        try:
            answer = ask(*arguments)
            first = read(answer)
        except (Disabled, AssertionError) as error:
            end, first = error, type(error)
        for number in range(max(map(len, orders))):
            pairs = zip(arguments, orders, strict=True)
            other = [each[number % len(each)] if each else argument for argument, each in pairs]
            second = _answer(ask, other, read)
            if second is not _UNLIKE and first != second:
                raise ImpureModel(
                    f"{name} was asked twice about the same state, {show(arguments[0])}, with the "
                    "members of its sets in another order, and answered otherwise. A search would "
                    "see other states in another process, and a counterexample could not be run "
                    "again. Go through sorted(...) of a set, or use a tuple, or a Map over a Domain"
                )
        if end is not None:
            raise end
        return answer

    return ask_in_any_order


class _Known:
    """The other orders of the values that were asked for last: all actions ask of one state."""

    def __init__(self) -> None:
        self._last: list[tuple[Any, list[Any]]] = []

    def of(self, value: Any) -> list[Any]:
        """Return the other orders of a value; empty if it has none."""
        if isinstance(value, Element):  # a parameter
            return []
        for known, orders in self._last:
            if known is value:
                return orders
        orders = other_orders(value)
        self._last = [(value, orders), *self._last[:1]]
        return orders


_known = _Known()


def _answer(ask: Ask, arguments: Any, read: Callable[[Any], Any]) -> Any:
    """Return what counts of an answer, or how the method ended."""
    try:
        return read(ask(*arguments))
    except (Disabled, AssertionError) as end:
        return type(end)
    except Exception:  # noqa: BLE001 - it may ask for the very class; the search reports it
        return _UNLIKE


def truth_of(answer: Any) -> Any:
    """Return whether a property holds, by its answer, without the reason."""
    if isinstance(answer, Mapping):
        return {name: part is True for name, part in answer.items()}
    if isinstance(answer, tuple):
        return tuple(map(truth_of, answer))
    return answer is True
