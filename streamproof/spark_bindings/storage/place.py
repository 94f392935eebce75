"""`Place`: where something of a pipeline lives, for Delta, for Spark and for a store.

A place is a URL or a path of this machine, as text. So far only paths are accepted, and it is here
that a URL is refused: Python would take it for a directory of that name, and what was written there
would never reach a bucket.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import TypeAlias

from streamproof.paths import why_not_local
from streamproof.spark_bindings.errors import WrongArgument

AnyPlace: TypeAlias = "Place | PathLike[str] | str"
"""A place, or what a user writes for one."""

# Delta writes places as URLs: %20 would become a space, and a backslash a slash.
_MISREAD = re.compile(r"%[0-9A-Fa-f]{2}|\\|[\x00-\x1f\x7f]|[\ud800-\udfff]")


@dataclass(frozen=True, slots=True, order=True)
class Place:
    """Where something lives: a value, which tasks take along to executors. It touches no disk.

    ``place / "key"`` is the place of a key below it. Made by `of` or `given`.

    Attributes
    ----------
    url : a path of this machine, as it was written
    """

    url: str

    @staticmethod
    def of(where: AnyPlace) -> Place:
        """Return the place that a path stands for.

        Raises
        ------
        WrongArgument : if it is a URL, or no path of this machine
        """
        if isinstance(where, Place):
            return where
        if why := why_not_local(where):
            raise WrongArgument(f"a place was given as {where!r}, {why}. Nothing was written")
        return Place(fspath(where))

    @staticmethod
    def given(said: str, where: object, done: str = "Nothing was created") -> Place:
        """Return the absolute place that a user names; it need not exist, and is not created.

        Parameters
        ----------
        said : what the user did, such as ``a pipeline was given the path 's3://shop'``
        where : what the user gave
        done : what has happened until now, and what to write instead

        Raises
        ------
        WrongArgument : if it is a URL, or no path of this machine
        """
        if why := why_not_local(where):
            raise WrongArgument(f"{said}, {why}. {done}")
        assert isinstance(where, str | PathLike)
        try:
            return Place(str(Path(where).resolve()))
        except (OSError, RuntimeError) as error:
            raise WrongArgument(
                f"{said}, where links lead back to themselves ({error}). {done}. Remove the link, "
                "or name another directory"
            ) from error

    @property
    def misread_by_delta(self) -> str:
        """The part of it that Delta would read back as something else; empty if there is none."""
        found = _MISREAD.search(self.url)
        return found[0] if found else ""

    def __truediv__(self, key: str) -> Place:
        """Return the place of a key below this one; the key may have slashes in it."""
        return Place(f"{self.url.rstrip('/')}/{key}")

    def __str__(self) -> str:
        """Return it as users write it, for messages."""
        return self.url

    @property
    def name(self) -> str:
        """The last part of it."""
        return self.url.rstrip("/").rpartition("/")[2]

    @property
    def parent(self) -> Place:
        """The place that it is in."""
        above, slash, _ = self.url.rstrip("/").rpartition("/")
        return Place(above or slash or (self.url if self.url == "/" else "."))

    def beside(self, name: str) -> Place:
        """Return the place of another name in the same parent."""
        return self.parent / name

    def is_within(self, other: Place) -> bool:
        """Report whether it is another place, or below it."""
        return self == other or self.url.startswith(f"{other.url.rstrip('/')}/")

    @property
    def local(self) -> Path:
        """Its path on this machine: for `storage`, and for what is local by nature."""
        return Path(self.url)

    def for_delta(self) -> tuple[str, dict[str, str]]:
        """Return the URI by which Delta takes it, and Delta's storage options."""
        return self.url, {}

    def for_spark(self) -> str:
        """Return the path by which Spark takes it."""
        return self.url
