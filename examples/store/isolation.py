"""Snapshot isolation of counters: a transaction sees the state in which it began, and itself."""

from dataclasses import dataclass, replace

from streamproof.lang import Domain, Element, Map, Model, action, always, every_step, init, require


class Tx(Element): ...


class Key(Element): ...


@dataclass(frozen=True)
class Work:
    """An open transaction: what it sees, what it wrote, and what others committed meanwhile."""

    seen: Map[Key, int]
    wrote: frozenset[Key] = frozenset()
    overtaken: frozenset[Key] = frozenset()


@dataclass(frozen=True)
class State:
    stored: Map[Key, int]
    work: Map[Tx, Work | None]
    answer: int = 0  # to the last read


@dataclass(frozen=True)
class Isolation(Model[State]):
    txs: Domain[Tx]
    keys: Domain[Key]
    sizes = {"default": {"txs": 2, "keys": 1}, "large": {"txs": 3, "keys": 2}}

    @init
    def start(self) -> State:
        return State(Map.fill(self.keys, 0), Map.fill(self.txs, None))

    @action
    def begin(self, s: State, tx: Tx) -> State:
        require(s.work[tx] is None)
        return replace(s, work=s.work.set(tx, Work(s.stored)))

    @action
    def read(self, s: State, tx: Tx, key: Key) -> State:
        return replace(s, answer=self.open(s, tx).seen[key])

    @action
    def add(self, s: State, tx: Tx, key: Key) -> State:
        work = self.open(s, tx)
        require(work.seen[key] < 3)
        seen = work.seen.set(key, work.seen[key] + 1)
        return replace(s, work=s.work.set(tx, replace(work, seen=seen, wrote=work.wrote | {key})))

    @action
    def commit(self, s: State, tx: Tx) -> State:
        done, stored, work = self.open(s, tx), s.stored, s.work.set(tx, None)
        require(not done.wrote & done.overtaken)
        for key in self.keys:
            stored = stored.set(key, done.seen[key]) if key in done.wrote else stored
        for other in self.txs:
            if (theirs := work[other]) is not None:
                overtaken = theirs.overtaken | done.wrote
                work = work.set(other, replace(theirs, overtaken=overtaken))
        return replace(s, stored=stored, work=work)

    @action
    def abort(self, s: State, tx: Tx) -> State:
        self.open(s, tx)
        return replace(s, work=s.work.set(tx, None))

    def open(self, s: State, tx: Tx) -> Work:
        work = s.work[tx]
        require(work is not None)
        return work

    @always
    def what_nobody_wrote_is_seen_as_stored(self, s: State) -> bool:
        return all(
            work.seen[key] == s.stored[key]
            for _, work in s.work.items()
            if work is not None
            for key in self.keys
            if key not in work.wrote | work.overtaken
        )

    @every_step
    def no_commit_is_overwritten(self, s: State, t: State) -> bool:
        return all(s.stored[key] <= t.stored[key] for key in self.keys)


MODEL = Isolation
