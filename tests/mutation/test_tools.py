"""The tool that mutates: what it draws, how it makes a mutant, and how it counts."""

from __future__ import annotations

import os
import re
import sys
import textwrap
import types
from pathlib import Path

import pytest
from cosmic_ray.work_db import WorkDB, use_db
from cosmic_ray.work_item import MutationSpec, WorkItem

from tests.mutation import campaign
from tests.mutation.campaign import explained, forget_survivors, report
from tests.mutation.groups import GROUPS, Group, group_named
from tests.mutation.mutants import changes_nothing, drawn, is_python, quiet_spans
from tests.mutation.results import Outcome, outcome_of, result_of, told
from tests.mutation.swap import swap, swapped_code

ROOT = Path(__file__).parents[2]
CODE = """
import functools
LIMIT = 3
class Counter:
    start = 1
    def add(self, by: "int | None" = 1) -> "int | None":
        def step(n):
            return n + by
        return step(self.start)
    def __repr__(self):
        return str(1 + 1)
@functools.cache
def bounded(n):
    if n > LIMIT:
        raise ValueError("too large", 1 + 1)
    return f"{n + 1}"
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "streamproof" / "counter.py"
    path.parent.mkdir()
    path.write_text(CODE, encoding="utf-8")
    return path


def test_every_group_has_files_and_tests():
    assert sum(group.sample for group in GROUPS) >= 400
    for group in GROUPS:
        assert group.files(ROOT / "streamproof"), group.name
        assert group_named(group.name) is group
        for test in group.tests:
            assert (ROOT / "tests" / test).exists(), test
        for glob in group.modules:
            assert list((ROOT / "streamproof").glob(glob)), glob


def test_the_sample_is_the_same_each_time_and_has_one_mutant_for_each_place(file):
    first, again = drawn([file], 100), drawn([file], 100)
    keys = [told(item.mutations[0]) for item in first]
    assert keys == [told(item.mutations[0]) for item in again]
    places = [item.mutations[0].start_pos for item in first]
    assert len(set(places)) == len(places) > 3
    assert len(drawn([file], 2)) == 2
    assert {told(item.mutations[0]) for item in drawn([file], 2)} <= set(keys)


def test_what_changes_nothing_is_not_drawn(file):
    lines = {item.mutations[0].start_pos[0] for item in drawn([file], 1000)}
    text = CODE.splitlines()
    mutated = {text[line - 1].strip() for line in lines}
    assert mutated == {
        "LIMIT = 3",
        "start = 1",
        'def add(self, by: "int | None" = 1) -> "int | None":',
        "return n + by",
        "if n > LIMIT:",
    }


def mutant(path, operator, occurrence=0, start=(1, 0), end=(1, 1)):
    return MutationSpec(path, f"core/{operator}", occurrence, start, end)


def test_comparisons_by_identity_are_not_drawn(file):
    same = mutant(file, "ReplaceComparisonOperator_Is_Eq")
    other = mutant(file, "ReplaceComparisonOperator_Is_IsNot")
    assert changes_nothing(same, [])
    assert not changes_nothing(other, [])
    assert changes_nothing(other, [((1, 0), (1, 5))])
    assert quiet_spans(file)


def test_what_is_no_python_is_not_drawn(tmp_path):
    path = tmp_path / "walrus.py"
    path.write_text("def f(a):\n    if b := a:\n        return b\n", encoding="utf-8")
    assert not is_python(mutant(path, "AddNot"))


def loaded(text, path):
    module = types.ModuleType("counter")
    exec(compile(text, str(path), "exec", dont_inherit=True), vars(module))
    return module


@pytest.mark.parametrize(
    ("before", "after"),
    [("n + by", "n - by"), ("n > LIMIT", "n >= LIMIT"), ("(self.start)", "(-self.start)")],
)
def test_a_mutant_in_a_function_is_made_in_memory(before, after, tmp_path):
    path = tmp_path / "counter.py"
    module = loaded(CODE, path)
    pairs = swapped_code(CODE, CODE.replace(before, after), str(path))
    assert swap(pairs)
    wrong = loaded(CODE.replace(before, after), tmp_path / "other.py")
    for made in (module, wrong):
        made.outcome = made.Counter().add(5), _raises(made.bounded, 3)
    assert module.outcome == wrong.outcome != (6, False)


def _raises(function, value):
    try:
        function(value)
    except ValueError:
        return True
    return False


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("LIMIT = 3", "LIMIT = 4"),
        ("start = 1", "start = 2"),
        ('" = 1)', '" = 2)'),
        ("@functools.cache\n", ""),
        ("LIMIT = 3", "LIMIT = 3"),
    ],
    ids=["constant", "class_attribute", "default", "decorator", "nothing"],
)
def test_a_mutant_outside_of_functions_needs_a_new_import(before, after, tmp_path):
    assert not swapped_code(CODE, CODE.replace(before, after), str(tmp_path / "counter.py"))


def test_a_function_that_is_not_loaded_is_not_swapped(tmp_path):
    changed = CODE.replace("n > LIMIT", "n < LIMIT")
    assert not swap(swapped_code(CODE, changed, str(tmp_path / "nowhere.py")))


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        (0, Outcome.PASSED),
        (1 << 8, Outcome.FAILED),
        (2 << 8, Outcome.FAILED),
        (5 << 8, Outcome.NONE_RUN),
        (11, Outcome.FAILED),
        (24, Outcome.TIMEOUT),
        (9, Outcome.TIMEOUT),
    ],
)
def test_how_tests_end_is_read(status, outcome):
    assert outcome_of(status) is outcome


@pytest.fixture
def session(tmp_path, file):
    """A session of three mutants: one killed, one survivor, one that was not run."""
    home = tmp_path / "arbiter"
    home.mkdir()
    items = [WorkItem(name, [mutant(file, "AddNot", n)]) for n, name in enumerate("abc")]
    with use_db(str(home / "session.sqlite"), WorkDB.Mode.create) as db:
        db.add_work_items(items)
        db.set_result("a", result_of(Outcome.FAILED))
        db.set_result("b", result_of(Outcome.PASSED))
    return tmp_path


def test_the_score_counts_what_was_run_and_is_not_green_by_what_was_not(session, capsys):
    assert report([group_named("arbiter")], session) == 1
    rows = capsys.readouterr().out.splitlines()
    assert rows[1].split() == ["arbiter", "3", "2", "1", "0", "1"]
    assert rows[2].split() == ["all", "3", "2", "1", "0", "1"]
    assert rows[3] == "survived: counter.py:module:AddNot:1"


def test_an_explained_survivor_is_no_fault(session, capsys, monkeypatch):
    monkeypatch.setattr(campaign, "explained", lambda: {"counter.py:module:AddNot:1": "same"})
    with use_db(str(session / "arbiter/session.sqlite"), WorkDB.Mode.open) as db:
        db.set_result("c", result_of(Outcome.TIMEOUT))
    assert report([group_named("arbiter")], session) == 0
    assert capsys.readouterr().out.splitlines()[1].split() == ["arbiter", "3", "3", "2", "1", "0"]


def test_survivors_can_be_run_again(session):
    with use_db(str(session / "arbiter/session.sqlite"), WorkDB.Mode.open) as db:
        forget_survivors(db)
        assert {item.job_id for item in db.pending_work_items} == {"b", "c"}
        assert [job for job, _ in db.results] == ["a"]


def test_what_is_explained_names_a_file_and_says_why():
    for key, why in explained().items():
        path = key.partition(":")[0]
        assert (ROOT / "streamproof" / path).is_file(), key
        assert len(why) > 20, key


TOY = Group("toy", ("toy.py",), ("test_toy.py",), 50)


@pytest.mark.slow
def test_a_campaign_kills_what_tests_notice_and_goes_on_where_it_ended(
    tmp_path, monkeypatch, capfd
):
    """A whole campaign on a package of one function, of which the tests check one branch."""
    root = tmp_path / "root"
    (root / "streamproof").mkdir(parents=True)
    (root / "tests" / "mutation").mkdir(parents=True)
    for tool in (ROOT / "tests" / "mutation").glob("*.py"):
        (root / "tests" / "mutation" / tool.name).symlink_to(tool)
    groups = (root / "tests" / "mutation" / "groups.py").resolve().read_text(encoding="utf-8")
    (root / "tests" / "mutation" / "groups.py").unlink()
    toy = f"\n\nGROUPS = ({TOY!r},)\n"
    (root / "tests" / "mutation" / "groups.py").write_text(groups + toy, encoding="utf-8")
    (root / "pyproject.toml").write_text("[tool.pytest.ini_options]\n", encoding="utf-8")
    (root / "streamproof" / "__init__.py").write_text("", encoding="utf-8")
    (root / "streamproof" / "toy.py").write_text(
        "BASE = 10\n\n\ndef f(n):\n    return BASE + n if n > 3 else n - 1\n", encoding="utf-8"
    )
    (root / "tests" / "test_toy.py").write_text(
        textwrap.dedent(
            """
            from streamproof.toy import f

            def test_large():
                assert [f(n) for n in (4, 5)] == [14, 15]
            """
        ),
        encoding="utf-8",
    )
    monkeypatch.setattr(campaign, "ROOT", root)
    monkeypatch.setattr(campaign, "COPIED", ("streamproof", "tests", "pyproject.toml"))
    home = tmp_path / "kept" / "toy"
    campaign.Campaign(TOY, home).run()
    assert report([TOY], tmp_path / "kept") == 1
    told_first = capfd.readouterr().out
    rows = [line.split() for line in told_first.splitlines() if line.startswith("toy  ")]
    drawn_, run_, killed, _, survived = map(int, rows[0][1:])
    assert drawn_ == run_ == killed + survived
    assert killed >= 3
    assert "toy killed toy.py:module:NumberReplacer" in told_first  # BASE, by a new import
    assert re.search(r"^toy \d+/\d+ killed .* toy.py:f:", told_first, re.MULTILINE)
    assert "survived: toy.py:f:ReplaceBinaryOperator_Sub" in told_first
    campaign.Campaign(TOY, home).run()
    assert " 1/" not in capfd.readouterr().out  # nothing was left to run


def test_the_environment_of_a_mutant_keeps_nothing():
    from tests.mutation.fresh import environment

    made = environment(Path("/somewhere/tree"))
    assert made["PYTHONPATH"] == "/somewhere/tree"
    assert made["XDG_CACHE_HOME"] == "/somewhere/cache"
    assert made["PYTHONDONTWRITEBYTECODE"] == "1"
    assert os.environ.get("PATH") == made.get("PATH")
    assert sys.executable
