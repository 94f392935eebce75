"""The one module that touches what PySpark leaves untyped or private."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from streamproof.spark_bindings.errors import first_line

_FIELDS_MAX = "spark.sql.debug.maxToStringFields"
_WRITTEN = pa.schema(
    [("path", pa.string()), ("size", pa.int64()), ("rows", pa.int64()), ("digest", pa.string())]
)


def write_partitions(
    rows: DataFrame, write: Callable[[Iterator[pa.RecordBatch]], tuple[Any, ...] | None]
) -> list[tuple[Any, ...]]:
    """Run a writer over every partition, on the executors; give its results in partition order.

    Parameters
    ----------
    write : from a partition's Arrow batches to a path, numbers of bytes and of rows, and, if it
        likes, a digest as text; or to None. It must pickle
    """

    def partition(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        written = write(batches)
        if written is not None:
            path, size, count, *digest = written
            columns = {"path": [path], "size": [size], "rows": [count], "digest": digest or [None]}
            yield pa.RecordBatch.from_pydict(columns, schema=_WRITTEN)

    schema = "path string, size long, rows long, digest string"
    results = map_in_arrow(rows, partition, schema).collect()
    return [tuple(value for value in row if value is not None) for row in results]


def map_in_arrow(
    rows: DataFrame,
    function: Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]],
    schema: str,
) -> DataFrame:
    """Do what `DataFrame.mapInArrow` does, which takes no names with dots or backticks.

    Parameters
    ----------
    rows : their columns may have any name, by which the function knows them
    function : of a partition's batches. It must pickle
    schema : Spark's schema of what it gives
    """
    names = rows.columns

    def partition(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return function(batch.rename_columns(names) for batch in batches)

    return rows.toDF(*(f"column{number}" for number in range(len(names)))).mapInArrow(
        partition, schema
    )


def run_to_end(rows: DataFrame) -> None:
    """Execute a batch's plan and drop its rows: a stateful batch must be read to its end."""
    rows.write.format("noop").mode("overwrite").save()


def end_jvm(spark: SparkSession, seconds_max: float) -> None:
    """Stop a session, and let its JVM end by itself, so that it does what it does at its end."""
    gateway = spark.sparkContext._gateway
    assert gateway is not None
    spark.stop()
    gateway.proc.stdin.close()
    gateway.proc.wait(seconds_max)


def why_gone(spark: SparkSession) -> str:
    """Describe why nothing runs in a session any more, and what to do; empty while it can run."""
    try:
        context = spark.sparkContext._jsc
        if context is not None and not context.sc().isStopped():
            return ""
    except Exception as error:  # noqa: BLE001 - without its JVM, whatever py4j and sockets raise
        return (
            f"the JVM of its Spark session does not answer ({first_line(error)}); it has died, or "
            "was killed. Spark makes no other in one process. Call stop(), and start the pipeline "
            "in a new process"
        )
    return (
        "its Spark session was stopped. Call stop(), then start(spark) with another: "
        "streamproof.spark_bindings.spark_session()"
    )


def was_made_meanwhile(error: Exception) -> bool:
    """Return whether Spark has found a checkpoint's file that was not there a moment before."""
    return "SparkConcurrentModificationException" in str(error)


def sources_by_option(frame: DataFrame, option: str) -> Counter[str]:
    """Count the streaming sources of a plan by the value of an option; others count as ''.

    Spark makes one source for each distinct relation in the analysed plan, wherever it occurs.
    """
    leaves = _java(frame).queryExecution().analyzed().collectLeaves()
    found: list[Any] = []
    for index in range(leaves.size()):
        leaf = leaves.apply(index)
        if leaf.isStreaming() and not any(leaf.equals(other) for other in found):
            found.append(leaf)
    return Counter(_option(leaf, option) for leaf in found)


def channel_sources(frame: DataFrame, options: Sequence[str]) -> list[dict[str, str] | None]:
    """List the streaming sources of a plan in the order in which Spark keeps their offsets.

    One that the plan uses in two places is listed twice, and has two offsets.

    Parameters
    ----------
    frame, options : the plan, and what to tell of each source that has the first of these; None
        stands for others
    """
    leaves = elements(_java(frame).queryExecution().analyzed().collectLeaves())
    found: list[dict[str, str] | None] = []
    for leaf in leaves:
        if leaf.isStreaming() and leaf.nodeName().startswith("StreamingRelation"):
            said = {option: _option(leaf, option) for option in options}
            found.append(said if said[options[0]] else None)
    return found


def offsets_of(rows: DataFrame, query: str) -> list[str | None] | None:
    """Return the end offsets of the batch under way, by source, as the running query has them.

    Spark has written the same into its checkpoint, where another driver may have replaced it. None
    if no such query runs.

    Parameters
    ----------
    rows, query : of the batch, and the query's id
    """
    running = _java_session(rows.sparkSession).sharedState().activeStreamingQueries()
    for execution in running.values():
        if execution.id().toString() == query:
            ends, sources = execution.availableOffsets(), execution.sources()
            offsets = [ends.get(source) for source in elements(sources)]
            return [each.get().json() if each.isDefined() else None for each in offsets]
    return None


def outermost_origins(
    frame: DataFrame, prefix: str, option: str, columns: AbstractSet[str]
) -> list[str]:
    """Name where the rows of a plan come from: operators by their metrics, or sources.

    A plan that two operators have made side by side has two; one behind the other are one.

    Parameters
    ----------
    frame : the plan
    prefix : how the names of the observed metrics begin by which operators are known
    option, columns : sources count that have this option, which names them, and these columns
    """
    operators, found = [analysed(frame)], []
    while operators:
        operator = operators.pop()
        name = operator.name() if operator.nodeName() == "CollectMetrics" else ""
        if name.startswith(prefix):
            found.append(name)
            continue
        operators += elements(operator.children())
        source = _option(operator, option)
        if source and columns <= {each.name() for each in elements(operator.output())}:
            found.append(source)
    return sorted(found)


@dataclass(frozen=True, slots=True)
class PlanNode:
    """An operator or an expression of a query's analysed plan.

    Attributes
    ----------
    name, text : its class, and how Spark writes it
    is_deterministic : as Spark says of an expression; an operator counts as such
    inputs : the types of an expression's children
    within : the classes of the expressions around it, from the outermost on
    uses_clock : it is an operator with timers or timeouts by processing time
    """

    name: str
    text: str
    is_deterministic: bool = True
    inputs: tuple[str, ...] = ()
    within: tuple[str, ...] = ()
    uses_clock: bool = False


def plan_nodes(frame: DataFrame) -> Iterator[PlanNode]:
    """Yield the operators and expressions of a plan, as Spark has analysed it."""
    for operator in _operators(frame):
        name = operator.getClass().getSimpleName()
        yield PlanNode(name, name, uses_clock=_has_clock(operator))
        expressions: list[tuple[Any, tuple[str, ...]]] = [
            (each, ()) for each in elements(operator.expressions())
        ]
        while expressions:
            expression, within = expressions.pop()
            name, children = expression.getClass().getSimpleName(), elements(expression.children())
            expressions += [(child, (*within, name)) for child in children]
            yield PlanNode(
                name,
                expression.toString(),
                # An expression is also what its children are; the one to name is theirs.
                is_deterministic=expression.deterministic()
                or not all(child.deterministic() for child in children),
                inputs=tuple(child.dataType().simpleString() for child in children),
                within=within,
            )


def uses_clock(frame: DataFrame) -> bool:
    """Return whether a plan has an operator with timers or timeouts by processing time."""
    return any(map(_has_clock, _operators(frame)))


def watermarks(frame: DataFrame) -> list[str]:
    """List the columns of a plan's watermarks. One that the plan uses in two places is one."""
    found = {
        str(operator.nodeId().toString()): str(operator.eventTime().name())
        for operator in _operators(frame)
        if operator.nodeName() == "EventTimeWatermark"
    }
    return list(found.values())


def _operators(frame: DataFrame) -> Iterator[Any]:
    """Yield the operators of a plan as Spark has analysed it, each before those that it reads."""
    waiting = [analysed(frame)]
    while waiting:
        operator = waiting.pop()
        yield operator
        waiting += elements(operator.children())


def _has_clock(operator: Any) -> bool:
    methods = {method.getName() for method in operator.getClass().getMethods()}
    modes = (str(getattr(operator, mode)()) for mode in {"timeMode", "timeout"} & methods)
    return any("processing" in mode.lower() for mode in modes)


def analysed(frame: DataFrame) -> Any:
    """Return a plan as Spark has analysed it: names are resolved, and nothing is optimised."""
    return _java(frame).queryExecution().analyzed()


def elements(sequence: Any) -> list[Any]:
    """List the elements of a sequence of Scala's."""
    return [sequence.apply(index) for index in range(sequence.size())]


def is_a(spark: SparkSession, thing: Any, kind: str) -> bool:
    """Return whether something in the JVM is of a class, or of one that extends it."""
    assert spark.sparkContext._jvm is not None
    return bool(spark.sparkContext._jvm.py4j.reflection.TypeUtil.isInstanceOf(kind, thing))


def default_of(spark: SparkSession, setting: str) -> str | None:
    """Return the default of a setting; None if Spark knows none of this name."""
    assert spark.sparkContext._jvm is not None
    entry = spark.sparkContext._jvm.org.apache.spark.internal.config.ConfigEntry.findEntry(setting)
    return None if entry is None else str(entry.defaultValueString())


def told_of_source(leaf: Any) -> tuple[str, dict[str, str], str] | None:
    """Return the format, the options and the catalogue's table of a streaming leaf of a plan.

    None stands for a leaf that Spark did not make of a reader.
    """
    if leaf.nodeName() == "StreamingRelationV2":
        options = {str(name): str(value) for name, value in dict(leaf.extraOptions()).items()}
        table = leaf.identifier()
        return leaf.sourceName(), options, table.get().toString() if table.isDefined() else ""
    if leaf.nodeName() == "StreamingRelation":
        source = leaf.dataSource()
        names = elements(source.options().keys().toSeq())
        options = {str(name): str(source.options().apply(name)) for name in names}
        table = source.catalogTable()
        named = table.get().identifier().unquotedString() if table.isDefined() else ""
        return source.className(), options, named
    return None


def digest_of(spark: SparkSession, leaf: Any) -> str:
    """Count the rows of a leaf of a plan, and digest them in any order."""
    assert spark.sparkContext._jvm is not None
    classic = spark.sparkContext._jvm.org.apache.spark.sql.classic
    rows = DataFrame(classic.Dataset.ofRows(_java_session(spark), leaf), spark)
    rows = rows.toDF(*(f"column{number}" for number in range(len(rows.columns))))
    # Spark has no hash of maps.
    each = [
        F.to_json(F.struct(name)) if "map<" in kind or "variant" in kind else F.col(name)
        for name, kind in rows.dtypes
    ]
    digest = F.sum(F.xxhash64(*each).cast("decimal(20, 0)")) if each else F.lit(None)
    count, total = rows.agg(F.count("*"), digest).collect()[0]
    return f"rows {count}, digest {int(total or 0) % 2**64:x}"


def qualified_path(spark: SparkSession, path: str) -> str:
    """Return a path as Spark's file system has it: absolute, and with its scheme."""
    context = spark.sparkContext
    assert context._jvm is not None
    found = context._jvm.org.apache.hadoop.fs.Path(path)
    try:
        system = found.getFileSystem(context._jsc.hadoopConfiguration())
        return str(system.makeQualified(found).toString())
    except Exception:  # noqa: BLE001 - without a file system of this scheme the text has to do
        return path


def register_once(spark: SparkSession, source: type[Any]) -> None:
    """Make a Python data source known to a session; registering it twice would print a warning."""
    session = _java_session(spark)
    if session.sessionState().dataSourceManager().dataSourceExists(source.name()):
        return
    with _active(spark):  # Spark looks into the active session whether it is there
        spark.dataSource.register(source)


@contextmanager
def written_out(spark: SparkSession) -> Iterator[None]:
    """Let Spark write expressions in full, which it else cuts off behind 25 arguments."""
    before = spark.conf.get(_FIELDS_MAX)
    with _active(spark):
        spark.conf.set(_FIELDS_MAX, str(2**31 - 1))
        try:
            yield
        finally:
            spark.conf.set(_FIELDS_MAX, str(before))


@contextmanager
def _active(spark: SparkSession) -> Iterator[None]:
    """Make a session the one that Spark asks for its settings; a second one is not."""
    assert spark.sparkContext._jvm is not None
    sessions = spark.sparkContext._jvm.SparkSession
    before = sessions.getActiveSession()
    sessions.setActiveSession(_java_session(spark))
    try:
        yield
    finally:
        if before.isDefined():
            sessions.setActiveSession(before.get())
        else:
            sessions.clearActiveSession()


def _java(frame: DataFrame) -> Any:
    return frame._jdf


def _java_session(spark: SparkSession) -> Any:
    return spark._jsparkSession


def _option(leaf: Any, option: str) -> str:
    if leaf.nodeName() != "StreamingRelationV2":
        return ""
    return str(leaf.extraOptions().getOrDefault(option, ""))
