"""`Store`: bytes under keys below a place, with few calls, whatever the place is.

A pipeline reads and writes all that it has to remember by these calls. What a call promises is
written here, and holds for each store; so far there is one, `LocalStore`. What is made of many
files and gets its name in one step is in `builds`, what a file system wants beyond that in `trees`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from streamproof.spark_bindings.storage.local_store import LocalStore
from streamproof.spark_bindings.storage.place import AnyPlace, Place


class Store(Protocol):
    """Bytes under keys below a place.

    A key is a name, or names with slashes between them; the empty key is the place itself. All
    that is written is whole or absent, for every reader and behind any crash. Any call may be
    repeated.

    Attributes
    ----------
    place : what the keys are below
    """

    place: Place

    def get(self, key: str = "") -> bytes:
        """Return what is under a key.

        Raises
        ------
        FileNotFoundError : if nothing is
        """
        ...

    def put(self, key: str, content: bytes) -> None:
        """Replace what is under a key, durably: readers see the old content or the new."""
        ...

    def create(self, key: str, content: bytes) -> bool:
        """Write under a key unless something is there; report whether this call wrote it.

        Of several callers one wins. Either way the key outlives the power afterwards.
        """
        ...

    def list(self, prefix: str = "") -> list[str]:
        """List the names directly below a prefix, sorted; none if there is nothing."""
        ...

    def copy(self, key: str, target: Place) -> None:
        """Put under a key of another place what is under one here, unread where that is possible.

        For write-once files alone: both may be the same bytes. It is not durable before a `sync`
        of the target.

        Raises
        ------
        FileNotFoundError : if there is nothing
        FileExistsError : if something is at the target
        DamagedFile : if there is a link that leads to no file
        """
        ...

    def delete(self, key: str = "") -> None:
        """Delete what is under a key, if something is."""
        ...

    def has(self, key: str = "") -> bool:
        """Report whether something is under a key, or below it, without reading it."""
        ...

    def size(self, key: str = "") -> int | None:
        """Return how many bytes are under a key; None if nothing is."""
        ...

    def walk(self, prefix: str = "") -> Iterable[str]:
        """Iterate over the keys below a prefix: those directly there first; each part sorted."""
        ...


def store_at(place: AnyPlace) -> Store:
    """Return the store of a place."""
    return LocalStore(place)
