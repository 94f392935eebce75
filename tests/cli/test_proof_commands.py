"""The commands that prove, certify and verify: exit codes, and what they say."""

from __future__ import annotations

import json
import re
from base64 import b64encode
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

from streamproof import certification, verification
from streamproof.certified.record import DIRECTORY_VARIABLE
from streamproof.cli import spark_examples
from streamproof.cli.app import app
from streamproof.cli.spark_examples import SparkExample
from streamproof.models.kit.verdict import ExitCode, Status
from streamproof.spark_bindings.certificate import SignedBy, check_certificate
from tests.support.dependencies import lacking
from tests.support.reports import small_report

TOY = "tests/proofs/toy.py"
LEASE = "examples/lease.py"


@pytest.fixture(scope="module")
def report():
    return small_report()


@pytest.fixture
def quick(report, monkeypatch):
    """Commands that verify find the result of a small verification at once."""
    monkeypatch.setattr("streamproof.verification.verify_protocol", lambda *_, **__: report)
    monkeypatch.setattr(
        "streamproof.verification.verify_protocols", lambda names, **_: [report for _ in names]
    )


def run(*arguments):
    return CliRunner().invoke(app, list(arguments))


def test_prove_says_for_which_sizes_it_holds():
    ran = run("prove", TOY)
    assert ran.exit_code == ExitCode.GREEN
    assert ran.stdout.startswith(f"{TOY} (")
    assert "any number of elements in every domain" in ran.stdout
    assert "PROVED" in ran.stdout


def test_prove_shows_why_an_obligation_fails(tmp_path):
    weak = tmp_path / "weak.py"
    text = Path(TOY).read_text(encoding="utf-8")
    weak.write_text(text.replace("conjuncts=(served_in_order, ", "conjuncts=("), encoding="utf-8")
    ran = run("prove", str(weak))
    assert ran.exit_code == ExitCode.UNDETERMINED
    assert "consecution: waiting_is_ahead by take/0: sat" in ran.stdout
    assert "with 2 elements in every domain, not reachable" in ran.stdout
    assert "served: 0 -> 1" in ran.stdout
    told = json.loads(run("prove", str(weak), "--json").stdout)
    assert told["verdict"]["status"] == "UNDETERMINED"


def test_prove_says_what_is_no_part_of_a_proof():
    ran = run("prove", LEASE)
    assert ran.exit_code == ExitCode.GREEN
    assert "not asked, since liveness is no part of a proof: each_lease_ends." in ran.stdout
    assert json.loads(run("prove", LEASE, "--json").stdout)["not_asked"] == ["each_lease_ends"]
    assert "not asked" not in run("prove", TOY).stdout


def changed_lease(place, before, after):
    """Write the lease of the examples with a change."""
    text = Path(LEASE).read_text(encoding="utf-8")
    assert before in text
    (place / "lease.py").write_text(text.replace(before, after), encoding="utf-8")
    return str(place / "lease.py")


def test_a_weak_invariant_is_shown_with_what_to_do_next(tmp_path):
    weak = changed_lease(tmp_path, "(free_means_unheld, lambda m, s: m.one_writer(s))", "(one_w,)")
    text = Path(weak).read_text(encoding="utf-8")
    one_writer = "def one_w(m: Lease, s: State) -> bool:\n    return m.one_writer(s)\n\n\nINVARIANT"
    Path(weak).write_text(text.replace("INVARIANT", one_writer), encoding="utf-8")
    ran = run("prove", weak)
    assert ran.exit_code == ExitCode.UNDETERMINED
    assert "no run reaches it: add a conjunct that excludes this state" in ran.stdout


def test_an_example_that_is_the_initial_state_is_called_so(tmp_path):
    held = "Map.fill(self.workers, True)"
    wrong = changed_lease(tmp_path, "Map.fill(self.workers, False)", held)
    ran = run("prove", wrong)
    assert ran.exit_code == ExitCode.REFUTED
    assert "    the initial state\n" in ran.stdout
    assert "differs from" not in ran.stdout


def test_prove_without_an_invariant_shows_how_one_is_written(tmp_path):
    ran = run("prove", "examples/two_phase_commit.py")
    assert ran.exit_code == ExitCode.WRONG_USE
    bare = changed_lease(tmp_path, "INVARIANT =", "OTHER =")
    ran = run("prove", bare)
    assert ran.exit_code == ExitCode.WRONG_USE
    shown = re.findall(r"^ {4}(\S.*)$", ran.stderr, re.MULTILINE)
    assert shown[0] == "from streamproof.proofs.invariant import Invariant"
    added = "\n".join([Path(bare).read_text(encoding="utf-8"), *shown])
    (tmp_path / "with_invariant.py").write_text(added, encoding="utf-8")
    ran = run("prove", str(tmp_path / "with_invariant.py"))
    assert ran.exit_code == ExitCode.UNDETERMINED  # it can be read, and is too weak


@pytest.fixture
def certified(report, monkeypatch, tmp_path):
    """A directory for certificates, and a small verification that is soon done."""
    monkeypatch.setenv(DIRECTORY_VARIABLE, str(tmp_path))
    monkeypatch.setattr(
        certification, "explore_protocol", lambda *_, **__: (report.checks, report.mutation)
    )
    monkeypatch.setattr(certification, "prove", lambda _: report.proof)
    return tmp_path


def test_certify_writes_the_certificate(certified):
    assert run("certify", "chandy_lamport", "--check").exit_code == ExitCode.UNDETERMINED
    ran = run("certify", "chandy_lamport", "--json")
    assert ran.exit_code == ExitCode.GREEN
    (told,) = json.loads(ran.stdout)["certificates"]
    assert told["path"] == str(certified / "chandy_lamport.json")
    assert told["certificate"] == json.loads(Path(told["path"]).read_text(encoding="utf-8"))
    checked = run("certify", "chandy_lamport", "--check")
    assert checked.exit_code == ExitCode.GREEN
    assert checked.stdout == "chandy_lamport: certified as it is\n"


def test_certify_tells_what_is_stale(certified):
    ran = run("certify", "chandy_lamport", "egress", "--check", "--json")
    assert json.loads(ran.stdout) == {
        "stale": {name: ["explored", "proof"] for name in ("chandy_lamport", "egress")}
    }
    ran = run("certify", "egress", "--check")
    assert ran.stdout == "egress: to be shown again: explored, proof\n"


def test_certify_signs(certified, monkeypatch):
    from tests.certified.support.keys import key_files

    private, public = key_files(certified, "acme")
    ran = run("certify", "chandy_lamport", "--sign", str(private))
    assert ran.exit_code == ExitCode.GREEN
    check_certificate("chandy_lamport", trust=SignedBy(public))


def test_certify_refuses_a_key_that_cannot_sign_before_anything_is_verified(certified):
    ran = run("certify", "chandy_lamport", "--sign", str(certified / "none.pem"))
    assert ran.exit_code == ExitCode.WRONG_USE
    assert "openssl genpkey" in ran.stderr
    assert "exploring" not in ran.stderr


@pytest.mark.parametrize("arguments", [[], ["egress", "--all"]])
def test_certify_wants_names_or_all(arguments):
    ran = run("certify", *arguments)
    assert ran.exit_code == ExitCode.WRONG_USE
    assert "chandy_lamport, dpc" in ran.stderr


def test_verify_without_the_example_shows_one_table(quick, tmp_path):
    page = tmp_path / "deep" / "report.html"
    ran = run("verify", "--no-example", "--html", str(page))
    assert ran.exit_code == ExitCode.GREEN
    assert "102 of 102 obligations" in ran.stdout
    assert "everything that is claimed holds" in page.read_text(encoding="utf-8")


def interrupted_after(report, count):
    """Verify so many protocols, and be interrupted by hand."""

    def verify(names, *, on_report, **_):
        for name in names[:count]:
            on_report(replace(report, protocol=name))
        raise KeyboardInterrupt

    return verify


@pytest.mark.parametrize("as_json", [False, True])
def test_verdicts_that_are_there_are_shown_when_it_is_interrupted(report, monkeypatch, as_json):
    monkeypatch.setattr("streamproof.verification.verify_protocols", interrupted_after(report, 2))
    ran = run("verify", *["--json"] * as_json)
    assert ran.exit_code == ExitCode.UNDETERMINED
    assert re.search(r"1 of \d+ protocols; chandy_lamport: EXHAUSTED", ran.stderr)
    if as_json:
        told = json.loads(ran.stdout)
        assert [part["protocol"] for part in told["protocols"]] == ["chandy_lamport", "dpc"]
        assert told["interrupted"]
        assert told["examples"] == {}
    else:
        assert ran.stdout.count("102 of 102 obligations") == 2
        assert re.search(r"interrupted: 2 of \d+ protocols were verified\n", ran.stdout)


def test_an_interruption_before_any_verdict_shows_none(report, monkeypatch):
    monkeypatch.setattr("streamproof.verification.verify_protocols", interrupted_after(report, 0))
    ran = run("verify")
    assert ran.exit_code == ExitCode.UNDETERMINED
    assert (ran.stdout, "before there was anything" in ran.stderr) == ("", True)


def test_an_interrupted_example_leaves_the_verdicts_of_others(quick, monkeypatch):
    def run_or_stop(example, _rows, _plot):
        if example.name == "airports":
            raise KeyboardInterrupt
        return {"equal": True}

    monkeypatch.setattr(SparkExample, "run", run_or_stop)
    ran = run("verify")
    assert ran.exit_code == ExitCode.UNDETERMINED
    assert ran.stdout.count("EQUAL") == 1


def test_verify_as_json_gives_what_is_printed(quick):
    told = json.loads(run("verify", "--no-example", "--json").stdout)
    assert told["exit_code"] == 0
    assert told["protocols"][0]["proof"]["verdict"]["status"] == "PROVED"


@pytest.mark.parametrize(
    ("ran", "code", "said"),
    [
        ({"equal": True, "rows": 10, "seconds": {"feed": 1.5}}, ExitCode.GREEN, "EQUAL"),
        ({"equal": False, "rows": 10}, ExitCode.REFUTED, "DIFFERS"),
        ({"equal": False, "unfinished": "not finished"}, ExitCode.UNDETERMINED, "UNDETERMINED"),
        ({"missing": "it printed nothing"}, ExitCode.UNDETERMINED, "NOT RUN"),
        ({"absent": "not part of this installation"}, ExitCode.GREEN, "SKIPPED"),
    ],
)
def test_the_examples_outcome_counts(quick, monkeypatch, ran, code, said):
    monkeypatch.setattr(SparkExample, "run", lambda _example, _rows, _plot: ran)
    shown = run("verify")
    assert shown.exit_code == code
    assert said in shown.stdout


def test_an_example_that_prints_no_result_is_no_success(monkeypatch, tmp_path):
    monkeypatch.setattr(
        spark_examples.streamproof, "__file__", str(tmp_path / "streamproof" / "__init__.py")
    )
    monkeypatch.chdir(tmp_path)
    (tmp_path / "examples").mkdir()

    def ran(name: str, text: str | None):
        if text is not None:
            (tmp_path / "examples" / name).mkdir()
            script = tmp_path / "examples" / name / "__main__.py"
            script.write_text(f"{text}\n", encoding="utf-8")
        return SparkExample(name, "", "").run(None)

    assert ran("silent", "print('no json')") == {"missing": "silent printed no result"}
    lost = {"missing": "lost ended by itself with exit code 3"}
    assert ran("lost", "import sys; sys.exit(3)") == lost
    slow = 'import sys; print(\'{"equal": false, "unfinished": "too slow"}\'); sys.exit(3)'
    assert ran("slow", slow) == {"equal": False, "unfinished": "too slow"}
    failing = "import sys; print('{\"equal\": true}'); sys.exit(1)"
    assert ran("failing", failing)["equal"] is False
    assert ran("absent", None)["absent"].startswith("not part of this installation")


@pytest.mark.parametrize(
    ("ran", "remark"),
    [
        ({"wrong": "an output came twice"}, "an output came twice; run: python examples/it"),
        ({"wrong": 1234}, "1,234 rows are wrong; run: python examples/it"),
        ({"wrong": 0}, "run: python examples/it"),
        ({"unfinished": "too slow"}, "too slow; run: python examples/it"),
    ],
)
def test_the_row_of_an_example_that_is_not_equal_says_why_and_what_to_run(ran, remark):
    assert SparkExample("it", "", "all is well").row({"equal": False, **ran}).remark == remark


def test_what_an_example_draws_is_in_the_page(quick, monkeypatch, tmp_path):
    def run_and_draw(_example, _rows, plot):
        plot.write_text("<?xml?>\n<svg><text>what happened</text></svg>", encoding="utf-8")
        return {"equal": True}

    monkeypatch.setattr(SparkExample, "run", run_and_draw)
    page = tmp_path / "page.html"
    assert run("verify", "--html", str(page)).exit_code == ExitCode.GREEN
    drawn = b64encode(b"<svg><text>what happened</text></svg>").decode()
    count = page.read_text(encoding="utf-8").count(f"data:image/svg+xml;base64,{drawn}")
    assert count == len(spark_examples.EXAMPLES)


def test_every_example_is_there():
    assert all(example.path is not None for example in spark_examples.EXAMPLES)


@pytest.fixture
def unproven(report, monkeypatch):
    """Let `verify` find a small report of an installation that cannot prove."""
    found = replace(report, proof=None, translation=None)
    lacking(monkeypatch, "z3", "pyspark")
    monkeypatch.setattr("streamproof.verification.verify_protocols", lambda *_, **__: [found])


def test_verify_skips_what_is_not_part_of_the_installation(unproven, tmp_path):
    page = tmp_path / "page.html"
    ran = run("verify", "chandy_lamport", "--html", str(page))
    assert ran.exit_code == ExitCode.GREEN, ran.output
    rows = [line.split("SKIPPED")[0].strip() for line in ran.stdout.splitlines() if "SKIP" in line]
    assert rows[:2] == ["any size", "traced form"]
    assert [row.split()[0] for row in rows[2:5]] == [one.name for one in spark_examples.EXAMPLES]
    assert "everything that this installation can show holds; 5 SKIPPED" in ran.stdout
    assert "not part of this installation (no module named z3)" in page.read_text("utf-8")
    told = json.loads(run("verify", "chandy_lamport", "--json").stdout)
    assert told["protocols"][0]["proof"] is None
    assert {"absent"} == {key for ran in told["examples"].values() for key in ran}


def test_a_protocol_is_verified_without_a_proof_where_there_is_no_prover(report, monkeypatch):
    explored = report.checks, report.mutation
    monkeypatch.setattr(verification, "explore_protocol", lambda *_, **__: explored)
    lacking(monkeypatch, "z3")
    found = verification.verify_protocol("chandy_lamport")
    assert (found.proof, found.translation) == (None, None)
    assert (found.verdict.status, found.exit_code) == (Status.EXHAUSTED, ExitCode.GREEN)
