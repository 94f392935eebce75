"""The directories that a job names: of this machine, and such as Delta and Spark read back."""

from __future__ import annotations

import re
from pathlib import Path

from streamproof.paths import why_not_local
from streamproof.spark_bindings.errors import WrongArgument

# Delta writes places as URLs: %20 would become a space, and a backslash a slash.
_MISREAD = re.compile(r"%[0-9A-Fa-f]{2}|\\|[\x00-\x1f\x7f]|[\ud800-\udfff]")


def local_directory(whose: str, given: Path | str) -> Path:
    """Give an absolute path of a directory that need not exist; nothing is created.

    Parameters
    ----------
    whose : for messages, such as ``a pipeline``
    given : what the job gave

    Raises
    ------
    WrongArgument : if it is a URL, or cannot be a directory of this machine
    """
    if why := why_not_local(given):
        raise WrongArgument(f"{whose} was given the path {given!r}, {why}. Nothing was created")
    path = Path(given).resolve()
    if found := _MISREAD.search(str(path)):
        raise WrongArgument(
            f"{whose} was given the path {given!r}, which is {str(path)!r}. Delta writes places as "
            f"URLs, and would misread {found[0]!r}. Nothing was created. Choose another name"
        )
    return path
