"""Failpoints: a name that no point has, and a point that is not reached, are errors."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from streamproof.spark_bindings.storage import failpoints
from streamproof.spark_bindings.storage.failpoints import (
    FREEZE,
    VARIABLE,
    Failpoint,
    NeverReached,
    PairFailpoint,
    RaceFailpoint,
    armed,
    reached,
)

ROOT = Path(__file__).parents[3]
POINT = RaceFailpoint.ROWS_FOUND


def test_an_action_happens_once_where_it_is_armed() -> None:
    seen: list[str] = []
    with armed(POINT, seen.append, where="a"):
        reached(POINT, "b")
        reached(RaceFailpoint.COMMIT_TRIED, "a")
        for _ in range(2):
            reached(POINT, "a")
    reached(POINT, "a")
    assert seen == ["a"]


def test_an_action_may_come_to_its_own_point() -> None:
    seen: list[str] = []

    def act(where: str) -> None:
        seen.append(where)
        reached(POINT, "again")

    with armed(POINT, act):
        reached(POINT, "first")
    assert seen == ["first"]


@pytest.mark.parametrize(("times", "found"), [(1, 1), (3, 3), (None, 5)])
def test_an_action_happens_so_often(times: int | None, found: int) -> None:
    seen: list[str] = []
    with armed(POINT, seen.append, times=times):
        for _ in range(5):
            reached(POINT, "a")
    assert len(seen) == found


def come_there(times: int | None, *places: str) -> None:
    with armed(POINT, lambda _: None, where="a", times=times):
        for place in places:
            reached(POINT, place)


@pytest.mark.parametrize(("times", "places"), [(1, "b"), (3, "aab"), (None, "b")])
def test_a_point_that_is_not_reached_is_an_error(times: int | None, places: str) -> None:
    with pytest.raises(NeverReached, match=rf"ROWS_FOUND was reached {places.count('a')} times"):
        come_there(times, *places)
    reached(POINT, "a")


def test_the_error_of_a_block_is_not_hidden_and_disarms() -> None:
    seen: list[str] = []
    with pytest.raises(KeyError), armed(POINT, seen.append):
        raise KeyError
    reached(POINT, "a")
    assert seen == []


def test_a_name_that_no_point_has_cannot_be_armed() -> None:
    name: Any = "rows_found"
    with pytest.raises(AssertionError, match="is no failpoint"), armed(name, print):
        pass


def test_a_point_is_armed_once_at_a_time() -> None:
    with armed(POINT, print, where="a"):
        with pytest.raises(AssertionError, match="armed already"), armed(POINT, print):
            pass
        reached(POINT, "a")


def test_the_environment_arms_a_point_that_exists() -> None:
    assert failpoints.arming_of({}) == {}
    ((point, arming),) = failpoints.arming_of({VARIABLE: "turn_begun@A"}).items()
    assert (point, arming.where, arming.times) == (PairFailpoint.TURN_BEGUN, "A", 1)
    with pytest.raises(ValueError, match="'turn_began@A', and no failpoint"):
        failpoints.arming_of({VARIABLE: "turn_began@A"})


CHILD = """
from streamproof.spark_bindings.storage.failpoints import Failpoint, reached
for where in ("p", "q"):
    reached(Failpoint.STATE_SAVED, where)
    print(where, flush=True)
"""


@pytest.mark.parametrize(
    ("name", "code", "said"),
    [("state_saved", -9, ""), ("state_saved@q", -9, "p\n"), ("state_saved@r", 0, "p\nq\n")],
)
def test_a_process_dies_where_its_environment_says(name: str, code: int, said: str) -> None:
    environment = {key: value for key, value in os.environ.items() if key != FREEZE}
    ran = subprocess.run(
        [sys.executable, "-c", CHILD],
        env={**environment, VARIABLE: name, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        start_new_session=True,
    )
    assert (ran.returncode, ran.stdout) == (code, said), ran.stderr


def test_a_process_with_a_name_that_no_point_has_does_not_begin() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", CHILD],
        env={**os.environ, VARIABLE: "state_safed", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 1
    assert "'state_safed', and no failpoint has this name" in ran.stderr


def _named(folder: str) -> Iterator[str]:
    """Yield the failpoints that the code below a folder names, as ``Class.MEMBER``."""
    for path in (ROOT / folder).rglob("*.py"):
        if path.name not in ("failpoints.py", Path(__file__).name):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                    yield f"{node.value.id}.{node.attr}"


def test_names_are_of_one_point_each() -> None:
    names = [point.value for kind in (Failpoint, PairFailpoint, RaceFailpoint) for point in kind]
    assert len(names) == len({*names})


def test_each_point_is_in_the_code_and_each_race_is_tried() -> None:
    points = {str(point) for kind in (Failpoint, PairFailpoint, RaceFailpoint) for point in kind}
    assert points - {*_named("streamproof")} == set()
    assert {str(point) for point in RaceFailpoint} - {*_named("tests")} == set()
