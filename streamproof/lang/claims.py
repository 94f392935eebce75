"""Claims: what an action's `assert` says must hold where it stands."""

from __future__ import annotations

import linecache
import traceback

from streamproof.lang.errors import StreamproofError


class ClaimsDisabled(StreamproofError, RuntimeError):
    """Python runs with -O, so the claims of a model are not there."""


def require_claims() -> None:
    """Refuse to run where Python removes the claims.

    Raises
    ------
    ClaimsDisabled : under python -O
    """
    if not __debug__:
        raise ClaimsDisabled(
            "Python runs with -O, which removes every assert, so the claims of a model would go "
            "unchecked. Run it without -O and without PYTHONOPTIMIZE"
        )


def claim_text(broken: AssertionError) -> str:
    """Name a failed claim by its function, line and text."""
    frame = traceback.extract_tb(broken.__traceback__)[-1]
    assert frame.lineno is not None
    line = linecache.getline(frame.filename, frame.lineno).partition("#")[0].strip()
    return f"{frame.name}, line {frame.lineno}: {line}" + (f" ({broken})" if str(broken) else "")


def claim_function(text: str) -> str:
    """Return the name of a claim's function, from the text that `claim_text` made."""
    return text.partition(", line ")[0]
