"""The client of a pair: its output channel, which takes each turn's rows once, and from one copy.

A turn's commit names two Delta transactions. The one counts turns, so that none is taken twice. The
other says who is *primary*: its number is an incarnation, and a takeover is a commit without rows
that raises it. Delta refuses a commit if one of its transactions was committed in between. So a
copy that was taken to have failed and wakes up cannot commit any more, and learns why.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from deltalake import Transaction
from deltalake.exceptions import CommitFailedError

from streamproof.protocols.egress import Client, TakeOutputs, on_outputs
from streamproof.spark_bindings.channels.channel import Channel
from streamproof.spark_bindings.channels.channel_log import COPY_KEY, LANE_KEY, PIPELINE_KEY, Entry
from streamproof.spark_bindings.channels.commits import commit
from streamproof.spark_bindings.channels.provenance import Made
from streamproof.spark_bindings.channels.writers import writing
from streamproof.spark_bindings.errors import FencedDriver
from streamproof.spark_bindings.layout.output_buffer import Output
from streamproof.spark_bindings.layout.pairs import (
    DIGEST_KEY,
    INCARNATION_KEY,
    PAIR_KEY,
    TURN_KEY,
    Copy,
    Pair,
)
from streamproof.spark_bindings.names import BatchId, LaneName, PairName, Position, Turn
from streamproof.spark_bindings.storage.delta_tables import open_table
from streamproof.spark_bindings.storage.failpoints import PairFailpoint, reached


@dataclass(frozen=True, slots=True)
class Delivery:
    """A commit of this pair to its channel.

    Attributes
    ----------
    copy, incarnation : who committed it
    turn, digest : what it holds; None and empty for a takeover
    files : names of the files with its rows
    commit : its name
    """

    position: Position
    copy: Copy
    incarnation: int
    turn: Turn | None
    digest: str
    files: tuple[str, ...]
    commit: str | None = None


class ChannelClient:
    """The output channel, as one copy of a pair sees it. Its caller holds a lock.

    Parameters
    ----------
    pipeline : its id
    """

    def __init__(self, channel: Channel, pair: Pair, copy: Copy, pipeline: str) -> None:
        self._channel, self._pair, self._copy = channel, pair.name, copy
        self._lane = pair.partition
        self._pipeline = pipeline
        self._turns = f"turns:{pipeline}:{pair.name}"
        self._primary = primary_of(pipeline, pair.name)
        self._table = open_table(channel.place)
        self._read = Position(0)

    @property
    def lane(self) -> LaneName:
        """The lane of the channel that the pair's commits make."""
        return self._channel.lane_names[self._lane]

    def begin(self, turn: Turn) -> list[Delivery]:
        """Begin to read; give the commits of a turn and later ones, and one of an earlier turn."""
        self._read = self._channel.log.last()
        self._channel.log.sync(self._read)  # before anything is forgotten on account of it
        found = []
        for number in range(self._read, 0, -1):
            delivery = self._delivery(self._channel.log.entry(Position(number)))
            if delivery is not None:
                found.append(delivery)
                if delivery.turn is not None and delivery.turn < turn:
                    break
        return found[::-1]

    def new_deliveries(self) -> Iterator[Delivery]:
        """Yield the commits that this pair has made since they were read last."""
        while self._channel.log.has(Position(self._read + 1)):
            self._read = Position(self._read + 1)
            self._channel.log.sync(self._read)
            delivery = self._delivery(self._channel.log.entry(self._read))
            if delivery is not None:
                yield delivery

    def incarnation(self) -> int:
        """Return the present primary's incarnation; 0 if there was none yet."""
        with writing(self._channel.place):
            self._table.update_incremental()
            return self._version(self._primary, 0)

    @property
    def life(self) -> str:
        """What names the pair in what its commits were made from."""
        return self._turns

    def deliver(self, output: Output, begin: Turn, incarnation: int) -> Delivery | None:
        """Commit an output, unless it was committed before: then give None. May be repeated.

        Parameters
        ----------
        begin : the turn behind the last one that this copy has delivered; those in between have
            no rows
        incarnation : of this copy as primary

        Raises
        ------
        FencedDriver : if the other copy has become primary
        """
        with writing(self._channel.place):
            return self._deliver(output, begin, incarnation)

    def _deliver(self, output: Output, begin: Turn, incarnation: int) -> Delivery | None:
        # Both numbers are of one reading, and what was committed since makes Delta refuse ours.
        self._table.update_incremental()
        self._require_primary(output.turn, incarnation)
        client = Client(self._version(self._turns, -1) + 1)
        _, effects = on_outputs(client, begin, output.turn + 1)
        reached(PairFailpoint.CLIENT_ASKED, self._copy.value)
        delivery: Delivery | None = None
        for effect in effects:
            assert isinstance(effect, TakeOutputs)
            try:
                delivery = self._commit(output, incarnation)
            except CommitFailedError as error:
                self._table.update_incremental()
                self._require_primary(output.turn, incarnation)
                raise FencedDriver(
                    f"copy {self._copy.value} of {self._pair} wanted to deliver turn "
                    f"{output.turn}, but another process has delivered it, or its marker, "
                    "meanwhile. Nothing was delivered twice. Let this process end: it follows then"
                ) from error
        return delivery

    def take_over(self, incarnation: int) -> bool:
        """Become primary of an incarnation; tell whether the other copy was not faster.

        From then on every commit of an earlier primary is refused.
        """
        with writing(self._channel.place):
            self._table.update_incremental()
            if self._version(self._primary, 0) >= incarnation:
                return False
            try:
                self._commit(None, incarnation)
            except CommitFailedError:
                return False
        return True

    def _commit(self, output: Output | None, incarnation: int) -> Delivery | None:
        metadata = {
            PAIR_KEY: self._primary,
            COPY_KEY: self._copy.value,
            INCARNATION_KEY: str(incarnation),
            LANE_KEY: str(self._lane),
            PIPELINE_KEY: self._pipeline,
        }
        transactions = [Transaction(self._primary, incarnation)]
        if output is not None:
            metadata |= {TURN_KEY: str(output.turn), DIGEST_KEY: output.digest}
            made = Made(self._turns, BatchId(output.turn), output.received)
            metadata |= made.metadata()
            transactions.append(Transaction(self._turns, output.turn))
            if output.marker is not None:
                marker, identity = self._channel.marker(output.marker, self._lane)
                metadata |= marker
                transactions.append(identity)
        files = () if output is None else output.files
        position = commit(self._table, self._channel.place, files, metadata, transactions)
        self._channel.log.sync(position)
        return self._delivery(self._channel.log.entry(position))

    def _require_primary(self, turn: Turn, incarnation: int) -> None:
        present = self._version(self._primary, 0)
        if present != incarnation:
            raise FencedDriver(
                f"copy {self._copy.value} of {self._pair} wanted to deliver turn {turn} as primary "
                f"{incarnation}, but the other copy took it to have failed, and is primary "
                f"{present}. Nothing was delivered twice. Let this process end; started again, it "
                "follows"
            )

    def _version(self, application: str, otherwise: int) -> int:
        found = self._table.transaction_version(application)
        return otherwise if found is None else found

    def _delivery(self, entry: Entry) -> Delivery | None:
        return delivery_of(entry, self._primary)


def primary_of(pipeline: str, pair: PairName) -> str:
    """Return what names a pair in its commits.

    Parameters
    ----------
    pipeline : its id, since a restored pipeline's channels hold commits of the original
    """
    return f"primary:{pipeline}:{pair}"


def delivery_of(entry: Entry, primary: str) -> Delivery | None:
    """Read what a pair has committed; None if a commit is of another one."""
    said: Any = entry.information
    if said.get(PAIR_KEY) != primary:
        return None
    turn = said.get(TURN_KEY)
    return Delivery(
        position=entry.position,
        copy=Copy(said[COPY_KEY]),
        incarnation=int(said[INCARNATION_KEY]),
        turn=None if turn is None else Turn(int(turn)),
        digest=said.get(DIGEST_KEY, ""),
        files=tuple(file.path for file in entry.files),
        commit=entry.commit,
    )
