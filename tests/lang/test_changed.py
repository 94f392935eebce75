"""Goal: a verdict is about the class as it is now. Method: a model that was checked is changed, in
each place where its classes hold code; whatever asks it again refuses it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import pytest

from streamproof.checker import check
from streamproof.checker import reference as plain
from streamproof.checker.native.engine import explore as native
from streamproof.checker.simulate import simulate
from streamproof.checker.walks import Plan
from streamproof.lang import WrongDefinition
from streamproof.lang.model import Model, action, always, init, sometimes
from streamproof.models.kit.verdict import Status
from streamproof.proofs.induction import prove
from streamproof.proofs.invariant import Invariant


def replaced(cls: Any, name: str, **parts: Any) -> None:
    function = vars(cls)[name]
    for part, value in parts.items():
        setattr(function, part, value)


@dataclass(frozen=True)
class Inner:
    n: int

    def is_small(self) -> bool:
        return self.n < 9


def fresh() -> Any:
    """Make a model with a base, a helper and a record of its own."""
    record_of = dataclass(frozen=True)(type("Record", (Inner,), {"small": Inner.is_small}))

    @dataclass(frozen=True)
    class Base(Model[Any]):
        @action
        def stay(self, s: Any) -> Any:
            return s

        @always
        def ok(self, s: Any, *, limit: int = 9) -> bool:
            return s.n < limit

    @dataclass(frozen=True)
    class Late(Base):
        record: ClassVar[Any] = record_of

        @init
        def start(self) -> Any:
            return record_of(3)

        start.__annotations__["return"] = record_of

        @always
        def ok(self, s: Any) -> bool:
            return bool(s.is_small()) or self.helper(s)

        def helper(self, s: Any) -> bool:
            return False

    return Late


def base(cls: Any) -> Any:
    return cls.__mro__[1]


def false(self: Any, s: Any) -> bool:
    return bool(s.n < 1)


ROLES = sometimes(lambda self, s: True).__streamproof__  # type: ignore[attr-defined]
CHANGES: dict[str, Any] = {
    "added": lambda cls: setattr(cls, "late", always(false)),
    "added to a base": lambda cls: setattr(base(cls), "late", always(false)),
    "replaced": lambda cls: setattr(cls, "ok", false),
    "replaced by what is none": lambda cls: setattr(cls, "ok", None),
    "removed": lambda cls: delattr(cls, "ok"),
    "a helper": lambda cls: setattr(cls, "helper", false),
    "marked": lambda cls: always(cls.helper),
    "another role": lambda cls: replaced(cls, "ok", __streamproof__=ROLES),
    "other code": lambda cls: replaced(cls, "ok", __code__=false.__code__),
    "another default": lambda cls: replaced(base(cls), "ok", __kwdefaults__={"limit": 1}),
    "a computed attribute": lambda cls: setattr(cls, "extra", property(false)),
    "what is ruled out": lambda cls: setattr(cls, "ruled_out", lambda self: ["stay"]),
    "a method of a record": lambda cls: setattr(cls.record, "is_small", false),
    "other bases": lambda cls: setattr(cls, "__bases__", (rebased(cls),)),
}


def rebased(cls: Any) -> Any:
    return type("Rebased", (base(cls),), {"more": false})


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_class_that_changes_once_its_methods_are_listed_is_refused(change: Any) -> None:
    cls = fresh()
    assert check(cls(), engine=plain.explore).finding("ok").verdict.status is Status.EXHAUSTED
    change(cls)
    for ask in (
        lambda: check(cls(), engine=plain.explore),
        lambda: check(cls(), engine=native),
        lambda: simulate(cls(), plan=Plan(walks=2, length_max=4)),
        lambda: prove(Invariant(cls, (lambda m, s: s.n >= 0,))),
    ):
        with pytest.raises(WrongDefinition, match=r"since the methods of Late were listed|of Late"):
            ask()


def test_a_property_that_is_added_before_the_first_object_is_asked() -> None:
    cls = fresh()
    cls.late = always(false)
    assert check(cls(), engine=plain.explore).finding("late").verdict.status is Status.REFUTED


def test_a_constant_of_a_class_is_no_code() -> None:
    cls = fresh()
    cls()
    cls.LIMIT = 3
    assert check(cls(), engine=plain.explore).finding("ok").verdict.status is Status.EXHAUSTED
