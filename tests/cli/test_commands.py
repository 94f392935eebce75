"""The commands: their exit codes, and that --json tells everything that is printed."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from streamproof.checker.engines import engine_of
from streamproof.cli.render import PIPED_WIDTH
from streamproof.models.kit.verdict import ExitCode
from tests.cli.support.commands import run

EXAMPLE = "examples/two_phase_commit.py"
MODELS = """
from dataclasses import dataclass, replace

from streamproof.lang import require
from streamproof.lang.model import Fairness, Model, action, always, final, init, leads_to, sometimes
from streamproof.models.kit.mutant import Mutant


@dataclass(frozen=True)
class State:
    value: int
    turns: int


@dataclass(frozen=True)
class Up(Model[State]):
    most: int
    sizes = {"default": {"most": 3}}

    @init
    def start(self) -> State:
        return State(0, 0)

    @action
    def up(self, now: State) -> State:
        require(now.value < self.most)
        return replace(now, value=now.value + 1)

    @action
    def turn(self, now: State) -> State:
        require(now.value == self.most)
        return State(0, 1 - now.turns)

    @always
    def bounds(self, now: State) -> dict[str, bool | str]:
        return {"low": now.value >= 0, "high": now.value <= 3 or f"{now.value} is too high"}

    @sometimes
    def at_the_top(self, now: State) -> bool:
        return now.value == self.most


class Promising(Up):
    @action(fairness=Fairness.WEAK)
    def up(self, now: State) -> State:
        return super().up(now)

    @leads_to
    def comes_back(self, now: State) -> tuple[bool, bool]:
        return now.value > 0, now.value == 0


class Failing(Up):
    @action
    def divide(self, now: State) -> State:
        return replace(now, turns=1 // (2 - now.value))


class Jumps(Up):
    @action
    def up(self, now: State) -> State:
        return replace(now, value=now.value + 2)


class Waits(Up):
    @action
    def turn(self, now: State) -> State:
        require(now.value == self.most)
        return now


class Claims(Up):
    @action
    def claim(self, now: State) -> State:
        assert now.value < 2, "two is too much"
        return now


MODEL = Up
MUTANTS = (Mutant("jumps", Jumps, {"most": 3}, "bounds.high", 2, "goes up by two"),)
"""


@pytest.fixture(scope="module")
def file(tmp_path_factory) -> str:
    path = tmp_path_factory.mktemp("models") / "model.py"
    path.write_text(MODELS, encoding="utf-8")
    return str(path)


def run_json(*arguments: str):
    result = run(*arguments, "--json")
    return json.loads(result.stdout), result.exit_code


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ((), ExitCode.GREEN),
        (("--set", "most=4"), ExitCode.REFUTED),
        (("--states-max", "2"), ExitCode.UNDETERMINED),
        (("--depth-max", "2"), ExitCode.UNDETERMINED),
        (("--memory", "1"), ExitCode.UNDETERMINED),
        (("--size", "huge"), ExitCode.WRONG_USE),
        (("--set", "most"), ExitCode.WRONG_USE),
        (("--set", "most=x"), ExitCode.WRONG_USE),
        (("--size", "default", "--set", "most=1"), ExitCode.WRONG_USE),
        (("--states-max", "0"), ExitCode.WRONG_USE),
        (("--bogus",), ExitCode.WRONG_USE),
    ],
    ids=lambda part: "-".join(part) if isinstance(part, tuple) else part.name,
)
def test_check_ends_with_the_exit_code_of_its_verdict(file, arguments, code):
    assert run("check", file, *arguments).exit_code == code


def test_wrong_use_is_told_in_a_message_without_a_traceback():
    result = run("check", "nonesuch")
    assert result.exit_code == ExitCode.WRONG_USE
    assert result.stdout == ""
    assert result.stderr.startswith("UnknownModel: there is no model nonesuch")
    assert "Traceback" not in result.stderr
    found, code = run_json("check", "nonesuch")
    assert (found["error"], found["trace"], code) == ("UnknownModel", None, ExitCode.WRONG_USE)


def test_a_model_that_fails_is_wrong_use_and_shown_with_its_trace(file):
    result = run("check", f"{file}:Failing")
    assert result.exit_code == ExitCode.WRONG_USE
    assert "divide() failed with ZeroDivisionError" in result.stderr
    assert "2. up()\n      value: 1 -> 2" in result.stderr
    found, _ = run_json("check", f"{file}:Failing")
    assert [step["action"] for step in found["trace"]["steps"]] == ["up()", "up()"]
    assert f"run it again: {found['replay']}\n" in result.stderr
    again = run(*shlex.split(found["replay"])[1:])
    assert "2. up()\n      value: 1 -> 2" in again.stdout + again.stderr


def words_of(value) -> str:
    """Flatten JSON to text in which printed numbers and words are found."""
    if isinstance(value, dict):
        return " ".join(f"{key} {words_of(part)}" for key, part in value.items())
    if isinstance(value, list):
        return " ".join(map(words_of, value))
    return str(value)


LABELS_TEXT = """
engine property kind verdict distinct states generated depth steps s a second at most MiB
safety liveness and so on there it stays what is possible there owed nothing
counterexample to run it again start changes nothing claim fails left out is broken
no property along this
"""
LABELS = set(LABELS_TEXT.split())


@pytest.mark.parametrize(
    "arguments",
    [
        ("check", EXAMPLE, "--size", "small"),
        ("check", "{file}", "--set", "most=5"),
        ("check", "{file}:Promising"),
        ("check", "{file}:Promising", "--safety"),
        ("check", "{file}:Claims"),
        ("replay", "{file}", "0/0/0"),
        ("replay", "{file}", "0/0/0/0/0", "--set", "most=5"),
        ("mutate", "{file}"),
        ("list",),
    ],
    ids=lambda arguments: " ".join(arguments).replace("{file}", "F"),
)
def test_everything_that_is_printed_is_in_the_json(file, arguments):
    filled = [part.replace("{file}", file) for part in arguments]
    printed = run(*filled).stdout
    found, _ = run_json(*filled)
    known = words_of(found)
    volatile = re.compile(r"[\d.]+ s(, [\d,]+ states a second)?, at most [\d,]+ MiB")
    for word in re.findall(r"[\w./]+", volatile.sub("", printed)):
        plain = word.replace(",", "").rstrip(".")
        assert plain in LABELS or plain in known or plain in PRINTED_ONLY, (word, printed)


PRINTED_ONLY = {
    "mutant",
    "fate",
    "by",
    "of",
    "mutants",
    "killed",
    "model",
    "classes",
    "and",
    "sizes",
}
"""Words of the tables' headings; numbers of steps are the positions in a JSON list."""
PRINTED_ONLY |= {str(number) for number in range(1, 30)}


def test_a_search_of_few_states_has_no_rate(file):
    assert re.search(r"^[\d.]+ s, at most [\d,]+ MiB$", run("check", file).stdout, re.MULTILINE)
    many = run("check", "chandy_lamport").stdout
    assert re.search(r"^[\d.]+ s, [\d,]+ states a second, at most", many, re.MULTILINE)


def test_large_numbers_are_the_same_printed_and_in_json():
    model = ("check", "chandy_lamport", "--size", "ring", "--safety")
    printed = run(*model).stdout
    counts = run_json(*model)[0]["counts"]
    assert counts["distinct"] == 1_651
    distinct, generated = (f"{counts[part]:,}" for part in ("distinct", "generated"))
    told = f"{distinct} distinct states, {generated} generated, depth {counts['depth']}"
    assert told in printed


def test_a_counterexample_is_printed_with_changed_fields_and_a_command_that_repeats_it(file):
    printed = run("check", file, "--set", "most=4").stdout
    assert "counterexample to bounds (high): 4 is too high" in printed
    assert "  4. up()\n      value: 3 -> 4\n" in printed
    command = f"streamproof replay {file} 0/0/0/0/0 --set most=4"
    assert f"run it again: {command}" in printed
    repeated = run(*command.split()[1:])
    assert repeated.exit_code == ExitCode.REFUTED
    assert "bounds is broken: 4 is too high" in repeated.stdout


def test_a_replay_that_breaks_nothing_says_so(file):
    result = run("replay", file, "0/0")
    assert result.exit_code == ExitCode.GREEN
    assert "no property of states or steps is broken along this run" in result.stdout
    assert run("replay", file, "0/5").exit_code == ExitCode.WRONG_USE


def test_a_step_that_changes_nothing_and_one_that_breaks_a_claim_are_told_apart(file):
    assert "changes nothing" in run("replay", f"{file}:Claims", "0/1").stdout
    assert "a claim fails: claim, line" in run("check", f"{file}:Claims").stdout


def test_liveness_left_out_is_said(file):
    assert run("check", f"{file}:Promising").exit_code == ExitCode.REFUTED
    result = run("check", f"{file}:Promising", "--safety")
    assert result.exit_code == ExitCode.GREEN
    assert "left out (--safety): comes_back" in result.stdout


def test_a_broken_promise_is_kept_as_a_test_that_fails_until_it_is_mended(file, tmp_path):
    kept = tmp_path / "test_kept.py"
    assert run("check", f"{file}:Promising", "--pytest", str(kept)).exit_code == ExitCode.REFUTED
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(kept)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "1 failed" in ran.stdout
    assert "REFUTED" in ran.stdout


def test_a_counterexample_is_kept_as_a_test_that_fails_until_it_is_mended(file, tmp_path):
    kept = tmp_path / "test_kept.py"
    result = run("check", file, "--set", "most=4", "--pytest", str(kept))
    assert f"kept as a test: {kept}" in result.stdout
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(kept)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert "1 failed" in ran.stdout, ran.stdout + ran.stderr


def test_without_a_counterexample_no_test_is_written(file, tmp_path):
    kept = tmp_path / "test_kept.py"
    assert run("check", file, "--pytest", str(kept)).exit_code == ExitCode.GREEN
    assert not kept.exists()


@pytest.mark.parametrize("form", ["dot", "graphml"])
def test_a_graph_goes_to_standard_output_or_a_file(file, tmp_path, form):
    out = tmp_path / "graph"
    assert run("graph", file, "--format", form, "--out", str(out)).exit_code == ExitCode.GREEN
    assert run("graph", file, "--format", form).stdout == out.read_text(encoding="utf-8")


def test_a_graph_that_is_too_large_is_wrong_use(file):
    assert run("graph", file, "--states-max", "2").exit_code == ExitCode.WRONG_USE


def test_mutate_prints_what_became_of_each_mutant(file):
    result = run("mutate", file)
    assert result.exit_code == ExitCode.GREEN
    assert re.search(r"jumps +killed +bounds\.high +2 of 2 +\d+ +goes up by two", result.stdout)
    assert f"{file}: 1 of 1 mutants killed" in result.stdout
    assert run("mutate", file, "--only", "jumps").exit_code == ExitCode.GREEN
    assert run("mutate", file, "--only", "jumps", "--states-max", "3").exit_code == (
        ExitCode.UNDETERMINED
    )


def test_mutate_without_mutants_is_wrong_use(file):
    told = run("mutate", EXAMPLE)
    assert told.exit_code == ExitCode.WRONG_USE
    assert f"{EXAMPLE} has no mutants, so nothing shows that" in told.stderr
    assert "in the file of the model, for example" in told.stderr
    told = run("mutate", file, "--only", "leaps", "--only", "jumps")
    assert told.exit_code == ExitCode.WRONG_USE
    assert f"{file} has no mutant leaps, so nothing was run. It has jumps." in told.stderr


def test_the_list_of_mutants_that_is_shown_can_be_copied(tmp_path):
    text = Path("examples/lease.py").read_text(encoding="utf-8")
    bare = tmp_path / "bare_lease.py"
    bare.write_text(text.replace("MUTANTS =", "OTHERS ="), encoding="utf-8")
    shown = re.findall(r"^ {4}( *\S.*)$", run("mutate", str(bare)).stderr, re.MULTILINE)
    copied = tmp_path / "copied_lease.py"
    copied.write_text("\n".join([bare.read_text(encoding="utf-8"), *shown]), encoding="utf-8")
    assert re.search(r"wrong +survived +\(one_writer\)", run("mutate", str(copied)).stdout)


def test_list_names_models_sizes_and_mutants():
    found, code = run_json("list")
    assert code == ExitCode.GREEN
    names = {row["name"] for row in found["models"]}
    assert "chandy_lamport" in names


def test_show_prints_guarded_commands(file):
    result = run("show", file)
    assert result.exit_code == ExitCode.GREEN
    assert "turn()" in result.stdout
    assert run("show", EXAMPLE).exit_code == ExitCode.WRONG_USE  # it has sets, which have no form


def test_the_installed_command_runs_and_stays_plain_in_a_pipe(file):
    ran = subprocess.run(
        [sys.executable, "-m", "streamproof", "check", file],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0
    assert ran.stderr == ""
    assert "\x1b" not in ran.stdout
    assert all(len(line) <= PIPED_WIDTH for line in ran.stdout.splitlines())


@pytest.mark.parametrize("command", ["check", "simulate", "forecast"])
def test_a_mutant_has_the_size_that_shows_its_mistake(command):
    hasty = "examples/lease.py:hasty"
    told, _ = run_json(command, hasty)
    assert told["size"] == {"workers": "2"}
    told, _ = run_json(command, hasty, "--size", "default")
    assert told["size"] == {"workers": "3"}
    told, _ = run_json(command, hasty, "--set", "workers=4")
    assert told["size"] == {"workers": "4"}


def test_a_graph_and_a_replay_of_a_mutant_are_of_its_size():
    assert "worker2" not in run("graph", "examples/lease.py:hasty").output
    ran = run("check", "examples/lease.py:hasty")
    again = re.search(r"run it again: streamproof (.*)", ran.output)[1]
    assert again.endswith("--set workers=2")
    assert run(*again.split()).exit_code == ExitCode.REFUTED


def test_more_threads_than_cores_are_not_used_and_the_user_is_told(monkeypatch, file):
    asked = []

    def engine(name, threads, *others):
        asked.append(threads)
        return engine_of(name, threads, *others)

    monkeypatch.setattr("streamproof.cli.check.engine_of", engine)
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1}, raising=False)
    result = run("check", file, "--threads", "64")
    assert result.exit_code == ExitCode.GREEN
    assert "--threads 64: there are 2 cores for this process" in result.stderr
    assert "2 threads are used" in result.stderr
    assert run("check", file, "--threads", "2").stderr == ""
    assert run("check", file, "--threads", "3").exit_code == ExitCode.WRONG_USE
    assert asked == [2, 2]
