"""A JVM that is soon there: its classes come from the archive, which is made once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from streamproof.spark_bindings.session import class_archive

CLASSES_SHARED_MIN = 5_000
"""Of a session that runs a query. Java's own archive, which each JVM has, holds some 1,300."""
SESSION = """
import sys
from streamproof.spark_bindings import spark_session
from streamproof.spark_bindings.session.class_archive import java_options
options = f"{java_options()} -Xlog:class+load:file={sys.argv[1]}"
spark = spark_session(memory="512m", settings={"spark.driver.extraJavaOptions": options})
print(spark.range(10).selectExpr("sum(id)").first()[0])
spark.stop()
"""


def test_classes_come_from_the_archive(tmp_path: Path) -> None:
    log = tmp_path / "classes.log"
    ran = subprocess.run(
        [sys.executable, "-c", SESSION, str(log)], capture_output=True, text=True, check=True
    )
    assert ran.stdout == "45\n"
    loaded = log.read_text(encoding="utf-8").splitlines()
    shared = [line for line in loaded if line.endswith("shared objects file (top)")]
    assert len(shared) > CLASSES_SHARED_MIN
    assert any("org.apache.spark" in line for line in shared)


def other_installation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let PySpark's jars be files of the test's own; the archives are not made but touched."""
    jars = tmp_path / "home" / "jars"
    jars.mkdir(parents=True)
    for name in ("a.jar", "b.jar"):
        (jars / name).write_text(name)

    def touch(archive: Path) -> bool:
        archive.touch()
        return True

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(class_archive, "spark_home", lambda: tmp_path / "home")
    monkeypatch.setattr(class_archive, "_make", touch)
    return jars


def test_what_is_installed_anew_has_an_archive_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Java passes an archive over if a jar is not the one that it was made from."""
    jars = other_installation(tmp_path, monkeypatch)
    first = class_archive.class_archive()
    assert first is not None
    assert class_archive.class_archive() == first
    os.utime(jars / "a.jar", ns=(1, 1))
    second = class_archive.class_archive()
    assert second is not None
    assert second != first
    assert list(second.parent.glob("*.jsa")) == [second]
    monkeypatch.setattr(class_archive, "java_build", lambda _: "another build")
    assert class_archive.class_archive() not in {first, second, None}


def test_the_archive_is_made_once() -> None:
    first = class_archive.class_archive()
    assert first is not None
    made = first.stat().st_mtime_ns
    assert class_archive.class_archive() == first
    assert first.stat().st_mtime_ns == made
    assert f"-XX:SharedArchiveFile={first}" in class_archive.java_options()


def test_without_an_archive_a_start_is_slower_and_the_user_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise subprocess.CalledProcessError(1, "java", stderr="no room")

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(subprocess, "run", fails)
    monkeypatch.setattr(class_archive, "java_home", lambda: tmp_path)
    assert class_archive.java_options() == class_archive.FIRST_COMPILER
    assert "starts are slower: no room" in caplog.text
    assert [path.suffix for path in tmp_path.rglob("classes*")] == [".lock"]
