"""Which operators of a streaming plan keep state, and what tells it from the state of another.

An operator that is not known to keep none is taken to keep some. So one that comes with another
version of Spark, or that is rewritten to one with state before it runs, is noted too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from streamproof.spark_bindings._spark import elements
from streamproof.spark_bindings.checkpoints.expressions import number_of, text_of

_KEPT_BY = {
    "Aggregate": ("groupingExpressions", "aggregateExpressions"),
    "Deduplicate": ("keys",),
    "DeduplicateWithinWatermark": ("keys",),
    "Distinct": ("output",),
    "Except": ("output",),
    "FlatMapGroupsInPandasWithState": ("groupingAttributes",),
    "GlobalLimit": (),  # counts rows, up to a number that may change
    "Intersect": ("output",),
}
"""By which of its parts an operator's state can be told from that of another of its kind."""
_BY_FIRST_COLUMNS = ("TransformWithStateInPySpark", "TransformWithStateInPandas")
_STATELESS = frozenset(
    (
        *("AppendColumns", "AppendColumnsWithObject", "DeserializeToObject", "MapElements"),
        *("MapGroups", "MapPartitions", "SerializeFromObject", "TypedFilter"),
        *("ArrowEvalPython", "ArrowEvalPythonUDTF", "BatchEvalPython", "BatchEvalPythonUDTF"),
        *("MapInArrow", "MapInPandas", "ScriptTransformation"),
        *("FlatMapCoGroupsInArrow", "FlatMapCoGroupsInPandas"),
        *("FlatMapGroupsInArrow", "FlatMapGroupsInPandas"),  # of the rows of a batch
        *("CollectMetrics", "EventTimeWatermark", "UpdateEventTimeWatermarkColumn"),
        *("Expand", "Filter", "Generate", "LocalLimit", "Project", "Sort", "Union", "Unpivot"),
        *("RebalancePartitions", "Repartition", "RepartitionByExpression"),
        *("CTERelationDef", "ResolvedHint", "SubqueryAlias", "View", "WithCTE"),
    )
)
_CORRELATED = re.compile(r"scalar-subquery#\d+ \[[^\]]")
_NOTED_BEFORE = (
    *("Aggregate", "Deduplicate", "DeduplicateWithinWatermark", "Distinct"),
    *("FlatMapGroupsInPandasWithState", "Join"),
)


def kept_by(
    operator: Any,
    children: Sequence[Any],
    columns: Mapping[int, str],
    *,
    output_mode: str,
    is_above_aggregate: bool,
) -> str | None:
    """Return what an operator's state is of; None if it keeps none.

    Parameters
    ----------
    operator, children : Spark's own objects
    columns : what the columns below it are
    output_mode : of the query; empty if nobody has said
    is_above_aggregate : an aggregation is below it
    """
    kind = operator.getClass().getSimpleName()
    streaming = [child.isStreaming() for child in children]
    if not any(streaming):
        return None
    if kind == "Join":
        condition = operator.condition()
        said = [text_of(condition.get(), columns)] if condition.isDefined() else []
        return "; ".join([join_type(operator), *said]) if all(streaming) else None
    if kind in _BY_FIRST_COLUMNS:
        keys = elements(children[0].output())[: operator.groupingAttributesLen()]
        return ", ".join(text_of(key, columns) for key in keys)
    if kind == "GlobalLimit" and output_mode == "complete" and is_above_aggregate:
        return None  # of a result that is made anew in each batch
    if kind in _KEPT_BY:
        parts = (elements(getattr(operator, name)()) for name in _KEPT_BY[kind])
        return "; ".join(", ".join(text_of(each, columns) for each in part) for part in parts)
    own = expressions_of(operator)
    if kind in _STATELESS:
        # Spark makes a join with the values that it is asked for, and drops their repetitions.
        own = [each for each in own if _CORRELATED.search(str(each.toString()))]
        if not own:
            return None
    return ", ".join(text_of(each, columns) for each in own)


def join_type(operator: Any) -> str:
    """Return how a join joins."""
    return str(operator.joinType().toString())


def expressions_of(operator: Any) -> list[Any]:
    """List the expressions of an operator, but for the columns that it makes."""
    given = {number_of(column) for column in elements(operator.inputSet().toSeq())}
    return [
        each
        for each in elements(operator.expressions())
        if each.nodeName() != "AttributeReference" or number_of(each) in given
    ]


def was_noted_before(state: str) -> bool:
    """Return whether notes without what is beneath have an operator.

    Parameters
    ----------
    state : its kind, and what its state is of
    """
    return state.partition("(")[0] in _NOTED_BEFORE
