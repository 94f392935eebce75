"""Everything about a protocol is found out together, and several are verified side by side.

Verifying a whole protocol takes a minute, so the slow tests do it; the fast ones compare the
committed certificate with what it speaks of.
"""

from __future__ import annotations

import importlib.util
import json
import multiprocessing
import subprocess
import sys
from pathlib import Path

import pytest

from streamproof.certification import basis_of, certify, stale_parts
from streamproof.certified.record import DIRECTORY_VARIABLE, read_record
from streamproof.lang.digest import protocol_digest
from streamproof.models.kit import registry
from streamproof.models.kit.places import protocol_names
from streamproof.models.kit.registry import UnknownModel, protocol_module
from streamproof.models.kit.verdict import ExitCode
from streamproof.protocols import chandy_lamport
from streamproof.verification import model_files, verify_protocols


@pytest.fixture(scope="module")
def stale():
    """Ask a fresh process: it has loaded what the files say, and nothing that tests have left."""
    command = [sys.executable, "-m", "streamproof", "certify", "--all", "--check", "--json"]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    told = json.loads(found.stdout)["stale"]
    assert (found.returncode == 0) == (not any(told.values())), found.stderr
    return told


@pytest.mark.parametrize("protocol", protocol_names())
def test_the_committed_certificate_is_of_the_protocol_as_it_is(protocol, stale):
    assert stale[protocol] == []


@pytest.mark.parametrize("protocol", protocol_names())
def test_what_tests_have_done_in_this_process_is_no_change_of_the_protocol(protocol):
    assert read_record(protocol).content["digest"] == basis_of(protocol).digest


@pytest.mark.parametrize("protocol", protocol_names())
def test_the_committed_certificate_names_every_model_size_and_mutant(protocol):
    certificate = read_record(protocol).content
    files = model_files(protocol)
    sizes = {(model.__name__, size) for file in files for model in file.all for size in model.sizes}
    assert {(part["model"], part["size"]) for part in certificate["explored"]} == sizes
    mutants = [mutant.name for file in files for mutant in file.mutants]
    assert certificate["mutants_killed"] == mutants
    assert certificate["proof"]["status"] == "PROVED"


def digest_after(change, tmp_path):
    """Give the digest of the protocol's text after a change to it."""
    source = Path(chandy_lamport.__file__).read_text(encoding="utf-8")
    changed = change(source)
    assert changed != source
    name = f"changed_{abs(hash(changed))}"
    (tmp_path / f"{name}.py").write_text(changed, encoding="utf-8")
    spec = importlib.util.spec_from_file_location(name, tmp_path / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return protocol_digest(module)


def test_the_digest_moves_with_what_a_transition_does(tmp_path):
    moved = digest_after(
        lambda text: text.replace("require(not recorder.recorded)\n", "pass\n"), tmp_path
    )
    assert moved != protocol_digest(chandy_lamport)


def test_the_digest_does_not_move_with_comments_and_local_names(tmp_path):
    same = digest_after(
        lambda text: (
            text.replace("# Saving and sending", "# Both")
            .replace("closed = ", "shut = ")
            .replace("closed=closed", "closed=shut")
        ),
        tmp_path,
    )
    assert same == protocol_digest(chandy_lamport)


def test_an_unknown_protocol_is_refused_with_those_that_there_are():
    with pytest.raises(registry.UnknownModel, match="chandy_lamport"):
        protocol_module("paxos")


@pytest.mark.slow
@pytest.mark.parametrize("protocol", protocol_names())
def test_the_committed_certificate_is_what_verifying_gives(protocol, monkeypatch, tmp_path):
    committed = read_record(protocol).content
    monkeypatch.setenv(DIRECTORY_VARIABLE, str(tmp_path))
    certify(protocol)
    fresh = read_record(protocol).content
    for part in ("explored", "proof", "mutants_killed"):
        assert fresh[part] == committed[part]


@pytest.mark.slow
@pytest.mark.parametrize("protocol", protocol_names())
def test_the_committed_certificate_is_by_the_engines_as_they_are(protocol):
    assert stale_parts(protocol, basis_of(protocol)) == ()


@pytest.mark.slow
def test_protocols_are_verified_side_by_side_and_reported_in_order(monkeypatch):
    monkeypatch.setattr("streamproof.verification.cores", lambda: 2)
    stages = []
    done = []
    reports = verify_protocols(
        ["merge_order", "egress"], on_stage=stages.append, on_report=done.append
    )
    assert sorted(report.protocol for report in done) == ["egress", "merge_order"]
    assert [report.protocol for report in reports] == ["merge_order", "egress"]
    assert all(report.exit_code is ExitCode.GREEN for report in reports)
    assert any(stage.startswith("egress: exploring") for stage in stages)
    assert not any("hunting 0" in stage for stage in stages)


def test_what_goes_wrong_in_one_ends_them_all(monkeypatch):
    monkeypatch.setattr("streamproof.verification.cores", lambda: 2)
    with pytest.raises(UnknownModel, match="nothing_such"):
        verify_protocols(["egress", "nothing_such"])
    assert multiprocessing.active_children() == []
