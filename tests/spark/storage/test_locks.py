"""A lock's file that cannot be opened is told as what it is: the disk took nothing."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from streamproof.disk import DiskFailed
from streamproof.spark_bindings import Pipeline, Query
from streamproof.spark_bindings.layout.pairs import ProcessDirectory
from streamproof.spark_bindings.layout.process_lock import holder, locked
from streamproof.spark_bindings.storage.place import Place

NUMBERS = [errno.ENOSPC, errno.EROFS, errno.EMFILE]


def refuse(monkeypatch: pytest.MonkeyPatch, number: int, end: str) -> None:
    """Let no file be opened whose name ends so."""
    real_os, real_path = os.open, Path.open

    def checked(path: Any) -> None:
        if str(path).endswith(end):
            raise OSError(number, os.strerror(number), str(path))

    def opened(path: Any, *arguments: Any, **options: Any) -> int:
        checked(path)
        return real_os(path, *arguments, **options)

    def opened_path(path: Path, *arguments: Any, **options: Any) -> Any:
        checked(path)
        return real_path(path, *arguments, **options)

    monkeypatch.setattr(os, "open", opened)
    monkeypatch.setattr(Path, "open", opened_path)


@pytest.mark.parametrize("number", NUMBERS, ids=errno.errorcode.get)
def test_an_append_without_its_lock_has_done_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    query = Query("q", inputs=("a",), output="b", plan=lambda rows: rows)
    pipeline = Pipeline(tmp_path / "p", channels={"a": "n long", "b": "n long"}, queries=[query])
    channel, rows = pipeline.channel("a"), pa.table({"n": [1]})
    with monkeypatch.context() as patch:
        refuse(patch, number, "_streamproof_writers.lock")
        identities: list[dict[str, Any]] = [{}, {"producer": "x", "sequence": 0}]
        for identity in identities:
            with pytest.raises(DiskFailed, match="Nothing was written.* then call again") as told:
                channel.append(rows, **identity)
            assert told.value.errno == number
    assert channel.append(rows, producer="x", sequence=0) is not None
    assert channel.rows()["n"].to_pylist() == [1]


@pytest.mark.parametrize("number", NUMBERS, ids=errno.errorcode.get)
def test_a_copy_without_its_lock_does_not_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    own = ProcessDirectory(Place.of(tmp_path))
    with locked(own, "copy 0"):
        assert holder(own) == os.getpid()
    with monkeypatch.context() as patch:
        refuse(patch, number, own.lock.name)
        with pytest.raises(DiskFailed, match="then call again"), locked(own, "copy 0"):
            pytest.fail("it ran")
        with pytest.raises(DiskFailed, match="then call again"):
            holder(own)
    assert holder(own) is None
    with pytest.raises(OSError, match="what it runs") as told, locked(own, "copy 0"):
        raise OSError(errno.ENOSPC, "what it runs")
    assert not isinstance(told.value, DiskFailed)
