"""Tables of limits and of supported versions, read from the sources and from pyproject.toml."""

from __future__ import annotations

import ast
import tomllib
from typing import Any

from tools.docs.tables import ROOT, table

LIMITS = (
    ("spark_bindings/sunion/arguments.py", "_STREAMS_MAX", "streams of one `sunion`"),
    ("spark_bindings/sunion/arguments.py", "PARTITIONS_MAX", "serializers of one `sunion`"),
    ("spark_bindings/layout/query.py", "PARTITIONS_MAX", "partitions of a query with a standby"),
    ("spark_bindings/layout/query.py", "INTERVAL_MS_MAX", "milliseconds of a trigger interval"),
    ("spark_bindings/layout/snapshot_files.py", "_SNAPSHOTS_MAX", "snapshots of one pipeline"),
    ("spark_bindings/channels/source.py", "COMMITS_MAX", "commits of one batch, by default"),
    ("spark_bindings/channels/producers.py", "SEQUENCE_MAX", "sequence number of an append"),
    (
        "spark_bindings/processes/process_status.py",
        "TURNS_AHEAD_MAX",
        "turns of a primary ahead of its twin",
    ),
    (
        "spark_bindings/standby/child_process.py",
        "SILENCE_TIMEOUTS_MAX",
        "suspicion timeouts of silence before a copy is ended",
    ),
    (
        "spark_bindings/standby/child_process.py",
        "START_SECONDS_MAX",
        "seconds of a copy's start before it is ended",
    ),
    ("spark_bindings/session/java.py", "JAVA_VERSION_MIN", "oldest Java"),
    ("checker/engines.py", "THREADS_MAX", "threads of the native engine"),
    ("checker/walks.py", "LENGTH_MAX", "steps of a random walk, by default"),
    ("checker/forecast/climb.py", "SIZES_MAX", "smaller sizes of a forecast"),
    ("translation/points.py", "CELLS_MAX", "scalars of a state in the comparison of traced forms"),
)
"""File, constant, and its meaning; the number stands in the file."""

PARTS = {
    "spark": "`streamproof.spark_bindings`; `run`, `status`, `vacuum`, `snapshot`, `mttf`",
    "check": "the native engine; `forecast`, `certify`",
    "prove": "`prove`, and the proofs of `verify`",
    "test": "tests by Hypothesis with a model as their oracle",
    "sign": "signatures of certificates",
    "examples": "the scripts in `examples/`, and plots",
    "docs": "this site",
}
"""By the name of an extra: what it is for."""


def limits() -> str:
    """Tabulate the limits."""
    rows = [
        (meaning, f"{constant(path, name):,}", f"`{path}`: `{name}`")
        for path, name, meaning in LIMITS
    ]
    return table(("limit of", "number", "source"), rows)


def versions() -> str:
    """Tabulate what an installation needs, and what each extra adds."""
    project = _project()
    needed = {text: ["always"] for text in project["dependencies"]}
    for extra, texts in _extras(project).items():
        for text in texts:
            needed.setdefault(text, []).append(f"`streamproof[{extra}]`")
    rows = [("Python", f"`{project['requires-python']}`", "always")]
    rows += [
        (f"`{_name(text)}`", _bounds(text), ", ".join(parts)) for text, parts in needed.items()
    ]
    return table(("package", "version", "needed for"), rows)


def extras() -> str:
    """Tabulate the extras, with the packages of each."""
    rows = [
        (f"`[{extra}]`", PARTS[extra], ", ".join(f"`{_name(text)}`" for text in texts))
        for extra, texts in _extras(_project()).items()
    ]
    return table(("extra", "part", "packages"), rows)


def _project() -> dict[str, Any]:
    project: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    return project


def _extras(project: dict[str, Any]) -> dict[str, list[str]]:
    """Select the extras that name packages, without those that a contributor needs."""
    found = project["optional-dependencies"]
    return {extra: texts for extra, texts in found.items() if extra not in {"all", "dev"}}


def settings() -> str:
    """Tabulate the settings of a session."""
    from streamproof.spark_bindings.session import session  # which loads Spark

    required = session.REQUIRED_SETTINGS
    rows = [
        (
            f"`{key}`",
            f"`{value if value.replace('.', '').isdigit() else value.rpartition('.')[2]}`",
            "required" if key in required else "set",
        )
        for key, value in session.RECOMMENDED_SETTINGS.items()
    ]
    return table(("setting", "value", ""), rows)


def constant(path: str, name: str) -> int | float:
    """Read a number from the sources.

    Raises
    ------
    LookupError : if the file has no constant of this name
    """
    tree = ast.parse((ROOT / "streamproof" / path).read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name:
            return _number(node.value)
    raise LookupError(f"{path} has no constant {name}")


def _number(node: ast.expr) -> int | float:
    match node:
        case ast.Constant(value=int(number) | float(number)):
            return number
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            return int(_number(left) ** _number(right))
        case ast.BinOp(left=left, op=ast.Sub(), right=right):
            return _number(left) - _number(right)
        case _:
            raise LookupError(f"no number: {ast.unparse(node)}")


def _name(text: str) -> str:
    return text[: len(text) - len(_bounds_text(text))]


def _bounds(text: str) -> str:
    bounds = _bounds_text(text)
    return f"`{bounds}`" if bounds else "any"


def _bounds_text(text: str) -> str:
    begin = min((text.index(sign) for sign in "<>=~" if sign in text), default=len(text))
    return text[begin:]
