"""A certificate says what was shown, about the text that is there now, and nothing else.

Verifying a whole protocol takes a minute, so the slow tests do it; the fast ones compare the
committed certificate with what it speaks of, and refuse to certify what is not green.
"""

from __future__ import annotations

import importlib.util
import json
import multiprocessing
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from streamproof.checker import check
from streamproof.checker.mutation import MutationReport, run_mutants
from streamproof.lang.digest import protocol_digest
from streamproof.models import registry
from streamproof.models.mutants.chandy_lamport import MUTANTS
from streamproof.models.registry import UnknownModel, protocol_module, protocol_names
from streamproof.models.sizes import at_size
from streamproof.models.verdict import ExitCode
from streamproof.proofs.find import find_invariant
from streamproof.proofs.induction import prove
from streamproof.protocols import chandy_lamport
from streamproof.verification import (
    NotCertifiable,
    ProtocolReport,
    certificate_of,
    certificate_path,
    model_files,
    verify_protocol,
    verify_protocols,
    write_certificate,
)


def small_report() -> ProtocolReport:
    """Verify Chandy-Lamport as `verify_protocol` does, at its smallest size and one mutant."""
    model_class = registry.find("chandy_lamport")
    report = check(at_size(model_class, model_class.sizes["small"]), liveness=False)
    mutants = run_mutants(
        MUTANTS[1:2], original_of=lambda _: model_class, build=at_size, limits=None
    )
    return ProtocolReport(
        "chandy_lamport",
        protocol_digest(chandy_lamport),
        (("ChandyLamport", "small", report),),
        MutationReport("chandy_lamport", tuple(mutants)),
        prove(find_invariant("chandy_lamport")),
        1.0,
    )


@pytest.fixture(scope="module")
def report():
    return small_report()


@pytest.mark.parametrize("protocol", protocol_names())
def test_the_committed_certificate_is_of_the_protocol_as_it_is(protocol):
    certificate = json.loads(certificate_path(protocol).read_text(encoding="utf-8"))
    assert certificate["digest"] == protocol_digest(protocol_module(protocol)), (
        f"{protocol} was changed after it was certified. Run: streamproof certify {protocol}"
    )


@pytest.mark.parametrize("protocol", protocol_names())
def test_the_committed_certificate_names_every_model_size_and_mutant(protocol):
    certificate = json.loads(certificate_path(protocol).read_text(encoding="utf-8"))
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


def test_a_green_report_is_certified(report, monkeypatch, tmp_path):
    monkeypatch.setattr(
        "streamproof.verification.certificate_path", lambda name: tmp_path / "new" / f"{name}.json"
    )
    assert report.exit_code is ExitCode.GREEN
    written = json.loads(write_certificate(report).read_text(encoding="utf-8"))
    assert written == json.loads(json.dumps(certificate_of(report)))
    assert written["explored"][0]["distinct"] == 141


def test_what_is_not_green_is_not_certified(report):
    unproved = replace(report, proof=replace(report.proof, vacuous=("send/0",)))
    survived = replace(report, mutation=MutationReport("chandy_lamport", ()))
    unexplored = replace(report, checks=())
    for bad in (unproved, survived):
        assert bad.exit_code is ExitCode.UNDETERMINED
        with pytest.raises(NotCertifiable, match="streamproof verify chandy_lamport"):
            certificate_of(bad)
    with pytest.raises(NotCertifiable):
        certificate_of(unexplored)


def test_an_unknown_protocol_is_refused_with_those_that_there_are():
    with pytest.raises(registry.UnknownModel, match="chandy_lamport"):
        protocol_module("paxos")


@pytest.mark.slow
@pytest.mark.parametrize("protocol", protocol_names())
def test_the_committed_certificate_is_what_verifying_gives(protocol):
    fresh = certificate_of(verify_protocol(protocol))
    committed = json.loads(Path(certificate_path(protocol)).read_text(encoding="utf-8"))
    for certificate in (fresh, committed):
        del certificate["made_with"]
    assert json.loads(json.dumps(fresh)) == committed


@pytest.mark.slow
def test_protocols_are_verified_side_by_side_and_reported_in_order(monkeypatch):
    monkeypatch.setattr("streamproof.verification.cores", lambda: 2)
    stages = []
    reports = verify_protocols(["merge_order", "egress"], on_stage=stages.append)
    assert [report.protocol for report in reports] == ["merge_order", "egress"]
    assert all(report.exit_code is ExitCode.GREEN for report in reports)
    assert any(stage.startswith("egress: exploring") for stage in stages)


def test_what_goes_wrong_in_one_ends_them_all(monkeypatch):
    monkeypatch.setattr("streamproof.verification.cores", lambda: 2)
    with pytest.raises(UnknownModel, match="nothing_such"):
        verify_protocols(["egress", "nothing_such"])
    assert multiprocessing.active_children() == []
