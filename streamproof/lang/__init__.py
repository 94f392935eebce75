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
from streamproof.lang.model import (
    Fairness,
    Model,
    action,
    always,
    assume,
    eventually,
    every_step,
    final,
    init,
    leads_to,
    sometimes,
)
from streamproof.lang.quantify import count, exists, forall, implies
from streamproof.lang.sorts import Range
from streamproof.lang.step import Step, require

__all__ = [
    "Disabled",
    "Domain",
    "Element",
    "Fairness",
    "Map",
    "Model",
    "OutOfRange",
    "Range",
    "Step",
    "StreamproofError",
    "UnknownKey",
    "Untraceable",
    "WrongDefinition",
    "action",
    "always",
    "assume",
    "count",
    "eventually",
    "every_step",
    "exists",
    "final",
    "forall",
    "implies",
    "init",
    "leads_to",
    "require",
    "sometimes",
]
