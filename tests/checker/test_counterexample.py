"""Counterexamples: replay keys, runs again, and tests that are kept of them."""

from __future__ import annotations

import itertools
import pathlib
import random

import pytest
from typer.testing import CliRunner

from streamproof.checker import check
from streamproof.checker.counterexample import (
    UnknownStep,
    as_pytest,
    broken_along,
    broken_in_run,
    replay,
    retrace,
)
from streamproof.checker.exploration import Path
from streamproof.cli.app import app
from streamproof.lang import require
from streamproof.lang.model import action, always, every_step
from streamproof.models.kit.verdict import ExitCode
from tests.checker.support.walks import Count, Counter, Node, Walk, walk

EXAMPLES = pathlib.Path(__file__).parents[2] / "examples"


class Bounded(Counter):
    @always
    def below_three(self, now: Count) -> bool:
        return now.value < 3

    @every_step
    def never_from_one_to_two(self, before: Count, after: Count) -> bool:
        return (before.value, after.value) != (1, 2)

    @action
    def claim(self, now: Count) -> Count:
        require(now.value == 1)
        assert now.parity is False, "parity is set"
        return now


def test_a_key_gives_the_run_that_it_came_from():
    class High(Counter):
        @always
        def below_three(self, now: Count) -> bool:
            return now.value < 3

    found = check(High(9)).finding("below_three").verdict.trace
    run = replay(High(9), found.key)
    assert run.trace == found
    assert run.states[-1] == Count(3, True)


def test_a_key_picks_among_the_moves_that_are_possible_in_each_state():
    model = walk(Walk, (0, 1), (0, 3), (3, 0), (3, 2), starts=(1, 0))
    run = replay(model, "1/1/1")
    assert [state.index for state in run.states] == [0, 3, 2]
    assert [str(move.call) for move in run.moves] == ["go(to=node3)", "go(to=node2)"]


@pytest.mark.parametrize("key", ["", "0/", "a", "0/-1", "0/1.5"])
def test_a_malformed_key_is_refused_with_an_example(key):
    with pytest.raises(UnknownStep, match="like 0/3/1"):
        replay(Counter(2), key)


def test_a_key_beyond_the_moves_is_told_which_there_are():
    with pytest.raises(UnknownStep, match=r"step 2 cannot be 4, since .* there are 0: up\(\)"):
        replay(Counter(2), "0/0/4")


def test_a_key_beyond_the_initial_states_is_told_how_many_there_are():
    with pytest.raises(UnknownStep, match="no initial state 3: Counter has 1"):
        replay(Counter(2), "3")


def test_nothing_follows_a_broken_claim():
    model = Bounded(5)
    assert replay(model, "0/0/1").moves[-1].broken_claim is not None
    with pytest.raises(UnknownStep, match="step 3 cannot be 0"):
        replay(model, "0/0/1/0")


@pytest.mark.parametrize(
    ("key", "broken"),
    [
        ("0", []),
        ("0/0", []),
        ("0/0/0", ["never_from_one_to_two"]),
        ("0/0/0/0", ["below_three", "never_from_one_to_two"]),
        ("0/0/1", ["claims"]),
    ],
)
def test_what_a_run_breaks_is_named(key, broken):
    model = Bounded(5)
    assert [part.name for part in broken_in_run(model, replay(model, key))] == broken


def test_a_run_into_a_dead_end_breaks_deadlock():
    model = walk(Walk, (0, 1))
    assert [part.name for part in broken_in_run(model, replay(model, "0/0"))] == ["deadlock"]


def test_a_run_along_actions_ends_where_the_next_is_no_longer_possible():
    assert broken_along(Bounded(5), 0, ["up()", "up()", "reset()", "up()"]) == (
        "never_from_one_to_two",
    )
    assert broken_along(Bounded(5), 0, []) == ()


class Moody(Walk):
    @action
    def go(self, now: Node, to: Node) -> Node:
        require(next(self.moods))
        return to


def test_a_model_that_answers_differently_when_asked_again_is_found_out():
    Moody.moods = itertools.chain([True], itertools.repeat(False))
    model = walk(Moody, (0, 1))
    assert retrace(model, Path(0, (0,))).picks == (0,)
    with pytest.raises(UnknownStep, match="uses a clock, a random number"):
        retrace(model, Path(0, (0,)))


def test_a_kept_counterexample_fails_until_the_mistake_is_mended():
    model = Bounded(5)
    trace = replay(model, "0/0/0").trace
    text = as_pytest(trace, "never_from_one_to_two", "registry.build('x', 'small')")
    space: dict[str, object] = {}
    exec(compile(text.replace("registry.build('x', 'small')", "MODEL"), "kept.py", "exec"), space)
    kept = space["test_never_from_one_to_two_holds_along_a_run_that_once_broke_it"]
    space["MODEL"] = model
    with pytest.raises(AssertionError):
        kept()
    space["MODEL"] = Counter(5)
    kept()


def test_random_runs_replay_from_their_keys():
    model = walk(Walk, *[(a, b) for a in range(5) for b in range(5) if (a * b) % 3 != 1])
    chooser = random.Random(7)
    for _ in range(20):
        key = "/".join(["0", *(str(chooser.randrange(3)) for _ in range(6))])
        run = replay(model, key)
        assert run.key == key
        assert broken_along(model, 0, [str(move.call) for move in run.moves]) == ()


def test_a_kept_counterexample_of_a_file_can_be_run_from_anywhere(tmp_path, monkeypatch):
    (tmp_path / "mine").mkdir()
    file = pathlib.Path("mine/lease.py")
    monkeypatch.chdir(tmp_path)
    file.write_text((EXAMPLES / "lease.py").read_text(encoding="utf-8"), encoding="utf-8")
    kept = pathlib.Path("kept/test_it.py")
    kept.parent.mkdir()
    ran = CliRunner().invoke(app, ["check", f"{file}:hasty", "--pytest", str(kept)])
    assert ran.exit_code == ExitCode.REFUTED
    monkeypatch.chdir("/")
    space: dict[str, object] = {"__file__": str(tmp_path / kept)}
    exec(compile((tmp_path / kept).read_text(), "kept.py", "exec"), space)
    with pytest.raises(AssertionError):
        space["test_one_writer_holds_along_a_run_that_once_broke_it"]()
