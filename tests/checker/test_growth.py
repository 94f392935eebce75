"""Growth: known laws are continued by what they are, and an estimate says how far off it may be."""

from __future__ import annotations

import math
from itertools import product

import pytest

from streamproof.checker.forecast.growth import (
    Axis,
    Estimate,
    Kind,
    Tail,
    estimate,
    next_of,
    together,
)

DOMAIN = Axis("domain", Kind.SIZE, 1, 9)
ENTRIES = [Axis("bounds", Kind.NUMBER, 0, 4, entry) for entry in range(3)]


def along(law, last: int, wanted: int) -> Estimate:
    known = {(n,): law(n) for n in range(1, last + 1)}
    found = estimate(known, [(n,) for n in range(1, wanted + 1)], [DOMAIN])
    assert found is not None
    return found


def test_a_power_of_the_size_is_continued_exactly():
    found = along(lambda n: 3**n, last=4, wanted=9)
    assert found.value == pytest.approx(3**9)


def test_a_polynomial_is_continued_far():
    found = along(lambda n: (n + 1) ** 3, last=6, wanted=20)
    assert found.value == pytest.approx(21**3, rel=0.05)


def test_growth_that_settles_is_continued_to_where_it_settles():
    found = along(lambda n: 6**n + 4 ** (n + 1), last=7, wanted=9)
    assert found.value == pytest.approx(6**9 + 4**10, rel=0.01)


def test_a_product_is_estimated_from_steps_along_each_axis():
    axes = [Axis("a", Kind.NUMBER, 1, 3), Axis("b", Kind.NUMBER, 1, 3)]
    known = {(a, b): 5**a * (b + 1) ** 2 for a, b in [(1, 1), (2, 1), (3, 1), (1, 2), (1, 3)]}
    found = estimate(known, list(product(range(1, 4), repeat=2)), axes)
    assert found is not None
    assert found.value == pytest.approx(5**3 * 4**2, rel=0.1)


def test_numbers_of_one_tuple_are_taken_to_be_alike():
    known = {(0, 0, 0): 2, (1, 0, 0): 14, (1, 1, 0): 98}
    found = estimate(known, list(product(range(2), repeat=3)), ENTRIES)
    assert found is not None
    assert found.value == pytest.approx(686)


def test_what_is_known_is_not_estimated():
    found = along(lambda n: 2**n, last=4, wanted=4)
    assert found == Estimate(found.logarithm, 0.0)
    assert found.factor == 1


def test_an_interval_does_not_reach_below_what_is_known():
    guess = Estimate(math.log(100), 0.5)
    assert guess.low < 40
    assert guess.at_least(40).low == 40
    raised = guess.at_least(300)
    assert raised.low == raised.least == 300
    assert raised.value == pytest.approx(300)
    assert raised.high > guess.high


def test_one_count_determines_nothing():
    assert estimate({(1,): 7}, [(1,), (2,)], [DOMAIN]) is None


def test_uneven_growth_makes_the_interval_wide():
    even = along(lambda n: 3**n, last=6, wanted=7)
    uneven = along(lambda n: [0, 3, 40, 44, 900, 950, 30_000][n], last=6, wanted=7)
    assert even.factor < 1.2
    assert uneven.factor > 10


def test_what_is_further_away_is_less_certain():
    near, far = (along(lambda n: 3**n, last=4, wanted=wanted) for wanted in (5, 8))
    assert near.factor < far.factor


@pytest.mark.parametrize(
    ("values", "tail", "expected"),
    [
        ([2.0], Tail.GEOMETRIC, 2.0),
        ([1.0, 2.0], Tail.GEOMETRIC, 2.5),
        ([1.0, 3.0, 4.0], Tail.GEOMETRIC, 4.5),
        ([1.0, 3.0, 2.0], Tail.GEOMETRIC, 2.0),
        ([1 / 2, 1 / 3, 1 / 4], Tail.HARMONIC, 1 / 5),
        ([1.0, 1.0, 1.0], Tail.HARMONIC, 1.0),
    ],
)
def test_a_sequence_is_continued_as_its_tail_says(values, tail, expected):
    assert next_of(values, tail) == pytest.approx(expected)


def test_of_two_estimates_the_surer_one_counts_more():
    sure, unsure = Estimate(math.log(100), 0.1), Estimate(math.log(400), 1.0)
    both = together(sure, unsure, 1)
    assert both is not None
    assert 100 < both.value < 110
    assert both.factor > sure.factor  # since they are apart
    assert together(sure, None, 1) == together(None, sure, 1) == sure.at_least(1)
    assert together(None, None, 1) is None
    assert together(known := Estimate(math.log(100), 0.0), unsure, 1) == known.at_least(1)


def test_smaller_sizes_that_point_to_less_than_was_found_are_trusted_less():
    smaller, levels = Estimate(math.log(100), 0.1), Estimate(math.log(400), 0.7)
    before, after = together(smaller, levels, 99), together(smaller, levels, 150)
    assert before is not None
    assert after is not None
    assert before.value < 110
    assert 250 < after.value < 400
    assert after.low >= 150
