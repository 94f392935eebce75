"""The language: ordinary Python values and functions that can be run, and read symbolically."""

from streamproof.lang.domain import Domain, Element
from streamproof.lang.errors import (
    Disabled,
    OutOfRange,
    StreamproofError,
    UnknownKey,
    Untraceable,
    WrongDefinition,
)
from streamproof.lang.map import Map
from streamproof.lang.quantify import count, exists, forall, implies
from streamproof.lang.step import Step, require

__all__ = [
    "Disabled",
    "Domain",
    "Element",
    "Map",
    "OutOfRange",
    "Step",
    "StreamproofError",
    "UnknownKey",
    "Untraceable",
    "WrongDefinition",
    "count",
    "exists",
    "forall",
    "implies",
    "require",
]
