"""Every source that a docstring cites is in docs/references.md, and every source there is cited."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
CITED = re.compile(r"\[([A-Z][A-Za-z]*\d{2}[a-z]?)(?:, [^\]]*)?\]")


def keys_listed(text: str) -> set[str]:
    return set(re.findall(r"^\| ([A-Z]\w*) \|", text, re.MULTILINE))


def keys_cited(root: Path) -> set[str]:
    texts = (path.read_text(encoding="utf-8") for path in root.rglob("*.py"))
    return {key for text in texts for key in CITED.findall(text)}


def test_cited_sources_are_those_that_are_listed():
    listed = keys_listed((ROOT / "docs/references.md").read_text(encoding="utf-8"))
    assert keys_cited(ROOT / "streamproof") == listed
    assert listed


def test_a_citation_is_recognised():
    assert CITED.findall("A cut [CL85, section 4], and [LY87]; not [T] nor m[x] nor [A1].") == [
        "CL85",
        "LY87",
    ]
