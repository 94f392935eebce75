"""The page of `verify`: what it says, where its links lead, and that it needs nothing else."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from streamproof import verification
from streamproof.checker import check
from streamproof.checker.mutation import MutationReport, run_mutants
from streamproof.cli import html, page
from streamproof.cli.spark_examples import EXAMPLES
from streamproof.models.kit import registry
from streamproof.models.kit.registry import ModelFile
from streamproof.models.kit.sizes import at_size
from streamproof.models.kit.verdict import ExitCode
from tests.cli.support.commands import run
from tests.cli.support.pages import FOUND, written
from tests.support.reports import small_report


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    place = tmp_path_factory.mktemp("page") / "verify.html"
    return written(place, small_report(), small_report("egress"))


def test_a_protocols_name_is_a_heading_once(whole):
    for name in ("chandy_lamport", "egress"):
        assert whole.text.count(f'<h2><a href="#{name}">{name}</a></h2>') == 1
    assert "Proven for any size. Explored to the end at all 1 size, with" in whole.text


def test_every_link_leads_somewhere_and_every_place_is_named_once(whole):
    assert len(whole.links) > 10
    assert whole.dead_links() == []
    assert len(whole.ids) == len(set(whole.ids))


def test_nothing_is_fetched(whole):
    assert [address for address in whole.fetched if not address.startswith("data:")] == []
    assert "script" not in whole.tags
    assert "@import" not in whole.text


def test_a_verdict_is_linked_to_the_protocols_explanation(whole):
    (link,) = {link for link in whole.links if link.endswith(("/egress.md", "/egress.html"))}
    assert (
        f'<a class="badge green" href="{link}" title="What egress is">EXHAUSTED</a>' in whole.text
    )


def test_without_a_checkout_a_verdict_is_linked_to_the_protocols_story(monkeypatch, tmp_path):
    monkeypatch.setattr(page, "ROOT", tmp_path)
    alone = written(tmp_path / "verify.html", small_report("egress"))
    assert alone.dead_links() == []
    assert {link for link in alone.links if not link.startswith("#")} == set()
    assert 'href="#about-egress" title="What egress is">EXHAUSTED</a>' in alone.text
    assert "One copy is <em>active</em> and sends them" in alone.text
    assert "<h4>Assumptions</h4>" in alone.text
    assert "is not part of this installation" in alone.text


def test_a_mutant_has_its_shortest_run_as_a_diagram_and_the_command_for_it(whole):
    (result,) = small_report("egress").mutation.results
    body = whole.text[
        whole.text.index(f'id="{page.anchor_of("mutant-egress-egress", result.mutant.name)}"') :
    ]
    (command,) = re.findall(r'<pre class="command">streamproof (.*?)</pre>', body)[:1]
    assert body.index("<svg") < body.index("</details>")
    assert f"{result.killer} is broken</text>" in body
    ran = run(*command.split())
    assert result.killer in ran.stdout


def test_a_run_that_goes_on_forever_says_so(tmp_path):
    file = registry.load("chandy_lamport")
    (forever,) = (one for one in file.mutants if one.property_name == "every_snapshot_completes")
    results = tuple(
        run_mutants([forever], original_of=lambda _: forever.model_class, build=at_size)
    )
    report = replace(small_report(), mutation=MutationReport("chandy_lamport", results))
    shown = written(tmp_path / "verify.html", report)
    assert "every_snapshot_completes is broken; and " in shown.text


def test_a_size_that_is_refuted_is_open_and_shows_its_run(monkeypatch, tmp_path):
    wrong = small_report("egress").mutation.results[0].mutant
    model = wrong.model_class
    file = ModelFile("egress", model, (model,), ())
    monkeypatch.setattr(verification, "model_files", lambda _: (file,))
    found = check(at_size(model, model.sizes["small"]), validated=False)
    report = replace(small_report("egress"), checks=((model.__name__, "small", found),))
    shown = written(tmp_path / "verify.html", report, code=ExitCode.REFUTED)
    assert '<h1 class="red">not everything holds</h1>' in shown.text
    assert re.search(r'<details open>\s*<summary><span class="what">Explored', shown.text)
    assert "Explored to the end at 0 of 1 sizes" in shown.text
    assert f"streamproof replay egress:{model.__name__} " in shown.text


def test_the_top_counts_the_verdicts_of_each_kind():
    reports = [small_report(), small_report("egress")]
    shown = [one.row(FOUND[one.name]) for one in EXAMPLES]
    told = [(part.count, part.noun, part.verdict) for part in html.tallies(reports, shown)]
    assert told == [
        (2, "sizes", "EXHAUSTED"),
        (2, "mutants", "KILLED"),
        (2, "invariants", "PROVED"),
        (2, "traced forms", "SAME AS CODE"),
        (2, "Spark jobs", "EQUAL"),
        (1, "Spark job", "SKIPPED"),
    ]


def test_what_is_not_installed_is_grey_and_claims_nothing(monkeypatch, tmp_path):
    monkeypatch.setitem(html.PARTS, "PySpark", "no-such-package")
    shown = written(tmp_path / "verify.html", small_report("egress"))
    assert '<span class="grey">PySpark: not part of this installation</span>' in shown.text
    assert '<span class="badge dim">SKIPPED</span>' in shown.text
    assert '<h1 class="green">everything that is claimed holds</h1>' in shown.text


def test_what_is_interrupted_is_not_known(tmp_path):
    shown = written(tmp_path / "verify.html", code=ExitCode.UNDETERMINED, found={})
    assert '<h1 class="yellow">not everything is known</h1>' in shown.text
    assert shown.dead_links() == []


def test_texts_of_a_report_are_no_tags(tmp_path):
    found = {"flights": {"equal": False, "wrong": "<b>rows</b> & more"}}
    shown = written(tmp_path / "verify.html", code=ExitCode.REFUTED, found=found)
    assert "&lt;b&gt;rows&lt;/b&gt; &amp; more" in shown.text
    assert "<b>rows" not in shown.text
