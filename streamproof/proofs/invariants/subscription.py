"""Why a view is right: for any number of replicas, subscribers, tuples and messages.

Each conjunct speaks of one subscriber d, and of its connection or of one replica's buffer. The
messages of a connection are numbered, and each says how many stable tuples are ahead of it. What a
message says fits to the one after it, the last one to the feed, and the first one to the view. So
the view is, at every time, what all messages that arrived make of it.

With [BBMS08, section 4.3] in mind: the stable prefix only grows (V2), an UNDO takes nothing stable
away (V4), and a stable tuple finds no tentative one in front of it (V2, V0).
"""

from __future__ import annotations

from streamproof.lang import implies
from streamproof.models.subscription.state import Kind, Message
from streamproof.models.subscription.subscription import (
    Slot,
    State,
    Subscriber,
    SubscriptionModel,
    Upstream,
)
from streamproof.proofs.invariant import Invariant
from streamproof.protocols.dpc import Condition

# --------------------------------------------------------------------------- what is under way


def is_under_way(m: SubscriptionModel, s: State, d: Subscriber, x: Slot) -> bool:
    """Return whether a slot has a message that was sent and has not arrived."""
    connection = s.connections[d]
    return connection.is_open and connection.received <= m.place[x] < connection.sent


def tail_behind(message: Message) -> int:
    """Return how many tentative tuples there are behind a message."""
    return message.tentative + 1 if message.kind == Kind.TENTATIVE else 0


def goes_on(message: Message, stable: int, tentative: int, known: int) -> bool:
    """Return whether what comes next fits to a message.

    Parameters
    ----------
    stable, tentative : tuples ahead of what comes next
    known : stable tuples that the view has: who has more than the message says may miss some
    """
    ahead = message.stable + 1 if message.kind == Kind.STABLE else message.stable
    skips = message.kind != Kind.TENTATIVE and ahead <= stable <= known
    return (stable == ahead or skips) and tentative == tail_behind(message)


# --------------------------------------------------------------------------- conjuncts: the view


def counters_in_order(m: SubscriptionModel, s: State, d: Subscriber) -> bool:
    """V1: every message that has arrived was sent; on a closed connection there is none."""
    connection, view = s.connections[d], s.views[d]
    feed = connection.feed
    return (
        0 <= connection.received <= connection.sent
        and implies(not connection.is_open, connection.sent == 0)
        and view.stable >= 0
        and view.tentative >= 0
        and feed.tentative >= 0
    )


def client_shows_the_view(m: SubscriptionModel, s: State, d: Subscriber) -> bool:
    """V6: the client shows what its machine believes, and all of it is right."""
    client, view = s.clients[d], s.views[d]
    shows = client.stable == view.stable and client.tentative == view.tentative
    fits_in = view.stable + view.tentative <= m.tuples
    return shows and client.is_right and client.is_clean and fits_in


def a_request_asks_for_what_is_lacking(m: SubscriptionModel, s: State, d: Subscriber) -> bool:
    """V7: a request under way begins at or before the first tuple that the view lacks."""
    connection = s.connections[d]
    return implies(connection.asked, 0 <= connection.stable <= s.views[d].stable)


def the_first_message_is_undo(m: SubscriptionModel, s: State, d: Subscriber, x: Slot) -> bool:
    """V8: a connection begins with an UNDO, which takes nothing stable away."""
    connection, view = s.connections[d], s.views[d]
    nothing_sent = connection.is_open and connection.sent == 0
    first = is_under_way(m, s, d, x) and m.place[x] == 0
    return implies(
        nothing_sent,
        connection.feed.revokes
        and connection.feed.stable <= view.stable
        and connection.feed.tentative == 0,
    ) and implies(
        first,
        connection.messages[x].kind == Kind.UNDO and connection.messages[x].stable <= view.stable,
    )


def the_next_message_fits_the_view(m: SubscriptionModel, s: State, d: Subscriber, x: Slot) -> bool:
    """V0: the view has the stable tuples ahead of the next message, and its tentative tail."""
    connection, message = s.connections[d], s.connections[d].messages[x]
    is_next = is_under_way(m, s, d, x) and m.place[x] == connection.received
    return implies(
        is_next and connection.received > 0, fits(s, d, message.stable, message.tentative)
    )


def the_feed_fits_the_view(m: SubscriptionModel, s: State, d: Subscriber) -> bool:
    """V0, when all messages have arrived: the same of what the feed will send next."""
    connection = s.connections[d]
    all_arrived = connection.is_open and connection.received == connection.sent > 0
    return implies(all_arrived, fits(s, d, connection.feed.stable, connection.feed.tentative))


def fits(s: State, d: Subscriber, stable: int, tentative: int) -> bool:
    """Return whether the view of d is as it should be ahead of a message.

    Parameters
    ----------
    stable, tentative : tuples ahead of the message on its connection
    """
    view = s.views[d]
    return stable <= view.stable and view.tentative == (tentative if stable == view.stable else 0)


def a_message_fits_the_next(
    m: SubscriptionModel, s: State, d: Subscriber, x: Slot, y: Slot
) -> bool:
    """V2, V3, V4: what a message adds or takes away is what the next one finds."""
    messages = s.connections[d].messages
    both = is_under_way(m, s, d, x) and is_under_way(m, s, d, y)
    return implies(
        both and m.place[y] == m.place[x] + 1,
        goes_on(messages[x], messages[y].stable, messages[y].tentative, s.views[d].stable),
    )


def the_last_message_fits_the_feed(m: SubscriptionModel, s: State, d: Subscriber, x: Slot) -> bool:
    """V2, V3, V4 for the last message: the feed goes on behind it."""
    connection = s.connections[d]
    is_last = is_under_way(m, s, d, x) and m.place[x] == connection.sent - 1
    feed = connection.feed
    return implies(
        is_last,
        goes_on(connection.messages[x], feed.stable, feed.tentative, s.views[d].stable),
    )


def messages_are_what_they_say(m: SubscriptionModel, s: State, d: Subscriber, x: Slot) -> bool:
    """V3: ahead of a stable tuple there is no tentative one; all of them are of the output."""
    message = s.connections[d].messages[x]
    return implies(
        is_under_way(m, s, d, x),
        message.kind != Kind.NOTHING
        and message.tentative >= 0
        and 0 <= message.stable <= m.tuples
        and implies(message.kind == Kind.STABLE, message.tentative == 0)
        and implies(message.kind != Kind.UNDO, message.stable + message.tentative < m.tuples),
    )


# --------------------------------------------------------------------------- conjuncts: buffers


def a_buffer_is_a_part_of_the_output(m: SubscriptionModel, s: State, u: Upstream) -> bool:
    """B1: a replica keeps a part of the right output."""
    buffer = s.buffers[u]
    return (
        buffer.begin >= 0
        and buffer.stable >= 0
        and buffer.tentative >= 0
        and buffer.stable + buffer.tentative <= m.tuples
    )


def who_does_not_fail_has_no_tail(m: SubscriptionModel, s: State, u: Upstream) -> bool:
    """V5: a replica guesses only while an input fails; so what it feeds has no tail then (B2)."""
    return implies(s.conditions[u] != Condition.UP_FAILURE, s.buffers[u].tentative == 0)


def a_feed_is_behind_its_buffer(m: SubscriptionModel, s: State, d: Subscriber) -> bool:
    """B2: a tail that was sent comes behind all stable tuples, unless its UNDO is due."""
    connection = s.connections[d]
    feed, buffer = connection.feed, s.buffers[connection.source]
    return implies(
        connection.is_open,
        feed.stable >= 0
        and feed.stable + feed.tentative <= m.tuples
        and implies(
            feed.tentative > 0 and not feed.revokes,
            feed.stable == buffer.stable and feed.tentative <= buffer.tentative,
        ),
    )


def nothing_is_forgotten_that_is_lacking(
    m: SubscriptionModel, s: State, u: Upstream, d: Subscriber
) -> bool:
    """B3: what a replica has forgotten was acknowledged, and what was acknowledged is there."""
    buffer = s.buffers[u]
    return buffer.begin <= buffer.acked[d] <= s.views[d].stable


INVARIANT = Invariant(
    SubscriptionModel,
    conjuncts=(
        counters_in_order,
        client_shows_the_view,
        a_request_asks_for_what_is_lacking,
        the_first_message_is_undo,
        the_next_message_fits_the_view,
        the_feed_fits_the_view,
        a_message_fits_the_next,
        the_last_message_fits_the_feed,
        messages_are_what_they_say,
        a_buffer_is_a_part_of_the_output,
        who_does_not_fail_has_no_tail,
        a_feed_is_behind_its_buffer,
        nothing_is_forgotten_that_is_lacking,
    ),
)
