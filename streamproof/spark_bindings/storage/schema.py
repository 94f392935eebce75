"""A channel's schema: given as Spark or Arrow would write it, kept as what Delta stores."""

from __future__ import annotations

import re
from typing import Any, TypeAlias

import pyarrow as pa
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.types import ArrayType, DataType, MapType, StructType

from streamproof.spark_bindings.errors import WrongArgument, WrongRows, WrongSchema, first_line
from streamproof.spark_bindings.storage.values import cast_exactly, from_pandas

ChannelSchema: TypeAlias = "str | StructType | pa.Schema"
"""``"plane string, `air time` long, legs array<string>"``, a `StructType` or a `pyarrow.Schema`."""

_DDL_NAMES = {
    "bigint": "long",
    "int": "integer",
    "smallint": "short",
    "tinyint": "byte",
    "real": "float",
}
_COLUMN = re.compile(r"\s*(?:`((?:[^`]|``)+)`|([^\s`]+))\s+(.*?)\s*", re.DOTALL)
_FIELD = re.compile(r"\s*(?:`((?:[^`]|``)+)`|([^\s`:]+))\s*[:\s]\s*(.*?)\s*", re.DOTALL)
_DISGUISED = re.compile(r"\b(variant|geography|geometry|collate)\b")
_NESTED = re.compile(r"(array|map|struct)\s*<(.*)>", re.DOTALL | re.IGNORECASE)


def stored_schema(schema: ChannelSchema, whose: str) -> pa.Schema:
    """Return the Arrow schema that Delta stores for a declared one. Needs no Spark session.

    Parameters
    ----------
    schema : as it was declared
    whose : for messages, such as ``channel 'bids'``

    Raises
    ------
    WrongArgument : if it is nothing that can be read as a schema
    WrongSchema : if it is malformed, empty, or has a type that Delta cannot store
    """
    if not isinstance(schema, str | StructType | pa.Schema):
        raise WrongArgument(
            f"{whose} was given {schema!r} as its schema. A schema is a string, a StructType or "
            'a pyarrow.Schema. Write for example "key string, value long"'
        )
    try:
        if isinstance(schema, str):
            schema = _parse(schema)
        if isinstance(schema, StructType):
            _require_plain_types(schema)
            schema = to_arrow_schema(schema, timezone="UTC")
        stored = _as_stored(schema)
        _require_readable(stored)
    except Exception as error:
        # Four libraries read schemas here, and each has errors of its own.
        raise WrongSchema(
            f"the schema of {whose} cannot be used: {first_line(error)}"
            f"{_unknown_to_delta(schema)}. Its rows could not be stored. Write simple types, "
            '"key string, value long", or give a StructType or pyarrow.Schema'
        ) from error
    if len(stored.names) != len(set(stored.names)) or not stored.names:
        raise WrongSchema(
            f"the schema of {whose} has the columns {stored.names}: there must be at "
            "least one, and no name twice, because columns are found by name. Rename or add columns"
        )
    return stored.remove_metadata()


def spark_schema(stored: pa.Schema) -> StructType:
    """Return the Spark schema in which a channel is read."""
    return from_arrow_schema(stored, prefer_timestamp_ntz=True)


def holds(stored: DataType, given: DataType) -> bool:
    """Return whether a column of a type can take all values of another one.

    Where nulls are allowed, there may be a type without them: Spark says of what `split` gives
    that it has none.
    """
    match stored, given:
        case ArrayType(), ArrayType():
            return _may_be_null(stored.containsNull, given.containsNull) and holds(
                stored.elementType, given.elementType
            )
        case MapType(), MapType():
            return (
                _may_be_null(stored.valueContainsNull, given.valueContainsNull)
                and holds(stored.keyType, given.keyType)
                and holds(stored.valueType, given.valueType)
            )
        case StructType(), StructType():
            return stored.names == given.names and all(
                _may_be_null(one.nullable, other.nullable) and holds(one.dataType, other.dataType)
                for one, other in zip(stored, given, strict=True)
            )
    return stored == given


def _may_be_null(stored: bool, given: bool) -> bool:
    return stored or not given


def spelled(kind: DataType) -> str:
    """Write a type with all in which two can differ: ``array<int not null>``."""
    match kind:
        case ArrayType():
            return f"array<{spelled(kind.elementType)}{_nulls(kind.containsNull)}>"
        case MapType():
            value = spelled(kind.valueType) + _nulls(kind.valueContainsNull)
            return f"map<{spelled(kind.keyType)},{value}>"
        case StructType():
            parts = (
                f"{field.name}:{spelled(field.dataType)}{_nulls(field.nullable)}" for field in kind
            )
            return f"struct<{','.join(parts)}>"
    return kind.simpleString()


def _nulls(are_allowed: bool) -> str:
    return "" if are_allowed else " not null"


def describe(stored: pa.Schema) -> str:
    """Write a schema as ``name type, name type``, for messages and pipeline.json."""
    return ", ".join(f"{field.name} {field.type}" for field in stored)


def fit(rows: Any, stored: pa.Schema, channel: str) -> pa.Table:
    """Bring rows into a channel's schema: columns by name, values cast where none changes.

    A NaN of a frame is a number in a column of floating point numbers, and null elsewhere. Times
    without a zone are those of UTC.

    Parameters
    ----------
    rows : a `pyarrow.Table` or `RecordBatch`, or a pandas frame
    stored : the channel's schema
    channel : its name, for messages

    Raises
    ------
    WrongRows : if a column is missing or too many, or a value does not fit; nothing was written
    """
    is_arrow = isinstance(rows, pa.Table | pa.RecordBatch)
    wrong = f"they are {type(rows).__name__}, and no Arrow table or pandas frame"
    name = ""
    try:
        names = [str(name) for name in (rows.column_names if is_arrow else rows.columns)]
        wrong = f"their columns are {names}"
        if sorted(names) == sorted(stored.names):
            columns = []
            for field in stored:
                name = field.name
                there = rows.column(name) if is_arrow else rows.iloc[:, names.index(name)]
                given = there if is_arrow else from_pandas(there, field.type)
                columns.append(cast_exactly(given, field))
            return pa.Table.from_arrays(columns, schema=stored)
    except Exception as error:  # noqa: BLE001 - pyarrow and pandas have many; raised below
        wrong = f"column {name!r}: {first_line(error)}" if name else wrong
    raise WrongRows(
        f"rows do not fit channel {channel!r} ({describe(stored)}): {wrong}. Nothing was appended. "
        "Rename, add or cast their columns"
    )


def _as_stored(schema: pa.Schema) -> pa.Schema:
    from deltalake import Schema  # here, since workers use `fit` alone and should start fast

    return pa.schema(Schema.from_arrow(schema).to_arrow())


def _require_plain_types(schema: StructType) -> None:
    """Refuse types that pass for structs on their way through Arrow."""
    for field in schema:
        kind = field.dataType.simpleString()
        if found := _DISGUISED.search(kind):
            raise TypeError(f"column {field.name!r} is {kind}, and Delta stores no {found[0]} here")


def _require_readable(stored: pa.Schema) -> None:
    """Refuse types that Delta stores and Spark reads as others, or cannot read."""
    for field in stored:
        seen = to_arrow_schema(spark_schema(pa.schema([field])), timezone="UTC").field(0)
        if seen.type != field.type or _has_no_part(field.type):
            raise TypeError(
                f"column {field.name!r} is {field.type}, which Spark reads as {seen.type}"
            )


def _has_no_part(kind: pa.DataType) -> bool:
    if pa.types.is_struct(kind) and kind.num_fields == 0:
        return True
    return any(_has_no_part(kind.field(number).type) for number in range(kind.num_fields))


def _unknown_to_delta(schema: ChannelSchema) -> str:
    """Name the columns whose types Delta does not store, behind a comma; or nothing."""
    if not isinstance(schema, pa.Schema):
        return ""
    unknown = []
    for field in schema:
        try:
            _as_stored(pa.schema([field]))
        except Exception:  # noqa: BLE001 - raised above
            unknown.append(f"{field.name!r} ({field.type})")
    return f", which is about {', '.join(unknown)}" if unknown else ""


def _parse(text: str, column: re.Pattern[str] = _COLUMN) -> StructType:
    schema = StructType()
    for part in _split(text):
        found = column.fullmatch(part)
        if found is None:
            raise ValueError(f"{part.strip()!r} is no name and type")
        quoted, plain, kind = found.groups()
        name = plain if quoted is None else quoted.replace("``", "`")
        schema = schema.add(name, _parse_type(kind))
    return schema


def _parse_type(text: str) -> DataType | str:
    """Return a type with others in it as Spark's object, and a simple one as Spark's name of it."""
    nested = _NESTED.fullmatch(text.strip())
    if nested is None:
        kind = text.strip().lower()
        return _DDL_NAMES.get(kind, kind)
    kind, inner = nested[1].lower(), nested[2]
    if kind == "struct":
        return _parse(inner, _FIELD)
    parts = [_as_object(_parse_type(part)) for part in _split(inner)]
    if len(parts) != {"array": 1, "map": 2}[kind]:
        raise ValueError(f"{text.strip()!r} has {len(parts)} types in it")
    return ArrayType(parts[0]) if kind == "array" else MapType(parts[0], parts[1])


def _as_object(kind: DataType | str) -> DataType:
    return StructType().add("type", kind)["type"].dataType


def _split(text: str) -> list[str]:
    """Split at commas outside of brackets and quotes: ``a decimal(10,2), `b,c` long`` at one."""
    parts, depth, is_quoted = [""], 0, False
    for character in text:
        is_quoted ^= character == "`"
        depth += 0 if is_quoted else {"(": 1, ")": -1, "<": 1, ">": -1}.get(character, 0)
        if character == "," and depth == 0 and not is_quoted:
            parts.append("")
        else:
            parts[-1] += character
    return parts
