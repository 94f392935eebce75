"""Goal: a verdict does not depend on how classes and functions were made in one process. Method:
files in which code that runs while they are made, of each kind, takes a hash; `check` and `prove`
refuse them with the line, and what is made in a way that nobody knows is no evident model."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from streamproof.checker.evident import is_evident
from streamproof.models.kit import registry
from streamproof.models.kit.verdict import ExitCode
from tests.checker.support.templates import run, write_model

FILE = """
import functools
from dataclasses import dataclass, field, replace
from enum import Enum, EnumType, auto
from typing import Annotated

from streamproof.lang import *
from streamproof.proofs.invariant import Invariant

@@helpers@@

@@of_state@@
@dataclass(frozen=True)
class State(@@base_of_state@@):
    n: Annotated[int, Range(0, @@range@@)]
    @@in_state@@

@@of_base@@
@dataclass(frozen=True)
class Base(Model[State]):
    sizes = {"default": {}}
    @@in_base@@

@@of_model@@
@dataclass(frozen=True)
class M(@@base@@):
    @@in_model@@
    @init
    def start(self) -> State:
        return State(0)

    @action
    def go(self, s: State) -> State:
        return replace(s, n=1 - s.n)

    @@of_method@@
    @always
    def ok(self, s: State) -> bool:
        return s.n < 2 + @@in_method@@

@@after@@
INVARIANT = Invariant(M, conjuncts=(lambda m, s: s.n <= 1,))
MODEL = M
"""
NOTHING = dict.fromkeys(("helpers", "of_state", "base_of_state", "in_state", "of_base", "in_base",
                         "of_model", "in_model", "of_method", "after"), "")  # fmt: skip
NOTHING |= {"range": "1", "base": "Base", "in_method": "0"}
SETS = "def configure(cls):\n    cls.h = hash('x') * 0\n    return cls\n"
WRAPS = (
    "def noisy(method):\n    @functools.wraps(method)\n    def call(self, s):\n"
    "        return method(self, s) and hash('x') * 0 == 0\n    return call\n"
)
KEEPS = (
    "def noisy(method):\n    k = hash('x') * 0\n    @functools.wraps(method)\n"
    "    def call(self, s):\n        return method(self, s) and k == 0\n    return call\n"
)
META = "class Meta(type):\n    def __new__(meta, name, bases, members):\n"
META += "        return super().__new__(meta, name, bases, {**members, 'h': hash('x') * 0})\n"
WAYS: dict[str, dict[str, str]] = {
    "a decorator of the model": {"helpers": SETS, "of_model": "@configure", "in_method": "self.h"},
    "a decorator of a base": {"helpers": SETS, "of_base": "@configure", "in_method": "self.h"},
    "a decorator of a record": {"helpers": SETS, "of_state": "@configure", "in_method": "s.h"},
    "a decorator of a named class": {
        "helpers": f"{SETS}\n@configure\nclass Plain: h = 0\n",
        "in_method": "Plain.h",
    },
    "a decorator of an enumeration": {
        "helpers": f"{SETS}\n@configure\nclass Plain(Enum):\n    A = 1\n",
        "in_method": "Plain.h",
    },
    "an argument of a decorator": {
        "helpers": "def given(k):\n    return lambda cls: cls\n",
        "of_model": "@given(hash('x'))",
    },
    "a decorator of a method": {"helpers": WRAPS, "of_method": "@noisy"},
    "what a decorator keeps": {"helpers": KEEPS, "of_method": "@noisy"},
    "a decorator of a helper": {
        "helpers": f"{KEEPS}\n@noisy\ndef helper(self, s): return True\n",
        "in_method": "(0 if helper(self, s) else 1)",
    },
    "a subclass is made": {
        "in_base": "def __init_subclass__(cls):\n        cls.h = hash('x') * 0\n",
        "in_method": "self.h",
    },
    "a name is given": {
        "helpers": "class Named:\n    def __set_name__(self, owner, name):\n"
        "        owner.h = hash(name) * 0\n",
        "in_model": "it = Named()",
        "in_method": "self.h",
    },
    "a class is subscripted": {
        "helpers": "class Sized:\n    def __class_getitem__(cls, k):\n"
        "        cls.h = hash('x') * 0\n        return cls\n",
        "base_of_state": "Sized[1]",
        "in_method": "s.h",
    },
    "a metaclass of a record": {
        "helpers": META,
        "base_of_state": "metaclass=Meta",
        "in_method": "s.h",
    },
    "a metaclass of the model": {
        "helpers": META,
        "base": "Base, metaclass=Meta",
        "in_method": "self.h",
    },
    "the names of a metaclass": {
        "helpers": "class Meta(type):\n    @classmethod\n    def __prepare__(meta, *_):\n"
        "        return {'h': hash('x') * 0}\n",
        "base": "Base, metaclass=Meta",
        "in_method": "self.h",
    },
    "a base that is computed": {
        "helpers": "def made(): return type('Made', (), {'h': hash('x') * 0})\n",
        "base_of_state": "made()",
        "in_method": "s.h",
    },
    "a value of an enumeration": {
        "helpers": "class Auto(Enum):\n    def _generate_next_value_(name, *_):\n"
        "        return hash(name) * 0\n"
        "    A = auto()\n",
        "in_method": "Auto.A.value",
    },
    "a missing value": {
        "helpers": "class Auto(Enum):\n    A = 1\n    @classmethod\n"
        "    def _missing_(cls, value): return cls.A if hash(value) else None\nB = Auto(2)\n",
        "in_method": "(0 if B is Auto.A else 1)",
    },
    "a loop in a class": {
        "in_model": "for k in range(1):\n        h = hash('x') * 0\n",
        "in_method": "self.h",
    },
    "a condition in a class": {
        "in_model": "if hash('x'):\n        h = 0\n    else:\n        h = 0\n",
        "in_method": "self.h",
    },
    "a condition around a global": {
        "helpers": "if hash('x'):\n    H = 0\nelse:\n    H = 0\n",
        "in_method": "H",
    },
    "a match around a global": {
        "helpers": "match hash('x'):\n    case _:\n        H = 0\n",
        "in_method": "H",
    },
    "a function that sets a global": {
        "helpers": "H = 0\ndef setup():\n    global H\n    H = hash('x') * 0\nsetup()\n",
        "in_method": "H",
    },
    "a default of a method": {
        "helpers": "def helper(k=hash('x') * 0): return k\n",
        "in_method": "helper()",
    },
    "a factory": {"in_state": "h: int = field(default_factory=lambda: hash('x') * 0)"},
    "a range": {"range": "1 + hash('x') * 0"},
    "a range by its name": {"helpers": "HIGH = 1 + hash('x') * 0\n", "range": "HIGH"},
    "set afterwards": {"after": "M.h = hash('x') * 0", "in_method": "self.h"},
    "set afterwards by a call": {"after": "setattr(M, 'h', hash('x') * 0)", "in_method": "self.h"},
    "changed by what is assigned": {
        "helpers": SETS,
        "in_model": "h = 0",
        "after": "DONE = [configure(M)]",
        "in_method": "self.h",
    },
    "changed afterwards": {"helpers": SETS, "after": "configure(M)", "in_method": "self.h"},
}
DOUBTFUL: dict[str, dict[str, str]] = {
    "an unknown decorator": {"helpers": "def same(cls): return cls\n", "of_model": "@same"},
    "of a record": {"helpers": "def same(cls): return cls\n", "of_state": "@same"},
    "of a method": {"helpers": "def same(method): return method\n", "of_method": "@same"},
    "of a helper": {
        "helpers": "def same(method): return method\n@same\ndef helper(): return 0\n",
        "in_method": "helper()",
    },
    "a hook": {"in_base": "def __init_subclass__(cls): pass\n"},
    "an option": {
        "in_base": "def __init_subclass__(cls, size=1): pass\n",
        "base": "Base, size=2",
    },
    "a call": {"helpers": "def setup(): pass\nsetup()\n"},
    "a global that nothing assigns": {"helpers": "globals()['H'] = 0\n", "in_method": "H"},
    "an attribute that nothing assigns": {
        "helpers": "def put(m): m.h = 0\n",
        "after": "DONE = put(m=locals()['M'])",
        "in_method": "self.h",
    },
    "a class by type": {
        "helpers": "Made = type('Made', (), {'h': 0})\n",
        "base_of_state": "Made",
    },
}
SCRIPTS = {
    "checks it": "from streamproof.checker import check\nif hash('x') is not None:\n"
    "    print(check(M()).verdict.status)\n",
    "proves it": "from streamproof.proofs.induction import prove\n"
    "prove(Invariant(M, conjuncts=(lambda m, s: s.n <= 1,)))\n",
    "traces it": "from streamproof.lang.trace import trace_model\ntrace_model(M)\n",
}
PLAIN: dict[str, dict[str, str]] = {
    "nothing": {},
    "a cache": {
        "helpers": "@functools.cache\ndef helper(): return 0\n",
        "in_method": "helper()",
    },
    "known decorators": {
        "in_model": "@staticmethod\n    def none(): return 0\n\n    @property\n"
        "    def h(self): return 0\n\n    @functools.cached_property\n    def k(self): return 0\n",
        "in_method": "self.h + self.k + self.none()",
    },
    "a constant": {"helpers": "HIGH = 1\n", "range": "HIGH", "in_model": "h = 0"},
    "an enumeration": {
        "helpers": "class Plain(Enum):\n    A = 0\n    B = auto()\n",
        "in_method": "Plain.A.value",
    },
}


def file_of(directory: Path, parts: dict[str, str]) -> str:
    return write_model(directory, FILE, NOTHING | parts)


@pytest.mark.parametrize("parts", WAYS.values(), ids=WAYS)
def test_what_a_hash_has_made_is_refused(parts, tmp_path):
    file = file_of(tmp_path, parts)
    for command in (("check", file, "--engine", "reference"), ("prove", file)):
        code, told = run(*command)
        assert code == ExitCode.WRONG_USE, told
        assert "ImpureModel" in told
        assert f"{file}:" in told


@pytest.mark.parametrize("parts", DOUBTFUL.values(), ids=DOUBTFUL)
def test_what_is_made_in_unknown_ways_is_compared_with_other_processes(parts, tmp_path):
    assert not is_evident(registry.build(file_of(tmp_path, parts)))


@pytest.mark.parametrize("parts", PLAIN.values(), ids=PLAIN)
def test_what_plain_statements_make_is_evident(parts, tmp_path):
    file = file_of(tmp_path, parts)
    assert is_evident(registry.build(file))
    code, told = run("check", file, "--engine", "reference")
    assert code == ExitCode.GREEN, told


@pytest.mark.parametrize("after", SCRIPTS.values(), ids=SCRIPTS)
def test_what_a_script_asks_of_a_model_makes_nothing(after, tmp_path):
    code, told = run("check", file_of(tmp_path, {"after": after}), "--engine", "reference")
    assert code == ExitCode.GREEN, told


def test_what_no_look_at_the_code_finds_differs_in_other_processes(tmp_path, monkeypatch):
    monkeypatch.undo()  # tests/support/quick.py leaves it out of others
    hidden = {
        "after": "import os; M.h = int(os.environ.get('PYTHONHASHSEED', '7')) % 2",
        "in_method": "self.h - 1",
    }
    file = file_of(tmp_path, hidden)
    for command in (("check", file, "--engine", "reference"), ("prove", file)):
        code, told = run(*command)
        assert code == ExitCode.WRONG_USE, told
        assert "ImpureModel: ok() was asked about State(n=1) in two processes" in told


def test_a_check_that_stands_beside_a_model_makes_none_of_it(tmp_path: Path) -> None:
    text = (Path(__file__).parents[2] / "examples" / "lease.py").read_text(encoding="utf-8")
    file = tmp_path / "beside.py"
    file.write_text(
        f"{text}\n\nfrom streamproof.checker import check\n\n\n"
        "def tell(name, ask):\n    print(name, ask().verdict.status)\n\n\n"
        'tell("one", lambda: check(Lease(Domain(Worker, 2))))\n'
    )
    ran = subprocess.run([sys.executable, file], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == "one Status.EXHAUSTED\n"
