"""Plans whose rows could differ between two copies are refused, where Spark's plan shows it.

What it does not show is caught by the digests that copies compare.
"""

from __future__ import annotations

from pyspark.sql import DataFrame

from streamproof.spark_bindings import _spark
from streamproof.spark_bindings.errors import NotDeterministic

_CLOCKS = {
    "CurrentTimestamp",
    "CurrentTimestampLike",
    "CurrentBatchTimestamp",
    "CurrentDate",
    "CurrentTime",
    "LocalTimestamp",
    "Now",
}
_FLOAT_SUMS = {
    "Sum", "Average", "StddevPop", "StddevSamp", "VariancePop", "VarianceSamp", "Skewness",
    "Kurtosis", "Corr", "CovPopulation", "CovSample", "TrySum", "TryAverage", "Product",
    "RegrAvgX", "RegrAvgY", "RegrSlope", "RegrIntercept", "RegrR2", "RegrSXX", "RegrSXY", "RegrSYY",
}  # fmt: skip
_COLLECTIONS = {"CollectList", "CollectSet"}
_SORTED = {"SortArray", "ArraySort"}
_BY_ORDER = _COLLECTIONS | {
    "First", "Last", "AnyValue", "ListAgg", "MaxBy", "MinBy", "Mode", "HistogramNumeric",
    "ApproximatePercentile", "GlobalLimit", "LocalLimit", "Offset", "Tail", "Sample",
}  # fmt: skip
"""What Spark's documentation says to depend on the order of rows, or is an excerpt of them."""


def check_deterministic(frame: DataFrame, query: str) -> None:
    """Refuse a plan that is not a function of its input and its order.

    Parameters
    ----------
    frame : what the plan gave
    query : its name, for the message

    Raises
    ------
    NotDeterministic : if it reads a clock, draws random numbers, has timers by a clock, adds up
        floating-point numbers in no order, takes the first of rows that have none, or has several
        watermarks
    """
    found = {reason for node in _spark.plan_nodes(frame) if (reason := _reason(node))}
    if len(columns := _spark.watermarks(frame)) > 1:
        why = (
            f"has {len(columns)} watermarks ({', '.join(sorted(columns))}), of which Spark keeps "
            "only the lowest on the disk, so that a copy that was replaced would take other rows "
            "to be late"
        )
        found.add((why, "set one watermark, behind a union"))
    if found:
        reasons = "; it ".join(sorted(reason for reason, _ in found))
        remedies = ", ".join(sorted({remedy for _, remedy in found}))
        raise NotDeterministic(
            f"the plan of query {query!r} {reasons}. With a standby both copies must "
            f"give the same rows, or a takeover would contradict what was delivered. In the plan, "
            f"{remedies}; or leave standby out"
        )


def _reason(node: _spark.PlanNode) -> tuple[str, str] | None:
    """Return why a node is refused, and what to do instead; None if it is not."""
    if node.name in _CLOCKS:
        return f"reads the clock ({node.text})", "take times from the rows"
    if not node.is_deterministic:
        return f"is not deterministic ({node.text})", "take what is drawn by chance from the rows"
    if node.name in _FLOAT_SUMS and {"double", "float"} & set(node.inputs):
        return (
            f"adds up floating-point numbers in no order ({node.text})",
            "add up decimals or integers",
        )
    if node.name in _BY_ORDER and not (node.name in _COLLECTIONS and _SORTED & {*node.within}):
        return (
            f"depends on the order of rows, which is an accident ({node.text})",
            "choose rows by a value that is unique (max of a struct) and sort what is collected",
        )
    if node.uses_clock:
        return f"has timers or timeouts by the clock ({node.name})", "set timers by event time"
    return None
