"""The documentation's site builds without a warning, and has what it promises.

It is built once, by MkDocs in a process of its own, into a directory of the test. What the pages
show is compared with the code that they are about, asked in another way than the generator does.
"""

from __future__ import annotations

import html
import importlib
import json
import re
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from streamproof.checker.counterexample import broken_in_run
from streamproof.diagrams.lenses import LENSES
from streamproof.diagrams.spacetime import Drawing, Kind, svg
from streamproof.lang import StreamproofError
from streamproof.models.kit.registry import load
from streamproof.proofs.find import find_invariant
from tools.docs import api_reference, links, runs
from tools.docs.blocks import diagrams, filled
from tools.docs.runs import RUNS

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PROTOCOLS = sorted(
    path.stem for path in (ROOT / "streamproof/protocols").glob("*.py") if path.stem != "__init__"
)
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """The site, built with every warning an error."""
    place = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", place]
    ran = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return place


def read(site: Path, page: str) -> str:
    return (site / page).read_text(encoding="utf-8")


def text_of(site: Path, page: str) -> str:
    """The words of a page, without tags."""
    return html.unescape(re.sub(r"<[^>]*>", "", read(site, page)))


def arrows_of(picture: str) -> list[ET.Element]:
    paths = ET.fromstring(picture).iter(f"{SVG}path")
    return [path for path in paths if "marker-end" in path.attrib]


def test_every_page_of_the_repository_is_built_and_in_the_navigation(site):
    home = read(site, "index.html")
    for page in sorted(DOCS.rglob("*.md")):
        built = page.relative_to(DOCS).with_suffix(".html")
        assert (site / built).is_file()
        assert f'href="{built}"' in home, f"{built} is not in the navigation"


def test_nothing_is_fetched_from_elsewhere(site):
    fetched = re.compile(r"""<(?:script|link|img|iframe)[^>]+(?:src|href)=["']?(?:https?:)?//""")
    pages = sorted(site.rglob("*.html"))
    assert pages
    assert [page for page in pages if fetched.search(page.read_text(encoding="utf-8"))] == []


def test_no_mark_is_left_unfilled(site):
    assert [page for page in site.rglob("*.html") if "<!-- generated:" in page.read_text()] == []


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("name", ["run", "mistake"])
def test_a_protocol_has_a_page_with_diagrams_that_have_arrows(site, protocol, name):
    picture = f"{protocol}-{name}.svg"
    assert f'src="{picture}"' in read(site, f"explanation/protocols/{protocol}.html")
    assert arrows_of(read(site, f"explanation/protocols/{picture}"))


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_protocol_s_page_has_its_mutants_sizes_and_conjuncts(site, protocol):
    page = text_of(site, f"explanation/protocols/{protocol}.html")
    golden = json.loads((ROOT / f"tests/golden/{protocol}.json").read_text(encoding="utf-8"))
    counts = [f"{size['distinct']:,}" for size in golden["sizes"].values()]
    mutants = [word for mutant in load(protocol).mutants for word in (mutant.name, mutant.story)]
    invariant = find_invariant(protocol)
    conjuncts = [conjunct.__name__ for conjunct in invariant.conjuncts]
    assert f"proves {len(conjuncts)} conjuncts" in page
    assert mutants
    assert [word for word in (*counts, *mutants, *conjuncts) if word not in page] == []


def test_every_public_error_has_an_entry(site):
    page = read(site, "reference/errors.html")
    for module in ("app", "errors"):
        importlib.import_module(f"streamproof.cli.{module}")
    known = {*subclasses(StreamproofError), *public_errors("streamproof.spark_bindings.errors")}
    names = {error.__name__ for error in known if not error.__name__.startswith("_")}
    assert len(names) > 40
    assert {name for name in names if f'id="{name.lower()}"' not in page} == set()


def subclasses(error: type[Exception]) -> set[type[Exception]]:
    below = {sub for sub in error.__subclasses__() if sub.__module__.startswith("streamproof.")}
    return {error, *below}.union(*map(subclasses, below))


def public_errors(module: str) -> set[type[Exception]]:
    found = importlib.import_module(module)
    return {getattr(found, name) for name in found.__all__}


def test_an_entry_has_the_words_of_its_messages(site):
    page = text_of(site, "reference/errors.html")
    assert "Python runs with -O, which removes every assert" in page
    assert "… is not a key of this map, whose keys are …" in page


@pytest.mark.parametrize("package", api_reference.packages())
def test_every_public_name_of_a_package_is_on_its_page(site, package):
    page = read(site, api_reference.page_of(package).replace(".md", ".html"))
    names = getattr(importlib.import_module(package), "__all__", ())
    assert [name for name in names if f'id="{package}.{name}"' not in page] == []


def test_parameters_are_described_and_typed(site):
    page = text_of(site, "reference/api/lang.html")
    assert re.search(r"size\s+int\s+number of elements, at least 0", page)


def test_every_command_is_in_the_reference(site):
    page = text_of(site, "reference/cli.html")
    for command in ("check", "prove", "run", "snapshot restore", "vacuum"):
        assert f"$ streamproof {command}" in page


def test_every_decision_is_listed(site):
    page = read(site, "decisions/index.html")
    decisions = sorted((DOCS / "decisions").glob("0*.md"))
    assert decisions
    assert [path for path in decisions if f'href="{path.stem}.html"' not in page] == []


# --------------------------------------------------------------------------- without the site


def test_every_protocol_has_a_run_and_a_lens():
    assert sorted(RUNS) == PROTOCOLS
    assert set(PROTOCOLS) <= set(LENSES)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_shown_run_breaks_nothing_and_a_mutant_s_run_does(protocol):
    model, run, _ = runs.shown_run(protocol)
    assert [broken.name for broken in broken_in_run(model, run) if broken.name != "deadlock"] == []
    mutated, wrong, _, _ = runs.mutant_run(protocol)
    killer = runs.mutant_named(protocol, RUNS[protocol].mutant).property_name
    assert killer in {broken.name for broken in broken_in_run(mutated, wrong)}


def test_a_diagram_shows_what_happened_and_not_what_should_have():
    right, wrong = (diagrams("dpc")[name][0] for name in ("run", "mistake"))
    assert ">UNDO<" in right
    assert ">UNDO<" not in wrong  # dpc/no-undo


def test_a_run_that_the_model_does_not_allow_is_refused(monkeypatch):
    told = RUNS["egress"]
    actions = ("receive copy0", *told.actions)
    monkeypatch.setitem(RUNS, "egress", runs.Told(told.size, actions, "", told.mutant, ""))
    with pytest.raises(LookupError, match="no step 'receive copy0' here, but give copy0"):
        runs.shown_run("egress")


def test_a_diagram_tells_messages_that_arrive_from_those_that_do_not():
    drawing = Drawing(("a", "b"))
    drawing.begin_step("send <both>")
    drawing.send(1, "a", "b", "x & y")
    drawing.send(2, "a", "b", "lost", Kind.CONTROL)
    drawing.begin_step("receive")
    drawing.receive(1, "b")
    drawing.finish("")
    classes = sorted(arrow.attrib["class"] for arrow in arrows_of(svg(drawing, "a < b")))
    assert classes == ["arrow lost", "arrow message"]


def test_an_unknown_block_is_refused():
    with pytest.raises(KeyError, match="nonsense"):
        filled("<!-- generated: nonsense -->", "dpc")


def test_links_lead_to_pages_of_the_site():
    page = (
        "[a](docs/glossary.md#cut), [b](ARCHITECTURE.md), [c](examples/lease.py)\n```\n[d](e)\n```"
    )
    assert links.on_site(page, "README.md") == (
        "[a](glossary.md#cut), [b](explanation/architecture.md), [c](source/examples/lease.py.md)"
        "\n```\n[d](e)\n```"
    )
    assert links.on_site("[a](../../CHANGELOG.md)", "docs/reference/limits.md") == (
        "[a](../changelog.md)"
    )


def test_a_list_behind_text_gets_an_empty_line():
    assert links.with_lists("Text\n* a\n* b\n```\nx\n* c\n```") == (
        "Text\n\n* a\n* b\n```\nx\n* c\n```"
    )


def test_descriptions_behind_a_colon_are_no_types():
    from tools.docs.house_docstrings import as_numpydoc

    said = "F.\n\nParameters\n----------\na, b : how many\n    at most\n\nNote : none"
    assert as_numpydoc(said) == (
        "F.\n\nParameters\n----------\na\n    how many\n    at most\nb\n    how many\n    at most"
        "\n\nNote : none"
    )
