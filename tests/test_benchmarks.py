"""A peer is compared with only if it is there and counts what the golden counts say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import liveness
from benchmarks.engines import CASES, Run, build_stateright, engines, read_stateright, show
from benchmarks.traced_two_phase_commit import TwoPhaseCommit
from streamproof.checker import reference
from streamproof.lang.model import eventually
from streamproof.models.kit.sizes import at_size

CASE = CASES["2PC(7)"]
TOLD = {
    "distinct": CASE.distinct,
    "generated": CASE.generated,
    "seconds": 2.0,
    "broken": 0,
    "peak_mb": 100.0,
}


def test_golden_counts_are_read() -> None:
    run = read_stateright(json.dumps(TOLD), CASE, 30.0)
    assert (run.distinct, run.generated, run.seconds) == (CASE.distinct, CASE.generated, 2.0)
    assert run.compile_seconds == 30.0


@pytest.mark.parametrize(
    "wrong",
    [{"distinct": CASE.distinct - 1}, {"generated": CASE.generated + 1}, {"broken": 1}],
    ids=["distinct", "generated", "broken"],
)
def test_a_wrong_count_is_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(SystemExit, match="stateright counted"):
        read_stateright(json.dumps(TOLD | wrong), CASE, 30.0)


@pytest.fixture
def cargo(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """Give what makes cargo a script of ours, and leaves no other program on the PATH."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    build_stateright.cache_clear()

    def becomes(script: str) -> None:
        program = tmp_path / "cargo"
        program.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        program.chmod(0o755)

    yield becomes
    build_stateright.cache_clear()


def is_left_out(capsys: pytest.CaptureFixture[str]) -> bool:
    """Return whether stateright is named as missing, and is none of the engines."""
    runs = {"native, 2 threads": Run(CASE.distinct, CASE.generated, 1.0, 0.0, 1.0)}
    show("2PC(7)", runs)
    named = engines(CASE, idiomatic=False, first=True)
    is_named = any(name.startswith("stateright") for name in named)
    return "not installed" in capsys.readouterr().out and not is_named


@pytest.mark.usefixtures("cargo")
def test_without_cargo_stateright_is_left_out_and_named(capsys) -> None:
    assert build_stateright() is None
    assert is_left_out(capsys)


def test_where_cargo_cannot_fetch_stateright_is_left_out_and_named(cargo, capsys) -> None:
    cargo('[ "$1" = fetch ] && exit 101; echo it was built; exit 0')
    assert build_stateright() is None
    assert is_left_out(capsys)


def test_models_that_do_not_compile_are_told_with_what_the_compiler_says(cargo) -> None:
    cargo('[ "$1" = fetch ] && exit 0; echo "error: mismatched types" >&2; exit 101')
    with pytest.raises(SystemExit, match="do not compile") as told:
        build_stateright()
    assert "error: mismatched types" in str(told.value)


def test_what_cargo_builds_is_run(cargo, tmp_path) -> None:
    cargo("exit 0")
    built = build_stateright()
    assert built is not None
    assert built[0] == tmp_path / "streamproof" / "stateright" / "release" / "peers"
    names = engines(CASE, idiomatic=False, first=True)
    assert {"stateright, BFS, 1 thread", "stateright, BFS, 2 threads"} < names.keys()


def test_both_engines_keep_the_promises_of_the_model_that_is_measured(monkeypatch) -> None:
    monkeypatch.setattr(liveness, "MANAGERS_REFERENCE", 2)
    large, small, known = liveness.run(3, threads=1).values()
    assert (small["states"], small["steps"]) == (known["states"], known["steps"]) == (56, 154)
    assert large["states"] == 288
    assert liveness.ratio({"native": small, "reference": known}) > 0


class Postponed(TwoPhaseCommit):
    """Nobody need ever decide."""

    @eventually
    def decided(self, s) -> bool:
        return s.commit_sent or s.abort_sent


def test_a_promise_that_is_broken_measures_nothing() -> None:
    with pytest.raises(SystemExit, match="decided.*nothing was measured"):
        liveness.measure(at_size(Postponed, {"managers": 2}), reference.explore)
