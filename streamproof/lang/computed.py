"""Computed during a search: kept results, of which there is no earlier text to compare with.

It is computed again, and must be what is kept: a list that `functools.cache` gave, and that a
method appended to, is longer than a fresh one.
"""

from __future__ import annotations

from contextlib import suppress

from streamproof.lang.surroundings import Surroundings, Writer, place_told

COMPUTED_MAX = 100
"""What was computed and is computed again, at most: there may be one for each state."""


def kept_otherwise(now: Writer, before: Surroundings) -> tuple[str, str, str] | None:
    """Find a result that was computed since, and that is different when it is computed again.

    Parameters
    ----------
    now, before : who has looked around a model, and its `surroundings` before it was asked

    Returns
    -------
    What it is, how it is computed and how it is kept; None if nothing differs.
    """
    new = [part for part in now.computed.items() if part[0] not in before]
    for place, (kept, again) in new[:COMPUTED_MAX]:
        with suppress(Exception):
            fresh = again()
            texts = [Writer(now.packages, is_numbered=False).text(v) for v in (fresh, kept)]
            if texts[0] != texts[1]:
                return place_told(place), texts[0], texts[1]
    return None
