"""What rows come to an operator: the part of a plan beneath it, alike in every session.

Names on the way, where rows are computed, and how long a watermark waits may change without other
rows. They are left out, and so is the code of functions.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from pyspark.sql import SparkSession

from streamproof.spark_bindings._spark import digest_of, elements
from streamproof.spark_bindings.checkpoints.expressions import text_of
from streamproof.spark_bindings.checkpoints.keeping import expressions_of, join_type
from streamproof.spark_bindings.checkpoints.plan_sources import source_of, table_of

_THE_SAME_ROWS = (
    *("CollectMetrics", "LocalLimit", "Project", "ResolvedHint", "SubqueryAlias", "View"),
    *("RebalancePartitions", "Repartition", "RepartitionByExpression"),
)
"""Operators that hand on the rows that they get. Names on the way do not count."""
_WITH_FIRST_STATE = ("TransformWithState", "TransformWithStateInPySpark", "FlatMapGroupsWithState")
"""Operators whose second input is read in the first batch alone."""
_IN_MEMORY = ("ExternalRDD", "LocalRelation", "LogicalRDD")
_SEED = re.compile(r"(?<=\brand\()-?\d+|(?<=\brandn\()-?\d+|(?<=\bSome\()-?\d+")
"""Of random numbers: another in each session."""
_OF_SESSION = re.compile(r"@[0-9a-f]+|#\d+L?|, splits=\S+(?=\))")


class Beneath:
    """Describes what is beneath the operators of a plan.

    Parameters
    ----------
    spark : the session of the plan
    """

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._columns: Mapping[int, str] = {}
        self._tables: dict[str, str] = {}

    def lines(self, operator: Any, columns: Mapping[int, str]) -> tuple[str, ...]:
        """Describe an operator and all beneath it, a line for each, indented by its depth.

        Parameters
        ----------
        operator : Spark's own object
        columns : what the columns below it are, by the numbers that Spark gives them
        """
        self._columns = columns
        return tuple(self._lines(operator, 0))

    def _lines(self, operator: Any, depth: int) -> Iterator[str]:
        kind, children = operator.getClass().getSimpleName(), elements(operator.children())
        is_plain = kind in _THE_SAME_ROWS
        inner = depth if is_plain else depth + 1
        if not is_plain:
            yield f"{' ' * depth}{self._own(operator, kind)}"
        for subplan in elements(operator.subqueries()):
            yield from self._lines(subplan, inner)
        if kind in _WITH_FIRST_STATE:
            children = children[:1]
        for child in children:
            if not is_plain:
                columns = (self._text(column) for column in elements(child.output()))
                yield f"{' ' * inner}columns {', '.join(columns)}"
            yield from self._lines(child, inner)

    def _own(self, operator: Any, kind: str) -> str:
        if not elements(operator.children()):
            return self._source(operator, kind)
        parts = [self._text(each) for each in expressions_of(operator)]
        if kind == "Join":
            parts.insert(0, join_type(operator))
        values = map(operator.productElement, range(operator.productArity()))
        parts += [str(value) for value in values if isinstance(value, bool | float | str)]
        return f"{operator.nodeName()}({', '.join(parts)})"

    def _text(self, expression: Any) -> str:
        return _SEED.sub("", text_of(expression, self._columns))

    def _source(self, leaf: Any, kind: str) -> str:
        if leaf.isStreaming():
            source = source_of(self._spark, leaf)
            return f"{source.reads} {source.options}".strip()
        shown = str(leaf.toString())
        if kind in _IN_MEMORY:
            if shown not in self._tables:
                self._tables[shown] = f"a table in memory ({digest_of(self._spark, leaf)})"
            return self._tables[shown]
        table = table_of(self._spark, leaf)
        if table is None:
            return _OF_SESSION.sub("", shown).strip()
        return f"{table.reads} {table.options}".strip()
