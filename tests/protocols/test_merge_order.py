"""The machine that merges lanes, event by event."""

from __future__ import annotations

import pytest

from streamproof.lang import Disabled
from streamproof.protocols import merge_order as protocol
from streamproof.protocols.merge_order import (
    AcknowledgeLog,
    Merger,
    SendChoice,
    TakeAsLogged,
    TakeFrom,
)

LEADER = Merger(5, 3, leads=True, alone=False)
FOLLOWER = Merger(2, 4, leads=False, alone=False)


def test_a_leader_chooses_and_tells():
    after, effects = protocol.choose(LEADER, "ewr")
    assert after == Merger(6, 3, leads=True, alone=False)
    assert effects == (TakeFrom("ewr"), SendChoice(5, "ewr"))


def test_a_follower_takes_what_its_log_says_and_chooses_nothing():
    assert protocol.follow(FOLLOWER)[1] == (TakeAsLogged(2),)
    with pytest.raises(Disabled):
        protocol.choose(FOLLOWER, "ewr")
    with pytest.raises(Disabled):
        protocol.follow(Merger(4, 4, leads=False, alone=False))
    with pytest.raises(Disabled):
        protocol.follow(Merger(3, 4, leads=True, alone=False))


def test_choices_are_logged_in_order_and_acknowledged():
    after, effects = protocol.on_choice(FOLLOWER, 4)
    assert (after.logged, effects) == (5, (AcknowledgeLog(5),))
    with pytest.raises(AssertionError):
        protocol.on_choice(FOLLOWER, 5)


def test_an_ack_that_comes_late_takes_nothing_back():
    assert protocol.on_log_ack(LEADER, 2)[0] == LEADER
    assert protocol.on_log_ack(LEADER, 4)[0].logged == 4


@pytest.mark.parametrize(("end", "is_committed"), [(3, True), (4, False), (6, False)])
def test_an_output_is_committed_when_its_choices_are_at_the_twin(end, is_committed):
    assert protocol.is_committed(LEADER, end) is is_committed


def test_without_a_twin_all_that_was_merged_is_committed():
    alone, _ = protocol.on_twin_failure(LEADER)
    assert protocol.is_committed(alone, 5)
    assert not protocol.is_committed(alone, 6)


def test_a_twin_that_is_left_finishes_its_log_and_then_leads():
    alone, _ = protocol.on_twin_failure(FOLLOWER)
    with pytest.raises(Disabled):
        protocol.take_over(alone)
    for _ in range(2):
        alone, _ = protocol.follow(alone)
    assert protocol.take_over(alone)[0] == Merger(4, 4, leads=True, alone=True)
    for machine in (LEADER, Merger(4, 4, leads=False, alone=False)):
        with pytest.raises(Disabled):
            protocol.take_over(machine)


def test_a_new_twin_begins_in_the_survivors_state_and_is_told_the_rest():
    survivor = Merger(7, 4, leads=True, alone=True)
    assert protocol.transfer(survivor) == Merger(7, 7, leads=False, alone=False)
    assert protocol.fold_in(survivor)[0] == Merger(7, 7, leads=True, alone=False)
    for machine in (LEADER, Merger(4, 4, leads=False, alone=True)):
        with pytest.raises(Disabled):
            protocol.fold_in(machine)
