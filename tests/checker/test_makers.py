"""Goal: a verdict is not about constants that another process would make otherwise. Method: files
whose constants depend on a hash, on the order of a set or on chance, in each place where constants
are made; `check` and `prove` refuse them with the line."""

from __future__ import annotations

from pathlib import Path

import pytest

from streamproof.models.kit.verdict import ExitCode
from tests.checker.support.templates import run, write_model

FILE = """
import random
from dataclasses import dataclass, field, replace
from typing import Annotated

from streamproof.lang import *
from streamproof.proofs.invariant import Invariant

class W(Element): ...

NAMES = {"ewr", "jfk", "lga"}
TOP = 4
@@global@@

@dataclass(frozen=True)
class State:
    n: Annotated[int, Range(0, 9)]

@dataclass(frozen=True)
class M(Model[State]):
    ws: Domain[W]
    top: int = @@default@@
    sizes = {"default": {"k": 2}}
    LIMIT = @@attribute@@

    @classmethod
    def sized(cls, k: int):
        return cls(Domain(W, k)@@sized@@)

    @init
    def start(self) -> State:
        return State(0)

    @action
    def step(self, s: State) -> State:
        require(s.n < TOP and s.n < self.top and s.n < self.LIMIT)
        return State(s.n + 1)

    @action
    def back(self, s: State) -> State:
        require(s.n == TOP or s.n == self.top or s.n == self.LIMIT)
        return State(0)

    @always
    def is_small(self, s: State) -> bool:
        return s.n <= 4
    @@method@@

INVARIANT = Invariant(M, conjuncts=(lambda m, s: s.n <= 4,))
MODEL = M
"""
PLAIN = {"global": "", "default": "4", "attribute": "4", "sized": "", "method": ""}
INDEX = '["ewr", "jfk", "lga"].index'
WAYS = {
    "hash": {"global": 'TOP = 4 + hash("x") % 2'},
    "chance": {"global": "TOP = random.choice([4, 4])"},
    "order": {"global": f"TOP = 4 + {INDEX}(list(NAMES)[0]) // 3"},
    "for": {"global": "for name in NAMES:\n    TOP = 4 + len(name) // 9"},
    "condition": {"global": "if TOP:\n    TOP = 4 + id(TOP) // 10**20"},
    "by a function": {"global": "def made(): return 4 + hash('x') * 0\nTOP = made()"},
    "by another global": {"global": "FIRST = [*NAMES][0]\nTOP = 4 + len(FIRST) // 9"},
    "changed": {"global": "BOX = [4]\nBOX.append(hash('x'))\nTOP = BOX[0]"},
    "attribute": {"attribute": f"4 + {INDEX}(next(iter(NAMES))) // 3"},
    "default": {"default": "4 + hash('x') * 0"},
    "factory": {"default": "field(default_factory=lambda: 4 + len([*NAMES][0]) // 9)"},
    "sized": {"sized": f", 4 + {INDEX}(tuple(NAMES)[0]) // 3"},
    "after": {"method": "def __post_init__(self): hash(self.ws)"},
    "ruled out": {"method": "def ruled_out(self): return ['back'][: hash('x') * 0]"},
}
HARMLESS = {
    "nothing": {},
    "sorted": {"global": "TOP = 4 + len(sorted(NAMES)[0]) // 9"},
    "a seed": {"global": "import os\nTOP = int(os.environ.get('NO_SUCH_VARIABLE', 4))"},
    "a program": {"global": "if __name__ == '__main__':\n    TOP = hash('x')"},
    "another name": {"global": "OTHER = hash('x')"},
    "size": {"sized": ", 3 + len(NAMES) // 3"},
}


def file_of(directory: Path, parts: dict[str, str]) -> str:
    return write_model(directory, FILE, PLAIN | parts)


@pytest.mark.parametrize("parts", WAYS.values(), ids=WAYS)
def test_a_constant_that_another_process_makes_otherwise_is_refused(parts, tmp_path):
    file = file_of(tmp_path, parts)
    for command in (("check", file, "--engine", "reference"), ("check", file), ("prove", file)):
        code, told = run(*command)
        assert code == ExitCode.WRONG_USE, told
        assert "ImpureModel" in told
        assert f"{file}:" in told


@pytest.mark.parametrize("parts", HARMLESS.values(), ids=HARMLESS)
def test_what_is_made_alike_everywhere_is_no_reason(parts, tmp_path):
    code, told = run("check", file_of(tmp_path, parts), "--engine", "reference")
    assert code == ExitCode.GREEN, told


def test_constants_of_another_file_are_followed(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "own_settings.py").write_text("HIGH = 4 + hash('x') * 0\n", encoding="utf-8")
    file = file_of(tmp_path, {"global": "from own_settings import HIGH as TOP"})
    code, told = run("prove", file)
    assert code == ExitCode.WRONG_USE
    assert "own_settings.py:1) calls hash" in told


def test_functions_of_another_file_that_make_nothing_are_left_out(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    text = "def told(names):\n    return [name for name in {*names, 'a'}]\n"
    (tmp_path / "own_tools.py").write_text(text, encoding="utf-8")
    code, told = run("check", file_of(tmp_path, {"global": "from own_tools import *"}))
    assert code == ExitCode.GREEN, told


def test_what_covers_a_function_of_another_file_is_looked_at_with_it(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    text = "def told(names):\n    return len([name for name in {*names, 'a'}][0])\n"
    (tmp_path / "own_covered.py").write_text(text, encoding="utf-8")
    covered = {"global": "from own_covered import *\ntold = told('b')\nTOP = 4 + told * 0"}
    code, told = run("check", file_of(tmp_path, covered))
    assert code == ExitCode.WRONG_USE, told
