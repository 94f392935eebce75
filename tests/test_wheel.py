"""An installed wheel proves, checks and has its certificates, as a checkout does."""

from __future__ import annotations

import sysconfig
import textwrap
import venv
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.wheels import COMMAND, ROOT, build_wheel, python_of, run_apart


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., str]:
    """Install the wheel beside the dependencies of this environment; give what runs it."""
    place = tmp_path_factory.mktemp("wheel")
    wheel = build_wheel(place)
    venv.create(place / "venv", with_pip=False)
    scheme = {"base": str(place / "venv"), "platbase": str(place / "venv")}
    packages = Path(sysconfig.get_path("purelib", "venv", vars=scheme))
    with zipfile.ZipFile(wheel) as file:
        file.extractall(packages)
    # Files of this kind are not read in a directory that one of them names: no checkout is found.
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return lambda *words: run_apart([python_of(place / "venv"), *words], place)


def test_it_is_no_checkout_that_is_tried(installed: Callable[..., str]) -> None:
    assert "site-packages" in installed("-c", "import streamproof; print(streamproof.__file__)")
    assert str(ROOT) not in installed("-c", "import sys; print(*sys.path, sep=chr(10))").split()


def test_it_has_every_file_of_the_package(installed: Callable[..., str]) -> None:
    package = ROOT / "streamproof"
    files = {path.relative_to(package) for path in package.rglob("*") if path.is_file()}
    wanted = {str(path) for path in files if "__pycache__" not in path.parts}
    assert "cli/templates/verify.html" in wanted
    assert wanted - set(installed("-c", LIST_FILES).split("\n")) == set()


LIST_FILES = """
from pathlib import Path
import streamproof

package = Path(streamproof.__path__[0])
print(*[path.relative_to(package) for path in package.rglob("*")], sep=chr(10))
"""


def test_an_invariant_is_proven(installed: Callable[..., str]) -> None:
    assert "PROVED" in installed(*COMMAND, "prove", "egress")


def test_a_model_is_explored(installed: Callable[..., str]) -> None:
    told = installed(*COMMAND, "check", "egress", "--engine", "native")
    assert "EXHAUSTED" in told
    assert "native engine" in told


def test_the_certificates_are_of_the_files_that_are_installed(
    installed: Callable[..., str],
) -> None:
    installed("-c", COMMAND, "certify", "--all", "--check")


def test_the_page_of_verify_is_written(installed: Callable[..., str]) -> None:
    program = """
        from pathlib import Path
        from streamproof.cli.html import Ran, write_html
        from streamproof.models.kit.verdict import ExitCode
        write_html(Path("page.html"), [], [], Ran({}, {}), ExitCode.GREEN, 1.0)
        print(Path("page.html").read_text())
    """
    page = installed("-c", textwrap.dedent(program))
    assert "everything that is claimed holds" in page
    assert ".run .arrow" in page
