"""Checkpoints: a search goes on with other limits and threads, from its own checkpoint alone."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace

import pytest

from streamproof.checker import Limits, check
from streamproof.checker.engines import EngineName, NotKept, engine_of
from streamproof.checker.exploration import INTERRUPTED
from streamproof.checker.native import search
from streamproof.checker.native.checkpoint import manifest
from streamproof.checker.native.checkpoint.checkpoint import Checkpoint
from streamproof.checker.native.checkpoint.files import MANIFEST
from streamproof.checker.native.checkpoint.manifest import CheckpointRefused, Manifest
from streamproof.checker.native.engine import explore
from streamproof.checker.native.worker import Worker
from streamproof.lang import Domain
from tests.checker.native.support.keeping import (
    Bit,
    Dimmed,
    assert_same,
    begin,
    content,
    go_on,
    lights,
)

pytestmark = pytest.mark.usefixtures("small_rounds")


# --- going on ----------------------------------------------------------------------------------


def test_the_number_of_threads_may_change(snapshots, place):
    begin(snapshots, place, threads=4, limits=Limits(depth_max=5))
    for depth, threads in ((7, 1), (8, 8), (10, 2)):
        go_on(snapshots, place, threads=threads, limits=Limits(depth_max=depth))
    found, _ = go_on(snapshots, place, threads=1)
    assert_same(found, explore(snapshots))
    assert len(list(place.glob("*.states"))) == 1


def test_in_one_thread_a_resumed_search_finds_the_very_same(snapshots, place):
    begin(snapshots, place, threads=1, limits=Limits(depth_max=7))
    found, _ = go_on(snapshots, place, threads=1)
    whole = explore(snapshots, threads=1)
    assert (found.counts, found.witnesses) == (whole.counts, whole.witnesses)


def test_a_whole_search_is_kept_and_gives_its_report_again(snapshots, place):
    first, second = Checkpoint(place), Checkpoint(place, resume=True)
    report = check(
        snapshots, liveness=False, engine=engine_of(EngineName.AUTO, 2, checkpoint=first)
    )
    again = check(
        snapshots, liveness=False, engine=engine_of(EngineName.AUTO, 2, checkpoint=second)
    )
    assert again.findings == report.findings
    assert (report.resumed, again.resumed) == (0, 21_385)
    assert again.rate == 0


def test_a_number_that_is_widened_after_the_search_goes_on(place):
    """Ranges that a search has learned are kept; those that it still has to learn, it learns."""
    for most in (3, 5, 8):
        resume = place.exists()
        checkpoint = Checkpoint(place, resume=resume)
        explore(lights(), limits=Limits(depth_max=most), checkpoint=checkpoint)
    assert Manifest.read(place).ranges["count"][1] >= 7
    found, _ = go_on(lights(), place)
    assert_same(found, explore(lights()))
    assert found.counts.distinct == 2**10


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("kept_by", [1, 4])
@pytest.mark.parametrize("depth", [3, 4, 5])
def test_what_is_found_after_going_on_is_what_would_have_been_found(place, threads, kept_by, depth):
    """Four threads find states in another order, and what comes first must not depend on it."""
    model = lights(most=6)
    begin(model, place, threads=kept_by, limits=Limits(depth_max=depth))
    expected = explore(model, threads=1)
    for _ in range(2):  # also once it was found
        found, _ = go_on(model, place, threads=threads)
        assert_same(found, expected)
        assert found.path == expected.path
    assert len(found.path.steps) == 7


@pytest.mark.parametrize("threads", [1, 2])
def test_a_limit_is_raised_and_the_search_goes_on(snapshots, place, threads):
    found, checkpoint = begin(snapshots, place, limits=Limits(states_max=5_000))
    assert found.counts.distinct == 5_000
    assert "raise --states-max" in found.stopped
    assert 4_000 < checkpoint.states <= 5_000
    assert not checkpoint.is_whole
    found, _ = go_on(snapshots, place, limits=Limits(states_max=9_000))
    assert found.counts.distinct == 9_000
    found, _ = go_on(snapshots, place, threads=threads, limits=Limits(memory_mb_max=1_000_000))
    assert_same(found, explore(snapshots))


def test_a_lower_limit_is_kept_to(snapshots, place):
    begin(snapshots, place, limits=Limits(depth_max=8))
    before = content(place)
    with pytest.raises(CheckpointRefused, match="room for 100, so.*Raise --states-max"):
        go_on(snapshots, place, limits=Limits(states_max=100))
    found, _ = go_on(snapshots, place, limits=Limits(depth_max=5))
    assert "raise --depth-max" in found.stopped
    assert content(place) == before


def test_a_lower_limit_is_kept_to_within_a_level(snapshots, place):
    def interrupt(progress):
        if progress.expanded > 3_000:
            raise KeyboardInterrupt

    _, checkpoint = begin(snapshots, place, 1e9, on_progress=interrupt)
    found, _ = go_on(snapshots, place, limits=Limits(depth_max=4))
    assert "raise --depth-max" in found.stopped
    assert found.counts.distinct == checkpoint.states


@pytest.mark.parametrize("threads", [1, 2])
def test_an_interrupt_keeps_what_was_found(snapshots, place, threads):
    def interrupt(progress):
        if progress.distinct > 3_000:
            raise KeyboardInterrupt

    found, checkpoint = begin(snapshots, place, 1e9, threads=threads, on_progress=interrupt)
    assert found.stopped == INTERRUPTED
    assert 2_000 < checkpoint.states <= found.counts.distinct
    found, _ = go_on(snapshots, place, threads=threads)
    assert_same(found, explore(snapshots))
    assert found.resumed == checkpoint.states


@pytest.mark.parametrize(("threads", "place_of"), [(2, search.Search), (1, Worker)])
def test_an_interrupt_within_a_round_keeps_the_rounds_before(
    snapshots, place, threads, place_of, monkeypatch
):
    """One thread searches narrow levels by calls of its own."""
    name, last = ("_take_all", 60) if threads == 2 else ("expand_narrow", 12)
    take, rounds = getattr(place_of, name), [0]

    def interrupted(*arguments):
        rounds[0] += 1
        if rounds[0] == last:
            raise KeyboardInterrupt
        return take(*arguments)

    monkeypatch.setattr(place_of, name, interrupted)
    found, checkpoint = begin(snapshots, place, 1e9, threads=threads)
    assert found.stopped == INTERRUPTED
    assert checkpoint.states > 500
    found, _ = go_on(snapshots, place, threads=threads)
    assert_same(found, explore(snapshots))


# --- whose it is, and whether it is whole ------------------------------------------------------


def test_another_model_size_or_version_is_refused(place, monkeypatch):
    begin(lights(), place, limits=Limits(depth_max=3))
    before = content(place)
    for other, told in (
        (Dimmed(Domain(Bit, 10), 10), "it is of Lights, and this is Dimmed"),
        (lights(most=9), "it is of most=10, and this is most=9"),
        (lights(bits=9), r"it is of bits=.*\(Bit, 10\), and this is bits=.*\(Bit, 9\)"),
    ):
        for resume in (True, False):
            with pytest.raises(CheckpointRefused, match=told):
                explore(other, checkpoint=Checkpoint(place, resume=resume))
    monkeypatch.setattr(manifest, "generator_digest", lambda: "99")
    with pytest.raises(CheckpointRefused, match=r"written by streamproof .*, and this is .* 99"):
        go_on(lights(), place)
    monkeypatch.setattr(manifest, "FORMAT", 99)
    with pytest.raises(CheckpointRefused, match=r"has format 1.*reads 99"):
        go_on(lights(), place)
    monkeypatch.undo()
    assert content(place) == before


def test_a_program_that_is_another_in_some_other_way_is_refused(place):
    begin(lights(), place, limits=Limits(depth_max=3))
    replace(Manifest.read(place), program="another").write(place)
    with pytest.raises(
        CheckpointRefused, match="initial states, --symmetry or --safety are others"
    ):
        go_on(lights(), place)


def test_a_checkpoint_that_is_there_is_not_begun_anew(place):
    begin(lights(), place, limits=Limits(depth_max=3))
    before = content(place)
    with pytest.raises(CheckpointRefused, match="with 56 states, which would be lost.*--resume"):
        begin(lights(), place)
    assert content(place) == before


def test_a_directory_with_something_else_is_not_touched(place, tmp_path):
    place.mkdir()
    (place / "precious").write_text("x")
    with pytest.raises(CheckpointRefused, match="something else .precious., which is not touched"):
        begin(lights(), place)
    with pytest.raises(CheckpointRefused, match="holds no checkpoint"):
        go_on(lights(), place)
    with pytest.raises(CheckpointRefused, match="holds no checkpoint"):
        go_on(lights(), tmp_path / "nowhere")
    for wrong in (place / "precious", tmp_path / "missing" / "kept"):
        with pytest.raises(CheckpointRefused, match="cannot be made"):
            begin(lights(), wrong)
    assert content(place) == {"precious": b"x"}


def test_two_searches_do_not_share_a_directory(place):
    def other(progress):
        with pytest.raises(CheckpointRefused, match="used by another search"):
            go_on(lights(), place)

    found, _ = begin(lights(), place, on_progress=other)
    assert found.counts.distinct == 2**10


def test_a_manifest_that_is_damaged_anywhere_is_refused(place):
    begin(lights(), place, threads=2, limits=Limits(depth_max=3))
    path = place / MANIFEST
    whole = path.read_bytes()
    Manifest.read(place)
    for at in range(len(whole)):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        with pytest.raises(CheckpointRefused, match="manifest.json is damaged"):
            Manifest.read(place)
        path.write_bytes(whole[:at])
        with pytest.raises(CheckpointRefused, match="manifest.json is damaged"):
            Manifest.read(place)


def test_a_file_that_is_damaged_anywhere_is_refused_and_what_is_behind_is_cut_off(place):
    begin(lights(5), place, threads=2, limits=Limits(depth_max=4))
    whole = content(place)
    del whole[MANIFEST]
    assert len(whole) == 6
    for name, text in whole.items():
        path = place / name
        for at in range(len(text)):
            path.write_bytes(text[:at] + bytes([text[at] ^ 4]) + text[at + 1 :])
            with pytest.raises(CheckpointRefused, match=f"{name} is damaged"):
                go_on(lights(5), place, threads=2)
        path.write_bytes(text[:-1])
        with pytest.raises(CheckpointRefused, match=f"{name} is damaged"):
            go_on(lights(5), place, threads=2)
        path.unlink()
        with pytest.raises(CheckpointRefused, match=f"{name} is damaged"):
            go_on(lights(5), place, threads=2)
        path.write_bytes(text + b"what was being written when the process died")
    found, _ = go_on(lights(5), place, threads=2, limits=Limits(depth_max=4))
    assert found.counts.distinct == 1 + 5 + 10 + 10
    assert {name: content(place)[name] for name in whole} == whole


def test_the_reference_engine_keeps_nothing_and_says_so(place):
    with pytest.raises(NotKept, match="cannot write down"):
        engine_of(EngineName.REFERENCE, checkpoint=Checkpoint(place))
    assert not place.exists()


def test_a_checkpoint_belongs_to_its_model_in_every_process(place):
    """Sets are written in another order by a process that hashes otherwise."""
    code = (
        "from streamproof.checker.native.checkpoint.manifest import Owner; "
        "from streamproof.checker.native.code.program import Program; "
        "from streamproof.models.kit import registry; m = registry.build('chandy_lamport', 'dag'); "
        "print(Owner.of(m), Program(m, {}).identity)"
    )
    told = {
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    }  # fmt: skip
    assert len(told) == 1
