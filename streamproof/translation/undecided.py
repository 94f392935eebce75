"""What ends a comparison without an answer."""

from __future__ import annotations

from streamproof.lang import StreamproofError


class TranslationUndecided(StreamproofError):
    """Nobody can tell whether a path is taken anywhere, so it was not compared with the code."""
