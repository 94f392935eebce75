"""The errors of the language; every error of streamproof derives from `StreamproofError`."""

from __future__ import annotations


class StreamproofError(Exception):
    """The base of all errors that streamproof raises on purpose.

    A message says what happened, with the values, why it matters, and what to type next.
    """


class Disabled(StreamproofError):
    """A `require` failed: in this state the step does not happen.

    Engines catch it; a user sees it only after calling a transition by hand outside its guard.

    Examples
    --------
    >>> try:
    ...     require(1 > 2, "one is no more than two")
    ... except Disabled as error:
    ...     print(error)
    one is no more than two
    """


class UnknownKey(StreamproofError, KeyError):
    """A map was asked for a key that is not in its domain.

    Examples
    --------
    >>> class Process(Element): ...
    >>> try:
    ...     Map.fill(Domain(Process, 2), 0)[Process(7)]
    ... except UnknownKey as error:
    ...     print(error)
    process7 is not a key of this map, ...
    """

    def __str__(self) -> str:
        return str(self.args[0])


class WrongDefinition(StreamproofError, TypeError):
    """A model, record or property is declared in a way that the language does not know."""


class OutOfRange(StreamproofError, ValueError):
    """An action left the declared range of a bounded integer."""


class Untraceable(StreamproofError, TypeError):
    """A function did something that has no symbolic reading.

    Attributes
    ----------
    function : the name of the function that did it
    location : file and line, as `path:line`
    what : what it did
    remedy : what to write instead
    """

    def __init__(self, function: str, location: str, what: str, remedy: str) -> None:
        super().__init__(f"{function} ({location}) cannot be traced: {what}. {remedy}")
        self.function, self.location, self.what, self.remedy = function, location, what, remedy


class TooManyPaths(Untraceable):
    """A function has more paths than are followed."""
