"""Architecture: who may import whom, and that each protocol is found under its name everywhere."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from streamproof.models import registry

ROOT = Path(__file__).parent.parent
PROTOCOLS = sorted(
    path.stem for path in (ROOT / "streamproof/protocols").glob("*.py") if path.stem != "__init__"
)
EXPLORERS = sorted(path.stem for path in (ROOT / "tests/models").glob("independent_*.py"))
ROOMS = (
    "streamproof/models/{}.py",
    "streamproof/models/mutants/{}.py",
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
        ("streamproof.models.registry", {"pyspark", "z3", "numba", "pandas", "rich"}),
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
