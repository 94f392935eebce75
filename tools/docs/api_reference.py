"""Pages of the API: one for each public package, with each name that its `__all__` lists."""

from __future__ import annotations

import ast
from pathlib import Path

from tools.docs.tables import ROOT

PACKAGES = {
    "streamproof": "Searches and proofs of a model. Other names are in the packages below.",
    "streamproof.lang": "The language of models.",
    "streamproof.testing": "Models as oracles of tests.",
    "streamproof.conformance": "Runs of pipelines compared with their models.",
    "streamproof.spark_bindings": "Pipelines, snapshots and standby copies.",
    "streamproof.spark_bindings.sunion": "Merges in an order that depends on the rows alone.",
}
"""Public packages, with a sentence about each. One that does not exist has no page."""


def packages() -> list[str]:
    """List the public packages that exist."""
    return [name for name in PACKAGES if _init(name).exists()]


def page_of(package: str) -> str:
    """Name the page of a package on the site."""
    return f"reference/api/{package.removeprefix('streamproof.').replace('.', '-')}.md"


def names_of(package: str) -> list[str]:
    """List the public names of a package, without importing it."""
    for node in ast.parse(_init(package).read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return [str(name) for name in ast.literal_eval(node.value)]
    return []


def page(package: str) -> str:
    """Write the page of a package; mkdocstrings fills it."""
    lines = [f"# {package}", "", PACKAGES[package], "", f"::: {package}"]
    lines += ["    options:", "      members: false", "      show_root_heading: false"]
    for name in names_of(package):
        lines += ["", f"::: {package}.{name}"]
    return "\n".join(lines) + "\n"


def _init(package: str) -> Path:
    return ROOT.joinpath(*package.split("."), "__init__.py")
