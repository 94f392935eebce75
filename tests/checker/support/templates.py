"""Models in files: a template whose places are filled, and commands on what was written."""

from __future__ import annotations

from pathlib import Path

from typer.testing import CliRunner

from streamproof.cli.app import app


def write_model(directory: Path, template: str, parts: dict[str, str]) -> str:
    """Fill the places of a template, `@@name@@` each, and write it to a file; give its path."""
    for name, part in parts.items():
        template = template.replace(f"@@{name}@@", part)
    path = directory / "model.py"
    path.write_text(template, encoding="utf-8")
    return str(path)


def run(*arguments: str) -> tuple[int, str]:
    """Run a command; give its exit code and what it says, in one line."""
    done = CliRunner().invoke(app, list(arguments))
    return done.exit_code, " ".join(done.output.split())
