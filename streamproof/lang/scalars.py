"""Symbolic scalars: they behave like plain ones, and write down what is done with them."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import Any, NoReturn, assert_never

from streamproof.lang import expr as ex
from streamproof.lang.expr import Expr
from streamproof.lang.fork import decide, untraceable
from streamproof.lang.sorts import BoolSort, ElementSort, EnumSort, IntSort, ScalarSort


class Symbolic:
    """A scalar that is known only as an expression."""

    __slots__ = ("expr",)

    def __init__(self, expr: Expr) -> None:
        self.expr = expr

    def __eq__(self, other: object) -> Any:
        return SymbolicBool(ex.equal(self.expr, self._lift(other)))

    def __ne__(self, other: object) -> Any:
        return SymbolicBool(ex.negate(ex.equal(self.expr, self._lift(other))))

    def __hash__(self) -> int:
        raise untraceable(
            f"the symbolic value {self!r} is used as a key of a dict or a member of a set",
            "Use a Map over a Domain, which takes symbolic keys",
        )

    def __index__(self) -> int:
        raise untraceable(
            f"the symbolic value {self!r} is used as an index, a size or a loop bound",
            "Use a Map over a Domain, and forall, exists or Map.map instead of a loop",
        )

    def __float__(self) -> float:
        raise untraceable("it converts a symbolic value to a float", _NO_FLOATS)

    def __iter__(self) -> Iterator[Any]:
        raise untraceable(f"it iterates over the symbolic value {self!r}", "Use forall or Map.map")

    def __len__(self) -> int:
        raise untraceable(
            f"it asks for the length of the symbolic value {self!r}", "Keep a count beside it"
        )

    def __repr__(self) -> str:
        from streamproof.lang.show import show

        return show(self.expr)

    def _lift(self, other: object) -> Expr:
        return lift(other, self.expr.sort)


_NO_FLOATS = "Machines count in whole numbers: scale to an int, as from seconds to milliseconds"


class SymbolicBool(Symbolic):
    """A symbolic truth value. Asking for its truth forks the run."""

    __slots__ = ()
    __hash__ = Symbolic.__hash__

    def __bool__(self) -> bool:
        return decide(self.expr)

    def __and__(self, other: object) -> SymbolicBool:
        return SymbolicBool(ex.conjunction(self.expr, self._lift(other)))

    def __or__(self, other: object) -> SymbolicBool:
        return SymbolicBool(ex.disjunction(self.expr, self._lift(other)))

    __rand__ = __and__
    __ror__ = __or__


class SymbolicInt(Symbolic):
    """A symbolic integer."""

    __slots__ = ()
    __hash__ = Symbolic.__hash__

    def __bool__(self) -> bool:
        return decide(ex.negate(ex.equal(self.expr, ex.literal(0))))

    def __add__(self, other: object) -> SymbolicInt:
        return SymbolicInt(ex.add(self.expr, self._lift(other)))

    def __radd__(self, other: object) -> SymbolicInt:
        return SymbolicInt(ex.add(self._lift(other), self.expr))

    def __sub__(self, other: object) -> SymbolicInt:
        return SymbolicInt(ex.subtract(self.expr, self._lift(other)))

    def __rsub__(self, other: object) -> SymbolicInt:
        return SymbolicInt(ex.subtract(self._lift(other), self.expr))

    def __mul__(self, other: object) -> SymbolicInt:
        return SymbolicInt(ex.multiply(self.expr, self._lift(other)))

    __rmul__ = __mul__

    def __neg__(self) -> SymbolicInt:
        return SymbolicInt(ex.subtract(ex.literal(0), self.expr))

    def __lt__(self, other: object) -> SymbolicBool:
        return SymbolicBool(ex.less(self.expr, self._lift(other)))

    def __le__(self, other: object) -> SymbolicBool:
        return SymbolicBool(ex.less_equal(self.expr, self._lift(other)))

    def __gt__(self, other: object) -> SymbolicBool:
        return SymbolicBool(ex.less(self._lift(other), self.expr))

    def __ge__(self, other: object) -> SymbolicBool:
        return SymbolicBool(ex.less_equal(self._lift(other), self.expr))

    def __truediv__(self, _other: object) -> NoReturn:
        raise untraceable("it divides a symbolic integer, which gives a float", _NO_FLOATS)

    __rtruediv__ = __truediv__

    def __floordiv__(self, _other: object) -> NoReturn:
        raise untraceable(
            "it divides a symbolic integer",
            "Compare products instead: write a < k * b for a // b < k",
        )

    __rfloordiv__ = __mod__ = __rmod__ = __divmod__ = __rdivmod__ = __floordiv__

    def __pow__(self, _other: object) -> NoReturn:
        raise untraceable("it takes a power of a symbolic integer", "Multiply as often as needed")

    __rpow__ = __pow__


class SymbolicEnum(Symbolic):
    """A symbolic member of an `Enum`."""

    __slots__ = ()
    __hash__ = Symbolic.__hash__


class SymbolicElement(Symbolic):
    """A symbolic element of a domain."""

    __slots__ = ()
    __hash__ = Symbolic.__hash__


def scalar(expr: Expr) -> Symbolic:
    """Wrap an expression in the class of its sort."""
    match expr.sort:
        case BoolSort():
            return SymbolicBool(expr)
        case IntSort():
            return SymbolicInt(expr)
        case EnumSort():
            return SymbolicEnum(expr)
        case ElementSort():
            return SymbolicElement(expr)
        case _:
            assert_never(expr.sort)


def lift(value: object, sort: ScalarSort) -> Expr:
    """Give the expression of a scalar, which must be of the sort.

    Raises
    ------
    Untraceable : if it is a float, or of another sort; comparing an Enum with an int is such a case
    """
    if isinstance(value, float):
        raise untraceable(f"it computes with the float {value!r}", _NO_FLOATS)
    expr = value.expr if isinstance(value, Symbolic) else None
    if expr is None and isinstance(value, bool | int | Enum):
        expr = ex.literal(value)
    if expr is not None and (
        expr.sort == sort or (isinstance(expr.sort, IntSort) and isinstance(sort, IntSort))
    ):
        return expr
    raise untraceable(
        f"it compares or combines a value of sort {sort} with {value!r}, which is none",
        f"Use values of sort {sort} on both sides; in plain Python this comparison is always False",
    )
