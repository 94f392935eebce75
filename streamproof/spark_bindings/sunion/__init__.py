"""`sunion`: several streams become one, in an order that anyone can reproduce.

Rows are packed into blobs (`pack`), brought together by Spark, put in order by serializers
(`processor`, `dpc`) and unpacked (`unpack`). What may be emitted, and when, is for the machine in
`protocols.dpc` to say.

Names are imported when they are first used: workers need one module each, and should start fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from streamproof.protocols.dpc import Policy
    from streamproof.spark_bindings.sunion.operator import sunion
    from streamproof.spark_bindings.sunion.table import reconcile
    from streamproof.spark_bindings.sunion.tuple_type import TupleType, late_rows, stable_only

__all__ = ["Policy", "TupleType", "late_rows", "reconcile", "stable_only", "sunion"]

_HOMES = {
    "Policy": "streamproof.protocols.dpc",
    "TupleType": f"{__name__}.tuple_type",
    "late_rows": f"{__name__}.tuple_type",
    "reconcile": f"{__name__}.table",
    "stable_only": f"{__name__}.tuple_type",
    "sunion": f"{__name__}.operator",
}


def __getattr__(name: str) -> object:
    """Import a public name from its module, on first use.

    Raises
    ------
    NotInstalled : if Spark, or what the bindings need beside it, is not installed
    """
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from streamproof.installed import require

    require("spark", f"{__name__}.{name}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    """List public names too that nothing has imported yet."""
    return sorted({*globals(), *__all__})
