"""What the calls of a store promise, asked of the local one."""

from __future__ import annotations

import errno
import multiprocessing
import os
from pathlib import Path
from typing import Any

import pytest

from streamproof import disk
from streamproof.spark_bindings.errors import DamagedFile
from streamproof.spark_bindings.storage.builds import building
from streamproof.spark_bindings.storage.place import Place
from streamproof.spark_bindings.storage.store import Store, store_at
from streamproof.spark_bindings.storage.trees import make_directory, remove_at_once

RACES = 50
WRITES = 200


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Return the store of a directory that does not exist yet."""
    return store_at(tmp_path / "store")


def test_what_is_put_is_got_and_replaced(store: Store) -> None:
    store.put("a/b", b"1")
    store.put("a/b", b"22")
    assert store.get("a/b") == b"22"
    assert store_at(store.place / "a/b").get() == b"22"  # the empty key is the place itself
    assert store.size("a/b") == 2
    assert store.list("a") == ["b"]  # nothing is left of the writing


def test_a_key_without_anything_is_told(store: Store, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        store.get("a")
    with pytest.raises(FileNotFoundError):
        store.copy("a", Place.of(tmp_path / "b"))
    assert not store.has("a")
    assert store.size("a") is None
    assert store.list() == store.list("a") == list(store.walk()) == []
    store.delete("a")
    store.put("a", b"")
    store.delete("a")
    store.delete("a")
    assert not store.has("a")


def test_a_key_is_created_once(store: Store) -> None:
    assert store.create("a/b", b"1")
    assert not store.create("a/b", b"2")
    assert store.get("a/b") == b"1"
    assert store.list("a") == ["b"]


def _create(root: str, mine: bytes, start: Any, won: Any) -> None:
    store = store_at(root)
    for number in range(RACES):
        start.wait()
        if store.create(str(number), mine):
            won.put((number, mine))


def test_of_two_processes_that_create_a_key_one_wins(store: Store) -> None:
    context = multiprocessing.get_context("spawn")
    start, won = context.Barrier(2), context.Queue()
    racers = [
        context.Process(target=_create, args=(str(store.place), mine, start, won))
        for mine in (b"one", b"two")
    ]
    for racer in racers:
        racer.start()
    found = sorted(won.get(timeout=60) for _ in range(RACES))
    for racer in racers:
        racer.join(60)
        assert racer.exitcode == 0
    assert won.empty()
    assert [number for number, _ in found] == list(range(RACES))
    assert all(store.get(str(number)) == mine for number, mine in found)


def _put(root: str) -> None:
    store = store_at(root)
    for number in range(WRITES):
        store.put("a", bytes([number % 256]) * 100_000)


def test_a_put_is_never_seen_torn(store: Store) -> None:
    store.put("a", b"\0" * 100_000)
    writer = multiprocessing.get_context("spawn").Process(target=_put, args=(str(store.place),))
    writer.start()
    seen = set()
    while writer.is_alive():
        content = store.get("a")
        assert content == content[:1] * 100_000
        seen.add(content[:1])
    writer.join()
    assert writer.exitcode == 0
    assert len(seen) > 1  # it was looked at meanwhile


def test_a_put_that_fails_leaves_what_was_there(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.put("a", b"old")

    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "full")

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        with pytest.raises(disk.DiskFailed):
            store.put("a", b"new")
        with pytest.raises(disk.DiskFailed):
            store.create("b", b"new")
    assert store.list() == ["a"]
    assert store.get("a") == b"old"


def test_keys_are_listed_in_order(store: Store) -> None:
    for key in ("b/2", "b/10", "a", "c/x/1", "b/a/1"):
        store.put(key, b"")
    assert store.list() == ["a", "b", "c"]
    assert store.list("b") == ["10", "2", "a"]
    assert list(store.walk()) == ["a", "b/10", "b/2", "b/a/1", "c/x/1"]
    assert list(store.walk("b")) == ["b/10", "b/2", "b/a/1"]


def test_a_copy_is_there_whole_and_replaces_nothing(store: Store, tmp_path: Path) -> None:
    store.put("a", b"1")
    target = Place.of(tmp_path / "copies/of/a")
    store.copy("a", target)
    assert store_at(target).get() == b"1"
    assert target.local.stat().st_nlink == 2  # of the same bytes: nothing was read
    store.put("a", b"2")
    with pytest.raises(FileExistsError):
        store.copy("a", target)
    assert store_at(target).get() == b"1"


@pytest.mark.parametrize("is_far", [False, True], ids=["one disk", "two disks"])
def test_a_copy_of_a_link_is_the_file_that_it_leads_to(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_far: bool
) -> None:
    """A relative link would lead elsewhere, or nowhere, from the copy's directory."""

    def refuse(*_: Any) -> None:
        raise OSError(errno.EXDEV, os.strerror(errno.EXDEV))

    store.put("state/1.zip", b"1")
    attic = tmp_path / "attic"
    attic.mkdir()
    (store.place.local / "state/1.zip").rename(attic / "1.zip")
    (store.place.local / "state/1.zip").symlink_to("../../attic/1.zip")
    (store.place.local / "state/2.zip").symlink_to("1.zip")
    if is_far:
        monkeypatch.setattr(os, "link", refuse)
    for name in ("1.zip", "2.zip"):
        target = tmp_path / "deeper/down" / name
        store.copy(f"state/{name}", Place.of(target))
        assert not target.is_symlink()
        assert target.read_bytes() == b"1"


@pytest.mark.parametrize("leads_to", ["nowhere", "link", "."], ids=["nothing", "itself", "folder"])
def test_a_link_to_no_file_is_not_copied(store: Store, tmp_path: Path, leads_to: str) -> None:
    store.put("a", b"1")
    (store.place.local / "link").symlink_to(leads_to)
    with pytest.raises(DamagedFile, match=f"link is a link to {leads_to}, where no file is"):
        store.copy("link", Place.of(tmp_path / "copy"))
    assert not os.path.lexists(tmp_path / "copy")


def test_a_copy_without_links_is_never_seen_in_part(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.put("a", b"1")
    target = Place.of(tmp_path / "copy")

    def no_link(*_: object) -> None:
        raise OSError(errno.EXDEV, "another file system")

    renamed: list[bytes] = []
    rename = Path.rename

    def watched(path: Path, name: Path) -> Path:
        assert not target.local.exists()
        renamed.append(path.read_bytes())
        return rename(path, name)

    monkeypatch.setattr(os, "link", no_link)
    monkeypatch.setattr(Path, "rename", watched)
    store.copy("a", target)
    assert renamed == [b"1"]
    assert store_at(target).get() == b"1"
    with pytest.raises(FileExistsError):
        store.copy("a", target)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["copy", "store"]


def test_what_is_built_gets_its_name_in_one_step(store: Store) -> None:
    target = store.place / "built"
    make_directory(store.place)
    with building(target) as build:
        store_at(build.place).put("a", b"1")
        assert not store_at(target).has()
        assert build.name()
    assert store_at(target).list() == ["a"]
    with building(target) as build:
        store_at(build.place).put("b", b"2")
        assert not build.name()  # it is taken
    assert store_at(target).list() == ["a"]
    assert store.list() == ["built"]


@pytest.mark.parametrize("owner", [os, Path], ids=["behind the rename", "in it"])
@pytest.mark.parametrize("is_unseen", [True, False])
def test_what_has_its_name_keeps_it_unless_nobody_has_seen_it(
    store: Store, monkeypatch: pytest.MonkeyPatch, owner: Any, *, is_unseen: bool
) -> None:
    make_directory(store.place)
    name = "fsync" if owner is os else "rename"
    made = getattr(owner, name)

    def failing(*arguments: Any) -> None:
        monkeypatch.setattr(owner, name, made)
        made(*arguments)
        raise OSError(errno.EIO, "failing")

    with building(store.place / "built") as build:
        store_at(build.place).put("a", b"1")
        monkeypatch.setattr(owner, name, failing)
        with pytest.raises(disk.DiskFailed):
            build.name(is_unseen=is_unseen)
    assert store.list() == ([] if is_unseen else ["built"])


def test_a_build_that_fails_leaves_nothing(store: Store) -> None:
    make_directory(store.place)

    def fail() -> None:
        with building(store.place / "built") as build:
            store_at(build.place).put("a", b"1")
            raise KeyError("a")

    with pytest.raises(KeyError):
        fail()
    assert store.list() == []


def test_what_is_removed_at_once_was_renamed_first(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.put("old/a", b"1")
    moved: list[str] = []
    move = disk.move

    def watched(source: Path, target: Path) -> None:
        assert (source / "a").exists()
        moved.append(target.name)
        move(source, target)

    monkeypatch.setattr(disk, "move", watched)
    remove_at_once(store.place / "old", store.place / ".gone")
    assert moved == [".gone"]
    assert store.list() == []
    remove_at_once(store.place / "old")  # it is gone
    assert moved == [".gone"]
