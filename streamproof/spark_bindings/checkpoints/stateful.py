"""What must be the same in a plan's next life: what its states are of, and what its inputs read.

Keys and aggregates are told by the columns that the sources give, through all names that a plan
gives them on the way. What Spark numbers anew in each session, or in each lambda, is left out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from streamproof.spark_bindings._spark import analysed, elements
from streamproof.spark_bindings.checkpoints.meaning import settings_for
from streamproof.spark_bindings.checkpoints.plan_sources import source_of

_NUMBER = re.compile(r"#\d+L?|-T\d+ms")  # of a column, and how long its watermark waits
_LAMBDA = re.compile(r"lambda (\w+)#\d+L?")
_KEPT_HASH = "\0"
_KEPT_BY = {
    "Aggregate": ("groupingExpressions", "aggregateExpressions"),
    "Deduplicate": ("keys",),
    "DeduplicateWithinWatermark": ("keys",),
    "Distinct": ("output",),
    "FlatMapGroupsInPandasWithState": ("groupingAttributes",),
}
"""By which of its parts an operator's state can be told from that of another of its kind."""
MERGED_AS, MERGED_WITH = "streamproof.merged_as", "streamproof.merged_with"
"""Keys of a column's metadata, where rows come into a merge: the name of the input, and what the
settings of the merge are that may not change."""
_BY_FIRST_COLUMNS = ("TransformWithStateInPySpark", "TransformWithStateInPandas")


@dataclass(frozen=True, slots=True)
class Stateful:
    """An operator that keeps state.

    Attributes
    ----------
    state : its kind, and what its state is of
    rows : which rows come to it: the conditions of the filters below it
    """

    state: str
    rows: str


@dataclass(frozen=True, slots=True)
class Input:
    """A streaming source in its place in a plan.

    Attributes
    ----------
    name : that it has in a merge, behind those of merges around; empty if it is in none
    source : what it reads
    rows : which rows of it come to the merge, and what of them; and its other options
    """

    name: str
    source: str
    rows: str


@dataclass(frozen=True, slots=True)
class FixedPlan:
    """What of a plan must be the same in the next life of its query.

    Attributes
    ----------
    stateful : the operators that keep state, each before those below it
    inputs : in the order in which Spark keeps their offsets
    merges : per merge, its settings that may not change
    settings : of the session, which decide what the states are of, by their names
    watermarks : the columns that they are of, each once
    output_mode : which rows of its result the query emits; empty if nobody has said
    """

    stateful: Sequence[Stateful] = ()
    inputs: Sequence[Input] = ()
    merges: Sequence[Mapping[str, Any]] = ()
    settings: Mapping[str, str] = field(default_factory=dict)
    watermarks: Sequence[str] = ()
    output_mode: str = ""


def fixed_plan_of(frame: DataFrame, output_mode: str = "") -> FixedPlan:
    """Describe what of a streaming plan must be the same in the next life of its query.

    Parameters
    ----------
    frame, output_mode : the plan, and how its query emits rows
    """
    part = _looked_through(analysed(frame), frame.sparkSession)
    marks = list(part.watermarks.values())
    return FixedPlan(part.found, part.inputs, part.merges, part.settings, marks, output_mode)


def stateful_operators(frame: DataFrame) -> Sequence[Stateful]:
    """Describe the operators of a streaming plan that keep state, each before those below it."""
    return fixed_plan_of(frame).stateful


@dataclass(slots=True)
class _Part:
    """What is known of a part of a plan.

    Attributes
    ----------
    columns : what its columns are, by the numbers that Spark gives them
    filters : the conditions that its rows have passed
    found : the operators in it that keep state
    inputs, merges : its sources, and the settings of its merges
    settings : of the session, which decide what its states are of
    watermarks : the columns of its watermarks, by the ids that Spark gives these
    """

    columns: dict[int, str] = field(default_factory=dict)
    filters: list[str] = field(default_factory=list)
    found: list[Stateful] = field(default_factory=list)
    inputs: list[Input] = field(default_factory=list)
    merges: list[Mapping[str, Any]] = field(default_factory=list)
    settings: dict[str, str] = field(default_factory=dict)
    watermarks: dict[str, str] = field(default_factory=dict)


def _looked_through(operator: Any, spark: SparkSession) -> _Part:
    children = elements(operator.children())
    below = [_looked_through(child, spark) for child in children]
    part = _joined(below)
    kind = operator.getClass().getSimpleName()
    if not children and operator.isStreaming():
        source = source_of(spark, operator)
        part.inputs.append(Input("", source.reads, source.options))
    if children and all(child.isStreaming() for child in children):
        kept = _kept(operator, kind, children, part.columns)
        if kept is not None:
            own = Stateful(f"{operator.nodeName()}({kept})", "; ".join(part.filters))
            part.found.insert(0, own)
            part.settings |= settings_for(spark, operator)
    if kind == "EventTimeWatermark":  # with one id where the plan uses it in two places
        mark = _text(operator.eventTime(), part.columns)
        part.watermarks[str(operator.nodeId().toString())] = mark
    if kind == "Filter":
        part.filters.append(_text(operator.condition(), part.columns))
    if kind == "Union":
        part.columns |= _of_union(operator, children, below)
        part.filters = [" or ".join(f"({'; '.join(each.filters)})" for each in below)]
    if kind == "Project":
        _name_inputs(operator, part)
    part.columns |= _named_here(operator, kind, part.columns)
    return part


def _name_inputs(operator: Any, part: _Part) -> None:
    """Name the sources below an operator by the merge's inputs, if it is a merge.

    Its name comes from the merge, in the metadata of a column.
    """
    own = elements(operator.projectList())
    told = [str(one.metadata().json()) for one in own if one.nodeName() == "Alias"]
    names = [said for said in map(json.loads, told) if MERGED_AS in said]
    if not names:
        return
    (said,) = names
    # The last column is the one that bears the name: it numbers the input.
    rows = "; ".join([*part.filters, *(_text(one, part.columns) for one in own[:-1])])
    part.inputs = [
        Input(
            "/".join(filter(None, (said[MERGED_AS], one.name))),
            one.source,
            f"{one.rows} {rows}".strip(),
        )
        for one in part.inputs
    ]
    part.merges = [*([json.loads(said[MERGED_WITH])] if MERGED_WITH in said else []), *part.merges]


def _joined(below: Sequence[_Part]) -> _Part:
    part = _Part()
    for each in below:
        part.columns |= each.columns
        part.filters += each.filters
        part.found += each.found
        part.inputs += each.inputs
        part.merges += each.merges
        part.settings |= each.settings
        part.watermarks |= each.watermarks
    return part


def _kept(
    operator: Any, kind: str, children: Sequence[Any], columns: Mapping[int, str]
) -> str | None:
    """Return what an operator's state is of; None if it keeps none."""
    if kind == "Join":
        condition = operator.condition()
        said = [_text(condition.get(), columns)] if condition.isDefined() else []
        return "; ".join([str(operator.joinType().toString()), *said])
    if kind in _BY_FIRST_COLUMNS:
        keys = elements(children[0].output())[: operator.groupingAttributesLen()]
        return ", ".join(_text(key, columns) for key in keys)
    if kind not in _KEPT_BY:
        return None
    parts = (elements(getattr(operator, name)()) for name in _KEPT_BY[kind])
    return "; ".join(", ".join(_text(each, columns) for each in part) for part in parts)


def _of_union(
    operator: Any, children: Sequence[Any], below: Sequence[_Part]
) -> Iterator[tuple[int, str]]:
    sides = [elements(child.output()) for child in children]
    for column, *each in zip(elements(operator.output()), *sides, strict=True):
        pairs = zip(each, below, strict=True)
        said = dict.fromkeys(_text(one, part.columns) for one, part in pairs)
        yield _number(column), " or ".join(said)


def _named_here(operator: Any, kind: str, columns: Mapping[int, str]) -> Iterator[tuple[int, str]]:
    """List the columns that an operator names, or makes."""
    named = {"Project": "projectList", "Aggregate": "aggregateExpressions"}.get(kind)
    own = elements(getattr(operator, named)()) if named else []
    aliases = {_number(one): _text(one, columns) for one in own if one.nodeName() == "Alias"}
    yield from aliases.items()
    for column in elements(operator.output()):
        number = _number(column)
        if number not in columns and number not in aliases:
            yield number, f"{_source_of(operator, kind)}{column.name()}"


def _source_of(operator: Any, kind: str) -> str:
    """Name what a column comes from: a channel by its name, anything else by its kind."""
    if kind != "StreamingRelationV2":
        return "" if not elements(operator.children()) else f"{operator.nodeName()}."
    channel = str(operator.extraOptions().getOrDefault("channel", ""))
    return f"{channel}." if channel else ""


def _number(column: Any) -> int:
    return int(column.exprId().id())


def _text(expression: Any, columns: Mapping[int, str]) -> str:
    """Write an expression by the columns of the sources, alike in every session."""
    if expression.nodeName() == "Alias":
        expression = expression.child()
    said = str(expression.toString())
    known = {each.toString(): each for each in elements(expression.references().toSeq())}
    for shown in sorted(known, key=len, reverse=True):
        said = _replaced(said, shown, columns.get(_number(known[shown]), known[shown].name()))
    names = {name: f"_{n}" for n, name in enumerate(dict.fromkeys(_LAMBDA.findall(said)))}
    said = _LAMBDA.sub(lambda found: f"lambda {names[found[1]]}", said)
    for literal in _literals(expression) if "#" in said else ():
        said = _replaced(said, literal, literal)
    return _NUMBER.sub("", said).replace(_KEPT_HASH, "#")


def _replaced(said: str, shown: str, text: str) -> str:
    """Write a text in the place of what is shown, and keep what looks like a number in it."""
    plain = text.replace("#", _KEPT_HASH).replace("\\", r"\\")
    return re.sub(rf"{re.escape(shown)}(?![\dL])", plain, said)


def _literals(expression: Any) -> Iterable[str]:
    """List the texts of the literals in an expression that have a `#` in them."""
    waiting = [expression]
    while waiting:
        part = waiting.pop()
        waiting += elements(part.children())
        if part.nodeName() == "Literal" and "#" in (said := str(part.toString())):
            yield said
