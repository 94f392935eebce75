"""A certificate is written if everything is green; parts of one are kept if nothing has moved."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from streamproof import certification
from streamproof.certification import (
    ENGINES,
    NotCertifiable,
    basis_of,
    certify,
    explored_part,
    module_file,
    proof_part,
    stale_parts,
)
from streamproof.certified.record import DIRECTORY_VARIABLE, FORMAT, read_record
from streamproof.checker.mutation import MutationReport
from streamproof.models.kit.registry import UnknownModel
from streamproof.protocols import chandy_lamport
from streamproof.spark_bindings.certificate import check_certificate
from tests.support.reports import small_report

NAME = "chandy_lamport"


@pytest.fixture(scope="module")
def report():
    return small_report()


@pytest.fixture
def runs(report, monkeypatch, tmp_path):
    """Lists what was run; a small verification stands for the whole one."""
    return listed(report, monkeypatch, tmp_path / "new")


@pytest.fixture(scope="module")
def certified(report, tmp_path_factory):
    """Names a directory with a certificate."""
    place = tmp_path_factory.mktemp("certified")
    with pytest.MonkeyPatch.context() as monkeypatch:
        listed(report, monkeypatch, place)
        certify(NAME)
    return place


def listed(report, monkeypatch, place):
    done = []

    def explore(*_, **__):
        done.append("explored")
        return report.checks, report.mutation

    def prove(_):
        done.append("proof")
        return report.proof

    monkeypatch.setenv(DIRECTORY_VARIABLE, str(place))
    monkeypatch.setattr(certification, "explore_protocol", explore)
    monkeypatch.setattr(certification, "prove", prove)
    return done


def test_what_is_green_is_certified_and_says_what_proved_it(runs, tmp_path):
    assert certify(NAME) == tmp_path / "new" / "chandy_lamport.json"
    content, basis = read_record(NAME).content, basis_of(NAME)
    assert content["format"] == FORMAT
    assert content["explored"][0]["distinct"] == 141
    assert content["proof"]["status"] == "PROVED"
    assert content["mutants_killed"] == ["skip_self"] or len(content["mutants_killed"]) == 1
    assert content["made_from"] == basis.to_json()
    assert content["made_from"]["engines"].keys() == ENGINES.keys()
    assert "z3-solver" in content["made_from"]["versions"]
    assert "streamproof.models.mutants.snapshots.chandy_lamport" in content["made_from"]["models"]
    assert content["sources"].keys() >= {"streamproof.lang.map", "streamproof.protocols." + NAME}
    check_certificate(NAME)


def test_what_has_not_moved_is_not_run_again(runs):
    certify(NAME)
    certify(NAME)
    assert runs == ["explored", "proof"]
    certify(NAME, anew=True)
    assert runs == ["explored", "proof"] * 2


MOVED = {
    "traced_form": ({"digest": "0"}, ("explored", "proof")),
    "source": ({"sources": {"streamproof.lang": "0"}}, ("explored", "proof")),
    "models": ({"models": {}}, ("explored", "proof")),
    "language": ({"engines": {"lang": "0"}}, ("explored", "proof")),
    "checker": ({"engines": {"checker": "0"}}, ("explored",)),
    "compiler": ({"versions": {"llvmlite": "0"}}, ("explored",)),
    "invariant": ({"invariant": {}}, ("proof",)),
    "prover": ({"engines": {"proofs": "0"}}, ("proof",)),
    "solver": ({"versions": {"z3-solver": "0"}}, ("proof",)),
    "python": ({"versions": {"python": "3.99"}}, ()),
}


@pytest.mark.parametrize("case", MOVED)
def test_what_has_moved_is_run_again(case, certified, monkeypatch):
    monkeypatch.setenv(DIRECTORY_VARIABLE, str(certified))
    basis = basis_of(NAME)
    changes, stale = MOVED[case]
    merged = {
        name: getattr(basis, name) | part if name in ("engines", "versions") else part
        for name, part in changes.items()
    }
    assert stale_parts(NAME, replace(basis, **merged)) == stale


def test_what_was_edited_is_not_kept(runs, tmp_path):
    path = certify(NAME)
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('"distinct": 141', '"distinct": 142'), encoding="utf-8")
    assert stale_parts(NAME, basis_of(NAME)) == ("explored", "proof")
    certify(NAME)
    assert path.read_text(encoding="utf-8") == text


def test_what_is_not_green_is_not_certified(report):
    checks, mutation = report.checks, report.mutation
    unproved = replace(report.proof, vacuous=("send/0",))
    with pytest.raises(NotCertifiable, match=f"UNDETERMINED.* streamproof verify {NAME}"):
        proof_part(NAME, unproved)
    with pytest.raises(NotCertifiable, match="0 of 0 mutants are killed"):
        explored_part(NAME, checks, MutationReport(NAME, ()))
    with pytest.raises(NotCertifiable, match="none of its models was explored"):
        explored_part(NAME, (), mutation)
    model, size, explored = checks[0]
    cut = replace(explored, counts=explored.counts, findings=())
    assert cut.verdict.status.value != "EXHAUSTED"
    with pytest.raises(NotCertifiable, match=f"{model} at {size} is UNDETERMINED"):
        explored_part(NAME, ((model, size, cut),), mutation)


def test_what_is_changed_meanwhile_is_not_certified(runs, monkeypatch):
    before = basis_of(NAME)
    answers = iter([before, replace(before, engines={**before.engines, "checker": "0"})])
    monkeypatch.setattr(certification, "basis_of", lambda _: next(answers))
    with pytest.raises(NotCertifiable, match="was changed meanwhile"):
        certify(NAME)


def test_what_is_loaded_and_is_not_in_its_file_is_not_certified(runs, monkeypatch):
    monkeypatch.setattr(chandy_lamport, "is_complete", lambda _: True)
    with pytest.raises(NotCertifiable, match=r"chandy_lamport\.is_complete"):
        certify(NAME)
    assert runs == []


def test_an_unknown_protocol_is_not_certified(runs):
    with pytest.raises(UnknownModel, match="paxos"):
        certify("paxos")


def test_every_engine_has_sources():
    package = module_file("streamproof.verification").parent
    for parts in ENGINES.values():
        for part in parts:
            assert (package / part).is_dir() or list(package.glob(part)), part
    assert module_file("streamproof.lang.map") == Path(package / "lang" / "map.py")
