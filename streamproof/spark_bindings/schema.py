"""A channel's schema: given as Spark or Arrow would write it, kept as what Delta stores."""

from __future__ import annotations

from typing import Any, TypeAlias

import pyarrow as pa
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.types import StructType

from streamproof.spark_bindings.errors import WrongArgument, WrongRows, WrongSchema

ChannelSchema: TypeAlias = "str | StructType | pa.Schema"
"""``"plane string, delay long"`` (simple types), a Spark `StructType` or a `pyarrow.Schema`."""

_DDL_NAMES = {
    "bigint": "long",
    "int": "integer",
    "smallint": "short",
    "tinyint": "byte",
    "real": "float",
}


def stored_schema(schema: ChannelSchema, channel: str) -> pa.Schema:
    """Give the Arrow schema that Delta stores for a declared one. Needs no Spark session.

    Raises
    ------
    WrongArgument : if it is nothing that can be read as a schema
    WrongSchema : if it is malformed, empty, or has a type that Delta cannot store
    """
    if not isinstance(schema, str | StructType | pa.Schema):
        example = f'{{"{channel}": "key string, value long"}}'
        raise WrongArgument(
            f"channel {channel!r} was given {schema!r} as its schema. A schema is a string, a "
            f"StructType or a pyarrow.Schema. Write: {example}"
        )
    from deltalake import Schema  # here, since workers use `fit` alone and should start fast

    try:
        if isinstance(schema, str):
            schema = _parse(schema)
        if isinstance(schema, StructType):
            schema = to_arrow_schema(schema, timezone="UTC")
        stored = pa.schema(Schema.from_arrow(schema).to_arrow())
    except Exception as error:
        # Four libraries read schemas here, and each has errors of its own.
        raise WrongSchema(
            f"the schema of channel {channel!r} cannot be used: {error}. Its rows could not be "
            "stored. "
            'Write simple types, "key string, value long", or give a StructType or pyarrow.Schema'
        ) from error
    if len(stored.names) != len(set(stored.names)) or not stored.names:
        raise WrongSchema(
            f"the schema of channel {channel!r} has the columns {stored.names}: there must be at "
            "least one, and no name twice, because columns are found by name. Rename or add columns"
        )
    return stored.remove_metadata()


def spark_schema(stored: pa.Schema) -> StructType:
    """Give the Spark schema in which a channel is read."""
    return from_arrow_schema(stored, prefer_timestamp_ntz=True)


def describe(stored: pa.Schema) -> str:
    """Write a schema as ``name type, name type``, for messages and pipeline.json."""
    return ", ".join(f"{field.name} {field.type}" for field in stored)


def fit(rows: Any, stored: pa.Schema, channel: str) -> pa.Table:
    """Bring rows into a channel's schema: columns by name, values cast where nothing is lost.

    Parameters
    ----------
    rows : a `pyarrow.Table` or `RecordBatch`, or a pandas frame
    stored : the channel's schema
    channel : its name, for messages

    Raises
    ------
    WrongRows : if a column is missing or too many, or a value does not fit; nothing was written
    """
    try:
        if isinstance(rows, pa.RecordBatch):
            rows = pa.Table.from_batches([rows])
        elif not isinstance(rows, pa.Table):
            rows = pa.Table.from_pandas(rows, preserve_index=False)
        if sorted(rows.column_names) == sorted(stored.names):
            return rows.select(stored.names).cast(stored)
        wrong = f"their columns are {rows.column_names}"
    except Exception as error:  # noqa: BLE001 - pyarrow and pandas have many; raised below
        wrong = str(error)
    raise WrongRows(
        f"rows do not fit channel {channel!r} ({describe(stored)}): {wrong}. Nothing was appended. "
        "Rename, add or cast their columns"
    )


def _parse(text: str) -> StructType:
    schema = StructType()
    for column in _split(text):
        name, _, kind = column.strip().partition(" ")
        kind = kind.strip().lower()
        schema = schema.add(name, _DDL_NAMES.get(kind, kind))
    return schema


def _split(text: str) -> list[str]:
    """Split at the commas outside of parentheses: ``a decimal(10,2), b long`` has two columns."""
    parts, depth = [""], 0
    for character in text:
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return parts
