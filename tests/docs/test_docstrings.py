"""The examples in the docstrings of public names are run.

An example takes the names of its package for granted, and imports all others. Those that need Spark
get the session of this module when they ask for one.
"""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

from tests.docs.support.public import PUBLIC

pytestmark = pytest.mark.usefixtures("certificates")

NAMES_MIN = 40
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def examples() -> list[doctest.DocTest]:
    """List the examples of all public names, each once."""
    finder, found = doctest.DocTestFinder(exclude_empty=True), {}
    for package in PUBLIC:
        module = importlib.import_module(package)
        names = {name: getattr(module, name) for name in module.__all__}
        for name, value in names.items():
            if callable(value):
                for test in finder.find(value, f"{package}.{name}", module=False, globs=names):
                    if test.examples:
                        found[test.name] = test
    return list(found.values())


EXAMPLES = examples()


def needs_spark(test: doctest.DocTest) -> bool:
    return any("spark_session" in example.source for example in test.examples)


def run(test: doctest.DocTest) -> None:
    said: list[str] = []
    doctest.DocTestRunner(optionflags=FLAGS).run(test, out=said.append)
    assert not said, "".join(said)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def parametrized(tests: list[doctest.DocTest]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("test", tests, ids=lambda test: test.name)


@parametrized([test for test in EXAMPLES if not needs_spark(test)])
def test_an_example_does_what_it_shows(test: doctest.DocTest) -> None:
    run(test)


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
@parametrized([test for test in EXAMPLES if needs_spark(test)])
def test_an_example_with_spark_does_what_it_shows(test: doctest.DocTest) -> None:
    run(test)


def test_many_public_names_have_an_example() -> None:
    assert len(EXAMPLES) >= NAMES_MIN


def test_a_wrong_example_is_noticed() -> None:
    text = ">>> 1 + 1\n3\n"
    with pytest.raises(AssertionError, match="Expected"):
        run(doctest.DocTestParser().get_doctest(text, {}, "wrong", None, 0))
