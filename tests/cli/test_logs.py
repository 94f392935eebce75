"""What Spark and Java say goes to a file, and the terminal gets streamproof's own words."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from streamproof.cli import logs

PROGRAM = """
import logging, subprocess, sys
from pathlib import Path
from streamproof.cli.logs import logging_to

with logging_to(Path(sys.argv[1]) if sys.argv[1] else None):
    logging.getLogger("streamproof.standby").info("ours")
    logging.getLogger("other").info("theirs")
    print("printed")
    subprocess.run(["sh", "-c", "echo child; echo worse >&2"])
    if len(sys.argv) > 2:
        raise ValueError("broken")
print("behind")
"""


def ran(log: Path | str, *more: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", PROGRAM, str(log), *more]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_terminal_gets_our_own_words_and_the_file_all(tmp_path: Path) -> None:
    log = tmp_path / "made" / "log.txt"
    done = ran(log)
    assert done.stdout == "behind\n"
    assert [line.split(" ", 2)[2] for line in done.stderr.splitlines()] == [
        "streamproof.standby: ours"
    ]
    kept = log.read_text()
    for words in ("standby: ours", "other: theirs", "printed", "child", "worse"):
        assert kept.count(words) == 1
    assert ran(log).returncode == 0
    assert log.read_text().count("standby: ours") == 2


def test_what_ends_the_block_is_in_the_file_and_reaches_the_terminal(tmp_path: Path) -> None:
    done = ran(tmp_path / "log.txt", "fails")
    assert done.returncode == 1
    assert done.stderr.rstrip().endswith("ValueError: broken")
    assert "ValueError: broken" in (tmp_path / "log.txt").read_text()


def test_without_a_file_all_goes_to_the_terminal() -> None:
    done = ran("")
    assert sorted(done.stdout.split()) == ["behind", "child", "printed"]
    assert done.stderr.count("ours") == done.stderr.count("theirs") == 1


def test_a_long_file_is_put_aside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = tmp_path / "log.txt"
    log.write_text("old")
    monkeypatch.setattr(logs, "SIZE_MAX", 2)
    logs.put_aside(log)
    assert (tmp_path / "log.old.txt").read_text() == "old"
    assert not log.exists()
