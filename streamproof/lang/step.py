"""What a transition gives back, and how it says that it cannot happen."""

from __future__ import annotations

from typing import TypeAlias, TypeVar

from streamproof.lang.errors import Disabled

S = TypeVar("S")
Effect = TypeVar("Effect")

Step: TypeAlias = tuple[S, tuple[Effect, ...]]
"""A transition's result: the new state, and the effects to carry out, in order."""


def require(guard: bool, message: str = "the guard does not hold") -> None:
    """State a guard: where it fails, the step does not happen.

    Raises
    ------
    Disabled : if the guard is false

    Examples
    --------
    >>> def pop(queue: tuple[int, ...]) -> tuple[int, ...]:
    ...     require(len(queue) > 0)
    ...     return queue[1:]
    >>> pop((1, 2))
    (2,)
    """
    if not guard:
        raise Disabled(message)
