"""Domains: the finite collections that states are indexed by and quantifiers range over."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from functools import lru_cache
from typing import Any, ClassVar, Generic, Self, TypeVar, cast

from streamproof.lang.errors import StreamproofError, WrongDefinition

E = TypeVar("E", bound=Hashable)

SIZE_MAX = 1_000_000
"""The most elements of a domain."""


class Element:
    """A nameless member of a domain: a process, a snapshot id, a token.

    A model declares its own sorts, ``class Process(Element)``. Elements can only be compared for
    equality: that is what lets a proof hold for any number of them, and what makes them symmetric.

    Examples
    --------
    >>> class Process(Element): ...
    >>> Process(0) == Process(0), Process(0) == Process(1)
    (True, False)
    """

    __slots__ = ("index",)
    index: int
    _members: ClassVar[dict[tuple[type, int], Element]] = {}

    def __new__(cls, index: int) -> Self:
        """Return the element of this number."""
        # One object per element, so that equality is identity: the engines compare them often.
        key = (cls, index)
        if key not in Element._members:
            member = super().__new__(cls)
            object.__setattr__(member, "index", index)
            Element._members[key] = member
        return cast("Self", Element._members[key])

    def __reduce__(self) -> tuple[type, tuple[int]]:
        return type(self), (self.index,)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{self!r} is an element of a domain and cannot be changed")

    def __repr__(self) -> str:
        return f"{type(self).__name__.lower()}{self.index}"


class Domain(Generic[E]):
    """A finite, ordered collection of distinct hashable elements.

    ``Domain(Process, 3)`` has three nameless elements; ``Domain.of("channel", names)`` has the
    elements that it is given, as a Spark binding does with the names of its channels.

    Parameters
    ----------
    sort : the element class
    size : number of elements, at least 0

    Examples
    --------
    >>> class Process(Element): ...
    >>> list(Domain(Process, 3))
    [process0, process1, process2]
    >>> Domain.of("channel", ("orders", "revenue"))
    Domain(channel, 2)
    """

    __slots__ = ("_hash", "elements", "name")
    is_open: ClassVar[bool] = False

    def __init__(self, sort: Callable[[int], E], size: int) -> None:
        name = getattr(sort, "__name__", str(sort))
        if not 0 <= size <= SIZE_MAX:
            raise WrongDefinition(
                f"a domain of {size:,} {name} cannot be made: give 0 to {SIZE_MAX:,}. No search "
                "gets through the states of a larger one"
            )
        self.name: str = name
        self.elements: tuple[E, ...] = tuple(sort(index) for index in range(size))
        self._hash = hash((self.name, self.elements))

    @classmethod
    def of(cls, name: str, elements: tuple[E, ...]) -> Domain[E]:
        """Make a domain of given elements, in their order.

        Raises
        ------
        WrongDefinition : if an element occurs twice
        """
        if len(set(elements)) != len(elements):
            raise WrongDefinition(f"domain {name} names an element twice: {elements}")
        made = cls.__new__(cls)
        made.name, made.elements, made._hash = name, tuple(elements), hash((name, elements))
        return made

    def symbolic_map(self, domains: tuple[Domain[Any], ...], function: Callable[..., Any]) -> Any:
        """Build a map whose size is left open; the tracer's own domains override it."""
        raise NotImplementedError(self, domains, function)

    def symbolic_quantifier(
        self, kind: str, domains: tuple[Domain[Any], ...], function: Callable[..., Any]
    ) -> Any:
        """Quantify over a domain whose size is left open; the tracer's own domains override it."""
        raise NotImplementedError(self, kind, domains, function)

    def mixture(self, domains: tuple[Domain[Any], ...]) -> StreamproofError:
        """Refuse domains of which only some have a size; the tracer's own domains override it."""
        return WrongDefinition(f"some of these domains have a size and some have none: {domains}")

    def __iter__(self) -> Iterator[E]:
        return iter(self.elements)

    def __len__(self) -> int:
        return len(self.elements)

    def __contains__(self, element: object) -> bool:
        return element in self.elements

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Domain):
            return NotImplemented
        return self is other or (self.name == other.name and self.elements == other.elements)

    def __hash__(self) -> int:
        return self._hash

    def __copy__(self) -> Domain[E]:
        return self  # nothing changes it

    def __deepcopy__(self, _memo: object) -> Domain[E]:
        return self

    def __repr__(self) -> str:
        return f"Domain({self.name}, {len(self)})"


class KeySpace:
    """The keys of a map: one domain, or the product of several, in lexicographic order."""

    __slots__ = ("domains", "keys", "position")

    def __init__(self, domains: tuple[Domain[Any], ...]) -> None:
        self.domains = domains
        self.keys: tuple[Any, ...] = product_keys(domains)
        self.position: dict[Any, int] = {key: index for index, key in enumerate(self.keys)}

    def __reduce__(self) -> tuple[Any, ...]:
        return key_space, (self.domains,)


def product_keys(domains: tuple[Domain[Any], ...]) -> tuple[Any, ...]:
    """List the keys of a product: plain elements for one domain, tuples for several."""
    if len(domains) == 1:
        return domains[0].elements
    keys: list[tuple[Any, ...]] = [()]
    for domain in domains:
        keys = [(*key, element) for key in keys for element in domain.elements]
    return tuple(keys)


@lru_cache(maxsize=4096)
def key_space(domains: tuple[Domain[Any], ...]) -> KeySpace:
    """Share one index between all maps over the same domains."""
    return KeySpace(domains)
