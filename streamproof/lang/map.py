"""`Map`: a total, immutable function from one or several domains to values."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Generic, TypeVar

from streamproof.lang.domain import Domain, KeySpace, key_space
from streamproof.lang.errors import UnknownKey, WrongDefinition

K = TypeVar("K")
V = TypeVar("V")
W = TypeVar("W")


class Map(Generic[K, V]):
    """A total function from the elements of its domains to values.

    ``Map[Process, bool]`` has one key domain, ``Map[tuple[Process, Process], int]`` two. Values are
    bool, int, `Enum`, elements, frozen records or maps. Nothing changes a map: `set` and `map` give
    a new one, equal maps hash alike.

    Examples
    --------
    >>> class Process(Element): ...
    >>> sent = Map.fill(Domain(Process, 2), 0)
    >>> more = sent.set(Process(1), 5)
    >>> more[Process(1)], sent[Process(1)]
    (5, 0)
    >>> more.map(lambda n: n > 0)
    {process0: False, process1: True}
    """

    __slots__ = ("_hash", "_space", "_values")
    _space: KeySpace
    _values: tuple[V, ...]
    _hash: int | None

    @staticmethod
    def fill(*domains_and_value: Any) -> Map[Any, Any]:
        """Map every key to the same value: ``Map.fill(processes, processes, 0)``."""
        *domains, value = domains_and_value
        return Map.build(*domains, lambda *_: value)

    @staticmethod
    def build(*domains_and_function: Any) -> Map[Any, Any]:
        """Compute every key's value: ``Map.build(processes, processes, lambda p, q: ...)``."""
        *arguments, function = domains_and_function
        domains = domains_of(arguments)
        if is_open(domains):
            made: Map[Any, Any] = domains[0].symbolic_map(domains, function)
            return made
        return _build(key_space(domains), function)

    @property
    def domains(self) -> tuple[Domain[Any], ...]:
        """The key domains, in the order of the keys."""
        return self._space.domains

    def __getitem__(self, key: K) -> V:
        try:
            return self._values[self._space.position[key]]
        except KeyError:
            raise self._unknown(key) from None

    def set(self, key: K, value: V) -> Map[K, V]:
        """Return a map that differs at one key."""
        try:
            index = self._space.position[key]
        except KeyError:
            raise self._unknown(key) from None
        return _made(self._space, (*self._values[:index], value, *self._values[index + 1 :]))

    def map(self, function: Callable[[V], W]) -> Map[K, W]:
        """Apply a function to every value."""
        return _made(self._space, tuple(function(value) for value in self._values))

    def map_items(self, function: Callable[..., W]) -> Map[K, W]:
        """Apply a function of the key's parts and the value: ``lambda p, q, value: ...``."""
        if len(self._space.domains) == 1:
            pairs = zip(self._space.keys, self._values, strict=True)
            return _made(self._space, tuple(function(key, value) for key, value in pairs))
        items = zip(self._space.keys, self._values, strict=True)
        return _made(self._space, tuple(function(*key, value) for key, value in items))

    def items(self) -> Iterator[tuple[K, V]]:
        """List keys with values, in the order of the domains. Not traceable: use `map_items`."""
        return zip(self._space.keys, self._values, strict=True)

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Map):
            return NotImplemented
        return self._values == other._values and self._space.domains == other._space.domains

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash(self._values)
        return self._hash

    def __repr__(self) -> str:
        return "{" + ", ".join(f"{key!r}: {value!r}" for key, value in self.items()) + "}"

    def __copy__(self) -> Map[K, V]:
        return self  # nothing changes it

    def __deepcopy__(self, _memo: object) -> Map[K, V]:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return _made, (self._space, self._values)

    def _unknown(self, key: object) -> UnknownKey:
        names = " x ".join(f"{domain.name}({len(domain)})" for domain in self.domains)
        return UnknownKey(f"{key!r} is not a key of this map, whose keys are {names}")


def _made(space: KeySpace, values: tuple[Any, ...]) -> Map[Any, Any]:
    made: Map[Any, Any] = Map.__new__(Map)
    made._space, made._values, made._hash = space, values, None
    return made


def _build(space: KeySpace, function: Callable[..., Any]) -> Map[Any, Any]:
    if len(space.domains) == 1:
        return _made(space, tuple(function(key) for key in space.keys))
    return _made(space, tuple(function(*key) for key in space.keys))


def domains_of(arguments: list[Any]) -> tuple[Domain[Any], ...]:
    """Read the leading arguments of a quantifier or a map: domains, or maps for their keys.

    Raises
    ------
    WrongDefinition : if there is none, or one is neither a domain nor a map
    """
    domains: list[Domain[Any]] = []
    for argument in arguments:
        if isinstance(argument, Domain):
            domains.append(argument)
        elif isinstance(argument, Map):
            domains.extend(argument.domains)
        else:
            raise WrongDefinition(
                f"a quantifier ranges over a Domain or over a Map's keys, not over {argument!r}: "
                "the prover must be able to leave its size open. Declare a Domain for it"
            )
    if not domains:
        raise WrongDefinition("name at least one domain before the function")
    return tuple(domains)


def is_open(domains: tuple[Domain[Any], ...]) -> bool:
    """Return whether the domains' sizes were left open, which only the tracer does."""
    unsized = [domain for domain in domains if domain.is_open]
    if unsized and len(unsized) < len(domains):
        raise unsized[0].mixture(domains)
    return bool(unsized)
