"""A merged stream as far as it has come: a sequence of tuples, written down without a length.

A list says which tuples it has, and which of two comes first; nothing else, as long as none comes
twice. Here a tuple that does comes before itself. So a proof may speak of outputs of any length.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from streamproof.lang import Map, forall
from streamproof.models.sunion.source_log import Entry


@dataclass(frozen=True, slots=True)
class Output:
    """A sequence of tuples.

    Attributes
    ----------
    contains : the tuples that came out
    before : of two that came out, whether the first one came earlier
    """

    contains: Map[Entry, bool]
    before: Map[tuple[Entry, Entry], bool]

    def has_before(self, x: Entry, y: Entry) -> bool:
        """Return whether x came out before y."""
        return self.contains[x] and self.contains[y] and self.before[x, y]

    def is_prefix_of(self, other: Output) -> bool:
        """Return whether another sequence begins with this one."""

        def is_at_its_place(y: Entry) -> bool:
            return other.contains[y] and forall(
                self.contains, lambda x: self.has_before(x, y) == other.has_before(x, y)
            )

        return forall(self.contains, lambda y: not self.contains[y] or is_at_its_place(y))

    def append(
        self, chosen: Callable[[Entry], bool], precedes: Callable[[Entry, Entry], bool]
    ) -> Output:
        """Return the sequence with the chosen tuples at its end, in the order of `precedes`."""

        def comes_first(x: Entry, y: Entry) -> bool:
            return chosen(y) and (self.contains[x] or (chosen(x) and precedes(x, y)))

        return Output(
            contains=self.contains.map_items(lambda e, is_out: is_out or chosen(e)),
            before=self.before.map_items(lambda x, y, was: was or comes_first(x, y)),
        )
