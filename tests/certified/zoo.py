"""A protocol with one of everything that a certificate must notice when it is changed.

The helper stands beside it, outside of streamproof, as a user's own may.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from streamproof import protocols

HELPER = '''"""A user's own helper."""
import functools
LIMIT = 3
TABLE = {"low": 1, "high": [1, 2]}
def bounded(count):
    return min(count, LIMIT)
def gently(function):
    step = 1
    @functools.wraps(function)
    def wrapper(lease, count):
        return function(lease, count + step - 1)
    return wrapper
class Meta(type):
    def __call__(cls, *arguments, **named):
        return super().__call__(*arguments, **named)
class Base:
    registry = ()
    def __init_subclass__(cls, **named):
        cls.made_by = "base"
'''

PROTOCOL = '''"""A lease with one of everything."""
import functools
from dataclasses import dataclass, field, replace
from enum import Enum
from streamproof.lang import Step, require
from zoo_helper import Base, Meta, bounded, gently
STEP = 1
WORDS = frozenset({"a", "b"})
class Mood(Enum):
    CALM = "calm"
    WILD = "wild"
    TAME = "calm"
    @property
    def is_calm(self):
        return self is Mood.CALM
class Extra(Base, metaclass=Meta):
    weight = 2
    @classmethod
    def heavy(cls):
        return cls.weight > 1
    @staticmethod
    def light():
        return False
@dataclass(frozen=True)
class Lease:
    held: int
    mood: Mood = Mood.CALM
    high: int = field(default_factory=lambda: 7)
    def __post_init__(self):
        made = 1
    @property
    def is_held(self):
        return self.held > 0
@dataclass(frozen=True)
class Taken:
    count: int
    def __eq__(self, other):
        return isinstance(other, Taken) and self.count == other.count
    def __hash__(self):
        return 1
def _added(by, lease):
    return replace(lease, held=lease.held + by)
_one_more = functools.partial(_added, 1)
def initial_lease(first: int = 0) -> Lease:
    return Lease(first)
@gently
def take(lease: Lease, count: int) -> Step[Lease, Taken]:
    require(lease.held < 9)
    return replace(lease, held=lease.held + STEP), (Taken(count),)
def level(lease: Lease) -> int:
    return _level(lease)
def _level(lease, *, least=2):
    # The least of all.
    return least if lease.held < least else lease.held
def limited(count: int) -> bool:
    return count < bounded(5)
'''


@contextmanager
def installed(
    directory: Path, change: Callable[[str, str], tuple[str, str]] = lambda p, h: (p, h)
) -> Iterator[None]:
    """Write the protocol and its helper, and let them be imported as any other.

    Parameters
    ----------
    change : gives the two texts as they are to be written
    """
    protocol, helper = change(PROTOCOL, HELPER)
    (directory / "zoo.py").write_text(protocol, encoding="utf-8")
    (directory / "zoo_helper.py").write_text(helper, encoding="utf-8")
    sys.path.insert(0, str(directory))
    protocols.__path__.append(str(directory))
    forget()
    try:
        yield
    finally:
        sys.path.remove(str(directory))
        protocols.__path__.remove(str(directory))
        forget()


def forget() -> None:
    """Let the next import read the files anew."""
    for name in ("streamproof.protocols.zoo", "zoo_helper", "zoo"):
        sys.modules.pop(name, None)
    vars(protocols).pop("zoo", None)
    for path in list(sys.path_importer_cache):
        if not path.startswith((sys.prefix, sys.base_prefix)):
            sys.path_importer_cache.pop(path)
