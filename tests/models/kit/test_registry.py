"""Finding models by name, by file and by module; every miss tells what there is instead."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from streamproof.checker import check
from streamproof.models.kit import registry
from streamproof.models.kit.meant import closest
from streamproof.models.kit.mutant import Mutant
from streamproof.models.kit.places import places
from streamproof.models.kit.registry import UnknownModel, UnreadableModel
from streamproof.models.kit.sizes import at_size
from streamproof.models.kit.verdict import CLAIMS, Status

EXAMPLE = "examples/two_phase_commit.py"
HEAD = """
from streamproof.lang.model import Model, action, always, init
from streamproof.models.kit.mutant import Mutant

class Up(Model[int]):
    @init
    def start(self) -> int:
        return 0

    @action
    def up(self, now: int) -> int:
        return (now + 1) % 3

    @always
    def small(self, now: int) -> bool:
        return now < 3

class Down(Up):
    pass
"""


@pytest.fixture
def write(tmp_path):
    def make(text: str, name: str = "model.py") -> str:
        path = tmp_path / name
        path.write_text(HEAD + text, encoding="utf-8")
        return str(path)

    return make


def test_a_file_in_the_folder_of_a_protocol_has_its_name_in_front():
    found = places()
    assert found["dpc"] == "streamproof.models.dpc.dpc"
    assert found["dpc_chain"] == "streamproof.models.dpc.chain"
    assert found["token_passing"] == "streamproof.models.snapshots.token_passing"
    assert found["egress"] == "streamproof.models.egress"
    assert registry.module_of("dpc_chain").__name__ == found["dpc_chain"]


@pytest.mark.parametrize("name", ["kit", "mutants", "registry", "chain"])
def test_what_stands_in_no_family_is_called_by_no_name(name):
    assert name not in places()


def test_every_listed_model_can_be_loaded_and_built_at_each_of_its_sizes():
    assert registry.names()
    for name in registry.names():
        for model_class in registry.load(name).all:
            for size in model_class.sizes:
                target = f"{name}:{model_class.__name__}"
                assert isinstance(registry.build(target, size), model_class)


def test_a_file_with_one_model_needs_no_further_name():
    assert registry.find(EXAMPLE).__name__ == "TwoPhaseCommit"
    assert registry.find(f"{EXAMPLE}:TwoPhaseCommit") is registry.find(EXAMPLE)


def test_a_model_is_found_by_the_name_of_its_module():
    assert registry.find("tests.checker.support.walks:Counter").__name__ == "Counter"


def test_a_file_with_several_models_must_say_which_is_the_main_one(write):
    with pytest.raises(UnknownModel, match=r"has 2 models \(.*:Up, .*:Down\)"):
        registry.find(write(""))


def test_the_main_model_is_the_one_that_the_file_names(write):
    file = registry.load(write("MODEL = Down\n"))
    assert [model.__name__ for model in file.all] == ["Down", "Up"]
    assert file.main.__name__ == "Down"
    assert file.mutants == ()


def test_only_the_listed_models_belong_to_a_file_that_lists_them(write):
    assert [model.__name__ for model in registry.load(write("MODELS = (Up,)\n")).all] == ["Up"]


def test_a_file_without_a_model_is_told_what_a_model_is(tmp_path):
    path = tmp_path / "empty.py"
    path.write_text("x = 1\n", encoding="utf-8")
    with pytest.raises(UnknownModel, match="has 0 models .* a subclass of Model with an @init"):
        registry.find(str(path))


def test_a_class_that_is_not_there_is_answered_with_those_that_are(write):
    with pytest.raises(UnknownModel, match="has no model Sideways.* It has Up, Down"):
        registry.find(write("") + ":Sideways")


@pytest.mark.parametrize(
    ("target", "answer"),
    [
        ("nonesuch", "there is no model nonesuch.* streamproof has .*chandy_lamport"),
        ("no.such.module", "there is no model no.such.module"),
        ("no/such/file.py", "there is no file no/such/file.py"),
    ],
)
def test_a_model_that_is_not_there_is_answered_with_what_to_type(target, answer):
    with pytest.raises(UnknownModel, match=answer):
        registry.find(target)


def test_a_module_that_lacks_what_it_imports_is_not_taken_for_a_missing_model(
    monkeypatch, tmp_path
):
    (tmp_path / "lacking_model.py").write_text("import surely_not_there\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "lacking.py").write_text("import surely_not_there\n", encoding="utf-8")
    with pytest.raises(ModuleNotFoundError, match="surely_not_there"):
        registry.find("package.lacking")


def test_a_file_that_cannot_be_run_says_why_and_is_read_anew_when_mended(write):
    path = write("1 / 0\n")
    with pytest.raises(UnreadableModel, match="ZeroDivisionError: division by zero.* Try: python"):
        registry.find(path)
    write("MODEL = Up\n")
    assert registry.find(path).__name__ == "Up"


def test_two_files_of_one_name_are_two_models(write, tmp_path):
    first = write("MODEL = Up\n")
    (tmp_path / "other").mkdir()
    second = tmp_path / "other" / "model.py"
    second.write_text(Path(first).read_text(encoding="utf-8"), encoding="utf-8")
    assert registry.find(first) is not registry.find(str(second))


def test_a_file_of_ones_own_lists_its_mutants_itself(write):
    path = write('MODEL = Up\nMUTANTS = (Mutant("M", Down, {}, "small", 3, "a story"),)\n')
    file = registry.load(path)
    (mutant,) = file.mutants
    assert registry.original_of(mutant, file) is registry.find(f"{path}:Up")
    assert registry.find(f"{path}:M") is mutant.model_class


@pytest.mark.parametrize("name", registry.names())
def test_a_mutant_of_ours_that_dies_of_a_claim_says_of_which(name):
    for mutant in registry.load(name).mutants:
        assert mutant.property_name != CLAIMS or mutant.killed_by_part, mutant.name


def test_a_mutant_of_no_listed_model_is_a_mistake_in_the_main_one():
    file = registry.load(EXAMPLE)
    other = registry.find("tests.checker.support.walks:Counter")
    assert registry.original_of(Mutant("M", other, {}, "x", 1, ""), file) is file.main


def test_a_model_at_a_named_size_knows_how_to_be_built_again():
    sized = registry.choose(EXAMPLE)
    assert (sized.size_name, dict(sized.size)) == ("default", {"managers": "5"})
    assert sized.options == f"{EXAMPLE} --size default"
    assert eval(sized.source, {"registry": registry}) == sized.model


def test_a_model_at_a_size_of_ones_own_knows_how_to_be_built_again():
    sized = registry.choose("chandy_lamport", {"messages": "(1, 0)", "graph": "ring"})
    assert sized.options == "chandy_lamport --set 'messages=(1, 0)' --set graph=ring"
    assert eval(sized.source, {"registry": registry}) == sized.model


def test_a_model_without_sizes_is_built_without_any(write):
    sized = registry.choose(write("MODEL = Up\n"))
    assert (sized.size_name, dict(sized.size)) == ("", {})
    assert check(sized.model).counts.distinct == 3


def test_a_mutant_is_built_at_the_size_that_it_names_unless_another_is_given():
    target = "chandy_lamport/marker-late"
    (mutant,) = (m for m in registry.load(target).mutants if m.name == "chandy_lamport/marker-late")
    sized = registry.choose(target)
    assert sized.model == at_size(mutant.model_class, mutant.size)
    assert sized.size_name == ""
    assert eval(sized.source, {"registry": registry}) == sized.model
    words = shlex.split(sized.options)
    assert words[0] == target
    given = dict(word.split("=", 1) for word in words[2::2])
    assert registry.build(target, given) == sized.model
    assert registry.choose(target, "default").size_name == "default"
    assert registry.build(target, {"messages": "2,1"}) != sized.model


def test_the_name_of_a_mutant_is_its_models_and_the_words_of_its_class():
    names = []
    for name in registry.names():
        for mutant in registry.load(name).mutants:
            words = re.sub(r"(?<!^)(?=[A-Z])", "-", mutant.model_class.__name__).lower()
            assert mutant.name == f"{name}/{words}"
            names.append(mutant.name)
    assert len(names) == len(set(names)) > 90


@pytest.mark.parametrize(
    "target", ["chandy_lamport:CL-recafter", "chandy_lamport/recordafter", "dpc/noundo"]
)
def test_a_mutant_that_there_is_not_is_refused_with_the_one_that_was_meant(target):
    meant = "dpc/no-undo" if target.startswith("dpc") else "chandy_lamport/record-after"
    with pytest.raises(UnknownModel, match=f"Did you mean {meant}"):
        registry.find(target)


def test_a_short_id_of_the_notes_leads_to_its_mutant():
    known = {m.name: m.model_class for m in registry.load("dpc_chain").mutants}
    assert closest("DPC-mute", known) == "Did you mean dpc_chain/suspend-never-guesses? "
    assert closest("XX-nothing-like-it", known) == ""


def test_a_file_in_a_directory_that_bears_a_models_name_is_a_file(tmp_path, monkeypatch):
    (tmp_path / "dpc").mkdir()
    (tmp_path / "dpc" / "own_model.py").write_text(f"{HEAD}\nMODEL = Up\n")
    monkeypatch.chdir(tmp_path)
    assert registry.find("dpc/own_model.py").__name__ == "Up"


def test_every_mutant_can_be_built_at_its_own_size():
    built = 0
    for name in (*registry.names(), "examples/lease.py"):
        for mutant in registry.load(name).mutants:
            built += 1
            target = mutant.name if "/" in mutant.name else f"{name}:{mutant.name}"
            model = registry.build(target)
            assert model == at_size(mutant.model_class, mutant.size), mutant.name
    assert built > 13


def test_a_model_may_be_written_in_files_that_stand_side_by_side(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", list(sys.path))
    (tmp_path / "a_neighbour_of_this_test.py").write_text(HEAD)
    file = tmp_path / "beside.py"
    file.write_text(
        "from a_neighbour_of_this_test import Up\nclass Beside(Up):\n    sizes = {'default': {}}\n"
    )
    try:
        assert check(registry.load(str(file)).main()).verdict.status is Status.EXHAUSTED
    finally:
        sys.modules.pop("a_neighbour_of_this_test", None)


def test_a_model_s_file_has_the_same_name_in_every_process(tmp_path):
    file = tmp_path / "named.py"
    file.write_text(f"{HEAD}\nMODEL = Up\n")
    program = (
        "import sys; from streamproof.models.kit import registry; "
        "print(type(registry.load(sys.argv[1]).main()).__module__)"
    )
    names = {
        subprocess.run(
            [sys.executable, "-c", program, str(file)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert len(names) == 1


@pytest.mark.parametrize("name", ["statistics", "queue"])
def test_a_neighbour_with_the_name_of_another_module_is_refused(tmp_path, name):
    (tmp_path / f"{name}.py").write_text("LIMIT = 3\n")
    (tmp_path / "model.py").write_text(f"from {name} import LIMIT\n{HEAD}")
    with pytest.raises(UnreadableModel, match=rf"imports {name}, and beside it.* Rename {name}.py"):
        registry.load(str(tmp_path / "model.py"))
    (tmp_path / "other.py").write_text(f"{HEAD}\nMODEL = Up\n")
    assert registry.load(str(tmp_path / "other.py")).main.__name__ == "Up"
