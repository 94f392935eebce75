"""Tidiness that no linter checks: sizes of files and functions, docstrings, comments, references.

Each rule is also tried on a planted violation, so that a check that finds nothing has looked.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.conftest import FIRST, HERE

ROOT = Path(__file__).parent.parent
FILE_LINES_MAX = 400
EXAMPLE_LINES_MAX = 80
FUNCTION_LINES_MAX = 50
"""Without its docstring, which may have an example."""
PUBLIC_METHODS_MAX = 12
"""Not for models, whose methods are their actions and properties."""
MESSAGE_SENTENCES_MAX = 4
SENTENCE = re.compile(r"[.?!](?=\s+[A-Z`(]|\s*$)")
PACKAGE = sorted((ROOT / "streamproof").rglob("*.py"))
EXAMPLES = sorted((ROOT / "examples").rglob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("*.py"))
BENCHMARKS = sorted((ROOT / "benchmarks").rglob("*.py"))
TOOLS = sorted((ROOT / "tools").rglob("*.py"))
CERTIFIED = {"lang", "protocols", "models", "proofs", "checker", "translation"}
SAYING = [
    *(path for path in PACKAGE if path.relative_to(ROOT / "streamproof").parts[0] not in CERTIFIED),
    *(*EXAMPLES, *BENCHMARKS, *TOOLS),
]
"""Files whose docstrings begin as `docs/writing.md` says. Others are part of certificates."""
EVERYTHING = [*PACKAGE, *EXAMPLES, *TESTS, *BENCHMARKS, *TOOLS]
UNFINISHED = re.compile(r"\b(TODO|FIXME|XXX)\b(?!\(#\d+\))")
Function = ast.FunctionDef | ast.AsyncFunctionDef


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def functions_in(tree: ast.AST) -> Iterator[Function]:
    return (node for node in ast.walk(tree) if isinstance(node, Function))


def lines_of(node: ast.stmt) -> int:
    return (node.end_lineno or node.lineno) - node.lineno + 1


def long_functions(text: str) -> list[str]:
    found = []
    for function in functions_in(ast.parse(text)):
        lines = lines_of(function) - (
            lines_of(function.body[0]) if ast.get_docstring(function) else 0
        )
        if lines > FUNCTION_LINES_MAX:
            found.append(f"{function.name} has {lines} lines")
    return found


def unfinished(text: str) -> list[str]:
    lines = enumerate(text.splitlines(), start=1)
    return [f"line {number}: {line.strip()}" for number, line in lines if UNFINISHED.search(line)]


def public(body: list[ast.stmt]) -> Iterator[Function | ast.ClassDef]:
    for node in body:
        if isinstance(node, Function | ast.ClassDef) and not node.name.startswith("_"):
            yield node


def undocumented(text: str) -> list[str]:
    """List public modules, classes, functions and methods without a docstring."""
    tree = ast.parse(text)
    found = [] if ast.get_docstring(tree) else ["the module"]

    def look(body: list[ast.stmt], prefix: str) -> None:
        for node in public(body):
            decorators = {
                getattr(part, "attr", getattr(part, "id", "")) for part in node.decorator_list
            }
            if not ast.get_docstring(node) and not decorators & {"overload", "setter", "override"}:
                found.append(prefix + node.name)
            if isinstance(node, ast.ClassDef):
                look(node.body, f"{prefix}{node.name}.")

    look(tree.body, "")
    return found


def crowded_classes(text: str) -> list[str]:
    classes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ClassDef)]
    counts = {
        node.name: sum(isinstance(part, Function) for part in public(node.body)) for node in classes
    }
    return [f"{name} has {count}" for name, count in counts.items() if count > PUBLIC_METHODS_MAX]


def incomplete_parameters(text: str) -> list[str]:
    """List functions whose Parameters section makes up a name, or passes over one in silence.

    A parameter that the docstring's prose names need not be repeated in the section.
    """
    found = []
    for function in functions_in(ast.parse(text)):
        docstring = ast.get_docstring(function) or ""
        documented = documented_names(docstring)
        taken = {argument.arg for argument in all_arguments(function)}
        found += [f"{function.name} has no {name}" for name in sorted(documented - taken)]
        if documented:
            untold = taken - documented - {"self", "cls"}
            missing = [name for name in untold if not re.search(rf"\b{name}", docstring)]
            found += [f"{function.name} does not tell {name}" for name in sorted(missing)]
    return found


def all_arguments(function: Function) -> list[ast.arg]:
    taken = function.args
    extra = [part for part in (taken.vararg, taken.kwarg) if part is not None]
    return [*taken.posonlyargs, *taken.args, *taken.kwonlyargs, *extra]


def documented_names(docstring: str) -> set[str]:
    section = re.search(r"Parameters\n-{10}\n(.*?)(?:\n\n[A-Z]\w+\n-{3,}|\Z)", docstring, re.DOTALL)
    if section is None:
        return set()
    heads = re.findall(r"^([\w*][\w*, ]*) :", section.group(1), re.MULTILINE)
    return {name.strip(" *") for head in heads for name in head.split(",")}


def long_messages(text: str) -> list[str]:
    """List errors that are raised with more sentences than a reader takes in at once."""
    raised = (node.exc for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Raise))
    messages = (call.args[0] for call in raised if isinstance(call, ast.Call) and call.args)
    counts = ((len(SENTENCE.findall(shown(node).rstrip(".") + ".")), node) for node in messages)
    return [f"{n} sentences in line {m.lineno}" for n, m in counts if n > MESSAGE_SENTENCES_MAX]


def shown(message: ast.expr) -> str:
    """Return the text of a message, with a letter for each value."""
    match message:
        case ast.Constant(str(text)):
            return text
        case ast.JoinedStr(parts):
            return "".join(map(shown, parts))
        case ast.BinOp(left, ast.Add(), right):
            return shown(left) + shown(right)
        case _:
            return "X"


def other_words_for_bounds(text: str) -> list[str]:
    """List names that end in another word than `_max` or `_min`."""
    return sorted(set(re.findall(r"\b\w+(?<!\bat)_(?:most|least)\b", text)))


def retired_beginnings(text: str) -> list[str]:
    """List functions whose docstring begins with a verb that says nothing of what is returned."""
    docstrings = [
        (node.name, ast.get_docstring(node) or "") for node in functions_in(ast.parse(text))
    ]
    return [name for name, said in docstrings if re.match(r"(Give|Tell|Say)\b", said)]


@pytest.mark.parametrize("path", EVERYTHING, ids=name_of)
def test_a_file_is_short_enough_to_be_read(path):
    lines = len(path.read_text(encoding="utf-8").splitlines())
    assert lines <= (EXAMPLE_LINES_MAX if path.parent == ROOT / "examples" else FILE_LINES_MAX)


def test_an_example_of_several_files_has_a_readme_that_names_them_all():
    folders = {path.parent for path in EXAMPLES} - {ROOT / "examples"}
    assert folders
    for folder in folders:
        readme = (folder / "README.md").read_text(encoding="utf-8")
        linked = set(re.findall(r"\]\((\w+\.py)\)", readme))
        assert linked == {path.name for path in folder.glob("*.py")} - {"__main__.py"}
        assert re.search(rf"python( -m pytest)? examples/{folder.name}", readme)


def test_the_arbiter_can_be_read_in_one_sitting():
    engine = ROOT / "streamproof/checker/reference.py"
    assert len(engine.read_text(encoding="utf-8").splitlines()) <= 155


@pytest.mark.parametrize("path", EVERYTHING, ids=name_of)
def test_a_function_fits_on_a_screen(path):
    assert long_functions(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("path", EVERYTHING, ids=name_of)
def test_what_is_unfinished_has_an_issue(path):
    if path.name != "test_tidy.py":
        assert unfinished(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("path", [*PACKAGE, *TOOLS], ids=name_of)
def test_everything_public_is_documented(path):
    assert undocumented(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("path", SAYING, ids=name_of)
def test_a_docstring_begins_with_what_the_caller_gets(path):
    assert retired_beginnings(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("path", [*PACKAGE, *TOOLS], ids=name_of)
def test_a_parameters_section_names_parameters(path):
    assert incomplete_parameters(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("path", PACKAGE, ids=name_of)
def test_a_message_has_four_sentences_at_most(path):
    assert long_messages(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("path", [*PACKAGE, *EXAMPLES, *BENCHMARKS, *TOOLS], ids=name_of)
def test_a_bound_is_called_max_or_min(path):
    assert other_words_for_bounds(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("path", [p for p in PACKAGE if "models" not in p.parts], ids=name_of)
def test_a_class_has_few_public_methods(path):
    assert crowded_classes(path.read_text(encoding="utf-8")) == []


def test_the_files_that_are_begun_first_exist():
    assert [name for name in FIRST if not (HERE / name).is_file()] == []


def test_a_test_file_says_what_it_is_about():
    tests = [path for path in TESTS if path.name.startswith("test_")]
    assert tests
    silent = [name_of(path) for path in tests if not ast.get_docstring(parsed(path))]
    assert silent == []


def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("check", "text", "found"),
    [
        (
            long_functions,
            "def f():\n" + "    '''Say.\n    '''\n" + "    x = 1\n" * 50,
            ["f has 51 lines"],
        ),
        (
            unfinished,
            "x = 1  # TO" + "DO later\n# TO" + "DO(#12) fine\n",
            ["line 1: x = 1  # TO" + "DO later"],
        ),
        (
            undocumented,
            "class A:\n    def b(self): ...\n    def _c(self): ...\n",
            ["the module", "A", "A.b"],
        ),
        (
            incomplete_parameters,
            'def f(a, bb):\n    """F.\n\n    Parameters\n    ----------\n    a, c : x\n    """\n',
            ["f has no c", "f does not tell bb"],
        ),
        (
            crowded_classes,
            "class A:\n" + "".join(f"    def m{i}(self): ...\n" for i in range(13)),
            ["A has 13"],
        ),
        (other_words_for_bounds, "tuples_most = rows_max\n", ["tuples_most"]),
        (retired_beginnings, "def f():\n    '''Give, of all, one.'''\n", ["f"]),
        (
            long_messages,
            'raise E(f"{x} is 5.0. It is wrong. " + "Why? Stop! Type {y}")\n',
            ["5 sentences in line 1"],
        ),
    ],
    ids=[
        "long",
        "unfinished",
        "undocumented",
        "parameters",
        "crowded",
        "bounds",
        "beginnings",
        "messages",
    ],
)
def test_each_check_finds_a_planted_violation(check, text, found):
    assert check(text) == found


def time_of_their_own(text: str) -> list[str]:
    """List where a test says of Hypothesis what the one profile says for all."""
    said = re.compile(
        r"\b(deadline|derandomize|database)\s*=|\b(register|load)_profile\(|HealthCheck\.all"
    )
    return [line.strip() for line in text.splitlines() if said.search(line)]


@pytest.mark.parametrize("path", TESTS, ids=name_of)
def test_there_is_one_profile_of_hypothesis(path):
    allowed = {"tests/conftest.py", "tests/test_tidy.py"}
    uses = "hypothesis" in (text := path.read_text(encoding="utf-8"))
    assert not uses or name_of(path) in allowed or time_of_their_own(text) == []


def test_the_one_profile_has_no_deadline_and_tries_the_same_examples():
    default = settings.default
    assert default is not None
    assert (default.deadline, default.derandomize) == (None, True)
    assert HealthCheck.too_slow in default.suppress_health_check


@pytest.mark.parametrize(
    "planted",
    ["@settings(max_examples=5, deadline=200)", "settings.load_profile('mine')"],
)
def test_a_profile_of_its_own_is_noticed(planted):
    assert time_of_their_own(planted) == [planted]
