"""A mutant's machine is a module that no import has made: it is compared by what it holds."""

from __future__ import annotations

import pytest

from streamproof.certified.loaded import replaced
from streamproof.certified.sources import sources_of
from streamproof.models.egress import EgressPair
from streamproof.models.mutants import egress as mutants
from streamproof.protocols import egress as protocol


@pytest.fixture(scope="module")
def sources():
    return sources_of(mutants.__name__)


def test_machines_are_as_their_files_say(sources):
    assert replaced(sources) == []


def test_another_function_in_a_machine_is_noticed(sources, monkeypatch):
    monkeypatch.setattr(mutants.NoTakeover.machine, "take_over", protocol.take_over)
    assert "take_over" in replaced(sources)[0]


def test_a_function_that_is_added_to_a_machine_is_noticed(sources, monkeypatch):
    monkeypatch.setattr(mutants.NoTakeover.machine, "more", protocol.send, raising=False)
    assert "more" in replaced(sources)[0]


def test_a_machine_in_the_place_of_the_protocol_is_noticed(sources, monkeypatch):
    monkeypatch.setattr(EgressPair, "machine", mutants.NoTakeover.machine)
    assert "EgressPair.machine" in replaced(sources)[0]


def test_the_protocol_in_the_place_of_a_machine_is_noticed(sources, monkeypatch):
    monkeypatch.setattr(mutants.NoTakeover, "machine", protocol)
    assert "NoTakeover.machine" in replaced(sources)[0]
