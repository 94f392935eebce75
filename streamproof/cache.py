"""The user's directory for what can be made again."""

from __future__ import annotations

import os
from pathlib import Path


def cache_directory() -> Path:
    """Return the directory; nothing in it is missed when it is deleted."""
    given = os.environ.get("XDG_CACHE_HOME", "")
    # The specification of this variable ignores what is no absolute path, such as a URL.
    cache = Path(given) if Path(given).is_absolute() else Path.home() / ".cache"
    return cache / "streamproof"
