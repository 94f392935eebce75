"""Retired words and relative clauses are counted, and a count above its limit is told."""

from __future__ import annotations

import pytest

from tools import writing
from tools.writing import (
    CLAUSES_MAX,
    RETIRED_MAX,
    clauses_in_1000,
    counts,
    main,
    retired_in,
    retired_words,
)

PAGE = """
## Words

| not | but |
|---|---|
| for ever | forever |
| mend | fix |

## Clauses
| what | no word |
"""


def test_the_words_are_those_of_the_table() -> None:
    assert retired_words(PAGE) == ["for ever", "mend"]
    assert "is told" in retired_words(writing.WORDS.read_text(encoding="utf-8"))


def test_a_retired_word_is_found_across_lines_and_not_inside_of_others() -> None:
    assert (
        retired_in("Mend it. It lasts for\n  ever. An amendment is none.", ["for ever", "mend"])
        == 2
    )


def test_clauses_are_counted_in_prose_alone() -> None:
    text = "Who knows `what` it is?\n```\nwhat which who\n```\n[which one](what.md) " + "word " * 93
    assert clauses_in_1000(text) == pytest.approx(1_000 * 2 / 100, rel=0.05)


def test_every_count_is_within_its_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    found = list(counts())
    assert [str(count) for count in found if count.found > count.limit] == []
    assert {count.place for count in found} > set(RETIRED_MAX)
    assert main() == 0
    monkeypatch.setitem(RETIRED_MAX, "streamproof/lang", -1)
    assert main() == 1


def test_a_limit_is_no_higher_than_its_count() -> None:
    """Whoever rewrites a file lowers the limit."""
    retired = [count for count in counts() if count.what == "retired words"]
    assert [str(count) for count in retired if count.found < count.limit] == []


def test_every_page_has_the_same_limit_of_clauses() -> None:
    clauses = [count for count in counts() if count.what != "retired words"]
    assert "docs/glossary.md" in {count.place for count in clauses}
    assert {count.limit for count in clauses} == {CLAUSES_MAX}
