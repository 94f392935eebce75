"""The plugin of pytest: a model in a test tree is collected as tests, one a property and size.

pytest loads this module in every run. So it imports nothing else before there is a model.

PYTEST_DONT_REWRITE: code is certified as it stands in its file.
"""

from __future__ import annotations

from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pytest

FILES = "streamproof_files"
"""The setting that says which files have models to be tested."""
MARK = "streamproof"
PACKAGE = "streamproof"
_MARK_HELP = (
    "streamproof(sizes=, walks=, engine=, states_max=, proof=): the model of this class or file is "
    "tested: one test a property and size. With walks=N it is sampled, and SAMPLED passes"
)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declare the setting."""
    parser.addini(
        FILES,
        "patterns of the names of files whose models are tested",
        type="args",
        default=["streamproof_model*.py"],
    )


def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Leave the `assert` statements of streamproof as they are.

    pytest rewrites those of every package with a plugin. Rewritten, a claim of a protocol would
    have another text, and look at symbolic values.
    """
    hook = early_config.pluginmanager.rewrite_hook
    getattr(hook, "_must_rewrite", set()).discard(PACKAGE)
    known = getattr(hook, "_marked_for_rewrite_cache", {})
    for name in [name for name in known if name.partition(".")[0] == PACKAGE]:
        del known[name]


def pytest_configure(config: pytest.Config) -> None:
    """Declare the mark."""
    config.addinivalue_line("markers", _MARK_HELP)


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect a file of models."""
    if file_path.suffix != ".py":
        return None
    if not any(fnmatch(file_path.name, pattern) for pattern in parent.config.getini(FILES)):
        return None
    from streamproof.testing.items import FileOfModels

    return FileOfModels.from_parent(parent, path=file_path)


def pytest_pycollect_makeitem(collector: Any, name: str, obj: object) -> Any:
    """Collect a class of a test file that is a model and bears the mark itself."""
    if not isinstance(obj, type) or "__streamproof_model__" not in dir(obj):
        return None
    marks = [mark for mark in vars(obj).get("pytestmark", ()) if mark.name == MARK]
    if not marks or obj.__module__ != collector.module.__name__:
        return None
    from streamproof.testing.items import ModelClass

    return ModelClass.from_parent(collector, name=name, model_class=obj, mark=marks[-1])
