"""Mean times to failure: chains against fractions, estimates, and the figures of our notes."""

from __future__ import annotations

from fractions import Fraction

import pytest

from streamproof.mttf import (
    Cluster,
    NoChain,
    about_dataflow_pair,
    about_partition_pairs,
    of_dataflow_pair,
    of_partition_pairs,
)

DAYS_A_YEAR = 365.25
FIVE_MINUTES = 5 / (24 * 60)


def cluster(partitions, mttf=30.0, repair=FIVE_MINUTES):
    return Cluster(partitions, mttf, repair, repair)


@pytest.mark.parametrize(
    ("partitions", "dataflow_years", "partition_years", "ratio"),
    [(10, 3.6, 35.5, None), (50, 0.1, 7.1, 49.2), (100, None, None, 96.7)],
)
def test_the_figures_of_the_notes(partitions, dataflow_years, partition_years, ratio):
    dataflow, pairs = of_dataflow_pair(cluster(partitions)), of_partition_pairs(cluster(partitions))
    if dataflow_years is not None:
        assert round(dataflow / DAYS_A_YEAR, 1) == dataflow_years
        assert round(pairs / DAYS_A_YEAR, 1) == partition_years
    if ratio is not None:
        assert round(pairs / dataflow, 1) == ratio


def exactly(partitions: int, mttf: int, repair: Fraction) -> Fraction:
    """Climb the chain of pairs: from each state, the mean time until the next one is reached.

    With probability it ends on the way, so a time is carried together with the part that survives.
    """
    up = [Fraction(2 * (partitions - k), mttf) for k in range(partitions + 1)]
    down = [k / repair for k in range(partitions + 1)]
    fatal = [Fraction(k, mttf) for k in range(partitions + 1)]
    # time[k] = a[k] + b[k] * time[k + 1]
    a, b = 1 / up[0], Fraction(1)
    coefficients = [(a, b)]
    for k in range(1, partitions + 1):
        left = up[k] + down[k] + fatal[k] - down[k] * b
        a, b = (1 + down[k] * a) / left, up[k] / left
        coefficients.append((a, b))
    time = Fraction(0)
    for a, b in reversed(coefficients):
        time = a + b * time
    return time


@pytest.mark.parametrize("partitions", [1, 2, 3, 7, 40])
@pytest.mark.parametrize("repair", [Fraction(1, 288), Fraction(3), Fraction(100)])
def test_pairs_of_partitions_agree_with_fractions(partitions, repair):
    found = of_partition_pairs(cluster(partitions, repair=float(repair)))
    assert found == pytest.approx(float(exactly(partitions, 30, repair)), rel=1e-9)


def test_one_partition_is_one_pair_either_way():
    assert of_dataflow_pair(cluster(1)) == pytest.approx(of_partition_pairs(cluster(1)))


def test_a_pair_without_repair_lasts_one_and_a_half_times_a_node():
    assert of_partition_pairs(cluster(1, repair=1e12)) == pytest.approx(45)


@pytest.mark.parametrize("partitions", [1, 10, 100])
def test_estimates_are_near_where_repair_is_short(partitions):
    short = cluster(partitions, repair=FIVE_MINUTES / 100)
    assert of_partition_pairs(short) == pytest.approx(about_partition_pairs(short), rel=0.01)
    assert of_dataflow_pair(short) == pytest.approx(about_dataflow_pair(short), rel=0.01)


def test_what_makes_no_sense_is_refused():
    with pytest.raises(NoChain, match="0 partitions"):
        cluster(0)
    with pytest.raises(NoChain, match="node_mttf is -1"):
        cluster(1, mttf=-1)
    with pytest.raises(NoChain, match="repair is nan"):
        cluster(1, repair=float("nan"))
