"""What a random expression may name: what is in scope, and what can be read from it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from random import Random
from typing import Self

from tests.fuzz.schema import Bounds, Field, Impossible, Schema


@dataclass(frozen=True)
class Helper:
    """A method without a role, to be called by others: its parameters behind the state."""

    name: str
    kind: str
    parameters: tuple[str, ...]


@dataclass(frozen=True)
class Scope:
    """What is in scope.

    Attributes
    ----------
    names : their kinds
    at_top : whether a `require` may stand here, which it may not inside a lambda
    helpers : that may be called on the state `s`
    may_claim : whether an `assert` may stand here, which it may in actions
    is_loose : whether numbers often leave their ranges
    """

    rng: Random
    schema: Schema
    names: dict[str, str]
    at_top: bool = True
    helpers: tuple[Helper, ...] = ()
    may_claim: bool = False
    is_loose: bool = False
    numbers: list[int] = field(default_factory=lambda: [0])

    def fresh(self, prefix: str) -> str:
        """Name something as nothing else is named."""
        self.numbers[0] += 1
        return f"{prefix}{self.numbers[0]}"

    def inner(self, names: dict[str, str]) -> Self:
        """Go into a lambda."""
        return replace(self, names={**self.names, **names}, at_top=False)

    def also(self, name: str, kind: str) -> Self:
        """Know one more name."""
        return replace(self, names={**self.names, name: kind})

    def reads(self, kind: str) -> list[str]:
        """List what can be read of a kind, with {P} where an element belongs."""
        found = [
            name + suffix
            for name, root in self.names.items()
            for suffix, to in self.schema.paths(root)
            if to == kind
        ]
        found += [
            f"self.{part.name}{suffix}"
            for part in self.schema.constants
            for suffix, to in self.schema.paths(part.kind)
            if to == kind
        ]
        return found

    def element(self, sort: str) -> str:
        """Name an element: a parameter, a bound variable, a constant, one that the state names."""
        found = [read for read in self.reads(sort) if "{" not in read]
        if not found:
            raise Impossible
        return self.rng.choice(found)

    def read(self, kind: str) -> str | None:
        """Read something of a kind; None if there is nothing."""
        found = self.reads(kind)
        self.rng.shuffle(found)
        # What a state says comes first: what only depends on the size makes a dull model.
        found.sort(key=lambda text: text.startswith("self.") and self.rng.random() < 0.85)
        for text in found[:4]:
            try:
                return self.filled(text)
            except Impossible:
                continue
        return None

    def filled(self, template: str) -> str:
        """Put elements where they belong."""
        parts = template.split("{")
        text = parts[0]
        for part in parts[1:]:
            sort, _, rest = part.partition("}")
            text += self.element(sort) + rest
        return text

    def unlike(self, one: str, other: Callable[[], str]) -> str:
        """Write something else than one thing: what is compared with itself says little."""
        text = other()
        return text if text != one else other()

    def of(self, record: str) -> list[Field]:
        """List the fields of a record."""
        return self.schema.records[record]

    def domains(self, keys: tuple[str, ...]) -> str:
        """Name domains."""
        return ", ".join(f"self.{key.lower()}s" for key in keys)

    def map_reads(self) -> list[tuple[str, str]]:
        """List the maps that can be read, with their kinds."""
        kinds = {kind for _, kind in self.schema.paths("State") if kind.startswith("Map[")}
        return [(text, kind) for kind in sorted(kinds) for text in self.reads(kind)]

    def bounds_in(self, kind: str) -> Bounds | None:
        """Find the range of the numbers in a map of this kind: the narrowest of all fields."""
        fields = [part for fields in self.schema.records.values() for part in fields]
        for part in fields:
            if part.bounds and kind in (part.kind, *(to for _, to in self.schema.paths(part.kind))):
                return part.bounds
        return None
