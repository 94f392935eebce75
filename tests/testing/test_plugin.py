"""The plugin of pytest: models become tests, and a verdict that is not green a failure."""

from __future__ import annotations

import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from streamproof.checker import check
from streamproof.models.kit import registry
from streamproof.models.kit.sizes import at_size, named_size
from streamproof.testing.items import names_asked

pytest_plugins = ["pytester"]

HEAD = """
import pytest
from streamproof import Invariant, Mutant
from streamproof.lang import Model, action, always, eventually, init, require, sometimes


class Counter(Model[int]):
    limit = 3
    sizes = {"default": {}}

    @init
    def zero(self) -> int:
        return 0

    @action
    def add(self, n: int) -> int:
        require(n < 3)
        return n + 1

    @action
    def reset(self, n: int) -> int:
        require(n == 3)
        return 0

    @always
    def is_small(self, n: int) -> bool:
        return n <= 3

    @sometimes
    def is_full(self, n: int) -> bool:
        return n == 3


class Doubling(Counter):
    @action
    def add(self, n: int) -> int:
        require(n < 3)
        return 2 * n + 2


class Far(Counter):
    @always
    def is_small(self, n: int) -> bool:
        return n < 3


def small(model: Counter, n: int) -> bool:
    return 0 <= n <= 3
"""
QUIETLY = ("-p", "no:cacheprovider")


@pytest.fixture
def run(pytester: pytest.Pytester):
    """Run pytest in a directory of its own, in this process."""

    def run_it(*arguments: str) -> pytest.RunResult:
        pytester.makeini("[pytest]\naddopts = --strict-markers")
        return pytester.runpytest_inprocess(*QUIETLY, *arguments)

    return run_it


def write(pytester: pytest.Pytester, name: str, *lines: str) -> Path:
    return pytester.makepyfile(**{name: HEAD + "\n".join(lines)})


def test_a_file_of_models_has_a_test_a_property_a_mutant_and_a_proof(pytester, run) -> None:
    write(
        pytester,
        "streamproof_model_counter",
        "MODEL = Counter",
        "MODELS = (Counter, Doubling)",
        'MUTANTS = (Mutant("doubling", Doubling, {}, "is_small", 3, "it doubles"),)',
        "INVARIANT = Invariant(Counter, (small,))",
    )
    result = run("-v")
    result.assert_outcomes(passed=7, failed=0)
    result.stdout.fnmatch_lines_random(
        [
            "*streamproof_model_counter.py::Counter::is_small[[]default[]] PASSED*",
            "*streamproof_model_counter.py::Counter::is_full[[]default[]] PASSED*",
            "*streamproof_model_counter.py::Counter::deadlock[[]default[]] PASSED*",
            "*streamproof_model_counter.py::mutant[[]doubling[]] PASSED*",
            "*streamproof_model_counter.py::proof PASSED*",
        ]
    )


def test_a_failure_is_told_by_the_shortest_run_and_not_by_a_traceback(pytester, run) -> None:
    write(pytester, "streamproof_model_far", "MODEL = Far")
    result = run("-k", "is_small")
    result.assert_outcomes(failed=1, deselected=4)
    result.stdout.fnmatch_lines(
        ["is_small of Far is REFUTED, not EXHAUSTED: *", "  3. add()", "      2 -> 3"]
    )
    result.stdout.no_fnmatch_line("*Traceback*")
    result.stdout.no_fnmatch_line("*runtest*")


def test_what_the_search_did_not_come_to_fails_too(pytester, run) -> None:
    """The search ends at the first counterexample, so of the others nothing is known."""
    write(pytester, "streamproof_model_far", "MODEL = Far")
    result = run()
    result.assert_outcomes(failed=5)
    result.stdout.fnmatch_lines(["deadlock of Far is UNDETERMINED*counterexample to is_small"])


def test_a_class_with_the_mark_is_tested_and_one_without_is_not(pytester, run) -> None:
    write(
        pytester,
        "test_models",
        "@pytest.mark.streamproof",
        "class Marked(Counter): ...",
        "def test_other(): ...",
    )
    result = run("-v")
    result.assert_outcomes(passed=6)
    result.stdout.no_fnmatch_line("*::Counter::*")
    result.stdout.no_fnmatch_line("*::Far::*")


def test_a_marked_class_that_another_file_imports_is_tested_once(pytester, run) -> None:
    write(pytester, "test_models", "@pytest.mark.streamproof", "class Marked(Counter): ...")
    pytester.makepyfile(test_other="from test_models import Marked\ndef test_it(): assert Marked")
    run().assert_outcomes(passed=6)


def test_a_subclass_does_not_inherit_the_mark(pytester, run) -> None:
    write(
        pytester,
        "test_models",
        "@pytest.mark.streamproof",
        "class Marked(Counter): ...",
        "class Broken(Marked):",
        "    @always",
        "    def is_small(self, n: int) -> bool:",
        "        return False",
    )
    run().assert_outcomes(passed=5)


@pytest.mark.parametrize(
    ("mark", "names"),
    [
        ('sizes=("one", "two")', {"[one]", "[two]"}),
        ('sizes="two"', {"[two]"}),
        ('sizes="all"', {"[one]", "[two]"}),
        ("", {"[one]"}),
    ],
)
def test_sizes_are_named_by_the_mark(pytester, run, mark: str, names: set[str]) -> None:
    write(
        pytester,
        "test_models",
        f"@pytest.mark.streamproof({mark})",
        "class Marked(Counter):",
        '    sizes = {"one": {}, "two": {}}',
    )
    result = run("-v", "-k", "is_small")
    result.assert_outcomes(passed=len(names), deselected=4 * len(names))
    for name in names:
        assert f"is_small{name} PASSED" in result.stdout.str()


def test_sampled_passes_where_it_is_asked_for_and_promises_are_skipped(pytester, run) -> None:
    write(
        pytester,
        "test_models",
        "@pytest.mark.streamproof(walks=50, length_max=20)",
        "class Marked(Counter):",
        "    @eventually",
        "    def gets_full(self, n: int) -> bool:",
        "        return n == 3",
        "@pytest.mark.streamproof(walks=50)",
        "class MarkedFar(Far): ...",
    )
    result = run("-rs")
    result.assert_outcomes(passed=5, skipped=1, failed=5)
    result.stdout.fnmatch_lines(["*is_small of MarkedFar is REFUTED, not SAMPLED*"])
    result.stdout.fnmatch_lines(["*no finite walk refutes a promise*"])


def test_a_search_that_is_cut_short_fails(pytester, run) -> None:
    write(
        pytester, "test_models", "@pytest.mark.streamproof(states_max=2)", "class M(Counter): ..."
    )
    result = run()
    result.assert_outcomes(failed=5)
    result.stdout.fnmatch_lines(["*is UNDETERMINED, not EXHAUSTED: there are more than 2 states*"])


@pytest.mark.parametrize(
    ("mark", "reason"),
    [
        ("size='large'", "the mark of M has size, so it is not known how to test it"),
        ("sizes='large'", "M has no size 'large'"),
        ("sizes=('default', 'default')", "names a size twice"),
    ],
)
def test_a_mark_that_asks_for_what_there_is_not_is_an_error(
    pytester, run, mark: str, reason: str
) -> None:
    write(pytester, "test_models", f"@pytest.mark.streamproof({mark})", "class M(Counter): ...")
    result = run()
    assert result.ret != 0
    assert reason in result.stdout.str()


def test_a_mutant_that_survives_fails(pytester, run) -> None:
    write(
        pytester,
        "streamproof_model_counter",
        "class Same(Counter): ...",
        "MODEL = Counter",
        'MUTANTS = (Mutant("same", Same, {}, "is_small", 3, "it is the same"),)',
    )
    result = run("-k", "mutant")
    result.assert_outcomes(failed=1, deselected=5)
    result.stdout.fnmatch_lines(["mutant same (it is the same) was to be killed by *survived*"])


def test_a_proof_that_fails_fails(pytester, run) -> None:
    write(
        pytester,
        "streamproof_model_counter",
        "def smaller(model: Counter, n: int) -> bool: return n <= 2",
        "MODEL = Counter",
        "INVARIANT = Invariant(Counter, (smaller,))",
    )
    result = run()
    result.assert_outcomes(failed=1, passed=5)
    result.stdout.fnmatch_lines(["*Counter is *, not PROVED*"])


def test_the_file_may_bear_the_mark_and_leave_the_proof_out(pytester, run) -> None:
    write(
        pytester,
        "streamproof_model_counter",
        "pytestmark = pytest.mark.streamproof(walks=10, proof=False)",
        "MODEL = Counter",
        "INVARIANT = Invariant(Counter, (small,))",
    )
    run().assert_outcomes(passed=5)


def test_a_file_that_cannot_be_run_is_an_error_of_collection(pytester, run) -> None:
    pytester.makepyfile(streamproof_model_bad="raise RuntimeError('no')")
    result = run()
    result.assert_outcomes(errors=1)
    assert "RuntimeError: no" in result.stdout.str()


def test_which_files_are_meant_can_be_set(pytester) -> None:
    write(pytester, "counter", "MODEL = Counter")
    pytester.makeini("[pytest]\nstreamproof_files = counter.py")
    pytester.runpytest_inprocess(*QUIETLY).assert_outcomes(passed=5)


def test_junit_and_xdist_work_as_usual(pytester) -> None:
    write(pytester, "streamproof_model_far", "MODEL = Far")
    result = pytester.runpytest_subprocess(*QUIETLY, "-n", "2", "--junitxml=out.xml")
    result.assert_outcomes(failed=5)
    cases = ET.parse(pytester.path / "out.xml").findall(".//testcase")
    told = {case.get("name"): case.find("failure").get("message") for case in cases}
    assert "is_small of Far is REFUTED" in told["is_small[default]"]


def test_the_plugin_imports_nothing_of_streamproof_before_there_is_a_model() -> None:
    program = (
        "import sys, streamproof.testing.plugin; "
        "print([m for m in sys.modules if m.startswith(('streamproof.', 'hypothesis', 'z3'))])"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert ran.stdout.strip() == "['streamproof.testing', 'streamproof.testing.plugin']"


def test_the_asserts_of_streamproof_are_not_rewritten(pytester) -> None:
    """Rewritten, the claims of a protocol would have other texts."""
    pytester.makepyfile(
        test_it="""
        import streamproof, streamproof.testing, streamproof.testing.plugin
        from streamproof.protocols import dpc
        def test_names():
            for module in (streamproof, streamproof.testing, streamproof.testing.plugin, dpc):
                assert not [name for name in vars(module) if name.startswith("@")]
        """
    )
    pytester.runpytest_subprocess(*QUIETLY).assert_outcomes(passed=1)


@pytest.mark.parametrize("name", registry.names())
def test_the_tests_of_a_model_are_the_findings_of_its_check(name: str) -> None:
    from streamproof.checker.limits import Limits

    model_class = registry.load(name).main
    model = at_size(model_class, named_size(model_class, "")[1])
    report = check(model, limits=Limits(states_max=20), validated=False)
    assert list(names_asked(model_class)) == [finding.name for finding in report.findings]
