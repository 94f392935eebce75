"""What another process would answer otherwise is refused, whatever the hashes of this one."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from streamproof.checker import check, elsewhere, prefix
from streamproof.checker import explore as reference
from streamproof.checker.canonical import text_of
from streamproof.checker.elsewhere import request_for, require_same_elsewhere
from streamproof.checker.evident import is_evident
from streamproof.cli.app import app
from streamproof.lang import Domain, Map
from streamproof.lang.impure import ImpureModel
from streamproof.models.kit import registry
from streamproof.models.kit.verdict import Status
from tests.checker import elsewhere_many
from tests.checker.support import elsewhere_models as models

ROOT = Path(__file__).parents[2]
CHECKING = importlib.import_module("streamproof.checker.check")
HEAD = """
from dataclasses import dataclass
from streamproof.lang.model import Model, action, always, final, init
"""
FIRST = (
    HEAD
    + """
class Holder:
    KEPT = frozenset("abcde")

@dataclass(frozen=True)
class First(Model[str]):
    @init
    def start(self): return ""
    @action
    def step(self, s): return next(iter(vars(Holder)["KEPT"]))
    @always
    def fine(self, s): return len(s) < 2
"""
)
SAME = FIRST.replace("next(iter(vars", "min((vars")
CHECKED = """
from streamproof.checker import check
try: print(check(First()).verdict.status.value)
except Exception as error: print(type(error).__name__)
"""


@pytest.fixture
def compared(monkeypatch):
    """Compare as users' checks do; tests/support/quick.py leaves it out of others."""
    monkeypatch.setattr(CHECKING, "require_same_elsewhere", require_same_elsewhere)


@pytest.fixture
def started(monkeypatch):
    """List the processes that are started."""
    found: list[Any] = []
    start = elsewhere._start
    monkeypatch.setattr(elsewhere, "_start", lambda *given: found.append(given) or start(*given))
    monkeypatch.setattr(elsewhere, "_known", {})
    return found


def run(*arguments: str, seed: str = "1", cwd: Path = ROOT) -> str:
    ran = subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=cwd,
        env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)},
    )
    return ran.stdout + ran.stderr


def file_of(directory: Path, text: str, name: str = "model.py") -> Path:
    path = directory / name
    path.write_text(text, encoding="utf-8")
    return path


def test_each_way_to_see_hashes_or_addresses_differs_between_processes():
    request = request_for(elsewhere_many.Many())
    written = [told for told, _ in elsewhere._written(request)]
    assert len(written) == len(elsewhere.SEEDS)
    about_the_first = [told[1].answers for told in written]
    differ = {name for name in models.WAYS if len({a[f"{name}()"] for a in about_the_first}) > 1}
    assert differ == set(models.WAYS)


@pytest.mark.parametrize(
    ("kind", "what"),
    [
        (models.LateAction, "step()"),
        (models.LateProperty, "fine()"),
        (models.OfSteps, "goes_on() behind step()"),
        (models.OfPromises, "gets_on()"),
        (models.OfStarts, "@init"),
        (models.Fails, "step()"),
        (models.Traced, "step()"),
    ],
)
def test_the_method_and_the_state_that_differ_are_named(kind, what):
    with pytest.raises(ImpureModel) as refused:
        require_same_elsewhere(kind())
    told = str(refused.value)
    assert told.startswith(f"{what} was asked")
    assert "in two processes, and answered" in told
    if kind in (models.LateAction, models.LateProperty):
        assert "n=150)" in told


def test_a_model_that_cannot_be_traced_and_is_pure_is_exhausted(compared, started):
    ps = Domain(models.P, 2)
    model = models.Pure(ps, numbers=Map.fill(ps, 1))
    assert check(model).verdict.status is Status.EXHAUSTED
    assert len(started) == len(elsewhere.SEEDS)


@pytest.mark.parametrize("name", ["OnlyHidden", "OnlyMissing"])
def test_a_check_refuses_it_whatever_the_hashes_of_its_own_process(name):
    program = (
        f"from tests.checker.support.elsewhere_models import {name} as First\n"
        "from streamproof.checker import check\n"
        "try: print(check(First()).verdict.status.value)\n"
        "except Exception as error: print(type(error).__name__, str(error)[:6])\n"
    )
    told = {run("-c", program, seed=seed) for seed in ("1", "5")}
    assert told == {"ImpureModel step()\n"}


def test_a_model_that_is_traced_is_refused_though_its_traced_form_is_a_number(compared):
    with pytest.raises(ImpureModel, match=r"step\(\) was asked about Number\(n=0\)"):
        check(models.Traced())


# --------------------------------------------------------------------------- how it is loaded


def test_a_file_that_is_named_to_the_command_is_loaded_by_its_path(tmp_path):
    refused = run("-m", "streamproof", "check", str(file_of(tmp_path, FIRST)))
    assert "ImpureModel: step() was asked about ''" in refused
    allowed = run("-m", "streamproof", "check", str(file_of(tmp_path, SAME, "same.py")))
    assert "EXHAUSTED" in allowed


def test_a_script_is_run_up_to_its_check_and_no_further(tmp_path):
    note = "open('begun', 'a').write('.')\n"
    script = file_of(tmp_path, note + FIRST + CHECKED + "open('ended', 'a').write('.')\n")
    assert run(str(script), cwd=tmp_path) == "ImpureModel\n"
    assert (tmp_path / "begun").read_text() == "." * (1 + len(elsewhere.SEEDS))
    assert (tmp_path / "ended").read_text() == "."


def test_what_a_script_does_as_a_program_is_left_out(tmp_path):
    inside = CHECKED.replace("\n", "\n    ").rstrip()
    script = file_of(tmp_path, f"{FIRST}\nif __name__ == '__main__':{inside}\n    print('done')\n")
    assert run(str(script), cwd=tmp_path) == "ImpureModel\ndone\n"


def test_a_module_of_a_package_is_loaded_with_its_relative_imports(tmp_path):
    package = tmp_path / "some" / "models"
    package.mkdir(parents=True)
    file_of(package, "LETTERS = frozenset('abcde')\n", "letters.py")
    text = "from .letters import LETTERS\n" + FIRST.replace('frozenset("abcde")', "LETTERS")
    file_of(package, text + CHECKED, "first.py")
    assert run("-m", "some.models.first", cwd=tmp_path) == "ImpureModel\n"


def test_a_model_with_fields_of_its_own_file_is_made_of_them(tmp_path):
    text = FIRST.replace(
        "@dataclass(frozen=True)\nclass First(Model[str]):",
        "@dataclass(frozen=True)\nclass Names:\n    names: frozenset\n\n"
        "@dataclass(frozen=True)\nclass First(Model[str]):\n    given: Names",
    ).replace('vars(Holder)["KEPT"]', "vars(self)['given'].names")
    checked = CHECKED.replace("First()", "First(Names(frozenset('abcde')))")
    assert run(str(file_of(tmp_path, text + checked)), cwd=tmp_path) == "ImpureModel\n"


def test_the_fields_are_handed_on_alike_whatever_our_own_hashes():
    program = (
        "from streamproof.checker.elsewhere import _pickled\n"
        "print(_pickled({'a': (frozenset('abcdef'), {frozenset('ab'), frozenset('cd')})}))\n"
    )
    assert len({run("-c", program, seed=seed) for seed in ("1", "2", "3")}) == 1


# --------------------------------------------------------------------------- not comparable


def test_a_class_inside_a_function_is_not_compared(compared, started):
    report = check(models.inside()())
    assert report.verdict.status is Status.EXHAUSTED
    assert report.only_here.endswith("is made inside of a function")
    assert report.to_json()["only_here"] == report.only_here
    assert started == []


def test_what_was_not_compared_is_printed(compared, tmp_path):
    guarded = f"\nimport os\nif '{prefix.CHILD}' in os.environ: raise ImportError\n"
    for text, told in ((SAME, False), (SAME + guarded, True)):
        file = file_of(tmp_path, text, f"model_{told}.py")
        printed = " ".join(CliRunner().invoke(app, ["check", str(file)]).output.split())
        assert "EXHAUSTED" in printed
        assert ("not compared with other processes" in printed) is told
    assert "was loaded in 0 of 4 processes; another one ended with ImportError" in printed


def test_a_class_that_is_typed_in_is_not_compared():
    assert run("-c", f"{SAME}{CHECKED}") == "EXHAUSTED\n"


def test_a_field_that_cannot_be_handed_on_is_not_compared(started):
    told = require_same_elsewhere(models.Steps(most=lambda: 1))
    assert told.startswith("a field cannot be handed on: ")
    assert "lambda" in told
    assert started == []


@pytest.mark.parametrize(
    "fault",
    [
        "raise ImportError",
        "os._exit(0)",
        "os.kill(os.getpid(), 9)",
        "del First",
    ],
)
def test_a_process_that_cannot_load_the_model_is_no_error_and_no_difference(tmp_path, fault):
    guarded = f"\nimport os\nif '{prefix.CHILD}' in os.environ: {fault}\n"
    script = file_of(tmp_path, SAME + guarded + CHECKED)
    assert run(str(script), cwd=tmp_path) == "EXHAUSTED\n"


def test_one_process_that_cannot_load_it_does_not_hide_what_the_others_differ_in(tmp_path):
    guarded = "\nimport os\nif os.environ['PYTHONHASHSEED'] in '13': raise ImportError\n"
    script = file_of(tmp_path, FIRST + guarded + CHECKED)
    assert run(str(script), seed="7", cwd=tmp_path) == "ImpureModel\n"


def test_what_was_told_before_a_process_ended_is_compared(tmp_path):
    ending = FIRST.replace('return next(iter(vars(Holder)["KEPT"]))', "return self.after(s)")
    ending += (
        "    def after(self, s):\n"
        "        if s and ENDS: raise SystemExit\n"
        "        return next(iter(vars(Holder)['KEPT']))\n"
        f"import os; ENDS = '{prefix.CHILD}' in os.environ\n"
    )
    script = file_of(tmp_path, ending + CHECKED)
    assert run(str(script), cwd=tmp_path) == "ImpureModel\n"


def test_without_time_or_without_processes_nothing_is_compared(monkeypatch, started):
    monkeypatch.setattr(elsewhere, "SECONDS_MAX", 0.0)
    assert "0 of 4 processes" in require_same_elsewhere(models.OnlyHidden())
    assert "0 of 4 processes" in require_same_elsewhere(models.OnlyHidden())
    assert len(started) == len(elsewhere.SEEDS)
    monkeypatch.setattr(elsewhere, "_known", {})
    monkeypatch.setattr(sys, "executable", str(ROOT / "no-python"))
    assert "0 of 4 processes" in require_same_elsewhere(models.OnlyHidden())
    monkeypatch.setattr(elsewhere, "_known", {})
    monkeypatch.setattr(sys, "executable", "")
    assert "can be started once more" in require_same_elsewhere(models.OnlyHidden())


# --------------------------------------------------------------------------- what it costs


def test_a_model_is_compared_once_for_each_size(started):
    for most in (1, 2, 1, 2):
        require_same_elsewhere(models.Steps(most))
    assert len(started) == 2 * len(elsewhere.SEEDS)


def test_what_is_refused_is_refused_again_without_asking(started):
    for _ in range(2):
        with pytest.raises(ImpureModel):
            require_same_elsewhere(models.OnlyHidden())
    assert len(started) == len(elsewhere.SEEDS)


def test_mutants_and_processes_that_compare_start_no_processes(compared, monkeypatch, started):
    check(models.OnlyHidden(), engine=reference, validated=False)
    monkeypatch.setenv(prefix.CHILD, "1")
    check(models.OnlyHidden(), engine=reference)
    assert started == []


def test_few_states_are_told_of_a_model_with_many():
    told = list(prefix.tell(models.Steps(100_000)))
    assert len(told) == 1 + prefix.STATES_MAX


@pytest.mark.parametrize("name", registry.names())
def test_no_protocol_pays_for_it(name):
    assert is_evident(registry.choose(name).model)


@pytest.mark.parametrize("kind", [models.Traced, elsewhere_many.Many, models.Steps])
def test_what_could_differ_is_not_evident(kind):
    assert not is_evident(kind())


def test_canonical_text_shows_no_order_and_no_address():
    shown = text_of((frozenset("ba"), models.State(seen=models.SILENT), models.P(1), models.inside))
    assert shown == (
        "({'a', 'b'}, State(left={'a', 'b', 'c', 'd', 'e'}, seen=Silent(), n=0), P(1), inside)"
    )
