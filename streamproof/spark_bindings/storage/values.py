"""Bringing values into a channel's types: those that would come out as others are refused.

Arrow's safe casts look for overflow. They let a day lose its hours, a double its digits, a struct
its fields and a time its zone, so each cast is taken back and compared. In pandas NaN stands for
what is missing, too: in a column of floating point numbers it is a number, and elsewhere a null.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as is_

if TYPE_CHECKING:
    import pandas as pd

_UTC = ("UTC", "Etc/UTC", "+00:00", "Z")


class ChangedValue(ValueError):
    """A value would be stored as another one; the message says which and what to do."""


def cast_exactly(values: pa.ChunkedArray | pa.Array, field: pa.Field) -> Any:
    """Cast a column to a field's type if none of its values changes.

    Raises
    ------
    ChangedValue : if one would
    pyarrow.ArrowException : if Arrow knows no such cast, or refuses it
    """
    kind = field.type
    if values.null_count and not field.nullable:
        raise ChangedValue("it has nulls, and is declared to have none")
    cast = values if values.type == kind else values.cast(kind)
    if cast is not values:
        for chunk in _chunks(values):
            _require_same(chunk, kind)
    for chunk in _chunks(cast):
        _require_parts(chunk, field.name)
    return cast


def _chunks(values: pa.ChunkedArray | pa.Array) -> list[pa.Array]:
    return values.chunks if isinstance(values, pa.ChunkedArray) else [values]


def from_pandas(series: pd.Series[Any], kind: pa.DataType) -> Any:
    """Return a pandas column as Arrow would have it in a channel that stores a type.

    It has the type of its values; see `cast_exactly`.

    Raises
    ------
    ChangedValue : if Arrow would change a value on the way
    pyarrow.ArrowException : if it knows no type for them
    """
    import pandas as pd

    if isinstance(series.dtype, np.dtype) and series.dtype.kind == "f":
        numbers = series.to_numpy()
        if not numbers.dtype.isnative:
            numbers = numbers.astype(numbers.dtype.newbyteorder("="))
        return pa.array(numbers, from_pandas=not is_.is_floating(kind))
    if series.dtype == np.dtype(object) and not is_.is_string(kind):
        leaves = _Leaves(pd.NA, pd.NaT)
        values = [leaves.plain(value, kind, "") for value in series]
        if is_.is_map(kind):
            return _maps(values)
        return pa.array(values, from_pandas=False)
    return pa.array(series)


def _maps(values: list[Any]) -> pa.Array:
    pairs = [pair for value in values if value is not None for pair in value]
    keys, items = (pa.array([pair[place] for pair in pairs]) for place in (0, 1))
    return pa.array(values, type=pa.map_(keys.type, items.type))


class _Leaves:
    """Looks at Python's objects ahead of Arrow, which guesses their type by some of them."""

    def __init__(self, *missing: object) -> None:
        self._missing = missing
        self._times: dict[str, str] = {}

    def plain(self, value: Any, kind: pa.DataType, place: str) -> Any:
        """Return a value without pandas' own signs of what is missing.

        Parameters
        ----------
        kind : the type that it is to have
        place : of this value in the column's type
        """
        if value is None or any(value is sign for sign in self._missing):
            return None
        if isinstance(value, Mapping) and is_.is_struct(kind):
            kinds = {field.name: field.type for field in kind}
            return {
                name: self.plain(part, kinds.get(name, pa.null()), f"{place}.{name}")
                for name, part in value.items()
            }
        if is_.is_map(kind) and isinstance(value, Mapping | list | tuple):
            pairs = value.items() if isinstance(value, Mapping) else value
            return [
                (
                    self.plain(key, kind.key_type, f"{place}.key"),
                    self.plain(item, kind.item_type, f"{place}.value"),
                )
                for key, item in pairs
            ]
        if isinstance(value, list | tuple | np.ndarray) and _is_list(kind):
            return [self.plain(part, kind.value_type, f"{place}[]") for part in value]
        return self._leaf(value, kind, place)

    def _leaf(self, value: Any, kind: pa.DataType, place: str) -> Any:
        if isinstance(value, float | np.floating) and not is_.is_floating(kind):
            return None if np.isnan(value) else value
        if isinstance(value, dt.date):
            if getattr(value, "nanosecond", 0):
                raise ChangedValue(
                    f"{value} would lose its nanoseconds: times are stored in microseconds. "
                    "Floor them"
                )
            self._require_alike(value, place)
        return value

    def _require_alike(self, value: dt.date, place: str) -> None:
        is_time = isinstance(value, dt.datetime)
        zone = "with" if isinstance(value, dt.datetime) and value.tzinfo else "without"
        sort = f"times {zone} a zone" if is_time else "days"
        first = self._times.setdefault(place, sort)
        if first != sort:
            raise ChangedValue(
                f"{value} is among {first}, which are no {sort}: one would be read as the other. "
                "Give all of them alike"
            )


def _require_same(values: pa.Array, kind: pa.DataType) -> None:
    """Compare values with what a cast makes of them, the parts of nested ones each by itself."""
    old = values.type
    if old == kind or is_.is_null(old):
        return
    if is_.is_dictionary(old):
        _require_same(values.dictionary_decode(), kind)
    elif is_.is_struct(old) and is_.is_struct(kind):
        _require_fields(old, kind)
        for field in kind:
            _require_same(pc.struct_field(values, field.name), field.type)
    elif is_.is_map(old) and is_.is_map(kind):
        _require_same(values.keys, kind.key_type)
        _require_same(values.items, kind.item_type)
    elif _is_list(old) and _is_list(kind):
        _require_same(pc.list_flatten(values), kind.value_type)
    else:
        _require_family(old, kind)
        _require_leaf(values, kind)


def _require_parts(values: pa.Array, place: str) -> None:
    """Refuse nulls in the parts of nested values whose type says that there are none.

    Delta and Spark do not look. No query could hand on what would be stored.

    Parameters
    ----------
    place : of these values in the column, for messages
    """
    kind = values.type
    if is_.is_struct(kind):
        for field in kind:
            part, own = pc.struct_field(values, field.name), f"{place}.{field.name}"
            if values.null_count and not field.nullable:
                raise ChangedValue(
                    f"{place} is null, and so is {own}, which is declared to have no nulls. Give "
                    f"a struct, or declare that {own} may be null"
                )
            _require_part(part, field, own)
    elif is_.is_map(kind):
        there = values.drop_null()
        first, last = (there.offsets[end].as_py() for end in (0, -1))
        _require_part(there.keys[first:last], kind.key_field, f"{place}.key")
        _require_part(there.items[first:last], kind.item_field, f"{place}.value")
    elif _is_list(kind):
        _require_part(pc.list_flatten(values), kind.value_field, f"{place}[]")


def _require_part(values: pa.Array, field: pa.Field, place: str) -> None:
    if values.null_count and not field.nullable:
        raise ChangedValue(f"{place} has nulls, and is declared to have none")
    _require_parts(values, place)


def _require_fields(old: pa.StructType, kind: pa.StructType) -> None:
    names = sorted(field.name for field in old)
    if names != sorted(field.name for field in kind):
        raise ChangedValue(
            f"a struct has the fields {', '.join(names)} and not those of {kind}: some would be "
            "lost or be null. Give each of them"
        )


def _require_family(old: pa.DataType, kind: pa.DataType) -> None:
    is_period = isinstance(old, pa.BaseExtensionType) and is_.is_integer(old.storage_type)
    if (_is_text(kind) and (is_.is_duration(old) or is_period)) or (_is_number(kind) and is_period):
        raise ChangedValue(
            f"{old} would be stored as a bare number, and its unit would be lost. Convert it, such "
            "as to a text: frame[column].astype(str)"
        )
    is_number = tuple(_is_number(each) or is_.is_boolean(each) for each in (old, kind))
    if is_.is_temporal(old) != is_.is_temporal(kind) and any(is_number):
        raise ChangedValue(f"{old} is not {kind}, and its unit would be guessed. Convert it")
    if is_.is_timestamp(old) and old.tz not in (None, *_UTC):
        aware = is_.is_timestamp(kind) and kind.tz is not None
        if is_.is_temporal(kind) and not aware:
            raise ChangedValue(
                f"times of the zone {old.tz} would lose it, and be those of UTC. Convert them to "
                f"the {kind} that is meant"
            )


def _require_leaf(values: pa.Array, kind: pa.DataType) -> None:
    old = values.type
    if _is_text(old):
        if not (_is_number(kind) or is_.is_boolean(kind)):
            return  # as text, or read as Arrow reads days and times: all of it, or not
    elif _is_text(kind):
        return  # a number is written with all its digits
    back = values.cast(kind).cast(old)
    same = pc.equal(back, values)
    if is_.is_floating(old):
        same = pc.or_(same, pc.and_(pc.is_nan(back), pc.is_nan(values)))
    changed = pc.filter(values, pc.invert(same.fill_null(fill_value=True)))
    if len(changed):
        value = changed[0]
        raise ChangedValue(
            f"{value} would be stored as {value.cast(kind)}: {old} does not fit {kind} without "
            "loss. Round or cast it yourself"
        )


def _is_text(kind: pa.DataType) -> bool:
    return bool(is_.is_string(kind) or is_.is_large_string(kind))


def _is_number(kind: pa.DataType) -> bool:
    return bool(is_.is_integer(kind) or is_.is_floating(kind) or is_.is_decimal(kind))


def _is_list(kind: pa.DataType) -> bool:
    return bool(is_.is_list(kind) or is_.is_large_list(kind) or is_.is_fixed_size_list(kind))
