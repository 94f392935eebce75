"""A real system against a model: what it may do, what it must not, and what is not known."""

from __future__ import annotations

import re

import pytest
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test

from streamproof.lang import Model, action, always, init, require
from streamproof.testing import (
    REFUSED,
    UNKNOWN,
    Adapter,
    Happened,
    Unexplained,
    replay,
    state_machine,
)
from streamproof.testing.adapter import WrongAdapter
from streamproof.testing.follow import UnknownRun
from streamproof.testing.possible import POSSIBLE_MAX, PropertyBroken, TooManyExplanations
from tests.testing.support.lamps import Coins, Lamp, Lamps, Room, Throws, adapter

RUN = settings(report_multiple_bugs=False)


def found(machine: type, examples: int = 100) -> str:
    """Run a machine that must fail, and return what is said."""
    with pytest.raises(Unexplained) as told:
        run_state_machine_as_test(machine, settings=settings(RUN, max_examples=examples))
    return str(told.value)


def test_a_system_that_does_what_the_model_allows_passes() -> None:
    run_state_machine_as_test(state_machine(Lamps, adapter=Room), settings=RUN)


class Bright(Room):
    lit_max = 3


class Dim(Room):
    lit_max = 1


class Confused(Room):
    """The second lamp that is put out goes on again."""

    was_put_out = 0

    def put_out(self, lamp: Lamp) -> object:
        self.was_put_out += 1
        if self.was_put_out != 2:
            self.lit.remove(lamp)
        return None


def test_a_step_that_the_model_does_not_allow_is_found_in_the_fewest_steps() -> None:
    text = found(state_machine(Lamps, adapter=Bright))
    assert "the system did light(lamp=lamp2), which the model does not allow there" in text
    assert re.findall(r"^ {12}'(.*)',$", text, re.MULTILINE) == [
        "light(lamp=lamp0)",
        "light(lamp=lamp1)",
        "light(lamp=lamp2)",
    ]


def test_a_step_that_the_system_refuses_wrongly_is_found() -> None:
    text = found(state_machine(Lamps, adapter=Dim))
    assert "the system refused light(lamp=lamp1), which the model allows there" in text


def test_a_system_that_looks_otherwise_is_found_in_the_fewest_steps() -> None:
    text = found(state_machine(Lamps, adapter=Confused))
    assert "the system shows {lamp0}, and the model expects {}" in text
    assert text.count("      ") > 0
    assert len(re.findall(r"^ {12}'", text, re.MULTILINE)) == 4


def test_the_run_is_told_in_the_models_words() -> None:
    text = found(state_machine(Lamps, adapter=Bright))
    assert (
        "  start\n      {lamp0: False, lamp1: False, lamp2: False}\n  1. light(lamp=lamp0)" in text
    )
    assert "      [lamp0]: False -> True" in text
    assert "  The model allows there: put_out(lamp=lamp0), put_out(lamp=lamp1)" in text


def test_the_code_of_a_failure_fails_in_the_same_way() -> None:
    text = found(state_machine(Lamps, {"lamps": 4}, adapter=Bright))
    code = text.partition("As a test:\n")[2]
    code = "\n".join(line.removeprefix("    ") for line in code.splitlines())
    names: dict[str, object] = {}
    exec(code, names)
    (test,) = [value for name, value in names.items() if name.startswith("test_")]
    with pytest.raises(Unexplained) as again:
        test()  # type: ignore[operator]
    assert str(again.value) == text


def test_a_run_that_is_explained_is_replayed_in_silence() -> None:
    replay(Lamps, adapter=Room, run=["light(lamp=lamp0)", "put_out(lamp=lamp0)"])


def test_a_run_with_an_unknown_step_is_refused_before_anything_is_done() -> None:
    made: list[Adapter] = []
    noted = adapter(__init__=made.append, light=lambda *_: None, put_out=lambda *_: None)
    with pytest.raises(UnknownRun, match=re.escape("light(lamp=lamp9) is no action of Lamps")):
        replay(Lamps, adapter=noted, run=["light(lamp=lamp0)", "light(lamp=lamp9)"])
    assert not made


class Table(Adapter):
    """Coins on a table: a throw falls as a list says, and one is taken away unseen."""

    unseen = ("take",)
    falls: tuple[str, ...] = ("heads", "tails", "heads")
    taken_after = 2

    def __init__(self) -> None:
        self.coins, self.throws = [], 0

    def heads(self) -> object:
        if len(self.coins) == 3:
            return REFUSED
        fall = self.falls[self.throws % len(self.falls)]
        self.coins.append(fall)
        self.throws += 1
        if self.throws == self.taken_after:
            self.coins.remove("heads")
        return Happened(fall)

    tails = heads

    def observe(self) -> int:
        return len(self.coins)

    def expected(self, s: Coins) -> int:
        return s.thrown


def test_of_several_steps_the_one_that_happened_is_followed_and_so_are_unseen_ones() -> None:
    run_state_machine_as_test(state_machine(Throws, adapter=Table), settings=RUN)


def test_an_unseen_step_that_the_model_does_not_have_is_found() -> None:
    """Only heads are taken, so two tails are still there."""
    wrong = type("Wrong", (Table,), {"falls": ("tails",), "heads": Table.heads})

    def take_tails(self: Table) -> object:
        self.coins.append("tails")
        self.throws += 1
        if self.throws == 2:
            self.coins.pop()
        return Happened("tails")

    wrong = type("Wrong", (Table,), {"heads": take_tails, "tails": take_tails})
    text = found(state_machine(Throws, adapter=wrong))
    assert "the system shows 1, and the model expects 2" in text
    assert len(re.findall(r"^ {12}'", text, re.MULTILINE)) == 2


def test_an_answer_that_is_lost_leaves_both_open_until_it_is_seen() -> None:
    class Lossy(Table):
        unseen = ()
        replies = 0

        def heads(self) -> object:
            self.coins.append("heads")
            return UNKNOWN

        def tails(self) -> object:
            return UNKNOWN  # and it did not happen

        def take(self) -> object:
            self.coins.pop()
            return None

    with pytest.raises(Unexplained, match="the system shows 4, and the model expects"):
        replay(Throws, adapter=Lossy, run=["heads()"] * 3 + ["tails()"] + ["heads()"])
    replay(Throws, adapter=Lossy, run=["heads()", "tails()", "heads()", "take()"])


def test_a_refusal_leaves_the_states_that_do_not_allow_the_step() -> None:
    blind = adapter(unseen=("tails",), heads=lambda _: None, take=lambda _: REFUSED)
    with pytest.raises(Unexplained, match=re.escape("the system refused take()")):
        replay(Throws, adapter=blind, run=["heads()", "take()"])
    replay(Throws, adapter=blind, run=["take()"]) if False else None


def test_several_steps_may_happen_at_once() -> None:
    twice = adapter(
        heads=lambda _: [Happened("heads"), Happened("tails")],
        tails=lambda _: [],
        take=lambda _: None,
        count=0,
    )
    replay(Throws, adapter=twice, run=["heads()", "take()", "tails()", "heads()"])
    with pytest.raises(Unexplained, match=re.escape("the system did tails(), which")):
        replay(Throws, adapter=twice, run=["heads()", "heads()"])


class Starts(Model[int]):
    @init
    def one(self) -> int:
        return 1

    @init
    def two(self) -> int:
        return 2

    @action
    def double(self, n: int) -> int:
        require(n < 5)
        return 2 * n


def test_where_the_adapter_does_not_choose_any_initial_state_explains_the_run() -> None:
    def double(self: Adapter) -> None:
        self.n = 2 * getattr(self, "n", 2)  # type: ignore[attr-defined]

    shown = {"observe": lambda self: getattr(self, "n", 2), "expected": lambda _, n: n}
    run_state_machine_as_test(
        state_machine(Starts, adapter=adapter(double=double, **shown)), settings=RUN
    )
    wrong = adapter(double=lambda _: None, observe=lambda _: 3, expected=lambda _, n: n)
    with pytest.raises(Unexplained, match="the system shows 3, and the model expects 1 or 2"):
        replay(Starts, adapter=wrong, run=["double()"])


def test_the_adapter_brings_the_system_into_each_initial_state() -> None:
    seen = set()

    class Chosen(Adapter):
        def start(self, state: int) -> None:
            seen.add(state)
            self.n = state

        def double(self) -> None:
            self.n *= 2

        def observe(self) -> int:
            return self.n

        def expected(self, n: int) -> int:
            return n

    run_state_machine_as_test(state_machine(Starts, adapter=Chosen), settings=RUN)
    assert seen == {1, 2}


class Broken(Starts):
    @always
    def is_small(self, n: int) -> bool:
        return n < 8


def test_the_models_own_properties_are_asked_on_the_way_unless_it_is_a_mutant() -> None:
    fit = adapter(double=lambda _: None)
    with pytest.raises(PropertyBroken, match=r"after double\(\), is_small is broken"):
        run_state_machine_as_test(state_machine(Broken, adapter=fit), settings=RUN)
    run_state_machine_as_test(state_machine(Broken, adapter=fit, properties=False), settings=RUN)


class Claims(Model[int]):
    @init
    def zero(self) -> int:
        return 0

    @action
    def add(self, n: int) -> int:
        assert n < 2
        return n + 1


def test_a_claim_that_fails_is_the_models_own_mistake() -> None:
    with pytest.raises(PropertyBroken, match=r"in add\(\), claims is broken"):
        replay(Claims, adapter=adapter(add=lambda _: None), run=["add()"] * 3)


class Wanders(Model[int]):
    @init
    def zero(self) -> int:
        return 0

    @action
    def wander(self, n: int) -> int:
        return n + 1

    @action
    def look(self, n: int) -> int:
        return n


def test_too_many_states_that_explain_a_run_are_no_pass() -> None:
    lost = adapter(unseen=("wander",), look=lambda _: None)
    with pytest.raises(TooManyExplanations, match=f"more than {POSSIBLE_MAX:,} states of Wanders"):
        replay(Wanders, adapter=lost, run=["look()"])


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        (adapter(light=lambda *_: None), "Made has no method put_out"),
        (adapter(unseen=("lihgt",)), "names lihgt, no action of Lamps"),
        (adapter(unseen=("light", "put_out")), "has no method at all"),
        (
            adapter(unseen=("light",), also_impossible=("light",), put_out=lambda *_: None),
            "names light in unseen and in also_impossible",
        ),
        (object, "nothing carries out the actions"),
        (Room(), "nothing carries out the actions"),
    ],
)
def test_an_adapter_that_does_not_fit_is_refused_before_any_run(made: object, reason: str) -> None:
    with pytest.raises(WrongAdapter, match=reason):
        state_machine(Lamps, adapter=made)  # type: ignore[arg-type]


@pytest.mark.parametrize("answer", [True, "light", ["light"], 0, Lamp])
def test_an_answer_that_says_nothing_is_refused(answer: object) -> None:
    wrong = adapter(light=lambda *_: answer, put_out=lambda *_: None)
    with pytest.raises(WrongAdapter, match="it is not known what the system did"):
        replay(Lamps, adapter=wrong, run=["light(lamp=lamp0)"])


def test_a_step_that_is_no_action_is_told() -> None:
    wrong = adapter(light=lambda *_: Happened("light", 7), put_out=lambda *_: None)
    with pytest.raises(Unexplained, match="which is no action of the model at this size"):
        replay(Lamps, adapter=wrong, run=["light(lamp=lamp0)"])


def test_the_system_is_closed_after_each_run_also_where_it_fails() -> None:
    open_ones: list[int] = []

    class Counted(Bright):
        def __init__(self) -> None:
            super().__init__()
            open_ones.append(1)

        def close(self) -> None:
            open_ones.pop()

    found(state_machine(Lamps, adapter=Counted))
    assert not open_ones


class Ends(Model[int]):
    @init
    def zero(self) -> int:
        return 0

    @action
    def add(self, n: int) -> int:
        require(n < 1)
        return n + 1


def test_a_model_whose_runs_end_is_followed_to_the_end() -> None:
    run_state_machine_as_test(
        state_machine(Ends, adapter=adapter(add=lambda _: None)), settings=RUN
    )
