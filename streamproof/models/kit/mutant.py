"""Mutants: named mistakes in a protocol or in what it assumes, which the checker must find."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from streamproof.lang.model import Model


@dataclass(frozen=True, slots=True)
class Mutant:
    """One mistake, and the property that must catch it.

    Attributes
    ----------
    name : unique; of a model of ours with the model's name, as in `chandy_lamport/marker-late`
    model_class : the model with the mistake; a subclass of the model without it
    size : arguments of `sized`, the smallest that shows the mistake
    killed_by : the property's name, or `deadlock`; `property.conjunct` to be exact. An `assert` is
        named by the function that it stands in: `claims.on_undo`
    steps_max : steps of the longest acceptable counterexample
    story : what goes wrong, in a sentence

    Examples
    --------
    >>> from streamproof.lang import Model, action, always, init
    >>> class Counter(Model[int]):
    ...     @init
    ...     def zero(self) -> int:
    ...         return 0
    ...
    ...     @action
    ...     def turn(self, n: int) -> int:
    ...         return 1 - n
    ...
    ...     @always
    ...     def is_small(self, n: int) -> bool:
    ...         return n < 2
    >>> class Doubling(Counter):
    ...     @action
    ...     def turn(self, n: int) -> int:
    ...         return 2 * n + 1
    >>> mutant = Mutant("doubling", Doubling, {}, "is_small", 2, "it doubles")
    >>> check(Doubling()).verdict.broken == mutant.killed_by
    True
    """

    name: str
    model_class: type[Model[Any]]
    size: Mapping[str, Any]
    killed_by: str
    steps_max: int
    story: str

    @property
    def property_name(self) -> str:
        """The property that must catch it, without a conjunct."""
        return self.killed_by.partition(".")[0]

    @property
    def killed_by_part(self) -> str:
        """The conjunct or the claim's function that must catch it; empty if any may."""
        return self.killed_by.partition(".")[2]
