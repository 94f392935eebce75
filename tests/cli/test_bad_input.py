"""Bad input is wrong use: exit code 2, a message that tells what to do, and nothing lost or green.

Each case was once a green verdict, a lost file or a traceback.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import pytest
from typer.testing import CliRunner

from streamproof.checker import check
from streamproof.checker.exploration import INTERRUPTED, Exploration
from streamproof.cli import main
from streamproof.cli.app import app
from streamproof.lang import Domain, Element, forall
from streamproof.lang.model import Model, action, always, init
from streamproof.models.kit.sizes import at_size
from streamproof.models.kit.verdict import Counts, ExitCode, Undetermined
from streamproof.spark_bindings.errors import DamagedFile
from streamproof.spark_bindings.layout.snapshot_files import SnapshotFiles
from streamproof.spark_bindings.names import SnapshotId
from streamproof.verification import verify_protocol

LEASE = "examples/lease.py"
LEAVES = {
    "import": "import sys\nsys.exit(0)\n",
    "property": "    @always\n    def leaves(self, s):\n        raise SystemExit(0)\n",
    "generator": "    @always\n    def leaves(self, s):\n        raise GeneratorExit\n",
}


def run(*arguments):
    return CliRunner().invoke(app, list(arguments))


@pytest.mark.parametrize("how", LEAVES)
def test_a_model_that_ends_the_program_is_not_green(how, tmp_path):
    text = Path(LEASE).read_text(encoding="utf-8")
    if how == "import":
        text = LEAVES[how] + text
    else:
        text = text.replace("class Hasty(", f"{LEAVES[how]}\n\nclass Hasty(")
    mine = tmp_path / "mine.py"
    mine.write_text(text, encoding="utf-8")
    ran = run("check", str(mine))
    assert ran.exit_code == ExitCode.WRONG_USE
    assert "__main__" in ran.output


@pytest.mark.parametrize(
    "command",
    [
        ["check", "examples/lease.py:hasty", "--pytest"],
        ["graph", "examples/lease.py", "--out"],
    ],
    ids=["check", "graph"],
)
def test_no_file_is_overwritten(command, tmp_path):
    mine = tmp_path / "mine.py"
    mine.write_text("precious\n", encoding="utf-8")
    ran = run(*command, str(mine))
    assert ran.exit_code == ExitCode.WRONG_USE
    assert "Name a new file" in ran.output
    assert mine.read_text(encoding="utf-8") == "precious\n"


@pytest.mark.parametrize("place", ["", "missing/x.py"], ids=["a directory", "no such directory"])
def test_a_place_that_cannot_be_written_is_refused_before_the_work(place, tmp_path):
    ran = run("check", "examples/lease.py:hasty", "--pytest", str(tmp_path / place))
    assert ran.exit_code == ExitCode.WRONG_USE
    assert "OutputRefused" in ran.output


def test_a_page_is_not_written_over_a_directory(tmp_path):
    ran = run("verify", "--no-example", "--html", str(tmp_path))
    assert ran.exit_code == ExitCode.WRONG_USE


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[]",
        '{"format": 1}',
        '{"format": 1, "id": 7, "wiring": {}}',
        '{"format": 1, "id": "x", "wiring": []}',
        '{"format": 1, "id": "x", "wiring": {"queries": 7}}',
    ],
)
def test_a_damaged_pipeline_is_named(text, tmp_path):
    (tmp_path / "pipeline.json").write_text(text, encoding="utf-8")
    ran = run("snapshot", "list", str(tmp_path), "--json")
    assert ran.exit_code == ExitCode.WRONG_USE
    assert json.loads(ran.stdout)["error"] == "DamagedFile"


@pytest.mark.parametrize(
    ("file", "text"),
    [
        *((f"{name}.json", "{}") for name in ("request", "manifest", "abandoned")),
        ("request.json", '{"requested_at": 5}'),
        ("request.json", '{"requested_at": "yesterday"}'),
        ("abandoned.json", '{"reason": null}'),
        ("manifest.json", '{"completed_at": "2026-01-01", "markers": {}, "channels": [5]}'),
        ("manifest.json", '{"completed_at": "2026-01-01", "markers": [], "channels": []}'),
        ("states/carriers.json", "{}"),
        ("states/carriers.json", '{"batch": "x", "received": {}}'),
    ],
)
def test_a_damaged_snapshot_is_named(file, text, tmp_path):
    place = SnapshotFiles(tmp_path / "snapshots")
    damaged = tmp_path / "snapshots" / place.request() / file
    damaged.parent.mkdir(exist_ok=True)
    damaged.write_text(text, encoding="utf-8")
    with pytest.raises(DamagedFile, match=file):
        place.read(SnapshotId("000001"))


def test_what_a_model_prints_does_not_spoil_json(tmp_path):
    text = Path(LEASE).read_text(encoding="utf-8")
    mine = tmp_path / "mine.py"
    mine.write_text(f"print('hello')\n{text}", encoding="utf-8")
    ran = run("check", str(mine), "--safety", "--json")
    assert json.loads(ran.stdout)["verdict"]["status"] == "EXHAUSTED"
    assert "hello" in ran.stderr


@pytest.mark.parametrize(
    ("line", "command", "told"),
    [
        ("MODEL = 3", "check", "MODEL in"),
        ("MODELS = [3]", "check", "Make it a list of subclasses of Model"),
        ("MODELS = 3", "check", "Make it a list of subclasses of Model"),
        ("MUTANTS = [Lease]", "mutate", "Make it a list of Mutant objects"),
    ],
)
def test_a_misdeclared_file_is_told_what_to_declare(line, command, told, tmp_path):
    mine = tmp_path / "mine.py"
    mine.write_text(f"{Path(LEASE).read_text(encoding='utf-8')}\n{line}\n", encoding="utf-8")
    ran = run(command, str(mine))
    assert ran.exit_code == ExitCode.WRONG_USE
    assert told in ran.output.replace("\n", " ")


def test_a_setting_is_given_once():
    ran = run("check", "chandy_lamport", "--set", "messages=1,1", "--set", "messages=2,1")
    assert ran.exit_code == ExitCode.WRONG_USE
    assert "given 2 times" in ran.output


def test_an_action_that_gives_no_state_is_no_edge_of_a_graph(tmp_path):
    text = (
        Path(LEASE)
        .read_text(encoding="utf-8")
        .replace("return State(free=False", "State(free=False", 1)
    )
    mine = tmp_path / "mine.py"
    mine.write_text(text, encoding="utf-8")
    ran = run("graph", str(mine))
    assert ran.exit_code == ExitCode.WRONG_USE
    assert "does it lack a `return`?" in ran.output


def test_an_interrupt_while_the_program_loads_is_no_traceback(monkeypatch, capsys):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("streamproof.cli.app.app", interrupt)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == ExitCode.UNDETERMINED
    assert "Interrupted" in capsys.readouterr().err


def test_a_file_is_no_pipeline(tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    ran = run("snapshot", "list", str(tmp_path / "file"))
    assert ran.exit_code == ExitCode.WRONG_USE
    assert "NotAPipeline" in ran.output


def test_a_misspelt_replay_is_wrong_use(tmp_path):
    ran = run("snapshot", "restore", str(tmp_path), "000001", "--into", "x", "--replay", "some")
    assert ran.exit_code == ExitCode.WRONG_USE
    assert "some is neither all nor none" in ran.output


class Seat(Element):
    """Somewhere to sit."""


@dataclass(frozen=True)
class Hall(Model[int]):
    """A model whose property says what cannot be of every seat."""

    seats: Domain[Seat]

    @init
    def start(self) -> int:
        return 0

    @action
    def rest(self, s: int) -> int:
        return s

    @always
    def nonsense(self, s: int) -> bool:
        return forall(self.seats, lambda seat: False)


def test_what_is_said_of_no_elements_says_nothing():
    report = check(at_size(Hall, {"seats": 0}))
    assert isinstance(report.finding("nonsense").verdict, Undetermined)
    assert "seats has no element" in report.finding("nonsense").verdict.reasons[0]


def test_an_interrupt_ends_the_whole_verification(monkeypatch):
    def stopped(*_args, **_kwargs):
        return Exploration(Counts(1, 1, 1), stopped=INTERRUPTED)

    report = check(at_size(Hall, {"seats": 1}), engine=stopped)
    assert report.interrupted
    monkeypatch.setattr("streamproof.verification.check", lambda *_args, **_kwargs: report)
    with pytest.raises(KeyboardInterrupt):
        verify_protocol("chandy_lamport")
