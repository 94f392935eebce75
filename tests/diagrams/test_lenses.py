"""Every shortest run that `verify` can find is drawn by the lens of its model's file."""

from __future__ import annotations

import functools
import xml.etree.ElementTree as ET

import pytest

from streamproof.checker import check
from streamproof.checker.counterexample import replay
from streamproof.diagrams.draw import drawing_of
from streamproof.diagrams.lenses import LENSES
from streamproof.diagrams.spacetime import svg, svg_in_page
from streamproof.lang.model import PROMISES
from streamproof.models.kit import registry
from streamproof.models.kit.sizes import at_size
from streamproof.models.kit.verdict import Refuted
from tests.support.quick import leave_out_validation

FILES = [name for name in registry.names() if registry.load(name).mutants]


def test_every_file_with_mutants_has_a_lens_and_no_other():
    assert sorted(LENSES) == sorted(FILES) != []


def drawing_of_mutant(name, mutant):
    model = at_size(mutant.model_class, mutant.size)
    promises = {method.name for role in PROMISES for method in model.methods(role)}
    with pytest.MonkeyPatch.context() as monkeypatch:
        leave_out_validation(monkeypatch)
        found = check(model, liveness=mutant.property_name in promises)
    broken = next(part.verdict for part in found.findings if isinstance(part.verdict, Refuted))
    return drawing_of(name, model, replay(model, broken.trace.key), "broken"), broken.trace


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_every_mutants_run_is_drawn_whole(name):
    for mutant in registry.load(name).mutants:
        drawing, trace = drawing_of_mutant(name, mutant)
        assert len(drawing.steps) == len(trace)
        assert drawing.marks or drawing.arrows or drawing.crosses, mutant.name
        places = [arrow.begin for arrow in drawing.arrows] + [point for point, _ in drawing.marks]
        assert {point.line for point in places} <= set(drawing.lines)


@functools.cache
def a_drawing(name="token_passing", number=0):
    return drawing_of_mutant(name, registry.load(name).mutants[number])[0]


def test_tokens_are_named_on_their_arrows():
    assert {"token0", "token1"} <= {arrow.label for arrow in a_drawing().arrows}


def test_a_chain_shows_its_clock_and_stalls():
    drawing = a_drawing("dpc_chain")
    assert drawing.lines[0] == "clock"
    assert [text for point, text in drawing.marks if point.line == "clock"][:2] == ["1", "2"]
    assert drawing.crosses


def test_nothing_is_drawn_outside_of_the_picture():
    root = ET.fromstring(svg(a_drawing("dpc_chain"), "a < b"))
    left, _, width, _ = map(float, root.attrib["viewBox"].split())
    places = [float(part.attrib["x"]) for part in root.iter("{http://www.w3.org/2000/svg}text")]
    assert left < min(places) < max(places) < left + width


def test_a_diagram_in_a_page_has_no_names_and_rules_that_meet_those_of_others():
    drawn = svg_in_page(a_drawing(), "a < b")
    assert "<style" not in drawn
    assert " id=" not in drawn
    assert "url(#head-message)" in drawn
