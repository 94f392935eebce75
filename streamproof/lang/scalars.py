"""Symbolic scalars: they behave like plain ones, and write down what is done with them.

Whatever could tell one from a plain value is answered as the plain value would, or refused: what
`operators.py` lists, attributes, text. Its class, which `isinstance` and class patterns ask for, is
that of the plain value.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from enum import Enum
from types import FrameType
from typing import Any, NoReturn, assert_never

from streamproof.lang import expr as ex
from streamproof.lang.expr import Expr
from streamproof.lang.fork import decide
from streamproof.lang.nodes import depth
from streamproof.lang.origin import Origin, origin_of
from streamproof.lang.refusals import untraceable
from streamproof.lang.runs import current_run
from streamproof.lang.show import show
from streamproof.lang.sorts import BoolSort, ElementSort, EnumSort, IntSort, ScalarSort
from streamproof.lang.text import may_tell
from streamproof.lang.watch import unwatched_methods

DEPTH_MAX = 200
"""Operators in one another, at most: whoever walks through an expression calls itself as often."""


@unwatched_methods
class Symbolic:
    """A scalar that is known only as an expression.

    Raises
    ------
    Untraceable : if the expression is deeper than `DEPTH_MAX`
    """

    __slots__ = ("expr",)

    def __init__(self, expr: Expr) -> None:
        if (levels := depth(expr)) > DEPTH_MAX:
            raise untraceable(
                f"it makes an expression of {levels} operators in one another, of {DEPTH_MAX} at "
                "most",
                "Let a Map over a Domain hold what is many, and use count, forall or exists",
            )
        object.__setattr__(self, "expr", expr)

    def __getattribute__(self, name: str) -> Any:
        if name == "__class__":
            return _plain_class(object.__getattribute__(self, "expr"))
        if is_visible(name):
            return object.__getattribute__(self, name)
        raise untraceable(
            f"it asks for the attribute {name} of the symbolic value {_text(self)}",
            "Compare the value with ==, write a function of it, or keep what is wanted in a "
            "field or a Map beside it",
        )

    def __setattr__(self, name: str, value: object) -> None:
        raise untraceable(
            f"it sets {name} of a symbolic value", "Return a changed copy of a record"
        )

    def __eq__(self, other: object) -> Any:
        return SymbolicBool(ex.equal(self.expr, self._lift(other)))

    def __ne__(self, other: object) -> Any:
        return SymbolicBool(ex.negate(ex.equal(self.expr, self._lift(other))))

    def __hash__(self) -> int:
        raise untraceable(
            f"the symbolic value {self!r} is used as a key of a dict or a member of a set",
            "Use a Map over a Domain, which takes symbolic keys; write x in (A, B) for x in {A, B}",
        )

    def __copy__(self) -> Symbolic:
        return self

    def __deepcopy__(self, _memo: object) -> Symbolic:
        return self

    def __repr__(self) -> str:
        text = _text(self)
        refuse_text(text)
        return text

    __str__ = __repr__

    def __format__(self, _spec: str) -> str:
        text = _text(self)
        refuse_text(text)
        return text

    def _lift(self, other: object) -> Expr:
        return lift(other, self.expr.sort)


def _text(value: Symbolic) -> str:
    return show(value.expr)


def _plain_class(expr: Expr) -> type:
    match expr.sort:
        case BoolSort():
            return bool
        case IntSort():
            return int
        case EnumSort(cls):
            return cls
        case ElementSort():
            if not _may_know_an_element(sys._getframe(2)):  # noqa: SLF001 - who asks
                raise untraceable(
                    f"it asks for the class of the element {expr}, which is open: a Domain may be "
                    "given elements of any class",
                    "Compare elements by ==",
                )
            return SymbolicElement
        case _:
            assert_never(expr.sort)


def _may_know_an_element(frame: FrameType) -> bool:
    """Return whether who asks for the class of an element only wants to know if it is a record."""
    is_open = current_run() is None or origin_of(frame.f_code) is Origin.LANGUAGE
    return is_open or frame.f_globals.get("__name__") in ("copy", "dataclasses")


_OF_ANY = ("__class__", "__copy__", "__deepcopy__")


def is_visible(name: str, depth: int = 2, public: tuple[str, ...] = ()) -> bool:
    """Return whether an attribute of a symbolic value may be seen.

    Parameters
    ----------
    name : of the attribute
    depth : of the frame that asks for it, counted from here
    public : what anyone may ask for
    """
    if name in public or current_run() is None:
        return True
    origin = origin_of(sys._getframe(depth).f_code)  # noqa: SLF001 - who asks
    return origin is Origin.LANGUAGE or (origin is not Origin.USER and name in _OF_ANY)


def refuse_text(text: str) -> None:
    """Refuse to give the text of a symbolic value where it might decide something."""
    frame = sys._getframe(2)  # noqa: SLF001 - who asks
    if current_run() is not None and not may_tell(frame):
        raise untraceable(
            f"it makes text of the symbolic value {text}, which is other text than in a plain run",
            "Compare values, not their text. The reason that a property returns, and the message "
            "of an assert or a require, may have text of values in it where they are written down",
        )


@unwatched_methods
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


@unwatched_methods
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
    """Return the expression of a scalar, which must be of the sort.

    Raises
    ------
    Untraceable : if it is a float, or of another sort; comparing an Enum with an int is such a case
    """
    if is_symbolic(value):
        expr: Expr | None = value.expr  # type: ignore[attr-defined]
    elif isinstance(value, float):
        raise untraceable(f"it computes with the float {value!r}", NO_FLOATS)
    else:
        is_plain = type(value) in (bool, int) or (
            isinstance(value, Enum) and not isinstance(sort, IntSort)
        )
        expr = ex.literal(value) if is_plain else None  # type: ignore[arg-type]
    if expr is not None and (
        expr.sort == sort or (isinstance(expr.sort, IntSort) and isinstance(sort, IntSort))
    ):
        return expr
    known = expr.sort if expr is not None else None
    are_numbers = all(isinstance(part, BoolSort | IntSort) for part in (known, sort))
    why = "; plain Python takes True for 1 and False for 0" if are_numbers else ""
    raise untraceable(
        f"it compares or combines a value of sort {sort} with {value!r}, which is none",
        f"Use values of sort {sort} on both sides{why}",
    )


def is_symbolic(value: object) -> bool:
    """Return whether a value is a symbolic scalar. `isinstance` takes one for a plain scalar."""
    return issubclass(type(value), Symbolic)


NO_FLOATS = "Machines count in whole numbers: scale to an int, as from seconds to milliseconds"


def _refusing(what: str, remedy: str) -> Callable[..., NoReturn]:
    def refuse(self: Symbolic, *_others: object) -> NoReturn:
        raise untraceable(what.format(value=f"the symbolic value {self!r}"), remedy)

    return refuse


def _refuse_the_rest() -> None:
    """Refuse every operation of Python that plain values have and the language has not."""
    from streamproof.lang.operators import REFUSED, symbols

    for name, (what, remedy) in REFUSED.items():
        for method in symbols(name):
            if method not in vars(Symbolic):
                setattr(Symbolic, method, _refusing(what, remedy))


_refuse_the_rest()
