"""A query, as a job declares it: what it reads and writes, and how it runs."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from itertools import pairwise
from typing import Any

from pyspark.sql import DataFrame

from streamproof.spark_bindings.arguments import is_whole, member_of
from streamproof.spark_bindings.channels.source import COMMITS_MAX
from streamproof.spark_bindings.durations import Duration, milliseconds
from streamproof.spark_bindings.errors import WrongArgument, WrongWiring
from streamproof.spark_bindings.names import is_name

INTERVAL_MS_MAX = 10**10
"""About four months."""
PARTITIONS_MAX = 1_000
_BOUND = (str, bytes, int, float, Decimal, dt.date)


class OutputMode(Enum):
    """Which rows of its result a query emits in a batch; the meaning is Spark's.

    Examples
    --------
    >>> OutputMode("update")
    <OutputMode.UPDATE: 'update'>
    """

    APPEND = "append"
    UPDATE = "update"
    COMPLETE = "complete"


@dataclass(frozen=True, slots=True)
class Standby:
    """A query with a standby copy, run by `streamproof run`; see docs/how-to/hot-standby.md.

    Parameters
    ----------
    partitions : pairs of copies that share the query's work
    by : with partitions, the column of all inputs by whose value they share it: the *key*
    bounds : the start of the key range of each partition but the first, ascending. Nulls are in the
        first partition. Without bounds, the key's hash decides

    Raises
    ------
    WrongArgument : if something has the wrong type
    WrongWiring : if a number cannot be used, or the bounds do not divide the keys

    Examples
    --------
    >>> Standby(partitions=3, by="country", bounds=("F", "N"))
    Standby(partitions=3, by='country', bounds=('F', 'N'))
    """

    partitions: int = 1
    by: str | None = None
    bounds: Sequence[Any] = ()

    def __post_init__(self) -> None:
        if not is_whole(self.partitions, 1, PARTITIONS_MAX):
            raise WrongWiring(
                f"Standby was given partitions={self.partitions!r}. Each partition is two "
                f"processes. Give a whole number from 1 to {PARTITIONS_MAX}"
            )
        if self.by is not None and (not isinstance(self.by, str) or not self.by):
            raise WrongArgument(
                f"Standby was given by={self.by!r}. It is the name of one column that all inputs "
                'have. Write for example Standby(partitions=4, by="country")'
            )
        if (self.partitions > 1) != (self.by is not None):
            raise WrongWiring(
                f"Standby was given partitions={self.partitions!r}, by={self.by!r}. Partitions "
                "share a query's work by the value of a column. Give both, or neither"
            )
        object.__setattr__(self, "bounds", self._checked_bounds())

    def _checked_bounds(self) -> tuple[Any, ...]:
        is_list = isinstance(self.bounds, Sequence) and not isinstance(self.bounds, str | bytes)
        bounds = tuple(self.bounds) if is_list else ()
        try:
            # Of what is no value, or NaN, no comparison holds: no range begins there.
            ascend = all(isinstance(bound, _BOUND) and bool(bound == bound) for bound in bounds)  # noqa: PLR0124
            ascend = ascend and all(low < high for low, high in pairwise(bounds))
        except TypeError:
            ascend = False  # they cannot be compared
        if not is_list or not ascend or len(bounds) not in (0, self.partitions - 1):
            raise WrongWiring(
                f"Standby was given partitions={self.partitions}, by={self.by!r}, "
                f"bounds={self.bounds!r}. Each partition but the first starts at a bound, or rows "
                f"would be in none or in two. Give {self.partitions - 1} values of the column's "
                "type that ascend, or leave them out"
            )
        return bounds


@dataclass(frozen=True, slots=True)
class Query:
    """A streaming query between channels.

    Parameters
    ----------
    name : letters, digits and underscores; a directory is named after it
    inputs : the channels that it reads, each once
    output : the channel that it alone writes
    plan : a function from the inputs' DataFrames, in the order of `inputs`, to the output's. It
        must be deterministic: Spark may run a batch again, and the rows of the first run count
    output_mode : for plans with an aggregation; ``"append"``, ``"update"`` or ``"complete"``
    processing_time : how often it looks for new commits, as in `trigger(processingTime=...)`; in
        whole milliseconds, 0 is without pause
    commits_per_batch_max : commits of each input that one batch takes at most
    rows_per_batch_max : rows of each input after which a batch ends, at a commit; None is no limit
    standby : a `Standby` runs it as two copies, primary and standby

    Raises
    ------
    WrongArgument : if something has the wrong type
    WrongWiring : if a name or a number cannot be used

    Examples
    --------
    >>> query = Query(
    ...     "revenue",
    ...     inputs=["orders"],
    ...     output="revenue",
    ...     plan=lambda orders: orders.groupBy("country").sum("cents").toDF("country", "cents"),
    ...     output_mode="update",
    ...     processing_time="1 second",
    ... )
    >>> query.inputs
    ('orders',)
    """

    name: str
    inputs: Sequence[str]
    output: str
    plan: Callable[..., DataFrame]
    output_mode: OutputMode | str = OutputMode.APPEND
    processing_time: Duration = "100 ms"
    commits_per_batch_max: int = COMMITS_MAX
    rows_per_batch_max: int | None = None
    standby: Standby | None = None

    def __post_init__(self) -> None:
        is_list = isinstance(self.inputs, Sequence) and not isinstance(self.inputs, str | bytes)
        if not is_list:
            raise WrongArgument(
                f"query {self.name!r} has inputs={self.inputs!r}. Inputs are a list of channel "
                f"names, also if there is one. Write: inputs=[{str(self.inputs)!r}]"
            )
        object.__setattr__(self, "inputs", tuple(self.inputs))
        if not callable(self.plan):
            raise WrongArgument(
                f"query {self.name!r} has plan={self.plan!r}. A plan is a function from DataFrames "
                "to a DataFrame, called once at the start. Write: plan=lambda rows: rows.where(...)"
            )
        if self.standby is not None and not isinstance(self.standby, Standby):
            raise WrongArgument(
                f"query {self.name!r} has standby={self.standby!r}. Write: standby=Standby(), or "
                'standby=Standby(partitions=4, by="country")'
            )
        mode = member_of(f"query {self.name!r}", "output_mode", self.output_mode, OutputMode)
        object.__setattr__(self, "output_mode", mode)
        for text in (self.name, self.output, *self.inputs):
            require_name(text, f"query {self.name!r}")
        if not self.inputs or len(set(self.inputs)) != len(self.inputs):
            raise WrongWiring(
                f"query {self.name!r} has the inputs {self.inputs}. It needs at least one, and "
                "each once: a channel that is read twice has two positions. Use one DataFrame in "
                "both places"
            )
        self._check_numbers()

    def _check_numbers(self) -> None:
        limits = [self.commits_per_batch_max]
        limits += [] if self.rows_per_batch_max is None else [self.rows_per_batch_max]
        if self.processing_time_ms > INTERVAL_MS_MAX or not all(is_whole(n, 1) for n in limits):
            raise WrongWiring(
                f"query {self.name!r} has processing_time={self.processing_time!r}, "
                f"commits_per_batch_max={self.commits_per_batch_max!r}, "
                f"rows_per_batch_max={self.rows_per_batch_max!r}. It would never advance, or Spark "
                f"would not take them. Give an interval of at most {INTERVAL_MS_MAX} ms, and "
                "limits of at least 1"
            )

    @property
    def processing_time_ms(self) -> int:
        """Milliseconds from one look for new commits to the next."""
        return milliseconds(f"query {self.name!r}", "processing_time", self.processing_time)

    @property
    def spark_mode(self) -> str:
        """Its output mode, as Spark writes it."""
        return OutputMode(self.output_mode).value

    @property
    def is_paired(self) -> bool:
        """Whether it runs as pairs of copies."""
        return self.standby is not None

    @property
    def partitions(self) -> int:
        """The pairs that share its work; 1 for a query without a standby."""
        return 1 if self.standby is None else self.standby.partitions


def require_name(text: object, whose: str) -> None:
    """Refuse a name that cannot be that of a directory.

    Raises
    ------
    WrongWiring : if it is none
    """
    if not is_name(text):
        raise WrongWiring(
            f"{whose} uses the name {text!r}. A name becomes a directory: it has letters, digits "
            "and underscores, begins with a letter and is at most 63 long. Rename it"
        )
