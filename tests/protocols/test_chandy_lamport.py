"""The Chandy-Lamport machine, event by event, with plain values: as a binding drives it."""

from __future__ import annotations

import pytest

from streamproof.lang import Disabled, Domain, Map
from streamproof.protocols.chandy_lamport import (
    SaveState,
    SendMarkers,
    initial_recorder,
    initiate,
    is_complete,
    on_marker,
    on_messages,
)

CHANNELS = Domain.of("channel", ("flights", "weather"))
SNAPSHOTS = Domain.of("snapshot", ("first", "second"))
RECORDED = (SaveState("first"), SendMarkers("first"))


@pytest.fixture
def fresh():
    return Map.build(SNAPSHOTS, lambda _: initial_recorder(Map.fill(CHANNELS, True)))


def test_an_initiator_records_and_then_sends_markers(fresh):
    after, effects = initiate(fresh, "first")
    assert effects == RECORDED
    assert after["first"].recorded
    assert not is_complete(after["first"])


def test_a_snapshot_that_has_arrived_is_not_initiated_again(fresh):
    after, _ = on_marker(fresh, "first", "flights")
    with pytest.raises(Disabled):
        initiate(after, "first")


def test_the_first_marker_records_before_anything_else_is_sent(fresh):
    after, effects = on_marker(fresh, "first", "flights")
    assert effects == RECORDED
    assert after["first"].closed == Map.fill(CHANNELS, False).set("flights", True)


def test_a_second_marker_closes_but_does_not_record(fresh):
    once, _ = on_marker(fresh, "first", "flights")
    twice, effects = on_marker(once, "first", "weather")
    assert effects == ()
    assert is_complete(twice["first"])


def test_a_marker_that_arrives_twice_on_a_channel_breaks_a_claim(fresh):
    once, _ = on_marker(fresh, "first", "flights")
    with pytest.raises(AssertionError):
        on_marker(once, "first", "flights")


def test_messages_before_the_recording_are_part_of_the_state_not_of_the_channel(fresh):
    after, effects = on_messages(fresh, "flights", 5)
    assert (after, effects) == (fresh, ())


def test_messages_on_an_open_channel_are_logged_until_its_marker(fresh):
    open_, _ = on_marker(fresh, "first", "flights")
    logged, _ = on_messages(open_, "weather", 3)
    logged, _ = on_messages(logged, "weather", 4)
    logged, _ = on_messages(logged, "flights", 9)  # closed: behind the marker, so after the cut
    closed, _ = on_marker(logged, "first", "weather")
    after, _ = on_messages(closed, "weather", 1)
    assert after["first"].log == Map.fill(CHANNELS, 0).set("weather", 7)


def test_overlapping_snapshots_do_not_touch_each_other(fresh):
    first, _ = initiate(fresh, "first")
    logged, _ = on_messages(first, "weather", 2)
    both, effects = on_marker(logged, "second", "weather")
    after, _ = on_messages(both, "flights", 1)
    assert effects == (SaveState("second"), SendMarkers("second"))
    assert after["first"].log["weather"] == 2
    assert not after["first"].closed["weather"]
    assert (after["first"].log["flights"], after["second"].log["flights"]) == (1, 1)


def test_a_channel_that_does_not_exist_is_closed_from_the_start():
    inputs = Map.fill(CHANNELS, True).set("weather", False)
    recorders = Map.build(SNAPSHOTS, lambda _: initial_recorder(inputs))
    after, _ = on_marker(recorders, "first", "flights")
    assert is_complete(after["first"])


def test_a_process_without_inputs_is_complete_as_soon_as_it_has_recorded():
    none = Map.fill(Domain.of("channel", ()), True)
    recorders = Map.build(SNAPSHOTS, lambda _: initial_recorder(none))
    assert not is_complete(recorders["first"])
    assert is_complete(initiate(recorders, "first")[0]["first"])
