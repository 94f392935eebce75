"""The DPC node, event by event, with plain values: as a binding drives it."""

from __future__ import annotations

import pytest

from streamproof.lang import Disabled, Domain, Map
from streamproof.protocols.dpc import (
    Condition,
    EmitTentative,
    Policy,
    RecDone,
    TakeCheckpoint,
    Undo,
    emit,
    emit_tentative,
    initial_node,
    is_corrected,
    on_boundary,
    on_timeout,
    restart,
    stabilize,
)
from streamproof.protocols.sunion import EmitStable

STREAMS = Domain.of("stream", ("ewr", "jfk"))


@pytest.fixture
def fresh():
    return initial_node(Map.fill(STREAMS, 0), 0)


def told(node, **boundaries):
    """Give a node that has read boundaries."""
    for stream, bucket in boundaries.items():
        node, effects = on_boundary(node, stream, bucket)
        assert effects == ()
    return node


@pytest.fixture
def failed(fresh):
    """Give a node whose second stream is silent: bucket 0 is stable, bucket 1 and 2 are not."""
    node, _ = emit(told(fresh, ewr=3, jfk=1), 1, 4)
    return on_timeout(node, Policy.PROCESS, 3, 5)[0]


# --------------------------------------------------------------------------- STABLE


def test_complete_buckets_are_emitted_stable_and_counted(fresh):
    node, effects = emit(told(fresh, ewr=2, jfk=3), 2, 7)
    assert effects == (EmitStable(0, 2),)
    assert (node.condition, node.stable) == (Condition.STABLE, 7)


def test_what_is_not_complete_is_not_emitted_stable(fresh):
    with pytest.raises(Disabled):
        emit(told(fresh, ewr=9), 1, 0)


def test_a_number_of_tuples_is_never_negative(failed, fresh):
    with pytest.raises(AssertionError):
        emit(told(fresh, ewr=1, jfk=1), 1, -1)
    with pytest.raises(AssertionError):
        emit_tentative(failed, Policy.PROCESS, 4, -1)


# --------------------------------------------------------------------------- UP_FAILURE


def test_a_checkpoint_is_taken_before_the_first_tentative_tuple(fresh):
    node, effects = on_timeout(told(fresh, ewr=2), Policy.PROCESS, 2, 3)
    assert effects == (TakeCheckpoint(), EmitTentative(0, 2))
    assert (node.condition, node.tentative) == (Condition.UP_FAILURE, 3)


def test_the_serializer_stays_where_the_failure_began(failed):
    assert (failed.serializer.emitted, failed.reached, failed.stable) == (1, 3, 4)


def test_complete_buckets_do_not_time_out(fresh):
    node = told(fresh, ewr=2, jfk=1)
    with pytest.raises(Disabled):
        on_timeout(node, Policy.PROCESS, 2, 1)
    assert on_timeout(emit(node, 1, 1)[0], Policy.PROCESS, 2, 1)[1][0] == TakeCheckpoint()


def test_complete_buckets_too_are_tentative_in_a_failure(failed):
    with pytest.raises(Disabled):
        emit(told(failed, jfk=9), 2, 1)


@pytest.mark.parametrize(
    ("policy", "at_once", "on_time_out"),
    [
        (Policy.PROCESS, True, True),
        (Policy.DELAY, False, True),
        (Policy.SUSPEND, False, False),
    ],
    ids=str,
)
def test_a_policy_says_when_more_is_emitted_tentatively(failed, policy, at_once, on_time_out):
    for event, is_allowed in ((emit_tentative, at_once), (on_timeout, on_time_out)):
        if is_allowed:
            node, effects = event(failed, policy, 5, 2)
            assert effects == (EmitTentative(1, 5),)  # and no second checkpoint
            assert (node.reached, node.tentative) == (5, 7)
        else:
            with pytest.raises(Disabled):
                event(failed, policy, 5, 2)


def test_nothing_is_emitted_at_once_before_a_failure(fresh):
    with pytest.raises(Disabled):
        emit_tentative(fresh, Policy.PROCESS, 1, 1)


# --------------------------------------------------------------------------- STABILIZATION


def test_a_node_stabilizes_when_what_has_waited_too_long_is_complete(failed):
    assert not is_corrected(failed, 3)
    healed = told(failed, jfk=3)
    assert is_corrected(healed, 3)
    assert not is_corrected(healed, 4)
    node, effects = stabilize(healed, 3)
    assert effects == (Undo(4),)
    assert (node.condition, node.tentative) == (Condition.STABILIZATION, 0)


def test_a_node_that_guessed_without_a_tuple_has_nothing_to_revoke(fresh):
    node, _ = on_timeout(fresh, Policy.PROCESS, 1, 0)
    assert stabilize(told(node, ewr=1, jfk=1), 1)[1] == ()


def test_corrections_come_in_steps_and_the_last_is_followed_by_rec_done(failed):
    node, _ = stabilize(told(failed, jfk=3), 3)
    node, effects = emit(node, 2, 6)
    assert (effects, node.condition) == ((EmitStable(1, 2),), Condition.STABILIZATION)
    node, effects = emit(node, 3, 6)
    assert (effects, node.condition) == ((EmitStable(2, 3), RecDone()), Condition.STABLE)
    assert node.stable == 16


def test_rec_done_waits_for_all_that_was_ever_guessed(failed):
    node, _ = emit_tentative(failed, Policy.PROCESS, 8, 1)
    node, _ = stabilize(told(node, jfk=3), 3)
    node, effects = emit(node, 3, 1)
    assert (effects, node.condition) == ((EmitStable(1, 3),), Condition.STABILIZATION)


def test_a_failure_in_the_middle_of_corrections_starts_from_the_last_of_them(failed):
    node, _ = emit(stabilize(told(failed, jfk=3), 3)[0], 2, 6)
    node, effects = on_timeout(node, Policy.PROCESS, 4, 2)
    assert effects == (TakeCheckpoint(), EmitTentative(2, 4))
    assert (node.condition, node.stable, node.tentative) == (Condition.UP_FAILURE, 10, 2)
    assert stabilize(told(node, ewr=4, jfk=4), 4)[1] == (Undo(10),)


# --------------------------------------------------------------------------- FAILURE


def test_a_node_that_crashed_comes_back_with_its_stable_output(failed):
    node, effects = restart(failed, 3)
    assert effects == (Undo(4),)
    assert node.condition == Condition.FAILURE
    assert (node.serializer.emitted, node.stable, node.tentative) == (1, 4, 0)
    assert node.serializer.boundary == Map.fill(STREAMS, 1)


def test_a_node_that_rebuilds_its_state_guesses_nothing(failed):
    node, _ = restart(failed, 3)
    with pytest.raises(Disabled):
        on_timeout(node, Policy.PROCESS, 3, 1)
    node, _ = emit(told(node, ewr=3, jfk=3), 2, 6)
    assert node.condition == Condition.FAILURE
    assert emit(node, 3, 6)[1] == (EmitStable(2, 3), RecDone())


def test_a_node_that_has_nothing_to_rebuild_is_stable_at_once(fresh):
    node, effects = restart(emit(told(fresh, ewr=2, jfk=2), 2, 3)[0], 2)
    assert (node.condition, effects) == (Condition.STABLE, (Undo(3), RecDone()))
