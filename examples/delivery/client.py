"""A broker with leases, in SQLite, and clients that apply the effect of each message."""

import sqlite3
from collections import Counter

LEASE = 3
"""Polls after which a message that is not acknowledged is delivered again."""


class Broker:
    """A queue: what is not acknowledged in time is delivered again."""

    def __init__(self) -> None:
        self.database = sqlite3.connect(":memory:", isolation_level=None)
        self.database.execute("CREATE TABLE queue (name TEXT PRIMARY KEY, due INT)")
        self.polls = 0

    def send(self, name: str) -> None:
        """Put a message into the queue."""
        self.database.execute("INSERT INTO queue VALUES (?, 0)", (name,))

    def poll(self) -> str | None:
        """Return a message that is due, and lease it; None if none is."""
        self.polls += 1
        found = self.database.execute(
            "SELECT name FROM queue WHERE due <= ? ORDER BY due, name LIMIT 1", (self.polls,)
        ).fetchone()
        if found is None:
            return None
        due = self.polls + LEASE
        self.database.execute("UPDATE queue SET due = ? WHERE name = ?", (due, found[0]))
        return str(found[0])

    def acknowledge(self, name: str) -> None:
        """Forget a message."""
        self.database.execute("DELETE FROM queue WHERE name = ?", (name,))


class Client:
    """Applies each message once. It remembers the last one, and a message may come later again."""

    def __init__(self, broker: Broker) -> None:
        self.broker, self.effects, self.known = broker, Counter[str](), set[str]()

    def take(self) -> str | None:
        """Take a message, and apply it unless it is known; return its name."""
        name = self.broker.poll()
        if name is not None and name not in self.known:
            self.effects[name] += 1
            self.remember(name)
        return name

    def remember(self, name: str) -> None:
        """Remember that a message was applied."""
        self.known = {name}


class CarefulClient(Client):
    """The client without the mistake."""

    def remember(self, name: str) -> None:
        """Remember that a message was applied."""
        self.known = self.known | {name}
