"""Runs of pipelines and pairs are explained by the models; what is not known is undetermined."""

from __future__ import annotations

from pathlib import Path

import pytest

from streamproof.conformance import Conformance, Outcome, conform
from streamproof.spark_bindings import Pipeline, Replay
from streamproof.spark_bindings.layout import events
from streamproof.spark_bindings.layout.events import SWITCH
from tests.conformance.support.scenario import (
    Scenario,
    run_chain,
    run_fan_in,
    run_frozen,
    run_pair,
    run_vacuum,
)
from tests.spark.faults import chains


def subjects(found: Conformance, outcome: Outcome) -> list[str]:
    return [finding.subject for finding in found.findings if finding.outcome is outcome]


@pytest.mark.parametrize(
    ("scenario", "snapshots"),
    [(run_chain, 2), (run_fan_in, 2), (run_pair, 1), (run_frozen, 0)],
)
def test_a_run_is_explained(scenario: Scenario, snapshots: int, tmp_path: Path) -> None:
    scenario(tmp_path / "p")
    found = conform(tmp_path / "p")
    assert found.outcome is Outcome.EXPLAINED, found.findings
    explained = [f for f in found.findings if f.subject.startswith("snapshot")]
    assert len(explained) == snapshots
    assert all(f.note.startswith("complete") for f in explained)


def test_rows_that_were_removed_are_explained(tmp_path: Path) -> None:
    found = conform(run_vacuum(tmp_path / "p").path)
    explained = subjects(found, Outcome.EXPLAINED)
    assert {"retention of source", "retention of middle"} <= {*explained}
    # The commits of the only snapshot are compacted away, so nobody can look at it any more.
    assert subjects(found, Outcome.UNDETERMINED) == ["snapshot 000001"]


def test_rows_that_were_removed_without_a_log_are_undetermined(tmp_path: Path) -> None:
    run_vacuum(tmp_path / "p")
    found = without("vacuum/steps.jsonl", tmp_path / "p")
    assert "retention of source" in subjects(found, Outcome.UNDETERMINED)


def test_messages_in_a_channel_are_a_part_of_the_run(tmp_path: Path) -> None:
    pipeline = run_fan_in(tmp_path / "p")
    (found,) = (f for f in conform(pipeline.path).findings if f.subject == "snapshot 000001")
    assert found.explanation is not None
    assert found.explanation.state.recorders["join"]["000001"].log["first"] == 1


def test_a_restored_pipeline_is_explained_from_its_cut_on(tmp_path: Path) -> None:
    restored = run_fan_in(tmp_path / "p").restore("000001", into=tmp_path / "r", replay=Replay.ALL)
    with chains.without_spark():
        chains.run(restored)
        restored.snapshot()
        chains.append(restored, 7)
        chains.run(restored)
    found = conform(tmp_path / "r")
    assert found.outcome is Outcome.EXPLAINED, found.findings
    assert subjects(found, Outcome.EXPLAINED)[-1] == "snapshot 000001"


def test_a_snapshot_under_way_is_explained_as_far_as_it_has_come(tmp_path: Path) -> None:
    with chains.without_spark():
        pipeline = chains.chain(tmp_path / "p")
        first, _ = chains.engines(pipeline)
        chains.append(pipeline, 0)
        pipeline.snapshot()
        first.run()
    (found,) = (f for f in conform(tmp_path / "p").findings if f.subject == "snapshot 000001")
    assert found.outcome is Outcome.EXPLAINED
    assert found.note == "requested; 2 of 3 processes have recorded"


def test_a_pipeline_that_did_nothing_is_explained(tmp_path: Path) -> None:
    found = conform(chains.chain(tmp_path / "p").path)
    assert [f.note for f in found.findings] == ["0 steps", "0 steps"]


# --- what is not known -----------------------------------------------------------------------


def without(name: str, path: Path) -> Conformance:
    (path / name).unlink()
    return conform(path)


def test_without_an_event_log_nothing_is_known(tmp_path: Path) -> None:
    run_chain(tmp_path / "p")
    found = without("queries/first/events.jsonl", tmp_path / "p")
    assert found.outcome is Outcome.UNDETERMINED
    assert "batches of first" in subjects(found, Outcome.UNDETERMINED)
    assert "snapshot 000001" in subjects(found, Outcome.UNDETERMINED)


def test_a_query_without_output_and_log_is_not_taken_for_one_that_never_ran(
    tmp_path: Path,
) -> None:
    with chains.without_spark():
        pipeline = chains.chain(tmp_path / "p")
        chains.run(pipeline)  # its first batch is empty
    assert conform(pipeline.path).outcome is Outcome.EXPLAINED
    for log in (tmp_path / "p").rglob("events.jsonl"):
        log.unlink()
    found = conform(pipeline.path)
    assert subjects(found, Outcome.UNDETERMINED) == ["batches of first", "batches of second"]


def test_switched_off_the_log_says_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SWITCH, "off")
    run_chain(tmp_path / "p")
    assert not list((tmp_path / "p").rglob("events.jsonl"))
    found = conform(tmp_path / "p")
    assert found.outcome is Outcome.UNDETERMINED
    assert f"Unset {SWITCH}" in found.findings[0].note


def lines_without(path: Path, number: int) -> None:
    lines = path.read_text().splitlines()
    kept = [line for line in lines if f'"step": {number},' not in line]
    assert len(kept) < len(lines)
    path.write_text("\n".join(kept))


def test_a_lost_line_without_a_marker_is_filled_in(tmp_path: Path) -> None:
    run_fan_in(tmp_path / "p")
    log = tmp_path / "p/queries/join/events.jsonl"
    marker = next(line for line in log.read_text().splitlines() if "on_marker" in line)
    first = int(marker.split('"step": ')[1].split(",")[0])
    lines_without(log, first - 1)
    assert conform(tmp_path / "p").outcome is Outcome.EXPLAINED


def test_a_lost_line_with_a_marker_leaves_its_snapshot_undetermined(tmp_path: Path) -> None:
    run_fan_in(tmp_path / "p")
    log = tmp_path / "p/queries/join/events.jsonl"
    marker = next(line for line in log.read_text().splitlines() if "on_marker" in line)
    lines_without(log, int(marker.split('"step": ')[1].split(",")[0]))
    found = conform(tmp_path / "p")
    assert found.outcome is Outcome.UNDETERMINED
    assert "snapshot 000001" in subjects(found, Outcome.UNDETERMINED)


def test_a_log_that_lost_its_beginning_tells_of_newer_snapshots_alone(tmp_path: Path) -> None:
    run_chain(tmp_path / "p")
    log = tmp_path / "p/queries/first/events.jsonl"
    lines = [line for line in log.read_text().splitlines() if line]
    second = next(n for n, line in enumerate(lines) if '"000002"' in line)
    (log.parent / "earlier-events.jsonl").write_text(lines[second - 1] + "\n")
    log.write_text("\n".join(lines[second:]))
    found = conform(tmp_path / "p")
    assert subjects(found, Outcome.UNDETERMINED) == ["snapshot 000001"]
    assert "snapshot 000002" in subjects(found, Outcome.EXPLAINED)


def test_a_torn_last_line_is_left_out(tmp_path: Path) -> None:
    run_chain(tmp_path / "p")
    with (tmp_path / "p/queries/second/events.jsonl").open("a") as file:
        file.write('{"step": 99, "ev')
    assert conform(tmp_path / "p").outcome is Outcome.EXPLAINED


def test_a_long_life_of_a_copy_is_explained_from_a_state_on_that_it_noted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "LINES_PER_STATE", 2)
    run_pair(tmp_path / "p")
    log = tmp_path / "p/queries/q/B/steps.jsonl"
    lines = [line for line in log.read_text().splitlines() if line]
    log.write_text("\n".join(lines[1:]))
    found = conform(tmp_path / "p")
    assert found.outcome is Outcome.EXPLAINED, found.findings
    (egress,) = (f for f in found.findings if f.protocol == "egress")
    assert "in 3 lives" in egress.note


def test_a_state_that_no_step_led_to_is_a_violation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "LINES_PER_STATE", 2)
    run_pair(tmp_path / "p")
    log = tmp_path / "p/queries/q/B/steps.jsonl"
    said = log.read_text()
    at = said.index('"goes_on"')
    log.write_text(said[:at] + said[at:].replace('"merged": ', '"merged": 1', 1))
    found = conform(tmp_path / "p")
    assert found.outcome is Outcome.VIOLATED
    assert "its steps led to" in found.violations[0].reason


def test_of_an_earlier_version_nothing_is_known(tmp_path: Path) -> None:
    pipeline: Pipeline = run_chain(tmp_path / "p")
    log = pipeline.path / "queries/first/events.jsonl"
    log.write_text(log.read_text().replace('"received"', '"was"').replace('"after"', '"had"'))
    found = conform(pipeline.path)
    assert found.outcome is Outcome.UNDETERMINED
    assert "an earlier version" in found.findings[0].note
