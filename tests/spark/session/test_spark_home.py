"""What sessions are started with: a home without the Python archive, and short socket paths.

The home is links to the installed PySpark.
"""

from __future__ import annotations

from pathlib import Path

import pyspark
import pytest

from streamproof.spark_bindings.session.session import transport
from streamproof.spark_bindings.session.spark_home import spark_home

INSTALLED = Path(pyspark.__file__).parent


@pytest.fixture(autouse=True)
def own_cache(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))


def test_the_home_has_what_spark_starts_from_and_no_archive():
    home = spark_home()
    assert (home / "bin" / "spark-submit").is_file()
    assert (home / "jars").resolve() == (INSTALLED / "jars").resolve()
    assert not (home / "python").exists()


def test_the_home_is_made_once_and_mended_if_a_link_is_stale(tmp_path):
    home = spark_home()
    (home / "jars").unlink()
    (home / "jars").symlink_to(tmp_path)
    assert spark_home() == home
    assert (home / "jars").readlink() == INSTALLED / "jars"
    assert {entry.name for entry in home.iterdir()} == {"bin", "jars"}


@pytest.mark.parametrize(("length", "sockets"), [(20, "true"), (100, "false")])
def test_workers_use_socket_files_only_where_their_paths_are_short(monkeypatch, length, sockets):
    monkeypatch.setattr("tempfile.tempdir", "/" + "x" * length)
    assert transport() == {"spark.python.unix.domain.socket.enabled": sockets}
