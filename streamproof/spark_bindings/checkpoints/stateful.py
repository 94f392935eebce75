"""What must be the same in a plan's next life: what its states are of, and what its inputs read.

Keys and aggregates are told by the columns that the sources give, through all names that a plan
gives them on the way. What Spark numbers anew in each session, or in each lambda, is left out.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from streamproof.spark_bindings._spark import analysed, elements, written_out
from streamproof.spark_bindings.checkpoints.beneath import Beneath
from streamproof.spark_bindings.checkpoints.expressions import number_of, text_of
from streamproof.spark_bindings.checkpoints.keeping import kept_by
from streamproof.spark_bindings.checkpoints.meaning import settings_for
from streamproof.spark_bindings.checkpoints.plan_sources import source_of

MERGED_AS, MERGED_WITH = "streamproof.merged_as", "streamproof.merged_with"
"""Keys of a column's metadata, where rows come into a merge: the name of the input, and what the
settings of the merge are that may not change."""


_AGGREGATED, _TRANSFORMED = ("Aggregate(", "Except"), "TransformWithState"


@dataclass(frozen=True, slots=True)
class Stateful:
    """An operator that keeps state.

    Attributes
    ----------
    state : its kind, and what its state is of
    rows : which rows come to it: the conditions of the filters below it
    beneath : a line for each operator that its rows come through, and each source; empty if the
        state of no other of the plan is of the same
    """

    state: str
    rows: str
    beneath: Sequence[str] = ()


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
    spark = frame.sparkSession
    with written_out(spark):
        part = _looked_through(analysed(frame), spark, output_mode)
        found = list(_told_apart(part, spark))
    marks = list(part.watermarks.values())
    return FixedPlan(found, part.inputs, part.merges, part.settings, marks, output_mode)


def stateful_operators(frame: DataFrame) -> Sequence[Stateful]:
    """Describe the operators of a streaming plan that keep state, each before those below it."""
    return fixed_plan_of(frame).stateful


def _told_apart(part: _Part, spark: SparkSession) -> Iterator[Stateful]:
    """Yield the stateful operators of a plan, with what is beneath those that are of one form."""
    beneath, forms = Beneath(spark), Counter(found.stateful.state for found in part.found)
    for found in part.found:
        one = found.stateful
        if forms[one.state] > 1:
            one = replace(one, beneath=beneath.lines(found.operator, found.columns))
        yield one


@dataclass(frozen=True, slots=True)
class _Found:
    """An operator that keeps state, as Spark has it, and what the columns below it are."""

    stateful: Stateful
    operator: Any
    columns: Mapping[int, str]


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
    found: list[_Found] = field(default_factory=list)
    inputs: list[Input] = field(default_factory=list)
    merges: list[Mapping[str, Any]] = field(default_factory=list)
    settings: dict[str, str] = field(default_factory=dict)
    watermarks: dict[str, str] = field(default_factory=dict)


def _looked_through(operator: Any, spark: SparkSession, output_mode: str) -> _Part:
    children = elements(operator.children())
    below = [_looked_through(child, spark, output_mode) for child in children]
    part = _joined(below)
    kind = operator.getClass().getSimpleName()
    for subplan in elements(operator.subqueries()):
        part.columns |= _looked_through(subplan, spark, output_mode).columns
    if not children and operator.isStreaming():
        source = source_of(spark, operator)
        part.inputs.append(Input("", source.reads, source.options))
    _note_state(operator, children, part, output_mode)
    if part.found and part.found[0].operator is operator and not _is_merge(part):
        part.settings |= settings_for(spark, operator)
    if kind == "EventTimeWatermark":  # with one id where the plan uses it in two places
        mark = text_of(operator.eventTime(), part.columns)
        part.watermarks[str(operator.nodeId().toString())] = mark
    if kind == "Filter":
        part.filters.append(text_of(operator.condition(), part.columns))
    if kind == "Union":
        part.columns |= _of_union(operator, children, below)
        part.filters = [" or ".join(f"({'; '.join(each.filters)})" for each in below)]
    if kind == "Project":
        _name_inputs(operator, part)
    part.columns |= _named_here(operator, kind, part.columns)
    return part


def _note_state(operator: Any, children: Sequence[Any], part: _Part, output_mode: str) -> None:
    """Add an operator to those that keep state, if it does."""
    kept = kept_by(
        operator,
        children,
        part.columns,
        output_mode=output_mode,
        is_above_aggregate=any(each.stateful.state.startswith(_AGGREGATED) for each in part.found),
    )
    if kept is not None:
        own = Stateful(f"{operator.nodeName()}({kept})", "; ".join(part.filters))
        # A union gives its columns the numbers of one of its inputs.
        part.found.insert(0, _Found(own, operator, dict(part.columns)))


def _is_merge(part: _Part) -> bool:
    """Return whether the state of a part's uppermost operator is of a merge.

    No setting decides what that is of.
    """
    transformed = [each.stateful.state.startswith(_TRANSFORMED) for each in part.found]
    return transformed[0] and sum(transformed) <= len(part.merges)


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
    rows = "; ".join([*part.filters, *(text_of(one, part.columns) for one in own[:-1])])
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


def _of_union(
    operator: Any, children: Sequence[Any], below: Sequence[_Part]
) -> Iterator[tuple[int, str]]:
    sides = [elements(child.output()) for child in children]
    for column, *each in zip(elements(operator.output()), *sides, strict=True):
        pairs = zip(each, below, strict=True)
        said = dict.fromkeys(text_of(one, part.columns) for one, part in pairs)
        yield number_of(column), " or ".join(said)


def _named_here(operator: Any, kind: str, columns: Mapping[int, str]) -> Iterator[tuple[int, str]]:
    """List the columns that an operator names, or makes."""
    named = {"Project": "projectList", "Aggregate": "aggregateExpressions"}.get(kind)
    own = elements(getattr(operator, named)()) if named else []
    aliases = {number_of(one): text_of(one, columns) for one in own if one.nodeName() == "Alias"}
    yield from aliases.items()
    for column in elements(operator.output()):
        number = number_of(column)
        if number not in columns and number not in aliases:
            yield number, f"{_source_of(operator, kind)}{column.name()}"


def _source_of(operator: Any, kind: str) -> str:
    """Name what a column comes from: a channel by its name, anything else by its kind."""
    if kind != "StreamingRelationV2":
        return "" if not elements(operator.children()) else f"{operator.nodeName()}."
    channel = str(operator.extraOptions().getOrDefault("channel", ""))
    return f"{channel}." if channel else ""
