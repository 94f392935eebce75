"""The format of what is on a disk: what a later version wrote is refused, not misread.

Every file and every commit says which one it is of. What says nothing is 0.1.0's.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from streamproof.spark_bindings.errors import UnknownFormat

FORMAT = 2
"""What this version writes: commits and offsets name what they were made from."""
FORMAT_OF_0_1_0 = 1
FORMAT_KEY = "streamproof.format"
"""Where a file, a commit or an offset says it. No channel, lane or snapshot has this name."""


def format_of(said: Mapping[str, Any], where: object) -> int:
    """Return the format that something on a disk says it has.

    Parameters
    ----------
    said, where : all that it says, and where it says so

    Raises
    ------
    UnknownFormat : if this version does not know the format
    """
    found = said.get(FORMAT_KEY, FORMAT_OF_0_1_0)
    # A Delta commit has texts alone.
    number = int(found) if isinstance(found, str) and found.isdigit() else found
    if not isinstance(number, int) or isinstance(number, bool) or not 0 < number <= FORMAT:
        raise UnknownFormat(
            f"{where} is of format {found!r}; this version of streamproof knows {FORMAT} and "
            "earlier ones. It would be misread. Nothing was changed. Use the version that wrote "
            "it, or a later one"
        )
    return number
