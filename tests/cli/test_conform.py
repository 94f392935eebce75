"""`streamproof conform`: exit codes, what is printed, and the drawn runs."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from typer.testing import CliRunner

from streamproof.cli.app import app
from tests.conformance.support.faults_of_snapshots import batch_beyond_a_marker
from tests.conformance.support.scenario import run_chain, run_fan_in, run_pair


def run(*arguments: object) -> tuple[int, str]:
    ended = CliRunner().invoke(app, ["conform", *map(str, arguments)])
    return ended.exit_code, ended.output


@pytest.fixture(scope="module")
def explained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run_fan_in(tmp_path_factory.mktemp("explained") / "p").path


@pytest.fixture(scope="module")
def violated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    with batch_beyond_a_marker():
        return run_chain(tmp_path_factory.mktemp("violated") / "p").path


def test_an_explained_run_ends_with_0_and_is_drawn_with_its_cut(
    explained: Path, tmp_path: Path
) -> None:
    code, said = run(explained, "--svg", tmp_path / "runs")
    assert code == 0, said
    assert "snapshot 000001 EXPLAINED complete; 4 of 4 processes have recorded" in said
    drawn = ET.parse(tmp_path / "runs/chandy_lamport-snapshot-000001.svg").getroot()
    classes = [part.get("class") for part in drawn.iter()]
    assert "cut" in classes
    assert "arrow control" in classes
    texts = {part.text for part in drawn.iter() if part.text}
    assert {"feed.source", "join", "reader.sink", "logs it: in the channel"} <= texts


def test_a_violation_ends_with_1_and_names_the_step_and_what_is_allowed(
    violated: Path, tmp_path: Path
) -> None:
    code, said = run(violated, "--svg", tmp_path / "runs")
    assert code == 1
    assert "receive feed.source first was observed, and the model does not allow it there" in said
    assert "allowed there: receive_marker 000002 feed.source first" in said
    drawn = ET.parse(tmp_path / "runs/chandy_lamport-snapshot-000001.svg").getroot()
    assert "fail" in [part.get("class") for part in drawn.iter()]
    assert "not explained" in {part.text for part in drawn.iter()}


def test_the_copies_of_a_pair_are_drawn_with_their_client(tmp_path: Path) -> None:
    code, said = run(run_pair(tmp_path / "p").path, "--svg", tmp_path / "runs")
    assert code == 0, said
    assert "egress: pair q EXPLAINED" in said
    drawn = ET.parse(tmp_path / "runs/egress-pair-q.svg").getroot()
    texts = {part.text for part in drawn.iter() if part.text}
    assert {"q/A", "q/B", "client", "is primary 2", "output of turn 1"} <= texts


def test_as_json_a_violation_has_its_parts(violated: Path) -> None:
    code, said = run(violated, "--json")
    found = json.loads(said)
    assert code == 1
    assert found["outcome"] == "VIOLATED"
    (violation,) = [
        each["violation"] for each in found["findings"] if each["subject"] == "snapshot 000002"
    ]
    assert violation["process"] == "first"
    assert violation["where"].startswith("batch ")


def test_what_is_undetermined_ends_with_3(explained: Path, tmp_path: Path) -> None:
    log = explained / "queries/first/events.jsonl"
    kept = log.read_text()
    log.unlink()
    try:
        code, said = run(explained)
    finally:
        log.write_text(kept)
    assert code == 3
    assert "first has run and written" in said


def test_what_is_no_pipeline_is_refused(tmp_path: Path) -> None:
    code, said = run(tmp_path)
    assert code == 2
    assert "is not a pipeline" in said


def test_a_directory_of_runs_that_is_there_is_not_overwritten(
    explained: Path, tmp_path: Path
) -> None:
    code, said = run(explained, "--svg", tmp_path)
    assert code == 2
    assert "is there already" in said
