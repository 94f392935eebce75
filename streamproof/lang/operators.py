"""Operations of Python that symbolic values refuse, with what is written instead.

A class of symbolic values takes those out that the language has.
"""

from __future__ import annotations

_NO_FLOATS = "Machines count in whole numbers: scale to an int, as from seconds to milliseconds"
_NO_BITS = "Write and, or, not and != of truth values; let each flag be a field of its own"
_NO_DIVISION = "Compare products instead: write a < k * b for a // b < k"
_NO_NUMBER = "Write a if c else b to count a truth value: day + (1 if opened else 0)"
_WHOLE = "A number of a machine is a whole one already"
_NO_LOOPS = "Use a Map over a Domain, and forall, exists or Map.map instead of a loop"

REFUSED: dict[str, tuple[str, str]] = {
    "truediv": ("it divides {value}, which gives a float", _NO_FLOATS),
    "floordiv": ("it divides {value}", _NO_DIVISION),
    "mod": ("it divides {value}", _NO_DIVISION),
    "divmod": ("it divides {value}", _NO_DIVISION),
    "pow": ("it takes a power of {value}", "Multiply as often as needed"),
    "matmul": ("it multiplies {value} as a matrix", "Write forall or count over a domain"),
    "add": ("it computes with {value}, which is no number", _NO_NUMBER),
    "sub": ("it computes with {value}, which is no number", _NO_NUMBER),
    "mul": ("it computes with {value}, which is no number", _NO_NUMBER),
    "neg": ("it computes with {value}, which is no number", _NO_NUMBER),
    "pos": ("it computes with {value} by a leading +", "Leave the + out"),
    "abs": ("it takes the absolute value of {value}", "Write n if n >= 0 else -n"),
    "and": ("it takes bits of {value}", _NO_BITS),
    "or": ("it takes bits of {value}", _NO_BITS),
    "xor": ("it takes bits of {value}", _NO_BITS),
    "invert": ("it takes bits of {value}", _NO_BITS),
    "lshift": ("it takes bits of {value}", _NO_BITS),
    "rshift": ("it takes bits of {value}", _NO_BITS),
    "lt": ("it orders {value}, which has no order", "Compare by == or !="),
    "le": ("it orders {value}, which has no order", "Compare by == or !="),
    "gt": ("it orders {value}, which has no order", "Compare by == or !="),
    "ge": ("it orders {value}, which has no order", "Compare by == or !="),
    "bool": ("it asks for the truth of {value}, which is none", "Compare it with =="),
    "index": ("{value} is used as an index, a size or a loop bound", _NO_LOOPS),
    "int": ("it converts {value} to an int", _WHOLE),
    "float": ("it converts {value} to a float", _NO_FLOATS),
    "complex": ("it converts {value} to a complex number", _NO_FLOATS),
    "round": ("it rounds {value}", _WHOLE),
    "trunc": ("it rounds {value}", _WHOLE),
    "floor": ("it rounds {value}", _WHOLE),
    "ceil": ("it rounds {value}", _WHOLE),
    "bytes": ("it converts {value} to bytes", "Compare values by =="),
    "iter": ("it iterates over {value}", "Use forall or Map.map"),
    "len": ("it asks for the length of {value}", "Keep a count beside it"),
    "contains": ("it looks for a member of {value}", "Compare by =="),
    "getitem": ("it takes a part of {value}", "Keep parts in fields, or in a Map"),
    "dir": ("it lists the attributes of {value}", "Name the field that is meant"),
    "reduce": ("it pickles {value}", "Return the value in the state"),
    "reduce_ex": ("it pickles {value}", "Return the value in the state"),
    "sizeof": ("it asks for the size of {value}", "Keep a count beside it"),
}
"""By the name of the method, without underscores: what is refused, and the remedy."""

_REFLECTED = {
    "add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "divmod", "pow", "lshift",
    "rshift", "and", "xor", "or",
}  # fmt: skip


def symbols(name: str) -> tuple[str, ...]:
    """Return the special methods of an operation: of the left operand, and of the right one."""
    reflected = (f"__r{name}__",) if name in _REFLECTED else ()
    return (f"__{name}__", *reflected)
