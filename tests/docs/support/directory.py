"""A directory in which a reader follows a page: its files are written, its commands are run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from tests.docs.support.pages import ROOT, Command, Fence, commands_in, fences_in, is_shown


class Directory:
    """A page's directory.

    Attributes
    ----------
    path : where it is
    environment : of its commands; `python` and `streamproof` are those of this test
    """

    def __init__(self, text: str, path: Path) -> None:
        self.path, self._fences = path, fences_in(text)
        self._files: list[Fence] = []
        self._commands: list[str] = []
        tools = path / ".tools"
        tools.mkdir()
        for name, program in (
            ("python", f'exec {sys.executable} "$@"'),
            ("streamproof", f'exec {sys.executable} -m streamproof "$@"'),
        ):
            (tools / name).write_text(f"#!/bin/sh\n{program}\n", encoding="utf-8")
            (tools / name).chmod(0o755)
        self.environment = {
            **os.environ,
            "PATH": f"{tools}:{os.environ['PATH']}",
            "PYTHONPATH": f".:{ROOT}",
            "COLUMNS": "120",
        }

    def follow(self) -> None:
        """Write each file and run each command, in the order of the page."""
        for fence in self._fences:
            self.write(fence)
            for command in commands_in(fence):
                self.run(command)
        self.require_used()

    def commands(self) -> list[Command]:
        """Write all files, and list the commands."""
        for fence in self._fences:
            self.write(fence)
        return [command for fence in self._fences for command in commands_in(fence)]

    def write(self, fence: Fence) -> None:
        """Write the file that a fence is."""
        if fence.file:
            assert "/" not in fence.file
            (self.path / fence.file).write_text(fence.text, encoding="utf-8")
            self._files.append(fence)

    def run(self, command: Command) -> None:
        """Run a command, and compare its output with the shown one, if any is."""
        out, error = self.outputs(command.text)
        said = f"$ {command.text}\n{out}\n{error}\nis shown as\n{command.shown}"
        fits = any(is_shown(command.shown, each) for each in (out, error))
        assert not command.shown or fits, said

    def outputs(self, text: str) -> tuple[str, str]:
        """Run a command line, and return what it prints, and its errors."""
        self._commands.append(text)
        ran = subprocess.run(
            ["bash", "-c", text],
            cwd=self.path,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )
        return ran.stdout, ran.stderr

    def note(self, text: str) -> None:
        """Note a command that was run otherwise."""
        self._commands.append(text)

    def require_used(self) -> None:
        """Check that every file was run, or imported by another one."""
        for fence in self._files:
            others = [other.text for other in self._files if other is not fence]
            used = [fence.file in command for command in self._commands]
            used += [f"from {fence.file.removesuffix('.py')} import" in other for other in others]
            is_read = fence.file.endswith(".ini")  # by pytest
            assert any(used) or is_read, f"nothing runs or imports {fence.file}"
