"""What the streaming sources of a plan read: a directory, a topic, a table, a channel.

Options of a source may be secrets. Those that say which rows it gives are noted as they are, the
others as a hash, which is compared alone.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from pyspark.sql import SparkSession

from streamproof.spark_bindings._spark import elements, qualified_path, told_of_source
from streamproof.spark_bindings.channels.source import OUTSIDE

_LISTS = ("kafka.bootstrap.servers", "subscribe")
"""Of these the order does not count."""
_SAY_WHICH = (
    *_LISTS,
    *("subscribepattern", "assign", "topic", "topics", "topicspattern", "service.url"),
    *("host", "port", "table", "dbtable", "stream", "streamname", "subscriptionid", "projectid"),
)
"""Options by which sources other than those of files are told what to read, in small letters."""
_SECRET = re.compile("password|secret|token|credential|jaas|connectionstring|key")
_PACE = re.compile("max|min|latestfirst|startingoffsets|failondataloss")
"""Options that say how much of a source comes in a batch, and from where on at first."""
_LOGIN = re.compile("//[^/@]*:[^/@]*@")  # abfss://container@account has no colon


@dataclass(frozen=True, slots=True)
class Source:
    """A streaming source of a plan.

    Attributes
    ----------
    reads : what it reads, as a user would say it, without secrets
    options : a hash of its other options; empty if it has none
    """

    reads: str
    options: str


def source_of(spark: SparkSession, leaf: Any) -> Source:
    """Describe a streaming leaf of an analysed plan.

    Parameters
    ----------
    spark : the session of the plan, whose file system knows where a relative path leads
    leaf : Spark's own object
    """
    told = told_of_source(leaf)
    if told is None:
        return Source(str(leaf.nodeName()), "")
    kind, options, table = told
    lower = {name.lower(): value for name, value in options.items()}
    return described(kind, lower, table, partial(qualified_path, spark))


def table_of(spark: SparkSession, leaf: Any) -> Source | None:
    """Describe a leaf of an analysed plan that is no stream; None if Spark made it of no reader.

    Parameters
    ----------
    spark : the session of the plan, whose file system knows where a relative path leads
    leaf : Spark's own object
    """
    told = _told_of_table(leaf)
    return told and described(*told, partial(qualified_path, spark))


def described(
    kind: str,
    options: Mapping[str, str],
    table: str = "",
    qualified: Callable[[str], str] = str,
) -> Source:
    """Describe a source by what it was told.

    Parameters
    ----------
    kind : its format
    options : by their names in small letters
    table : its name in a catalogue, else empty
    qualified : makes a path absolute
    """
    if "channel" in options and "pipeline" in options:
        # A query reads channels of its own pipeline, which has another id where it is restored.
        of = f" of pipeline {options['pipeline']}" if options.get("reader") == OUTSIDE else ""
        return Source(f"channel {options['channel']}{of}", "")
    said = {name: options[name] for name in _SAY_WHICH if name in options}
    for name in {*_LISTS} & {*said}:
        said[name] = ",".join(sorted(part.strip() for part in said[name].split(",")))
    if "path" in options:
        said = {"path": qualified(options["path"])}
    elif table:
        said = {"table": table}
    reads = ", ".join(f"{name} {_LOGIN.sub('//', value)}" for name, value in said.items())
    known = {*said, "path"}
    others = {
        name: value
        for name, value in options.items()
        if name not in known and not _SECRET.search(name) and not _PACE.match(name)
    }
    text = json.dumps(others, sort_keys=True).encode()
    digest = hashlib.sha256(text).hexdigest()[:16] if others else ""
    return Source(reads if "path" in said else f"{kind} {reads}".strip(), digest)


def _told_of_table(leaf: Any) -> tuple[str, dict[str, str], str] | None:
    """Return the format, the options and the name of a table that is no stream."""
    if leaf.nodeName().startswith("DataSourceV2Relation"):
        options = dict(leaf.options().asCaseSensitiveMap())
        named = leaf.identifier()
        table = named.get().toString() if named.isDefined() else ""
        return (
            leaf.table().name(),
            {str(name).lower(): str(options[name]) for name in options},
            table,
        )
    methods = {method.getName() for method in leaf.getClass().getMethods()}
    if not {"relation", "catalogTable"} <= methods:
        return None
    named, relation = leaf.catalogTable(), leaf.relation()
    table = named.get().identifier().unquotedString() if named.isDefined() else ""
    if relation.getClass().getSimpleName() != "HadoopFsRelation":
        return str(relation.toString()), {}, table
    names = elements(relation.options().keys().toSeq())
    options = {str(name).lower(): str(relation.options().apply(name)) for name in names}
    paths = sorted(str(path.toString()) for path in elements(relation.location().rootPaths()))
    return str(relation.fileFormat().toString()), {**options, "path": ", ".join(paths)}, table
