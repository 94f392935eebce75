"""What of a session decides what the expressions of a plan mean, and is not in their text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pyspark.sql import SparkSession

from streamproof.spark_bindings._spark import default_of, elements, is_a

TIME_ZONE = "spark.sql.session.timeZone"
ANSI = "spark.sql.ansi.enabled"
COMPUTING = (
    ANSI,
    "spark.sql.caseSensitive",
    "spark.sql.legacy.timeParserPolicy",
    "spark.sql.avro.datetimeRebaseModeInRead",
    "spark.sql.chunkBase64String.enabled",
    "spark.sql.columnNameOfCorruptRecord",
    "spark.sql.csv.parser.columnPruning.enabled",
    "spark.sql.decimalOperations.allowPrecisionLoss",
    "spark.sql.execution.pandas.convertToArrowArraySafely",
    "spark.sql.execution.pyspark.binaryAsBytes",
    "spark.sql.execution.pythonUDF.arrow.enabled",
    "spark.sql.execution.pythonUDF.pandas.intToDecimalCoercionEnabled",
    "spark.sql.execution.pythonUDF.pandas.preferIntExtensionDtype",
    "spark.sql.execution.pythonUDTF.arrow.enabled",
    "spark.sql.function.concatBinaryAsString",
    "spark.sql.function.eltOutputAsString",
    "spark.sql.icu.caseMappings.enabled",
    "spark.sql.json.enableExactStringParsing",
    "spark.sql.json.enablePartialResults",
    "spark.sql.jsonGenerator.ignoreNullFields",
    "spark.sql.mapKeyDedupPolicy",
    "spark.sql.timestampType",
    "spark.sql.variant.allowDuplicateKeys",
)
"""Settings of which Spark says that the value of an expression, or its type, depends on them."""
LEGACY = "spark.sql.legacy."
_PLAIN = ("Alias", "Literal", "AggregateExpression", "Count")  # mean the same in every session
_EXPRESSIONS = "org.apache.spark.sql.catalyst.expressions."
_UTC = ("Etc/UTC", "GMT", "Etc/GMT", "Z", "Zulu", "+00:00", "GMT0", "UCT", "Etc/UCT", "Universal")
_IN_PYTHON = ("InPandas", "InArrow", "InPySpark")


def settings_for(spark: SparkSession, operator: Any) -> Mapping[str, str]:
    """Return the settings that decide what the state of an operator is of.

    Parameters
    ----------
    operator : keeps state. Those below it count, too

    Returns
    -------
    settings : that of the time zone if something reads it; the others if something is computed,
        and those of `spark.sql.legacy` only if they are not at their defaults
    """
    found: dict[str, str] = {}
    if _computes(spark, operator):
        known = [name for name in COMPUTING if default_of(spark, name) is not None]
        found |= {name: str(spark.conf.get(name)).lower() for name in known}
        found |= dict(_legacy(spark))
    if _reads_zone(spark, operator):
        zone = str(spark.conf.get(TIME_ZONE))
        found[TIME_ZONE] = "UTC" if zone in _UTC else zone
    return found


def _legacy(spark: SparkSession) -> Iterator[tuple[str, str]]:
    for name, value in spark.conf.getAll.items():
        if name.startswith(LEGACY) and name not in COMPUTING:
            said, default = str(value).lower(), default_of(spark, name)
            if default is None or said != default.lower():
                yield name, said


def _computes(spark: SparkSession, operator: Any) -> bool:
    """Return whether a part of a plan does more than to hand columns on and to count."""
    waiting = [operator]
    while waiting:
        part = waiting.pop()
        waiting += elements(part.children())
        if any(each.nodeName() not in _PLAIN for each in _expressions(spark, part)):
            return True
    return False


def _reads_zone(spark: SparkSession, operator: Any) -> bool:
    """Return whether what a part of a plan computes depends on the session's time zone."""
    waiting = [operator]
    while waiting:
        part = waiting.pop()
        children = elements(part.children())
        waiting += children
        # Python gets times as those of the session's zone.
        if any(sign in part.nodeName() for sign in _IN_PYTHON) and any(
            _has_times(column) for child in children for column in elements(child.output())
        ):
            return True
        if any(_is_zoned(spark, each) for each in _expressions(spark, part)):
            return True
    return False


def _expressions(spark: SparkSession, operator: Any) -> Iterator[Any]:
    """Yield the expressions of an operator, and those in them, but for plain columns."""
    waiting = elements(operator.expressions())
    while waiting:
        expression = waiting.pop()
        if expression.nodeName() == "AttributeReference":
            continue
        yield expression
        waiting += elements(expression.children())
        if is_a(spark, expression, _EXPRESSIONS + "RuntimeReplaceable"):
            waiting.append(expression.replacement())


def _is_zoned(spark: SparkSession, expression: Any) -> bool:
    name = expression.nodeName()
    if name == "CurrentTimeZone":
        return True
    if name == "Cast":
        return bool(expression.needsTimeZone())
    if name == "Literal":  # `timestamp'2026-03-02'` is written, and read, in the session's zone
        return _has_times(expression)
    if name.endswith("UDF") or "Python" in name:
        return any(_has_times(each) for each in (expression, *elements(expression.children())))
    return is_a(spark, expression, _EXPRESSIONS + "TimeZoneAwareExpression")


def _has_times(expression: Any) -> bool:
    """Return whether an expression's type has times in it that are moments, and not a clock's."""
    kind = str(expression.dataType().simpleString())
    return "timestamp" in kind.replace("timestamp_ntz", "")
