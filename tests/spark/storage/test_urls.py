"""A URL is no directory: it is refused wherever a path is taken, and nothing is created."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from typer.testing import CliRunner

from streamproof.cache import cache_directory
from streamproof.checker.native.checkpoint.checkpoint import Checkpoint
from streamproof.checker.native.checkpoint.manifest import CheckpointRefused
from streamproof.cli.app import app
from streamproof.lang import StreamproofError
from streamproof.models.kit.registry import choose
from streamproof.models.kit.verdict import ExitCode
from streamproof.paths import why_not_local
from streamproof.spark_bindings import (
    Pipeline,
    Query,
    list_snapshots,
    remove_snapshot,
    restore_snapshot,
    show_snapshot,
    take_snapshot,
    vacuum,
)
from streamproof.spark_bindings.errors import WrongArgument
from streamproof.spark_bindings.processes.process_status import process_statuses

URLS = [
    "s3a://bucket/shop",
    "abfss://container@account.dfs.core.windows.net/shop",
    "hdfs://namenode:8020/shop",
    "gs://bucket/shop",
    "file:///tmp/shop",
    "file:shop",
    "dbfs:/shop",
    "S3://bucket",
    " s3a://bucket/shop",
]


def pipeline_at(path: Path | str) -> Pipeline:
    query = Query("q", inputs=("a",), output="b", plan=lambda rows: rows)
    return Pipeline(path, channels={"a": "x long", "b": "x long"}, queries=[query])


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty current directory, in which a URL would become a directory."""
    place = tmp_path / "empty"
    place.mkdir()
    monkeypatch.chdir(place)
    return place


@pytest.mark.parametrize("kind", [str, Path])
@pytest.mark.parametrize("url", URLS)
def test_a_pipeline_at_a_url_is_refused(url: str, kind: type, nowhere: Path) -> None:
    with pytest.raises(WrongArgument, match="URL.*Nothing was created"):
        pipeline_at(kind(url))
    assert list(nowhere.iterdir()) == []


@pytest.mark.parametrize("url", URLS)
@pytest.mark.parametrize(
    "call",
    [
        list_snapshots,
        take_snapshot,
        vacuum,
        process_statuses,
        lambda url: show_snapshot(url, "000001"),
        lambda url: remove_snapshot(url, "000001"),
        lambda url: restore_snapshot(url, "000001", into="p"),
    ],
)
def test_a_call_with_a_url_is_refused(
    call: Callable[[str], object], url: str, nowhere: Path
) -> None:
    with pytest.raises(WrongArgument, match="URL"):
        call(url)
    assert list(nowhere.iterdir()) == []


@pytest.mark.parametrize("url", URLS)
def test_restoring_into_a_url_is_refused(url: str, nowhere: Path, tmp_path: Path) -> None:
    pipeline = pipeline_at(tmp_path / "p")
    with pytest.raises(WrongArgument, match="URL"):
        pipeline.restore(pipeline.snapshot(), into=url)
    assert list(nowhere.iterdir()) == []


@pytest.mark.parametrize(
    "command",
    [
        ["snapshot", "list", "URL"],
        ["snapshot", "take", "URL"],
        ["snapshot", "restore", "p", "1", "--into", "URL"],
        ["vacuum", "URL"],
        ["status", "URL"],
        ["run", "URL"],
        ["check", "lease", "--checkpoint", "URL"],
        ["check", "lease", "--resume", "URL"],
        ["check", "lease", "--pytest", "URL"],
        ["graph", "lease", "--out", "URL"],
        ["mttf", "--plot", "URL"],
        ["verify", "--html", "URL"],
    ],
    ids=lambda command: " ".join(command[:3]),
)
def test_a_command_with_a_url_is_refused(command: list[str], nowhere: Path) -> None:
    ran = CliRunner().invoke(app, ["s3a://bucket/x" if part == "URL" else part for part in command])
    assert ran.exit_code == ExitCode.WRONG_USE, ran.output
    assert "begins with the scheme 's3a:' as a URL does" in ran.output
    assert list(nowhere.iterdir()) == []


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ("/home/me/s3a:/bucket", "made an absolute path"),
        ("~/shop", "expanduser"),
        ("~", "expanduser"),
        ("", "names no place"),
        ("  ", "names no place"),
        ("a\0b", "names no place"),
        (None, "no path"),
        (b"shop", "no path"),
        (3, "no path"),
    ],
)
def test_what_else_is_no_path_is_refused(given: object, why: str, nowhere: Path) -> None:
    assert why in why_not_local(given)
    with pytest.raises(StreamproofError, match=why):
        pipeline_at(given)  # type: ignore[arg-type]
    assert list(nowhere.iterdir()) == []


@pytest.mark.parametrize("name", ["a%20b", "%2e%2e", "a\\b", "a\nb", "a\tb", "a\udcffb"])
def test_a_name_that_delta_would_misread_is_refused(name: str, nowhere: Path) -> None:
    with pytest.raises(WrongArgument, match="Delta .*misread"):
        pipeline_at(nowhere / name)
    assert list(nowhere.iterdir()) == []


@pytest.mark.parametrize(
    "name", ["a b", "a%b", "ä漢", "a=b", "12:30 shop", "'\"#?[*{}", "./x", "d" * 200]
)
def test_other_names_are_taken(name: str, nowhere: Path) -> None:
    pipeline = pipeline_at(name)
    pipeline.channel("a").append(pa.table({"x": [1]}))
    assert pipeline_at(nowhere / name).channel("a").rows()["x"].to_pylist() == [1]
    assert take_snapshot(nowhere / name) == "000001"


def test_a_checkpoint_of_a_search_at_a_url_is_refused(nowhere: Path) -> None:
    kept = Checkpoint(Path("s3a://bucket/search"))
    with pytest.raises(CheckpointRefused, match="URL"), kept.opened(choose("chandy_lamport").model):
        pass
    assert list(nowhere.iterdir()) == []


def test_a_cache_at_a_url_is_ignored(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "s3a://bucket/cache")
    assert cache_directory() == Path.home() / ".cache/streamproof"
