"""The page of `verify` in a real Chromium, on a phone and on a desk.

Skipped, with the reason, where there is no Chromium: `make browser` installs one.
"""

from __future__ import annotations

import matplotlib as mpl
import pytest

from tests.cli.support.pages import FOUND, written
from tests.support.browser import browser, chromium
from tests.support.reports import small_report

PHONE, DESK = (390, 844), (1280, 900)
OVERFLOW = "document.documentElement.scrollWidth - window.innerWidth"
OPEN_ALL = "document.querySelectorAll('details').forEach(part => { part.open = true })"
EMPTY = """
[...document.querySelectorAll('section, details[open] > .body, .scroll, .sheet > svg, img')]
  .filter(part => part.getBoundingClientRect().height < 8
    || !(part.naturalWidth || part.textContent.trim() || part.querySelector('img')))
  .map(part => part.outerHTML.slice(0, 200))
"""
WIDE = """
[...document.querySelectorAll('body *')]
  .filter(part => !part.closest('.scroll') && part.getBoundingClientRect().right > innerWidth + 1)
  .map(part => part.outerHTML.slice(0, 200))
"""
DEAD = """
[...document.querySelectorAll('a[href^="#"]')]
  .filter(link => !document.getElementById(decodeURIComponent(link.hash.slice(1))))
  .map(link => link.outerHTML)
"""


@pytest.fixture(scope="module")
def chrome(tmp_path_factory):
    path = chromium()
    if path is None:
        pytest.skip("there is no Chromium on this machine: run make browser")
    with browser(path, tmp_path_factory.mktemp("profile")) as opened:
        yield opened


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    place = tmp_path_factory.mktemp("page")
    mpl.use("svg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(10, 4))
    axes.plot([1, 2, 5])
    figure.savefig(place / "plot.svg")
    plt.close(figure)
    figures = {"airports": (place / "plot.svg").read_text(encoding="utf-8")}
    reports = small_report(), small_report("egress")
    return written(place / "verify.html", *reports, found=FOUND, figures=figures).path


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("size", [PHONE, DESK, (320, 640)], ids=lambda size: f"{size[0]}")
def test_nothing_overflows_is_empty_or_complains(chrome, page, size, dark):
    chrome.open(page, *size, dark=dark)
    for _ in ("folded", "open"):
        assert chrome.run(OVERFLOW) <= 0
        assert chrome.run(WIDE) == []
        assert chrome.run(EMPTY) == []
        chrome.run(OPEN_ALL)
    assert chrome.run("document.querySelectorAll('details:not([open])').length") == 0
    assert chrome.run("document.querySelectorAll('svg.run:not(.heads)').length") == 2
    assert chrome.run(DEAD) == []
    assert chrome.complaints() == []
    assert {address.partition(":")[0] for address in chrome.requested()} == {"file", "data"}


def test_the_checks_see_an_overflow_an_empty_panel_and_a_complaint(chrome, tmp_path):
    wrong = tmp_path / "wrong.html"
    wrong.write_text(
        '<meta name="viewport" content="width=device-width"><body><section></section>'
        '<div style="width:2000px">wide</div><a href="#nowhere">x</a><img src="none.png">'
        "<script>console.error('no')</script>",
        encoding="utf-8",
    )
    chrome.open(wrong, *DESK)
    assert chrome.run(OVERFLOW) > 0
    assert len(chrome.run(WIDE)) == 1
    assert len(chrome.run(EMPTY)) == 2
    assert len(chrome.run(DEAD)) == 1
    assert len(chrome.complaints()) >= 2


def test_panels_open_by_the_keyboard(chrome, page):
    chrome.open(page, *DESK)
    count = chrome.run("document.querySelectorAll('section > details').length")
    assert count > 8
    for number in range(count):
        summary = f"document.querySelectorAll('section > details > summary')[{number}]"
        chrome.run(f"{summary}.focus()")
        chrome.key("Enter", 13)
        assert chrome.run(f"{summary}.parentElement.open") is True


def test_a_wide_diagram_scrolls_in_its_own_box(chrome, page):
    chrome.open(page, *PHONE)
    chrome.run(OPEN_ALL)
    boxes = chrome.run(
        "[...document.querySelectorAll('.sheet')]"
        ".map(box => [box.scrollWidth, box.clientWidth, box.tabIndex])"
    )
    assert boxes
    assert all(inner > outer and index == 0 for inner, outer, index in boxes)


def test_print_fits_the_paper_and_is_light(chrome, page):
    chrome.open(page, *DESK, dark=True)
    chrome.run(OPEN_ALL)
    chrome.ask("Emulation.setEmulatedMedia", media="print")
    paper = chrome.run("getComputedStyle(document.body).backgroundColor")
    boxes = "[...document.querySelectorAll('.sheet svg, figure img')]"
    wide = chrome.run(f"{boxes}.filter(part => part.getBoundingClientRect().right > innerWidth)")
    assert (paper, wide) == ("rgb(255, 255, 255)", [])
    lines = "[...document.querySelectorAll('.what')].map(part => part.clientHeight)"
    assert max(chrome.run(lines)) < 40  # a word in a column too narrow for it is high
