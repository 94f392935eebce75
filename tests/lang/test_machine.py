"""Goal: a model may have its protocol as a module, and no check sees less for it. Method: machines
that are right are traced; what is replaced, kept whole or impure in one is refused."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import pytest

from streamproof.checker import check
from streamproof.lang import Model, Untraceable, WrongDefinition, action, always, init
from streamproof.lang.impure import ImpureModel, require_pure
from streamproof.lang.machine import replaced
from streamproof.lang.reached import reached_from, roots_of
from streamproof.lang.trace import trace_model
from streamproof.models.kit.verdict import Status


def up(n: int, most: int) -> int:
    return n + 1 if n < most else 0


def up_by_two(n: int, most: int) -> int:
    del most
    return n + 2


def up_in_time(n: int, most: int) -> int:
    return up(n, most) if time.time() > 0 else n


def toy() -> Any:
    made = ModuleType("toy")
    made.up = up  # type: ignore[attr-defined]
    return made


@dataclass(frozen=True)
class Base(Model[int]):
    @init
    def start(self) -> int:
        return 0

    @action
    def step(self, n: int) -> int:
        return self.machine.up(n, 3)

    @always
    def small(self, n: int) -> bool:
        return n <= 3


def fresh(**parts: Any) -> Any:
    return type("Counter", (Base,), {"machine": toy(), **parts})


def whole(self: Any, n: int) -> int:
    machine = self.machine
    return machine.up(n, 3)


def by_name(self: Any, n: int) -> int:
    return getattr(self.machine, "up")(n, 3)  # noqa: B009


def twice(self: Any, n: int) -> int:
    return self.machine.up(n, self.machine.up(0, 2))


def marked(method: Callable[..., Any]) -> Any:
    method.__annotations__ = {"n": int, "return": int}
    return action(method)


def test_what_a_machine_does_is_traced_and_searched():
    by_one = trace_model(fresh()).commands
    by_two = trace_model(fresh(machine=replaced(toy(), up=up_by_two))).commands
    assert (len(by_one), len(by_two)) == (2, 1)
    assert check(fresh()()).verdict.status is Status.EXHAUSTED
    assert check(fresh(machine=replaced(toy(), up=up_by_two))()).verdict.status is Status.REFUTED


def test_a_machine_may_be_asked_several_times():
    assert trace_model(fresh(step=marked(twice))).commands


@pytest.mark.parametrize("method", [whole, by_name])
def test_a_machine_that_is_kept_as_a_whole_is_refused(method):
    with pytest.raises(Untraceable, match="machine"):
        trace_model(fresh(step=marked(method)))


def test_what_is_impure_in_a_machine_is_found():
    with pytest.raises(ImpureModel, match="up_in_time"):
        require_pure(fresh(machine=replaced(toy(), up=up_in_time)))


def test_another_machine_of_a_class_that_was_listed_is_noticed():
    cls = fresh()
    assert check(cls()).verdict.status is Status.EXHAUSTED
    cls.machine = replaced(toy(), up=up_by_two)
    with pytest.raises(WrongDefinition, match="Counter.machine is another"):
        check(cls())


@pytest.mark.parametrize("make", [toy, lambda: replaced(toy(), up=up)])
def test_another_function_of_a_machine_is_noticed(make):
    machine = make()
    cls = fresh(machine=machine)
    assert check(cls()).verdict.status is Status.EXHAUSTED
    machine.up = up_by_two
    with pytest.raises(WrongDefinition, match="up was .* and is "):
        check(cls())


def both(self: Any, n: int) -> int:
    return self.machine.up(self.machine.down(n), 3)


def down(n: int) -> int:
    return n - 1 if n > 0 else 0


def straight(n: int, most: int = 3) -> int:
    return n if n < most else 3


def test_two_functions_of_a_machine_that_change_places_are_noticed():
    machine = toy()
    machine.up, machine.down = straight, down
    cls = fresh(machine=machine, step=marked(both))
    assert check(cls()).verdict.status is Status.EXHAUSTED
    machine.up, machine.down = (lambda n, _: down(n)), straight
    with pytest.raises(WrongDefinition, match="and is "):
        check(cls())
    machine.up, machine.down = down, straight
    with pytest.raises(WrongDefinition, match="toy's (up|down) was .* and is "):
        check(cls())


def test_a_function_that_replaces_itself_while_it_is_searched_is_noticed():
    machine = toy()

    def once(n: int, most: int) -> int:
        setattr(machine, "up", up)  # noqa: B010
        return up(n, most)

    machine.up = once
    with pytest.raises((ImpureModel, WrongDefinition)):
        check(fresh(machine=machine)())


class Impure:
    up = time.time


@dataclass(frozen=True)
class Holder:
    machine: Impure


def asks_a_field(self: Any, n: int) -> int:
    return min(n, int(Holder(Impure()).machine.up()))


def test_a_field_that_is_called_as_the_machine_is_not_taken_for_it():
    cls = fresh(step=marked(asks_a_field))
    values = [value for part in reached_from(cls, roots_of(cls)) for _, value in part.values]
    assert time.time in values
    with pytest.raises(ImpureModel, match="time"):
        require_pure(cls)


def test_a_function_that_the_protocol_has_not_is_not_replaced():
    with pytest.raises(WrongDefinition, match=r"toy has no function down.* one of up"):
        replaced(toy(), down=up)


def test_a_function_with_other_parameters_replaces_none():
    with pytest.raises(WrongDefinition, match="takes 1 arguments, and up of toy takes 2"):
        replaced(toy(), up=lambda n: n)


def test_a_machine_is_replaced_in_another_one_that_was():
    both = replaced(replaced(toy(), up=up_by_two), up=up)
    assert both.up is up
