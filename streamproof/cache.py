"""The user's directory for what can be made again."""

from __future__ import annotations

import os
from pathlib import Path


def cache_directory() -> Path:
    """Give the directory; nothing in it is missed when it is deleted."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return cache / "streamproof"
