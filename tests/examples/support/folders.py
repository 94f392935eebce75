"""Where the examples are."""

from __future__ import annotations

from pathlib import Path

EXAMPLES = Path(__file__).parents[3] / "examples"
