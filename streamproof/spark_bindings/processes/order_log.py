"""The order log of a pair: which lane each turn takes, and up to where.

A choice is a file that is created once, and both copies see it. So a choice that was made is known
to both: there is nothing under way that could be lost with the leader. And of two copies that both
believe to lead, one makes the choice and the other finds it.
"""

from __future__ import annotations

from dataclasses import dataclass

from streamproof.spark_bindings.names import ChannelName, Position, Turn
from streamproof.spark_bindings.storage.json_files import read_json, write_json_once
from streamproof.spark_bindings.storage.numbered_files import NumberedFiles
from streamproof.spark_bindings.storage.place import AnyPlace
from streamproof.spark_bindings.storage.trees import sync_files


@dataclass(frozen=True, slots=True)
class Choice:
    """What a turn takes: the commits of a lane behind those of earlier turns, up to `end`."""

    lane: ChannelName
    end: Position


class OrderLog:
    """The choices of a pair, oldest first; those that no copy needs are removed.

    Parameters
    ----------
    place : its directory; it need not exist
    """

    def __init__(self, place: AnyPlace) -> None:
        self._turns = NumberedFiles(place)

    def begin(self, lane: ChannelName) -> None:
        """Make the first choice, to take nothing: Spark's batch 0 comes before there is anything.

        May be repeated, by both copies: they make the same one.
        """
        self.settle(Turn(0), Choice(lane, Position(0)))

    def choice(self, turn: Turn) -> Choice | None:
        """Return what a turn takes; None if it was not chosen, or was removed."""
        stored = read_json(self._turns.file(turn), lane=str, end=int)
        if stored is None:
            return None
        return Choice(ChannelName(stored["lane"]), Position(stored["end"]))

    def settle(self, turn: Turn, choice: Choice) -> Choice:
        """Make a choice, and give it; or give the one that was made before."""
        if write_json_once(self._turns.file(turn), {"lane": choice.lane, "end": choice.end}):
            return choice
        stands = self.choice(turn)
        assert stands is not None  # the newest choice is never removed
        return stands

    def sync(self, turn: Turn) -> None:
        """See to it that a choice outlives the power, whoever made it; it must have been made.

        Raises
        ------
        DiskFailed : if the disk did not take it
        """
        sync_files([self._turns.file(turn)])

    def has_from(self, turn: Turn) -> bool:
        """Return whether a copy that takes this turn next finds every choice from there on."""
        turns = self._turns.numbers()
        return set(range(turn, max(turns, default=-1) + 1)) <= set(turns)

    def count_from(self, turn: Turn) -> int:
        """Count the choices from a turn on."""
        return sum(chosen >= turn for chosen in self._turns.numbers())

    def remove_before(self, turn: Turn) -> None:
        """Remove the choices that neither copy will need."""
        for old in self._turns.numbers():
            if old < turn:
                self._turns.remove(old)
