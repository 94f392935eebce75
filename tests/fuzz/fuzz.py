"""The differential fuzzer: cases by number, each compared by some voices.

``python -m tests.fuzz.fuzz 0 10000`` compares these cases by all voices, and tells what it found;
a third number says how many voices are asked of each, in turn.
"""

from __future__ import annotations

import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import _lru_cache_wrapper, partial
from typing import Any

from streamproof.checker import explore as reference
from tests.fuzz.cases import Case, case, run
from tests.fuzz.reduce import reduced
from tests.fuzz.voices import REFUSALS, VOICES, optimising, outcome

TURNS = (
    "ground",
    "rolled",
    "ground",
    "symmetric",
    "ground",
    "symmetric_rolled",
    "walks",
    "relation",
    "ground",
    "resumed",
    "rolled",
    "validated",
    "induction",
    "threaded",
)
"""The voices that take turns where not all are asked, besides the traced form."""
OPTIMISED_EVERY = 5
"""Every so many cases, code is compiled as it is for a user."""


@dataclass
class Tally:
    """What became of cases.

    Attributes
    ----------
    kinds : how searches ended
    asked, refused : per voice, how often it was asked, and how often it could not take the model
    """

    kinds: Counter[str] = field(default_factory=Counter)
    asked: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)


@dataclass
class Contradiction(Exception):
    """A voice that contradicts the reference engine, with the model as code to be pasted.

    Attributes
    ----------
    is_searched : whether the reference engine had searched it, and not refused it
    """

    number: int
    voice: str
    is_searched: bool
    text: str
    error: str

    def __str__(self) -> str:
        return (
            f"case {self.number}: `{self.voice}` contradicts the reference engine.\n"
            f"{self.error}\n\n{self.text}"
        )


def in_turn(number: int, each: int) -> tuple[str, ...]:
    """Return the voices for a case: the traced form, and as many others as are asked."""
    turns = (TURNS[(number * each + turn) % len(TURNS)] for turn in range(each))
    return tuple(dict.fromkeys(("traced", *turns)))


def compare(drawn: Case, voices: Sequence[str], tally: Tally) -> None:
    """Compare what some voices say of a model with what the reference engine says.

    Raises
    ------
    Contradiction : if one says something else
    """
    known = outcome(drawn.model, reference)
    tally.kinds[known.kind] += 1
    for voice in voices:
        tally.asked[voice] += 1
        try:
            VOICES[voice](drawn.model, known)
        except REFUSALS:
            tally.refused[voice] += 1
        except Exception as error:
            text = explained(error)
            found = (drawn.number, voice, known.is_searched, drawn.text, text)
            raise Contradiction(*found) from error


def explained(error: Exception) -> str:
    """Describe what went wrong, and where."""
    return "".join(traceback.format_exception(error, limit=-3))


def fails_alike(found: Contradiction) -> Any:
    """Make the test whether a text contradicts in the same way: voice, and kind of error."""
    kind = type(found.__cause__)

    def fails(text: str) -> bool:
        try:
            model = run(text)["MODEL"]
            known = outcome(model, reference)
            if known.is_searched == found.is_searched:
                VOICES[found.voice](model, known)
        except kind as error:
            return not isinstance(error, REFUSALS) and not isinstance(error, NameError)
        except Exception:  # noqa: BLE001 - what is left means nothing
            return False
        return False

    return fails


def shrunk(found: Contradiction, most: int = 600) -> Contradiction:
    """Return the same contradiction of a model that is as small as it was made."""
    text = reduced(found.text, fails_alike(found), most)
    try:
        compare(Case(found.number, text), [found.voice], Tally())
    except Contradiction as smaller:
        return smaller
    return found


def compare_all(numbers: Iterable[int], *, voices_each: int = 1) -> Tally:
    """Compare cases; the first that contradicts is made small, and told.

    Parameters
    ----------
    numbers : of the cases
    voices_each : how many voices take turns for each, besides the traced form

    Raises
    ------
    Contradiction : if there is one
    """
    tally = Tally()
    for number in numbers:
        try:
            compare(case(number), in_turn(number, voices_each), tally)
        except Contradiction as found:
            raise shrunk(found) from None
        forget()
    return tally


def forget() -> None:
    """Let go of what is kept of models, of which there are thousands."""
    for name, module in list(sys.modules.items()):
        if name.startswith("streamproof.lang"):
            for part in list(vars(module).values()):
                if isinstance(part, _lru_cache_wrapper):
                    part.cache_clear()


def main(first: int, last: int, voices_each: int = len(TURNS)) -> int:
    """Compare cases, every fifth also in optimised code; go on behind contradictions."""
    tell = partial(print, flush=True)
    began, tally, found = time.monotonic(), Tally(), 0
    for number in range(first, last):
        try:
            drawn = case(number)
            compare(drawn, in_turn(number, voices_each), tally)
            if number % OPTIMISED_EVERY == 0:
                with optimising():
                    compare(drawn, (TURNS[number // OPTIMISED_EVERY % len(TURNS)],), Tally())
        except Contradiction as contradiction:
            found += 1
            tell(contradiction)
        forget()
        if number % 100 == 99:
            spent = time.monotonic() - began
            tell(f"{number + 1 - first:,} cases, {spent:.0f} s, {found} contradictions")
    tell(tally)
    return found


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])) > 0)
