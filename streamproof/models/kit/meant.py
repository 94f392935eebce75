"""Names that were meant: what an unknown name is close to."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from typing import Any

from streamproof.lang.model import Model


def closest(wanted: str, known: Mapping[str, type[Model[Any]]]) -> str:
    """Ask whether a known name was meant; an empty text if none is close.

    Parameters
    ----------
    wanted : a name that is not known; the short id that a mutant's docstring tells finds it
    known : models and mutants by their names
    """
    meant = [name for name, cls in known.items() if _tells(cls, wanted)]
    if not meant:
        texts = {name: _letters(name) for name in known}
        close = difflib.get_close_matches(_letters(wanted), texts.values(), n=3)
        meant = [name for name, text in texts.items() if text in close]
    return f"Did you mean {' or '.join(meant)}? " if meant else ""


def _tells(cls: type[Model[Any]], wanted: str) -> bool:
    return "-" in wanted and wanted in re.findall(r"[\w-]+", cls.__doc__ or "")


def _letters(name: str) -> str:
    """Leave out of a name where it is from, hyphens and case."""
    return name.rpartition("/")[2].replace("-", "").lower()
