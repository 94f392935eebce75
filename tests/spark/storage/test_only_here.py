"""No other room of the bindings handles a path by itself: what is on a disk goes through a store.

A room that is shaped so runs on another store unchanged. What is local by nature is named here,
with the reason.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import streamproof.spark_bindings as bindings

ROOT = Path(bindings.__file__).parent
FILES = {
    str(path.relative_to(ROOT)): path
    for path in sorted(ROOT.rglob("*.py"))
    if path.relative_to(ROOT).parts[0] != "storage"
}
MODULES = {"os", "shutil", "tempfile", "glob", "io", "fcntl", "os.path"}
OF_DISK = {"explained", "DiskFailed"}
"""What other rooms may take from `streamproof.disk`: words for what failed."""
OF_A_PATH = {
    *("absolute", "as_posix", "chmod", "exists", "expanduser", "glob", "hardlink_to", "is_dir"),
    *("is_file", "is_symlink", "iterdir", "joinpath", "lstat", "mkdir", "open", "read_bytes"),
    *("read_text", "readlink", "relative_to", "rename", "resolve", "rglob", "rmdir", "samefile"),
    *("stat", "symlink_to", "touch", "unlink", "with_name", "with_suffix", "write_bytes"),
    "write_text",
}
LOCAL_BY_NATURE = {
    "session/java.py": "Java is installed on a machine",
    "session/spark_home.py": "Spark is, too",
    "session/class_archive.py": "and what its JVM has loaded is kept for that machine",
    "session/session.py": "it sets the environment of a JVM",
    "pipelines/class_training.py": "it runs a pipeline in a temporary directory",
    "standby/child_process.py": "it ends processes of its machine",
    "standby/pipeline_file.py": "a pipeline's definition is a Python file",
}
WITH_A_LOCAL_PATH = {
    "pipelines/pipeline.py": "`Pipeline.path` is public, and a `Path`",
    "snapshots/restore.py": "`restore_snapshot` gives a `Path`",
}


def handled(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Find where a module handles a path, with what it does."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, name.name) for name in node.names if name.name in MODULES)
        elif isinstance(node, ast.ImportFrom):
            names = {name.name for name in node.names}
            if node.module in MODULES or (node.module == "streamproof.disk" and names - OF_DISK):
                yield node.lineno, f"from {node.module}"
        elif isinstance(node, ast.Call):
            if isinstance(node.func, ast.Name) and node.func.id in ("open", "Path", "PurePath"):
                yield node.lineno, f"{node.func.id}()"
            elif isinstance(node.func, ast.Attribute):
                is_path_s = node.func.attr in OF_A_PATH and not _is_a_pipeline_s(node.func.value)
                is_moved = node.func.attr == "replace" and len(node.args) == 1
                if is_path_s or is_moved:
                    yield node.lineno, f".{node.func.attr}()"
        elif isinstance(node, ast.Attribute) and node.attr == "local":
            yield node.lineno, ".local"


def _is_a_pipeline_s(owner: ast.expr) -> bool:
    """Return whether it is `PipelineDirectory.open`, which opens no file."""
    return isinstance(owner, ast.Name) and owner.id == "PipelineDirectory"


@pytest.mark.parametrize("name", sorted({*FILES} - {*LOCAL_BY_NATURE}))
def test_a_path_is_handled_in_storage_alone(name: str) -> None:
    found = list(handled(ast.parse(FILES[name].read_text())))
    if name in WITH_A_LOCAL_PATH:
        assert [what for _, what in found] == [".local"]
        return
    assert not found, f"{name} handles paths itself: {found}. Ask a store, or a tree of it"


@pytest.mark.parametrize("name", LOCAL_BY_NATURE)
def test_what_is_local_by_nature_handles_paths(name: str) -> None:
    assert list(handled(ast.parse(FILES[name].read_text()))), f"{name} is no exception any more"


@pytest.mark.parametrize(
    "line",
    [
        "import os",
        "from shutil import rmtree",
        "from streamproof.disk import move",
        "from streamproof.disk import DiskFailed, replace_file",
        "(place / 'a').exists()",
        "file.unlink(missing_ok=True)",
        "source.replace(target)",
        "Path(place)",
        "open(place)",
        "file.open('a')",
        "place.local",
    ],
)
def test_each_way_to_handle_a_path_is_found(line: str) -> None:
    assert list(handled(ast.parse(line)))


def test_other_calls_are_not_taken_for_it() -> None:
    text = "PipelineDirectory.open(place); said.replace('a', 'b'); replace(made, received={})"
    assert not list(handled(ast.parse(f"from streamproof.disk import explained\n{text}")))
