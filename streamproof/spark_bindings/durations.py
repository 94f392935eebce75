"""Durations as a user writes them, read strictly: what could be meant otherwise is refused."""

from __future__ import annotations

import math
import re
from datetime import timedelta
from fractions import Fraction
from typing import TypeAlias

from streamproof.spark_bindings.errors import WrongArgument

Duration: TypeAlias = str | timedelta | float
"""``"1 minute"``, ``"1 hour 30 minutes"``, ``"750 ms"``, a number of seconds, or a `timedelta`."""

MICROSECONDS_MAX = 36_500 * 24 * 3_600 * 1_000_000
"""A hundred years: with more, reckoning with the times that Spark can hold would overflow."""

_SECOND = 1_000_000
_WORDS = {
    "microsecond": 1,
    "millisecond": 1_000,
    "second": _SECOND,
    "minute": 60 * _SECOND,
    "hour": 3_600 * _SECOND,
    "day": 86_400 * _SECOND,
    "week": 7 * 86_400 * _SECOND,
}
_SHORT = {"us": "microsecond", "ms": "millisecond", "s": "second", "sec": "second"}
_SHORT |= {"min": "minute", "h": "hour", "d": "day"}
_UNITS = {
    **_WORDS,
    **{f"{word}s": width for word, width in _WORDS.items()},
    **{short: _WORDS[word] for short, word in _SHORT.items()},
}
_PART = re.compile(r"\s*([0-9]{1,18}(?:\.[0-9]{1,18})?)\s*([a-z]+)", re.ASCII)
_WHOLE = re.compile(f"(?:{_PART.pattern})+", re.ASCII)
_EXAMPLE = '"30 seconds", or pass a timedelta'


def microseconds(call: str, name: str, duration: Duration, minimum: int) -> int:
    """Read a duration.

    Parameters
    ----------
    call, name : whose argument it is, for messages
    duration : as the user wrote it
    minimum : the shortest that makes sense, in microseconds

    Raises
    ------
    WrongArgument : if it is none, is shorter, is longer than a hundred years, or is finer than
        microseconds, which is how exact times are in Spark
    """
    said = f"{call} was given {name}={duration!r}"
    read = _exact(duration)
    if read is None:
        raise WrongArgument(
            f"{said}, which is no duration: numbers of seconds are, and numbers with units, from "
            f"microseconds to weeks. Write for example {name}={_EXAMPLE}"
        )
    if read.denominator != 1:
        raise WrongArgument(
            f"{said}, which is no whole number of microseconds. Times are no finer in Spark. "
            f"Write for example {name}={_EXAMPLE}"
        )
    if not minimum <= read <= MICROSECONDS_MAX:
        raise WrongArgument(
            f"{said}. It must be at least {minimum} microseconds and at most 36500 days. "
            f"Write for example {name}={_EXAMPLE}"
        )
    return int(read)


def milliseconds(call: str, name: str, duration: Duration) -> int:
    """Read a duration that Spark takes in milliseconds; parameters and errors as `microseconds`.

    Raises
    ------
    WrongArgument : also if it is finer than milliseconds
    """
    found, rest = divmod(microseconds(call, name, duration, 0), 1_000)
    if rest:
        raise WrongArgument(
            f"{call} was given {name}={duration!r}, which is no whole number of milliseconds. "
            f"Spark looks no more often. Write for example {name}={_EXAMPLE}"
        )
    return found


def seconds(call: str, name: str, duration: Duration) -> float:
    """Read a time to wait, in seconds; as `microseconds`, but it may be finer."""
    read = _exact(duration)
    if read is None or not 0 <= read <= MICROSECONDS_MAX:
        microseconds(call, name, duration, 0)  # which says what is wrong
    assert read is not None
    return float(read / _SECOND)


def shown(microseconds: int) -> str:
    """Write a duration for messages."""
    return f"{timedelta(microseconds=microseconds).total_seconds():g} s"


def _exact(duration: object) -> Fraction | None:
    """Return the microseconds of a duration, or None if it cannot be read."""
    if isinstance(duration, bool) or not isinstance(duration, str | timedelta | int | float):
        return None
    if isinstance(duration, int | float):
        if not math.isfinite(duration):
            return None
        # As it is written: 0.1 s are 100 ms, which no binary fraction is.
        return Fraction(repr(duration)) * _SECOND
    if isinstance(duration, timedelta):
        # A pandas Timedelta is one, and may have nanoseconds.
        return duration // timedelta(microseconds=1) + Fraction(
            getattr(duration, "nanoseconds", 0), 1000
        )
    text = duration.strip().lower()
    positive = text.removeprefix("-")  # less than nothing is a duration, but too short a one
    parts = _PART.findall(positive) if _WHOLE.fullmatch(positive) else []
    if not parts or any(unit not in _UNITS for _, unit in parts):
        return None
    total = sum((Fraction(number) * _UNITS[unit] for number, unit in parts), Fraction(0))
    return total if positive == text else -total
