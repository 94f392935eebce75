"""Reducing: what is left of a model still fails, and nothing of it could be left out."""

from __future__ import annotations

from tests.fuzz.cases import run, text_of
from tests.fuzz.reduce import reduced, simpler

TEXT = """\
from dataclasses import dataclass

@dataclass(frozen=True)
class Pair:
    one: int
    other: int

class Maker:
    def idle(self):
        return 3

    def make(self, flag):
        if flag and self.idle() > 1:
            extra = 5
            return Pair(1, other=7 + extra)
        return Pair(0, other=2)

MODEL = Maker()
"""


def makes(number):
    """Make the test whether a text makes a pair whose first part is a number."""

    def fails(text):
        try:
            return run(text)["MODEL"].make(True).one == number
        except Exception:  # noqa: BLE001 - what is left means nothing
            return False

    return fails


def test_methods_fields_statements_and_parts_go():
    assert reduced(TEXT, makes(1)).splitlines() == [
        "from dataclasses import dataclass",
        "",
        "@dataclass(frozen=True)",
        "class Pair:",
        "    one: int",
        "",
        "class Maker:",
        "",
        "    def make(self, flag):",
        "        return Pair(1)",
        "MODEL = Maker()",
    ]


def test_what_cannot_be_smaller_is_left_as_it_is():
    small = reduced(TEXT, makes(1))
    assert not any(makes(1)(text) for text in simpler(small))
    assert reduced(small, makes(1)) == small


def test_no_more_texts_are_tried_than_allowed():
    tried = []

    def fails(text):
        tried.append(text)
        return False

    assert "self.idle()" in reduced(TEXT, fails, most=7)
    assert len(tried) == 7


def test_a_random_model_is_reduced_to_what_is_asked():
    def fails(text):
        try:
            return len(list(run(text)["MODEL"].initial_states())) > 0
        except Exception:  # noqa: BLE001 - what is left means nothing
            return False

    text = text_of(0)
    small = reduced(text, fails, most=60)
    assert fails(small)
    assert len(small) < 0.8 * len(text)
