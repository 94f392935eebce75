"""Carries the actions of the model out on a store, and tells what it reads."""

from isolation import Key, State, Tx
from store import Conflict, SnapshotStore, Store, Transaction

from streamproof.testing import REFUSED, Adapter

KEYS = 2


class StoreAdapter(Adapter):
    store_class: type[Store] = Store
    also_impossible = ("commit",)

    def __init__(self) -> None:
        self.store = self.store_class([f"key{index}" for index in range(KEYS)])
        self.open: dict[Tx, Transaction] = {}
        self.answer = 0

    def begin(self, tx: Tx) -> None:
        self.open[tx] = self.store.begin()

    def read(self, tx: Tx, key: Key) -> None:
        self.answer = self.open[tx].read(str(key))

    def add(self, tx: Tx, key: Key) -> None:
        self.open[tx].add(str(key))

    def commit(self, tx: Tx) -> object:
        if tx not in self.open:
            return REFUSED  # there is nothing to commit
        try:
            self.open[tx].commit()
        except Conflict:
            return REFUSED
        del self.open[tx]
        return None

    def abort(self, tx: Tx) -> None:
        del self.open[tx]

    def observe(self) -> int:
        return self.answer

    def expected(self, state: State) -> int:
        return state.answer

    def close(self) -> None:
        self.store.close()


class SnapshotAdapter(StoreAdapter):
    store_class = SnapshotStore
