"""Promises on the command line: every run that breaks one can be seen, and run again."""

from __future__ import annotations

import re
import shlex

from streamproof.models.kit.verdict import ExitCode
from tests.cli.support.commands import run

TWO_PROMISES = """
from dataclasses import dataclass
from streamproof.lang import Model, action, eventually, init, leads_to

@dataclass(frozen=True)
class Lamp:
    on: bool

@dataclass(frozen=True)
class Switch(Model[Lamp]):
    sizes = {"default": {}}

    @init
    def start(self) -> Lamp:
        return Lamp(False)

    @action
    def press(self, s: Lamp) -> Lamp:
        return Lamp(not s.on)

    @eventually
    def lit(self, s: Lamp) -> bool:
        return s.on

    @leads_to
    def dark_again(self, s: Lamp) -> tuple[bool, bool]:
        return s.on, not s.on
"""


def test_each_run_that_breaks_a_promise_can_be_run_again(tmp_path):
    (tmp_path / "lamp.py").write_text(TWO_PROMISES, encoding="utf-8")
    ran = run("check", str(tmp_path / "lamp.py"))
    assert ran.exit_code == ExitCode.REFUTED
    commands = re.findall(r": streamproof (replay .*)", ran.output)
    told = [run(*shlex.split(command)) for command in commands]
    assert [again.exit_code for again in told] == [ExitCode.REFUTED] * 2
    assert "dark_again is broken" in told[0].output
    assert "lit is broken" in told[1].output
