"""The machines of egress, event by event."""

from __future__ import annotations

import pytest

from streamproof.lang import Disabled
from streamproof.protocols import egress as protocol
from streamproof.protocols.egress import Client, Egress, NoteDelivered, SendOutputs, TakeOutputs

ACTIVE = Egress(5, 1, active=True, sent=3)
PASSIVE = Egress(4, 1, active=False, sent=0)


def test_the_active_copy_sends_what_was_not_sent():
    assert protocol.send(ACTIVE, 5) == (Egress(5, 1, active=True, sent=5), (SendOutputs(3, 5),))
    for machine, end in ((ACTIVE, 6), (ACTIVE, 3), (PASSIVE, 2)):
        with pytest.raises(Disabled):
            protocol.send(machine, end)


def test_the_client_takes_what_is_next_and_drops_what_it_has():
    assert protocol.on_outputs(Client(2), 1, 4) == (Client(4), (TakeOutputs(2, 4),))
    assert protocol.on_outputs(Client(4), 1, 4) == (Client(4), ())
    with pytest.raises(AssertionError):
        protocol.on_outputs(Client(4), 5, 6)


def test_what_the_client_has_is_forgotten_and_noted():
    after, effects = protocol.on_ack(ACTIVE, 3)
    assert (after.begin, effects) == (3, (NoteDelivered(3),))
    for machine, end in ((ACTIVE, 1), (PASSIVE, 3)):
        with pytest.raises(Disabled):
            protocol.on_ack(machine, end)


def test_a_note_may_be_ahead_of_the_output_and_may_come_late():
    assert protocol.on_note(PASSIVE, 6)[0].begin == 6
    assert protocol.on_note(PASSIVE, 0)[0] == PASSIVE


def test_who_takes_over_sends_all_that_was_not_noted():
    assert protocol.take_over(PASSIVE)[0] == Egress(4, 1, active=True, sent=1)
    with pytest.raises(Disabled):
        protocol.take_over(ACTIVE)


def test_a_new_copy_keeps_what_the_survivor_does_and_sends_nothing():
    assert protocol.transfer(ACTIVE) == Egress(5, 1, active=False, sent=0)


def test_outputs_are_numbered_as_they_come():
    assert protocol.give(PASSIVE, 3)[0].next == 7
