"""A translated expression is looked up by its address, so it is kept as long as the translation."""

from __future__ import annotations

from tests.fuzz.cases import case
from tests.fuzz.fuzz import Tally, compare

FOUND = 6_849
"""The fuzzer's case whose last promise was taken for another one, and EXHAUSTED: it is refuted."""


def test_a_promise_is_not_taken_for_one_whose_expression_is_gone() -> None:
    compare(case(FOUND), ("ground", "validated", "resumed"), Tally())
