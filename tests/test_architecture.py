"""Architecture: who may import whom, and that each protocol is found under its name everywhere."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

from streamproof.models.kit import registry
from streamproof.models.kit.places import mutants_place, places

ROOT = Path(__file__).parent.parent
PROTOCOLS = sorted(
    path.stem for path in (ROOT / "streamproof/protocols").glob("*.py") if path.stem != "__init__"
)
EXPLORERS = sorted(path.stem for path in (ROOT / "tests/models").glob("independent_*.py"))
ROOMS = (
    "streamproof/proofs/invariants/{}.py",
    "tests/protocols/test_{}.py",
    "tests/golden/{}.json",
)


def modules_after(statement: str) -> set[str]:
    """Run a statement in a fresh interpreter and list what it has loaded."""
    program = f"import sys\n{statement}\nprint('\\n'.join(sys.modules))"
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, cwd=ROOT, check=True
    )
    return {name.partition(".")[0] for name in ran.stdout.split()}


def test_there_are_protocols_and_explorers():
    assert PROTOCOLS
    assert EXPLORERS


@pytest.mark.parametrize("room", ROOMS)
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_protocol_is_found_under_its_name_in_every_room(protocol, room):
    assert (ROOT / room.format(protocol)).is_file()


def test_every_protocol_has_a_model_in_the_registry():
    assert set(PROTOCOLS) <= set(registry.names())


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_the_model_of_a_protocol_bears_its_name_and_so_do_its_mutants(protocol):
    model = places()[protocol]
    for module in (model, mutants_place(model)):
        path = ROOT / f"{module.replace('.', '/')}.py"
        assert path.is_file()
        assert path.stem == protocol


def test_mutants_stand_where_their_models_do():
    room = ROOT / "streamproof/models"
    mutants = [path.relative_to(room / "mutants") for path in (room / "mutants").rglob("*.py")]
    assert mutants
    assert [path for path in mutants if not (room / path).is_file()] == []


def classes_without_machine(text: str) -> list[str]:
    """List classes that ask `self.machine` and do not say which it is, so that mypy sees `Any`."""
    found = []
    for cls in (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ClassDef)):
        asks = any(ast.unparse(n) == "self.machine" for n in ast.walk(cls) if hasattr(n, "attr"))
        told = [ast.unparse(part) for part in cls.body if isinstance(part, ast.Assign)]
        if asks and not any(line.startswith("machine = ") for line in told):
            found.append(cls.name)
    return found


@pytest.mark.parametrize(
    "path", sorted((ROOT / "streamproof/models").rglob("*.py")), ids=lambda path: path.stem
)
def test_who_asks_the_protocol_says_which_and_passes_none_of_its_functions_on(path):
    text = path.read_text(encoding="utf-8")
    assert classes_without_machine(text) == []
    assert "@staticmethod" not in text


def test_a_machine_that_is_not_told_is_noticed():
    text = "class A:\n    def f(self):\n        return self.machine.g()\n"
    assert classes_without_machine(text) == ["A"]
    assert classes_without_machine(text.replace("A:\n", "A:\n    machine = protocol\n")) == []


def test_imports_follow_the_layers():
    command = Path(sys.executable).parent / "lint-imports"
    ran = subprocess.run(
        [command, "--no-cache"], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert ran.returncode == 0, ran.stdout


@pytest.mark.parametrize(
    ("module", "never"),
    [
        ("streamproof.protocols.chandy_lamport", {"pyspark", "z3", "numba", "pandas", "rich"}),
        ("streamproof.models.kit.registry", {"pyspark", "z3", "numba", "pandas", "rich"}),
        ("streamproof.checker", {"pyspark", "z3", "pandas", "networkx", "rich"}),
        ("streamproof.spark_bindings", {"z3", "numba", "networkx"}),
        ("streamproof.checker.native.engine", {"pyspark", "z3", "numba", "scipy"}),
        ("streamproof.checker.native.liveness", {"pyspark", "z3", "numba", "scipy"}),
        ("streamproof.checker.native.walks", {"pyspark", "z3", "numba", "scipy"}),
        ("streamproof.cli", {"pyspark", "pandas", "networkx", "z3"}),
        ("streamproof.cli.app", {"pyspark", "pandas", "z3", "numpy", "jinja2", "llvmlite"}),
    ],
)
def test_a_room_loads_only_what_it_needs(module, never):
    assert modules_after(f"import {module}") & never == set()


@pytest.mark.parametrize("explorer", EXPLORERS)
def test_an_explorer_that_counts_independently_loads_nothing_of_ours(explorer):
    loaded = modules_after(f"import tests.models.{explorer}")
    assert "tests" in loaded
    assert "streamproof" not in loaded


def protocols_of(text: str) -> set[str]:
    """Name the protocols whose effects a module carries out."""
    tree = ast.parse(text)
    if not any(
        isinstance(node, ast.Match) and "effect" in ast.dump(node) for node in ast.walk(tree)
    ):
        return set()
    imported = (node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom))
    return {
        name.rpartition(".")[2] for name in imported if name.startswith("streamproof.protocols.")
    }


BINDINGS = {
    path: found
    for path in sorted((ROOT / "streamproof/spark_bindings").rglob("*.py"))
    if (found := protocols_of(path.read_text(encoding="utf-8")))
}


def test_the_bindings_carry_out_protocols():
    assert {"chandy_lamport", "dpc", "egress", "flux", "merge_order"} <= set().union(
        *BINDINGS.values()
    )


@pytest.mark.parametrize("path", BINDINGS, ids=lambda path: path.stem)
def test_what_carries_out_a_protocols_effects_bears_its_name(path):
    assert path.stem in BINDINGS[path]


def imported_tests(text: str) -> list[str]:
    """List the files of tests that a file imports."""
    nodes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ImportFrom)]
    modules = [node.module or "" for node in nodes]
    return [name for name in modules if name.rpartition(".")[2].startswith("test_")]


@pytest.mark.parametrize(
    "path", sorted((ROOT / "tests").rglob("*.py")), ids=lambda path: str(path.relative_to(ROOT))
)
def test_no_test_is_imported_from_another(path):
    assert not imported_tests(path.read_text(encoding="utf-8"))


def test_an_import_of_a_test_is_noticed():
    assert imported_tests("from tests.checker.test_x import thing") == ["tests.checker.test_x"]


def test_every_file_that_the_architecture_names_is_there():
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    there = {f"/{path.relative_to(ROOT)}" for path in ROOT.glob("[st]*/**/*.py")}
    named = set(re.findall(r"`([\w/]+\.py)`", text))
    assert named
    assert {name for name in named if not any(path.endswith(f"/{name}") for path in there)} == set()
