"""Python as it is where some extras alone are installed: every other library cannot be imported.

It is this environment, with a `sitecustomize` that refuses what no requirement leads to, in the
process and in those that it starts.
"""

from __future__ import annotations

import functools
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from streamproof import installed
from tests.support.wheels import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
REFUSING = """
import sys

class Refusing:
    names = frozenset({names!r})

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in self.names:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Refusing())
"""


def canonical(name: str) -> str:
    """Write a distribution's name as package indexes compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def requirements_of(*extras: str) -> list[Requirement]:
    """List what the project requires with extras, itself included for extras of extras."""
    optional = PROJECT["optional-dependencies"]
    texts = [*PROJECT["dependencies"], *(text for extra in extras for text in optional[extra])]
    return [Requirement(text) for text in texts]


def closure(requirements: Iterable[Requirement]) -> set[str]:
    """Name the distributions that an installation of requirements brings."""
    found: set[tuple[str, str]] = set()
    waiting = list(requirements)
    while waiting:
        wanted = waiting.pop()
        name = canonical(wanted.name)
        for extra in ("", *sorted(wanted.extras)):
            if (name, extra) in found:
                continue
            found.add((name, extra))
            if name == "streamproof":
                waiting += requirements_of(*filter(None, [extra]))
                continue
            parts = map(Requirement, metadata.requires(name) or [])
            waiting += [p for p in parts if not p.marker or p.marker.evaluate({"extra": extra})]
    return {name for name, _ in found}


@functools.cache
def importable(*extras: str) -> frozenset[str]:
    """Name the packages of other projects that can be imported where extras are installed."""
    brought = closure(requirements_of(*extras))
    return frozenset(
        module
        for module, owners in metadata.packages_distributions().items()
        if {canonical(owner) for owner in owners} & brought
    )


def run_with(
    extras: tuple[str, ...], words: Iterable[str], place: Path
) -> subprocess.CompletedProcess[str]:
    """Run Python with some extras alone.

    Parameters
    ----------
    extras : their names
    words : the arguments of Python
    place : a directory to run it in, which gets a file that refuses all other libraries
    """
    known = set(metadata.packages_distributions()) - {"streamproof"}
    text = REFUSING.format(names=sorted(known - importable(*extras)))
    (place / "sitecustomize.py").write_text(text, encoding="utf-8")
    path = os.pathsep.join([str(place), str(ROOT)])
    return subprocess.run(
        [sys.executable, *words],
        cwd=place,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )


def lacking(monkeypatch: pytest.MonkeyPatch, *modules: str) -> None:
    """Let modules be missing for whoever asks, in this process."""
    there = installed._is_there
    monkeypatch.setattr(installed, "_is_there", lambda name: name not in modules and there(name))
