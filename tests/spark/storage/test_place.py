"""A place is a value: text that is joined, compared and sent to executors, and refused as a URL."""

from __future__ import annotations

import multiprocessing
import pickle
from pathlib import Path

import pytest

from streamproof.spark_bindings.errors import WrongArgument
from streamproof.spark_bindings.storage.place import Place


@pytest.mark.parametrize("text", ["pipelines/shop", "/pipelines/shop", "/", ".", "a"])
def test_a_place_is_joined_as_a_path_is(text: str) -> None:
    place, path = Place.of(text), Path(text)
    below = place / "queries" / "q/checkpoint"
    assert below.local == path / "queries" / "q/checkpoint"
    assert below.name == "checkpoint"
    assert below.parent == place / "queries/q"
    assert below.parent.parent.parent.local == path
    assert below.beside("rows.json") == place / "queries/q/rows.json"
    assert place.parent.local == path.parent
    assert str(place) == text


def test_a_place_is_equal_to_another_one_of_the_same_text() -> None:
    assert Place.of(Path("/p") / "a") == Place.of("/p/a") == Place.of(Place.of("/p")) / "a"
    assert sorted([Place.of("/p/b"), Place.of("/p/a")]) == [Place.of("/p/a"), Place.of("/p/b")]
    assert len({Place.of("/p/a"), Place.of(Path("/p/a"))}) == 1


def test_a_place_is_within_itself_and_those_above() -> None:
    place = Place.of("/p/table")
    assert place.is_within(place)
    assert place.is_within(Place.of("/p"))
    assert place.is_within(Place.of("/"))
    assert not Place.of("/p/table.late").is_within(place)
    assert not Place.of("/p").is_within(place)


@pytest.mark.parametrize("kind", [str, Path])
@pytest.mark.parametrize("url", ["s3a://bucket/shop", "file:///tmp/shop", "hdfs://n:8020/p"])
def test_a_url_is_refused_by_place(url: str, kind: type) -> None:
    with pytest.raises(WrongArgument, match="URL.*Nothing was written"):
        Place.of(kind(url))
    with pytest.raises(WrongArgument, match="a sink was given .*URL.*Nothing was created"):
        Place.given(f"a sink was given {url!r}", kind(url))


@pytest.mark.parametrize("wrong", [None, 3, "", "a\0b"])
def test_what_is_no_path_is_refused(wrong: object) -> None:
    with pytest.raises(WrongArgument, match="Nothing was created"):
        Place.given("it was given that", wrong)


def test_a_given_place_is_absolute_and_not_created(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert Place.given("it was given that", "a/../b").local == tmp_path.resolve() / "b"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["a%20b", "a\\b", "a\nb"])
def test_what_delta_would_misread_is_told(name: str) -> None:
    assert Place.of(f"/p/{name}").misread_by_delta
    assert not Place.of("/p/a b%").misread_by_delta


def test_delta_and_spark_take_the_path_of_a_local_place() -> None:
    place = Place.of("/p/channels") / "a"
    assert place.for_delta() == ("/p/channels/a", {})
    assert place.for_spark() == "/p/channels/a"
    assert Place.of(place.for_spark()) == place


def _name(place: Place) -> str:
    return f"{place.name} in {place.parent}"


def test_a_place_reaches_another_process() -> None:
    place = Place.of("/p/channels") / "a"
    assert pickle.loads(pickle.dumps(place)) == place
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map(_name, [place]) == ["a in /p/channels"]
