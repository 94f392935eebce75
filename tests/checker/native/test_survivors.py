"""What mutation testing of the code generation found untested, a test each."""

from __future__ import annotations

from itertools import combinations

from streamproof.checker.native.code.alike import _small
from streamproof.checker.native.code.terms import NUMBER_MAX


def test_numbers_that_64_bits_do_not_hold_stay_apart_and_equal_ones_equal() -> None:
    values = [0, NUMBER_MAX - 1, NUMBER_MAX, NUMBER_MAX + 1, 2**80, -(2**80), -NUMBER_MAX, 2**80]
    small = _small(values)
    assert all(-(2**63) <= number < 2**63 for number in small)
    for one, other in combinations(range(len(values)), 2):
        assert (small[one] == small[other]) == (values[one] == values[other])
