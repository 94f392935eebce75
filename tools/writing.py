"""Counting retired words and relative clauses: `docs/writing.md` says which, and `make lint` asks.

Run: ``python -m tools.writing``. It fails where a count is above its limit. No limit is raised;
whoever rewrites a file lowers it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
WORDS = ROOT / "docs" / "writing.md"
COUNTED = (
    "README.md",
    "CONTRIBUTING.md",
    "ARCHITECTURE.md",
    "docs/*.md",
    "docs/tutorial/*.md",
    "docs/how-to/*.md",
    "docs/explanation/**/*.md",
    "docs/reference/*.md",
    "examples/**/*.md",
    "changes/README.md",
)
"""Pages with a limit of clauses: all but the decisions. These stand as they were taken."""
CLAUSES_MAX = 5.0
"""In 1,000 words."""
RETIRED_MAX = {
    "README.md": 0,
    "docs": 0,
    "streamproof/cli": 0,
    "streamproof/spark_bindings": 0,
    "streamproof/testing": 0,
    "streamproof/lang": 0,
    "streamproof/protocols": 0,
    "streamproof/models": 0,
    "streamproof/checker": 0,
    "streamproof/proofs": 0,
    "streamproof/translation": 0,
}
"""Retired words, by place."""
_CLAUSE = re.compile(r"\b(?:what|who|whose|whom|which)\b", re.IGNORECASE)
_CODE = re.compile(r"```.*?```|`[^`]*`|\[([^\]]*)\]\([^)]*\)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Count:
    """A count, and its limit."""

    place: str
    what: str
    found: float
    limit: float

    def __str__(self) -> str:
        return f"{self.place:32} {self.what:36} {self.found:6.1f} of {self.limit:.0f}"


def retired_words(text: str) -> list[str]:
    """List the words on the left of the table of words."""
    table = text.partition("## Words")[2].partition("## ")[0]
    rows = [line.split("|")[1].strip() for line in table.splitlines() if line.startswith("|")]
    return [word for word in rows if word not in ("not", "---")]


def prose(text: str) -> str:
    """Leave out code; of a link, its text stays."""
    return _CODE.sub(lambda match: match.group(1) or " ", text)


def clauses_in_1000(text: str) -> float:
    """Count the relative clauses in 1,000 words of prose."""
    plain = prose(text)
    return 1_000 * len(_CLAUSE.findall(plain)) / max(1, len(plain.split()))


def retired_in(text: str, words: list[str]) -> int:
    """Count retired words in a text."""
    flat = " ".join(text.split())
    return sum(len(re.findall(rf"\b{re.escape(word)}\b", flat, re.IGNORECASE)) for word in words)


def files_of(place: str) -> Iterator[Path]:
    """List the texts of a place: pages, or modules. This page itself names the words."""
    path = ROOT / place
    if path.is_file():
        yield path
    for pattern in ("*.md", "*.py"):
        yield from (file for file in sorted(path.rglob(pattern)) if file != WORDS)


def counts() -> Iterator[Count]:
    """Count everything that has a limit."""
    for pattern in COUNTED:
        for file in sorted(set(ROOT.glob(pattern)) - {WORDS}):
            rate = clauses_in_1000(file.read_text(encoding="utf-8"))
            name = str(file.relative_to(ROOT))
            yield Count(name, "relative clauses in 1,000 words", rate, CLAUSES_MAX)
    words = retired_words(WORDS.read_text(encoding="utf-8"))
    for place, limit in RETIRED_MAX.items():
        found = sum(retired_in(file.read_text(encoding="utf-8"), words) for file in files_of(place))
        yield Count(place, "retired words", found, limit)


def main() -> int:
    """Print the counts; return 1 if one is above its limit."""
    found = list(counts())
    for count in found:
        print(count, "" if count.found <= count.limit else "  TOO MANY: see docs/writing.md")
    return int(any(count.found > count.limit for count in found))


if __name__ == "__main__":
    sys.exit(main())
