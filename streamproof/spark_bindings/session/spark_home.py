"""A Spark home without Spark's Python archive, so that Python workers start faster.

Spark puts `python/lib/pyspark.zip` of its home ahead of all else on its workers' path. Python
keeps no compiled modules of an archive, so every worker compiles PySpark again: about a second of
CPU for each, and a query has several. Our workers run the interpreter of the driver, which has
PySpark installed, compiled once.
"""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path

from streamproof.cache import cache_directory
from streamproof.disk import move, temporary_sibling

_KEPT = ("bin", "jars")  # what a local session needs of a Spark home


def spark_home() -> Path:
    """Make the home, links to the installed PySpark, and give its path. May be repeated."""
    found = find_spec("pyspark")
    assert found is not None  # this package imports it
    assert found.origin is not None
    installed = Path(found.origin).parent
    # The installation's path is part of the name: two virtual environments have two homes.
    home = cache_directory() / ("spark" + re.sub(r"\W+", "_", str(installed)))
    home.mkdir(parents=True, exist_ok=True)
    for name in _KEPT:
        link = home / name
        if not (link.is_symlink() and link.readlink() == installed / name):
            temporary = temporary_sibling(link)
            temporary.symlink_to(installed / name)
            move(temporary, link)  # two sessions may start at once
    return home
