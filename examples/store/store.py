"""Counters in SQLite with transactions of our own, optimistic: conflicts are seen at the commit."""

import sqlite3


class Conflict(Exception):
    """Another transaction has committed a key that this one has written."""


class Store:
    """Counters by name.

    Parameters
    ----------
    keys : their names
    path : of the database; in memory unless another is given
    """

    def __init__(self, keys: list[str], path: str = ":memory:") -> None:
        self.database = sqlite3.connect(path, isolation_level=None)
        self.database.execute(
            "CREATE TABLE counters (key TEXT PRIMARY KEY, value INT, version INT)"
        )
        self.database.executemany("INSERT INTO counters VALUES (?, 0, 0)", [(key,) for key in keys])

    def begin(self) -> "Transaction":
        """Begin a transaction."""
        return Transaction(self.database)

    def close(self) -> None:
        """Close the database."""
        self.database.close()


class Transaction:
    """Reads and adds; nothing is stored before the commit."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self.database, self.seen, self.added = database, {}, {}

    def read(self, key: str) -> int:
        """Return a counter."""
        if key not in self.seen:
            row = self.database.execute("SELECT value, version FROM counters WHERE key = ?", (key,))
            self.seen[key] = row.fetchone()
        return self.seen[key][0] + self.added.get(key, 0)

    def add(self, key: str) -> None:
        """Add one to a counter."""
        self.read(key)
        self.added[key] = self.added.get(key, 0) + 1

    def commit(self) -> None:
        """Store what was added, all of it or nothing.

        Raises
        ------
        Conflict : if another transaction has committed a key meanwhile; nothing is stored
        """
        self.database.execute("BEGIN IMMEDIATE")
        for key, count in self.added.items():
            value, version = self.seen[key]
            done = self.database.execute(
                "UPDATE counters SET value = ?, version = ? WHERE key = ? AND version = ?",
                (value + count, version + 1, key, version),
            )
            if not done.rowcount:
                self.database.execute("ROLLBACK")
                raise Conflict(key)
        self.database.execute("COMMIT")


class SnapshotStore(Store):
    """The store without the mistake: a transaction reads all counters when it begins."""

    def begin(self) -> Transaction:
        """Begin a transaction."""
        transaction = Transaction(self.database)
        for (key,) in self.database.execute("SELECT key FROM counters").fetchall():
            transaction.read(key)
        return transaction
