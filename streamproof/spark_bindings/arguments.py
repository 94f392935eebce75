"""What calls accept: a value of the wrong kind is refused at the call, and named."""

from __future__ import annotations

from enum import Enum
from typing import TypeVar

from streamproof.spark_bindings.errors import WrongArgument

SECONDS_MAX = 10_000_000.0
"""The longest wait, about four months: the system's clocks take no more than some years."""
SECONDS_MIN = 0.001
"""The shortest silence after which a process may be taken to have failed."""
NUMBER_MAX = 2**63 - 1

Member = TypeVar("Member", bound=Enum)


def is_whole(value: object, minimum: int, maximum: int = NUMBER_MAX) -> bool:
    """Return whether a value is a whole number in a range. True and False are none."""
    return isinstance(value, int) and not isinstance(value, bool) and minimum <= value <= maximum


def require_whole(
    said: str, value: object, minimum: int, maximum: int = NUMBER_MAX, *, done: str
) -> None:
    """Refuse what is no whole number in a range.

    Parameters
    ----------
    said : what was given to whom, for the message
    value, minimum, maximum : the number, and between which it has to be
    done : what has not happened, and what to write, for the message

    Raises
    ------
    WrongArgument : if it is none
    """
    if not is_whole(value, minimum, maximum):
        least = f"of at least {minimum}"
        wanted = least if maximum == NUMBER_MAX else f"from {minimum} to {maximum}"
        raise WrongArgument(f"{said}. It must be a whole number {wanted}. {done}")


def require_seconds(call: str, name: str, value: object, minimum: float = 0) -> None:
    """Refuse what is no time to wait.

    Parameters
    ----------
    call, name, value : the argument
    minimum : the shortest that makes sense

    Raises
    ------
    WrongArgument : if it is no number, is less than nothing, or longer than clocks can tell
    """
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not minimum <= value <= SECONDS_MAX:  # type: ignore[operator]
        raise WrongArgument(
            f"{call} was given {name}={value!r}. It is a number of seconds, from {minimum} to "
            f"{SECONDS_MAX:.0f}. Nothing was done. Write for example {name}=120"
        )


def require_text(call: str, name: str, value: object, example: str) -> None:
    """Refuse what is no text, or an empty one.

    Parameters
    ----------
    call, name, value : the argument
    example : of a text that would be right

    Raises
    ------
    WrongArgument : if it is none
    """
    if not isinstance(value, str) or not value:
        raise WrongArgument(
            f"{call} was given {name}={value!r}. It must be a text that is not empty. Nothing was "
            f"done. Write for example {name}={example!r}"
        )


def member_of(call: str, name: str, value: object, kind: type[Member]) -> Member:
    """Return the member of an enumeration that is given: itself, or its value in any case.

    Parameters
    ----------
    call, name, value : the argument
    kind : the enumeration, whose values are texts

    Raises
    ------
    WrongArgument : if there is no such member
    """
    if isinstance(value, kind):
        return value
    texts = {str(member.value): member for member in kind}
    if isinstance(value, str) and value.lower() in texts:
        return texts[value.lower()]
    *others, last = (f'"{text}"' for text in texts)
    raise WrongArgument(
        f"{call} was given {name}={value!r}, which is none of its values. Nothing was done. "
        f"Write: {name}={', '.join(others)} or {last}"
    )
