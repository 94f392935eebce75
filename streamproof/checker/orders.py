"""The order of sets in states: asked again with another one, a method must answer alike.

Equal sets may list their members in different orders, by the history of each and by the hash of a
text, which is another one in every process. So each state that holds a set is rebuilt with its
members in other orders, and what depends on it is refused, whatever the order of this process.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

from streamproof.lang import Disabled, Element, Map
from streamproof.lang.impure import ImpureModel
from streamproof.models.trace import show

Ask: TypeAlias = Callable[..., Any]
_UNLIKE = object()  # stands for an answer that cannot be compared


class _Reordered(frozenset[Any]):
    """A frozenset that lists its members in another order, as do the sets that are made of it."""

    __slots__ = ()

    def __iter__(self) -> Iterator[Any]:
        return iter(self.ordered([*frozenset(self)]))

    def __repr__(self) -> str:
        return f"frozenset({{{', '.join(map(repr, self))}}})"

    @staticmethod
    def ordered(members: list[Any]) -> list[Any]:
        """Give the order."""
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

ROTATIONS_MAX = 12
"""Members of a set that come first, and last, in some order. Of larger sets some never do."""


@functools.cache
def _rotated(by: int) -> type[_Reordered]:
    """Make sets that begin with another member, and go round."""

    class Rotated(_Reordered):
        __slots__ = ()

        @staticmethod
        def ordered(members: list[Any]) -> list[Any]:
            start = by % max(1, len(members))
            return [*members[start:], *members[:start]]

    return Rotated


def other_orders(value: Any) -> list[Any]:
    """Rebuild a value with the members of its sets in other orders; empty if it has no such set.

    Each member comes first once, and last, and all go backwards once.
    """
    size = _largest_set(value)
    if size < 2:
        return []
    classes: list[type[Any]] = [*map(_rotated, range(min(size, ROTATIONS_MAX))), _Reordered]
    return [_rebuilt(value, cls) for cls in classes]


def _largest_set(value: Any) -> int:
    """Count the members of the largest set in a value."""
    match value:
        case frozenset():
            return max(len(value), *map(_largest_set, value), 0)
        case tuple():
            return max(map(_largest_set, value), default=0)
        case Map():
            return max((_largest_set(part) for _, part in value.items()), default=0)
        case _ if dataclasses.is_dataclass(value) and not isinstance(value, type):
            parts = (getattr(value, field.name) for field in dataclasses.fields(value))
            return max(map(_largest_set, parts), default=0)
        case _:
            return 0


def _rebuilt(value: Any, cls: type[Any]) -> Any:
    if _largest_set(value) < 2:
        return value
    match value:
        case frozenset():
            return cls(_rebuilt(part, cls) for part in value)
        case tuple():
            parts = (_rebuilt(part, cls) for part in value)
            return value._make(parts) if hasattr(value, "_make") else type(value)(parts)
        case Map():
            return value.map(lambda part: _rebuilt(part, cls))
        case _:
            made = object.__new__(type(value))
            for field in dataclasses.fields(value):
                object.__setattr__(made, field.name, _rebuilt(getattr(value, field.name), cls))
            return made


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
        """Give the other orders of a value; empty if it has none."""
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
    """Give what counts of an answer, or how the method ended."""
    try:
        return read(ask(*arguments))
    except (Disabled, AssertionError) as end:
        return type(end)
    except Exception:  # noqa: BLE001 - it may ask for the very class; the search reports it
        return _UNLIKE


def truth_of(answer: Any) -> Any:
    """Give what counts of a property's answer: whether it holds, and not how it is told."""
    if isinstance(answer, Mapping):
        return {name: part is True for name, part in answer.items()}
    if isinstance(answer, tuple):
        return tuple(map(truth_of, answer))
    return answer is True
