"""A JVM that is soon there: Java's first compiler alone, and Spark's classes from an archive.

Loading and verifying some ten thousand classes is half of what a session's start costs. Java can
keep them as they are in memory (class-data sharing). The archive is made once for a Java and a
PySpark, by a session that runs a small stateful query and ends; and again when one of them was
installed anew, for then Java passes the old archive over without a word.
"""

from __future__ import annotations

import hashlib
import logging
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pyspark

from streamproof.cache import cache_directory
from streamproof.disk import move, sync_file
from streamproof.file_locks import lock
from streamproof.spark_bindings.session.java import java_build, java_home
from streamproof.spark_bindings.session.spark_home import spark_home

# The wide stack is `spark_session`'s own; a session that is to be there soon has one collector.
FIRST_COMPILER = "-Xss16m -XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Options of a JVM that compiles quickly, and less well."""
TRAINING_SECONDS_MAX = 300
"""How long making an archive may take, also on a busy machine."""
_TRAINING = "streamproof.spark_bindings.pipelines.class_training"
_QUIET = "-Xshare:auto -Xlog:cds=off -Xlog:cds+dynamic=off"
_log = logging.getLogger("streamproof.class_archive")


def java_options() -> str:
    """Return the options of a JVM that is soon there. The first time this takes half a minute."""
    archive = class_archive()
    if archive is None:
        return FIRST_COMPILER
    return f"{FIRST_COMPILER} -XX:SharedArchiveFile={archive} {_QUIET}"


def training_options(archive: str) -> str:
    """Return the options of a JVM that writes its classes to an archive when it ends."""
    return f"{FIRST_COMPILER} -XX:ArchiveClassesAtExit={archive} {_QUIET}"


def class_archive(
    java: Path | None = None,
    home: Path | None = None,
    make: Callable[[Path], bool] | None = None,
) -> Path | None:
    """Return the archive of classes, made if it is not there; None if it cannot be made.

    Parameters
    ----------
    java, home : of Java and of Spark; by default those of a session
    make : makes an archive, and tells whether it could; by default a session that is started
    """
    java, home = java or java_home(), home or spark_home()
    place = f"classes-{_digest(f'{java.resolve()} {home}')}"
    archive = cache_directory() / f"{place}-{_digest(_installed(java, home))}.jsa"
    if archive.is_file():
        return archive
    archive.parent.mkdir(parents=True, exist_ok=True)
    with (archive.parent / f"{place}.lock").open("w") as file:
        lock(file)  # copies that start at once wait for the one that makes it
        if not archive.is_file():
            if not (make or _make)(archive):
                return None
            for older in archive.parent.glob(f"{place}-*.jsa"):
                if older != archive:
                    older.unlink()  # a JVM that runs by it keeps what it has mapped
    return archive


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _installed(java: Path, home: Path) -> str:
    """Describe what Java compares an archive with: its own build, and each jar's size and time."""
    with os.scandir(home / "jars") as jars:  # in this order, for so Java expands a wildcard
        kept = [(jar.name, jar.stat().st_size, jar.stat().st_mtime_ns) for jar in jars]
    return f"{java_build(java)} {pyspark.__version__} {FIRST_COMPILER} {kept}"


def _make(archive: Path) -> bool:
    _log.info(
        "making an archive of Spark's classes, once on this machine; it takes half a minute to a "
        "minute and a quarter: %s",
        archive,
    )
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(dir=archive.parent) as place:
        made = Path(place) / archive.name
        try:
            subprocess.run(  # noqa: S603 - ours
                [sys.executable, "-m", _TRAINING, str(made)],
                capture_output=True,
                text=True,
                check=True,
                timeout=TRAINING_SECONDS_MAX,
            )
            sync_file(made)  # Java would run by a damaged one
            move(made, archive)
        except (OSError, subprocess.SubprocessError) as error:
            said = getattr(error, "stderr", None) or error
            _log.warning("no archive could be made, so starts are slower: %s", said)
            return False
    _log.info("the archive is made, after %.0f s", time.monotonic() - begun)
    return True
