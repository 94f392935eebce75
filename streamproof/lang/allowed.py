"""What a traced function may use of Python and its library: what cannot see a symbolic value.

A symbolic value answers, or refuses, whatever asks it. What is listed here asks. `type` and `id`,
for example, do not ask, clocks and random numbers differ between runs, and of all others it is not
known: they are refused.
"""

from __future__ import annotations

import builtins
import types
from typing import Any

_BUILTINS = {
    "abs", "all", "any", "bool", "bytes", "chr", "complex", "dict", "divmod", "enumerate",
    "filter", "float", "format", "frozenset", "getattr", "hasattr", "hash", "int", "isinstance",
    "issubclass", "iter", "len", "list", "map", "max", "min", "next", "object", "ord", "pow",
    "print", "property", "range", "repr", "reversed", "round", "set", "slice", "sorted",
    "staticmethod", "classmethod", "str", "sum", "super", "tuple", "zip", "__build_class__",
}  # fmt: skip
_LIBRARY = {
    "collections": {"namedtuple", "deque", "OrderedDict", "defaultdict", "Counter", "ChainMap"},
    "contextlib": {"suppress", "contextmanager", "nullcontext", "closing"},
    "copy": {"copy", "deepcopy"},
    "dataclasses": {
        "replace", "field", "fields", "asdict", "astuple", "is_dataclass", "dataclass",
        "FrozenInstanceError", "MISSING",
    },
    "enum": {"Enum", "IntEnum", "StrEnum", "auto", "unique"},
    "functools": {"reduce", "partial", "cmp_to_key", "wraps", "total_ordering"},
    "itertools": {
        "chain", "combinations", "combinations_with_replacement", "compress", "count", "cycle",
        "dropwhile", "filterfalse", "groupby", "islice", "pairwise", "permutations", "product",
        "repeat", "starmap", "takewhile", "tee", "zip_longest",
    },
    "math": {"comb", "factorial", "gcd", "inf", "isqrt", "lcm", "perm", "prod"},
    "operator": {
        "add", "and_", "concat", "contains", "countOf", "eq", "floordiv", "ge", "getitem", "gt",
        "indexOf", "inv", "invert", "itemgetter", "le", "lshift", "lt", "mod", "mul", "ne", "neg",
        "not_", "or_", "pos", "pow", "rshift", "sub", "truediv", "truth", "xor",
    },
    "types": {"SimpleNamespace", "MappingProxyType", "UnionType", "NoneType"},
    "typing": {"assert_never", "assert_type", "cast", "NamedTuple", "overload"},
}  # fmt: skip
_CALLED = {
    "_collections_abc", "_weakrefset", "abc", "collections", "contextlib", "copy", "dataclasses",
    "enum", "functools", "operator", "reprlib", "types", "typing", "weakref",
}  # fmt: skip
"""Library modules whose functions may be called, by what is listed above among others."""

_FOR_CHANCE = (
    "Make what may come out either way a parameter of the action, and what a size fixes a field of "
    "the model"
)
_REMEDIES = {
    "type": "Write isinstance(value, Class) or a match statement, which answer alike in all runs",
    "id": "Write ==, and keep elements of a domain to tell things apart",
    "is_": "Write ==",
    "is_not": "Write !=",
    "callable": "Compare with == instead of asking what the value can do",
    "open": _FOR_CHANCE,
    "input": _FOR_CHANCE,
} | dict.fromkeys(
    ("vars", "dir", "locals", "globals", "setattr", "delattr", "eval", "exec", "compile"),
    "Name the fields and variables that are meant",
)
_MODULES = dict.fromkeys(
    ("random", "time", "datetime", "os", "secrets", "uuid", "socket", "threading", "_random"),
    _FOR_CHANCE,
)
_OTHERWISE = (
    "Use the operators and functions of streamproof.lang, or values that are computed beforehand "
    "and kept in a field of the model"
)


def remedy_for(name: str, module: str) -> str:
    """Describe what to write instead of something that is refused."""
    return _MODULES.get(module.partition(".")[0]) or _REMEDIES.get(name, _OTHERWISE)


def is_allowed_builtin(value: Any) -> bool:
    """Return whether a function, method or class written in C may be used."""
    name = getattr(value, "__name__", "")
    if name in _BUILTINS and getattr(builtins, name, None) is value:
        return True
    owner = getattr(value, "__self__", getattr(value, "__objclass__", None))
    if owner is not None and not isinstance(owner, types.ModuleType):
        kind = owner if isinstance(owner, type) else type(owner)
        is_special = name.startswith("__") and name.endswith("__")
        return kind.__module__ in ("builtins", "collections") and not is_special
    return is_allowed_in_library(getattr(value, "__module__", "") or "", name)


def is_allowed_in_library(module: str, name: str) -> bool:
    """Return whether a function or class of the standard library may be used."""
    plain = module.removeprefix("_")  # written in C
    return name in _LIBRARY.get(plain, ()) or name in _LIBRARY.get(module, ())


def is_library_that_asks(module: str) -> bool:
    """Return whether Python functions of a library module may run."""
    return module in _CALLED or module.startswith(("_pytest.", "pluggy."))
