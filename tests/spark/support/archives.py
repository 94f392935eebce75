"""The directories that 0.1.0 made, unpacked."""

from __future__ import annotations

import tarfile
from pathlib import Path

ARCHIVES = Path(__file__).parents[2] / "data" / "0.1.0"


def unpack(name: str, place: Path) -> Path:
    """Unpack what 0.1.0 left; give its directory."""
    with tarfile.open(ARCHIVES / f"{name}.tar.gz") as packed:
        packed.extractall(place, filter="data")
    return place / name
