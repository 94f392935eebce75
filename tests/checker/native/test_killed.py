"""Searches that die at any moment, also while a checkpoint is written, end with the same counts."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from streamproof import disk
from streamproof.checker import Limits
from streamproof.checker.native.checkpoint import files
from streamproof.checker.native.checkpoint.checkpoint import Checkpoint
from streamproof.checker.native.checkpoint.files import MANIFEST
from streamproof.checker.native.checkpoint.manifest import CheckpointRefused
from streamproof.checker.native.engine import explore
from streamproof.models.kit import registry
from tests.checker.native.support.keeping import (
    ROUND,
    Died,
    assert_same,
    begin,
    dies_when,
    go_on,
    lights,
)
from tests.golden import manifest as golden

pytestmark = pytest.mark.usefixtures("small_rounds")


@pytest.mark.parametrize("threads", [1, 2])
def test_a_search_that_dies_again_and_again_has_the_counts_of_one_that_does_not(
    snapshots, place, threads
):
    random = Random(threads)
    with pytest.raises(Died):
        begin(snapshots, place, threads=threads, on_progress=dies_when(random.randrange(2_000)))
    deaths = 1
    while True:
        die = dies_when(random.randrange(500, 4_000))
        try:
            found, checkpoint = go_on(snapshots, place, threads=threads, on_progress=die)
            break
        except Died:
            deaths += 1
    assert deaths > 4
    assert found.resumed > 10_000
    expected = golden.read("chandy_lamport")["sizes"]["default"]
    assert (found.counts.distinct, found.counts.depth) == (expected["distinct"], expected["depth"])
    assert_same(found, explore(snapshots, threads=1))
    assert (checkpoint.states, checkpoint.is_whole) == (found.counts.distinct, True)


@pytest.fixture
def countdown(monkeypatch):
    """Die at the n-th write, sync, rename or removal from now on, half of the bytes written."""
    left = [0]

    def may_die():
        left[0] -= 1
        if left[0] == 0:
            raise Died

    def before(function):
        def called(*arguments, **options):
            may_die()
            return function(*arguments, **options)

        return called

    extend = files.AppendedFile.extended

    def torn(self, new):
        if new:
            extend(self, new[: len(new) // 2])
            may_die()
        return extend(self, new)

    write = disk.write_file

    def torn_file(path, new, **how):
        write(path, new[: len(new) // 2], **how)
        may_die()
        write(path, new, **how)

    monkeypatch.setattr(disk, "write_file", torn_file)
    monkeypatch.setattr(os, "fsync", before(os.fsync))
    monkeypatch.setattr(Path, "replace", before(Path.replace))
    monkeypatch.setattr(Path, "unlink", before(Path.unlink))
    monkeypatch.setattr(files.AppendedFile, "extended", torn)
    return left


def search_or_go_on(model, place, threads):
    checkpoint = Checkpoint(place, resume=(place / MANIFEST).exists(), every_seconds=0)
    return explore(model, threads=threads, checkpoint=checkpoint)


SLOW = pytest.mark.slow


@pytest.mark.parametrize(
    ("threads", "step"), [(1, 5), pytest.param(1, 1, marks=SLOW), pytest.param(2, 1, marks=SLOW)]
)
def test_a_process_may_die_at_each_single_write(threads, step, tmp_path, countdown):
    """The number without a range is widened meanwhile, so that all files are written anew."""
    model = lights(4, 4)
    expected = explore(model, threads=1)
    for number in range(1, 1_000, step):
        place = tmp_path / str(number)
        countdown[0] = number
        try:
            search_or_go_on(model, place, threads)
        except Died:
            assert_same(search_or_go_on(model, place, threads), expected)
        else:
            break
    assert 40 < number < 900  # several narrow levels are searched between two writes


@pytest.mark.parametrize("threads", [1, 2])
def test_a_process_may_die_within_writes_again_and_again(threads, place, countdown):
    model = registry.build("chandy_lamport", "ring")
    expected = explore(model, threads=1)
    random, deaths = Random(threads), 0
    while True:
        countdown[0] = random.randrange(10, 40)
        try:
            found = search_or_go_on(model, place, threads)
            break
        except Died:
            deaths += 1
    assert deaths > 3
    assert_same(found, expected)


def test_a_disk_that_is_full_later_ends_no_search(snapshots, place, monkeypatch):
    calls = [0]

    def full(handle):
        calls[0] += 1
        if calls[0] > 50:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    found, checkpoint = begin(snapshots, place, threads=1)
    assert_same(found, explore(snapshots, threads=1))
    assert "No space left" in checkpoint.failure
    assert 0 < checkpoint.states < found.counts.distinct
    monkeypatch.undo()
    found, checkpoint = go_on(snapshots, place, threads=1)
    assert_same(found, explore(snapshots, threads=1))
    assert checkpoint.failure is None


@pytest.mark.parametrize("resume", [False, True])
def test_a_disk_that_is_full_at_once_is_told_at_once(place, resume, monkeypatch):
    if resume:
        begin(lights(), place, limits=Limits(depth_max=3))

    def full(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(CheckpointRefused, match="No space left on device.*Name a"):
        explore(lights(), checkpoint=Checkpoint(place, resume=resume))


CHILD = f"""
import sys
from pathlib import Path
from streamproof.checker.native import search
from streamproof.checker.native.checkpoint.checkpoint import Checkpoint
from streamproof.checker.native.engine import explore
from streamproof.models.kit import registry
search.BUFFER, search.REPORT_EVERY_SECONDS = {ROUND}, 0.0
place = Path(sys.argv[1])
tell = lambda progress: print(progress.distinct, flush=True)
checkpoint = Checkpoint(place, resume=place.exists(), every_seconds=0)
found = explore(
    registry.build("chandy_lamport", "default"), threads=int(sys.argv[2]), checkpoint=checkpoint,
    on_progress=tell,
)
print("end", found.counts.distinct, found.counts.generated, found.counts.depth, flush=True)
"""


def run_until_killed(place, threads, lines):
    """Kill a process with SIGKILL some lines after it has begun to search; give its last line."""
    command = [sys.executable, "-c", CHILD, str(place), str(threads)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        last = ""
        for number, line in enumerate(child.stdout):
            last = line
            if number == lines:
                child.send_signal(signal.SIGKILL)
    assert child.returncode in (0, -signal.SIGKILL)
    return last


LINES = 100
"""A search tells at least so many lines, of which each run that is killed leaves fewer."""


def kill_until_the_end(place, threads, kills):
    random = Random(threads)
    for _ in range(kills):
        lines = random.randrange(2, LINES // kills)
        assert not run_until_killed(place, threads, lines).startswith("end")
    command = [sys.executable, "-c", CHILD, str(place), str(threads)]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    return ran.stdout.splitlines()[-1]


def test_a_killed_process_is_gone_on_with(place):
    assert kill_until_the_end(place, 2, 1) == "end 21385 72908 14"


@pytest.mark.slow
@pytest.mark.parametrize("threads", [1, 2])
def test_a_process_may_be_killed_many_times(place, threads):
    assert kill_until_the_end(place, threads, 8) == "end 21385 72908 14"
