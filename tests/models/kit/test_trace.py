"""Traces: what changed between two states, as deep as their shapes agree, and how it is written."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum
from types import MappingProxyType

import pytest

from streamproof.lang import Domain, Element, Map
from streamproof.models.kit.trace import Change, Trace, TraceStep, changes, fields_of, show


class Process(Element):
    pass


class Colour(Enum):
    RED = 1
    BLUE = 2


@dataclass(frozen=True)
class Recorder:
    recorded: bool
    log: Map[Process, int]


@dataclass(frozen=True)
class State:
    colour: Colour
    recorders: Map[Process, Recorder]
    pair: tuple[int, int] = (1, 2)
    sent: frozenset[Colour] = field(default_factory=frozenset)
    table: MappingProxyType = field(default_factory=lambda: MappingProxyType({"a": 1, "b": 2}))


TWO, THREE = Domain(Process, 2), Domain(Process, 3)
START = State(Colour.RED, Map.fill(TWO, Recorder(False, Map.fill(TWO, 0))))
P1 = Process(1)


def texts(before, after) -> list[str]:
    return [str(change) for change in changes(before, after)]


def with_recorder(**changed) -> State:
    recorder = replace(START.recorders[P1], **changed)
    return replace(START, recorders=START.recorders.set(P1, recorder))


@pytest.mark.parametrize(
    ("after", "expected"),
    [
        (START, []),
        (with_recorder(recorded=True), ["recorders[process1].recorded: False -> True"]),
        (
            with_recorder(log=Map.fill(TWO, 0).set(P1, 2)),
            ["recorders[process1].log[process1]: 0 -> 2"],
        ),
        (replace(START, colour=Colour.BLUE), ["colour: RED -> BLUE"]),
        (replace(START, pair=(1, 3)), ["pair[1]: 2 -> 3"]),
        (replace(START, pair=(1, 2, 3)), ["pair: (1, 2) -> (1, 2, 3)"]),
        (replace(START, sent=frozenset(Colour)), ["sent: + {BLUE, RED}"]),
        (replace(START, table=MappingProxyType({"a": 1, "b": 3})), ["table['b']: 2 -> 3"]),
        (
            replace(START, table=MappingProxyType({"a": 1})),
            ["table: {'a': 1, 'b': 2} -> {'a': 1}"],
        ),
        (
            replace(START, colour=Colour.BLUE, pair=(0, 2)),
            ["colour: RED -> BLUE", "pair[0]: 1 -> 0"],
        ),
    ],
    ids=[
        "nothing",
        "record-in-map",
        "map-in-record-in-map",
        "enum",
        "tuple-entry",
        "tuple-length",
        "set-grows",
        "mapping-entry",
        "mapping-keys",
        "two-fields",
    ],
)
def test_only_what_changed_is_listed(after, expected):
    assert texts(START, after) == expected


def test_what_left_a_set_and_what_came_are_two_changes():
    before, after = frozenset({Colour.RED}), frozenset({Colour.BLUE})
    assert texts(before, after) == ["- {RED}", "+ {BLUE}"]
    assert texts(before, frozenset()) == ["- {RED}"]


def test_values_of_different_shape_are_shown_whole():
    assert texts(0, Colour.RED) == ["0 -> RED"]
    assert texts(Map.fill(TWO, 0), Map.fill(THREE, 0)) == [
        "{process0: 0, process1: 0} -> {process0: 0, process1: 0, process2: 0}"
    ]


def test_a_key_of_several_parts_is_shown_without_parentheses():
    channels = Map.fill(TWO, TWO, 0)
    assert texts(channels, channels.set((P1, P1), 1)) == ["[process1, process1]: 0 -> 1"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (frozenset({3, 1, 2}), "{1, 2, 3}"),
        ((1,), "(1,)"),
        ((1, Colour.RED), "(1, RED)"),
        ({"b": 1, "a": Colour.BLUE}, "{'a': BLUE, 'b': 1}"),
        (
            Recorder(True, Map.fill(TWO, 0)),
            "Recorder(recorded=True, log={process0: 0, process1: 0})",
        ),
        ("text", "'text'"),
        (State, repr(State)),
    ],
    ids=["set", "one", "tuple", "mapping", "record", "string", "class"],
)
def test_a_value_is_written_the_same_in_every_run(value, text):
    assert show(value) == text


def test_a_state_that_is_no_record_is_one_nameless_field():
    assert fields_of(3) == (("", 3),)


def test_the_json_of_a_trace_tells_all_of_it():
    trace = Trace(
        "0/1",
        (("x", "0"),),
        (
            TraceStep("go()", (Change("x", "0", "1"),)),
            TraceStep("stop()", (), "a claim"),
        ),
        1,
    )
    assert len(trace) == 2
    assert trace.to_json() == {
        "key": "0/1",
        "repeats": 1,
        "start": {"x": "0"},
        "steps": [
            {
                "action": "go()",
                "changes": [{"field": "x", "before": "0", "after": "1"}],
                "broken_claim": None,
            },
            {"action": "stop()", "changes": [], "broken_claim": "a claim"},
        ],
    }
