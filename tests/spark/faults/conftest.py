"""Where the tests of faults keep the states that they look at: many files, for a moment each."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

_MEMORY = Path("/dev/shm")


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Return a directory in memory, where there is such a thing: others wait for the disk, too."""
    if not os.access(_MEMORY, os.W_OK):
        yield tmp_path_factory.mktemp("faults")
        return
    place = Path(tempfile.mkdtemp(prefix="streamproof-faults-", dir=_MEMORY))
    yield place
    shutil.rmtree(place, ignore_errors=True)
