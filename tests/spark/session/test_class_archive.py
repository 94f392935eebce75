"""A JVM that is soon there: its classes come from the archive, which is made once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

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


def test_what_is_installed_anew_has_an_archive_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Java passes an archive over if a jar is not the one that it was made from."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    java, jars = tmp_path / "java", tmp_path / "home" / "jars"
    jars.mkdir(parents=True)
    for name in ("a.jar", "b.jar"):
        (jars / name).write_text(name)

    def made() -> Path:
        def touch(archive: Path) -> bool:
            archive.touch()
            return True

        found = class_archive.class_archive(java, jars.parent, touch)
        assert found is not None
        return found

    first = made()
    assert made() == first
    os.utime(jars / "a.jar", ns=(1, 1))
    second = made()
    assert second != first
    assert list(second.parent.glob("*.jsa")) == [second]
    (java / "lib/server").mkdir(parents=True)
    (java / "lib/server/classes.jsa").touch()  # another build of Java, in the same place
    assert made() not in {first, second}


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
    run = subprocess.run

    def fails(command: list[str], **how: Any) -> subprocess.CompletedProcess[str]:
        if "-m" in command:
            raise subprocess.CalledProcessError(1, command, stderr="no room")
        return run(command, **how)

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(subprocess, "run", fails)
    assert class_archive.java_options() == class_archive.FIRST_COMPILER
    assert "starts are slower: no room" in caplog.text
    assert [path.suffix for path in tmp_path.rglob("classes*")] == [".lock"]
