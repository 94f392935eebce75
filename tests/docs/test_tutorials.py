"""The tutorials do what they show: their files are written, their commands run, in their order.

Each runs in a directory of its own, as its reader's does. Slow: the pages that start drivers.
"""

from __future__ import annotations

import re
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.docs.support.directory import Directory
from tests.docs.support.pages import ROOT, Command, is_shown
from tests.spark.support.waiting import SECONDS_MAX, await_that

pytestmark = pytest.mark.usefixtures("certificates")


def text_of(page: str) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def test_protocol_designers(tmp_path: Path) -> None:
    page = text_of("docs/tutorial/protocol-designers.md")
    directory = Directory(page, tmp_path)
    directory.follow()
    for verdicts, commands in re.findall(r"^\| ([A-Z, ]+) \| (`.*?`) \|", page, re.MULTILINE):
        for command in re.findall(r"`(.*?)`", commands):
            said, _ = directory.outputs(f"streamproof {command}")
            assert any(verdict in said for verdict in verdicts.split(", ")), said
    weaker = tmp_path / "whole.py"
    text = weaker.read_text(encoding="utf-8")
    alone = text.replace("(credits_add_up, nothing_is_negative)", "(credits_add_up,)")
    assert alone != text
    weaker.write_text(alone, encoding="utf-8")
    (shown,) = re.findall(
        r"^```\n(safety: buffers_have_room.*?)^```", page, re.DOTALL | re.MULTILINE
    )
    said, _ = directory.outputs("streamproof prove whole.py")
    assert is_shown(f"...\n{shown}", said), said


def test_test_engineers(tmp_path: Path) -> None:
    directory = Directory(text_of("docs/tutorial/test-engineers.md"), tmp_path)
    directory.follow()
    tests = tmp_path / "test_job_queue.py"
    text = tests.read_text(encoding="utf-8")
    limit = "settings=settings(stateful_step_count=3)"
    short = text.replace("_as_test(wrong)", f"_as_test(wrong, {limit})")
    assert short != text
    short = f"from hypothesis import settings\n{short}"
    tests.write_text(short, encoding="utf-8")
    said, _ = directory.outputs("python -m pytest -q test_job_queue.py")
    assert "Failed: DID NOT RAISE" in said


@pytest.mark.slow
@pytest.mark.spark
def test_from_spark(tmp_path: Path) -> None:
    Directory(text_of("docs/explanation/from-spark.md"), tmp_path).follow()


class Reader:
    """Who follows the tutorial for data engineers, with two terminals."""

    NUMBER = "22923"
    PLACE = "/tmp/tour"

    def __init__(self, directory: Directory) -> None:
        self._directory = directory
        self._driver: subprocess.Popen[str] | None = None
        self._log = directory.path / "driver.log"
        self._is_back = False  # then numbers say where the marker came, until all is fed again

    def follow(self, command: Command) -> None:
        text = command.text
        if text.startswith("python run.py"):
            self.start(text)
        elif text.startswith("python report.py"):
            if self._driver is None:
                self.start("python run.py")
            self.await_report(command)
        elif self.NUMBER in text:
            assert self._driver is not None
            shown = command.shown
            self._directory.run(Command(text.replace(self.NUMBER, str(self._driver.pid)), shown))
            self._driver.wait()
            self._driver = None
        else:
            if "restore" in text:
                self.interrupt()
                self._is_back = True
            shown = command.shown.replace(self.PLACE, str(self._directory.path))
            self.look(Command(text, shown))

    def start(self, text: str) -> None:
        """Run the driver in the first terminal."""
        with self._log.open("w", encoding="utf-8") as log:
            self._driver = subprocess.Popen(
                ["bash", "-c", f"exec {text}"],
                cwd=self._directory.path,
                env=self._directory.environment,
                stdout=log,
                stderr=log,
                text=True,
            )
        self._directory.note(text)
        await_that(lambda: "runs in process" in self.said(), text, self.failure)

    def said(self) -> str:
        return self._log.read_text(encoding="utf-8")

    def failure(self) -> str | None:
        """What the driver has said, if it has ended."""
        ended = self._driver is not None and self._driver.poll() is not None
        return self.said() if ended else None

    def await_report(self, command: Command) -> None:
        """Ask again until the report is the shown one: batches are under way."""
        end = time.monotonic() + SECONDS_MAX
        while True:
            said, error = self._directory.outputs(command.text)
            if self.is_alike(command.shown, said):
                return
            assert time.monotonic() < end, f"{said}{error} is shown as {command.shown}"

    def look(self, command: Command) -> None:
        """Run a command; numbers of a snapshot differ from those of the page, and it says so."""
        if "snapshot show" not in command.text and not self._is_back:
            self._directory.run(command)
            return
        said, error = self._directory.outputs(command.text)
        assert self.is_alike(command.shown, said), said + error
        self._is_back = self._is_back and "feed.py" not in command.text

    def is_alike(self, shown: str, said: str) -> bool:
        """Report whether an output is the shown one, whatever the numbers of a snapshot are."""
        if self._is_back or shown.startswith("snapshot"):
            shown, said = (re.sub(r"\d+", "#", text) for text in (shown, said))
        return is_shown(shown, said)

    def interrupt(self) -> None:
        """Press Ctrl-C in the first terminal."""
        if self._driver is not None:
            self._driver.send_signal(signal.SIGINT)
            assert self._driver.wait() == 0, self.said()
            self._driver = None

    def leave(self) -> None:
        if self._driver is not None:
            self._driver.kill()
            self._driver.wait()


@pytest.mark.slow
@pytest.mark.spark
def test_data_engineers(tmp_path: Path) -> None:
    directory = Directory(text_of("docs/tutorial/data-engineers.md"), tmp_path)
    commands = directory.commands()
    reader = Reader(directory)
    try:
        for command in commands:
            reader.follow(command)
        reader.interrupt()
    finally:
        reader.leave()
    directory.require_used()
