"""The errors of the Spark bindings: what happened, why it matters, what to type next."""

from __future__ import annotations

from streamproof.lang import StreamproofError

__all__ = [
    "AbandonedSnapshot",
    "BothCopiesFailed",
    "ChannelDamaged",
    "CopiesDiffer",
    "CopyRuns",
    "DamagedFile",
    "FencedDriver",
    "ForeignTable",
    "ForkedProcess",
    "IncompleteSnapshot",
    "InconsistentCut",
    "LostFiles",
    "NoSuitableJava",
    "NotAPipeline",
    "NotAppended",
    "NotDeterministic",
    "NotRunning",
    "PurgedCheckpoint",
    "QueryFailed",
    "RepeatedPosition",
    "ReplayedFreely",
    "ReusedSequence",
    "StillBusy",
    "TargetNotEmpty",
    "TooManyRows",
    "UnknownFormat",
    "UnknownSnapshot",
    "UnsuitableSession",
    "UnverifiedProtocol",
    "VacuumedRows",
    "WrongArgument",
    "WrongCheckpoint",
    "WrongRows",
    "WrongSchema",
    "WrongWiring",
]


def first_line(error: Exception) -> str:
    """Return the first words of a library's error: some go on with the place in their code.

    It is the error's class, where it says nothing.
    """
    lines = str(error).splitlines()
    return lines[0].removesuffix(".") if lines else type(error).__name__


class NotAPipeline(StreamproofError, ValueError):
    """A directory was given as a pipeline that is none, or that another version wrote."""


class UnknownFormat(NotAPipeline):
    """Something on the disk is of a later format than this version of streamproof knows."""


class DamagedFile(StreamproofError, ValueError):
    """A file of a pipeline does not hold what was written there."""


class VacuumedRows(StreamproofError, ValueError):
    """Rows were asked for that were removed, because no query and no snapshot needs them."""


class WrongArgument(StreamproofError, TypeError):
    """An argument has a type that this call does not take."""


class WrongWiring(StreamproofError, ValueError):
    """The channels and queries do not form a pipeline in which every marker arrives."""


class WrongSchema(StreamproofError, ValueError):
    """A channel's declared schema is not the one that its rows are stored with."""


class WrongRows(StreamproofError, ValueError):
    """Rows do not fit the schema of the channel that they are appended to."""


class NotAppended(StreamproofError, RuntimeError):
    """Rows were not appended, because others were faster each time that it was tried."""


class RepeatedPosition(StreamproofError, ValueError):
    """A stream has a position twice, so that its rows have no order."""


class ReusedSequence(StreamproofError, ValueError):
    """A producer appends other rows with a number that it has used, or skipped."""


class TooManyRows(StreamproofError, OverflowError):
    """A serializer has numbered as many rows as it can."""


class UnknownSnapshot(StreamproofError, LookupError):
    """The pipeline has no snapshot of this id."""


class IncompleteSnapshot(StreamproofError, RuntimeError):
    """The snapshot has not been completed, so there is nothing consistent to use yet."""


class AbandonedSnapshot(StreamproofError, RuntimeError):
    """The snapshot was given up; the message says why."""


class PurgedCheckpoint(StreamproofError, LookupError):
    """Spark has deleted checkpoint files of the batch that a snapshot needs."""


class InconsistentCut(StreamproofError, RuntimeError):
    """A channel's log disagrees with what its reader counted: the log was changed from outside."""


class LostFiles(PurgedCheckpoint):
    """Files that a checkpoint names are missing, though Spark has not deleted them."""


class TargetNotEmpty(StreamproofError, FileExistsError):
    """The directory to restore into holds something already."""


class ChannelDamaged(StreamproofError, RuntimeError):
    """A commit is missing in a channel's log, or rows were removed from it."""


class ForkedProcess(StreamproofError, RuntimeError):
    """A process was forked from one that had opened a channel, and cannot use it."""


class FencedDriver(StreamproofError, RuntimeError):
    """Another driver has taken this query over; this one must stop."""


class CopyRuns(StreamproofError, RuntimeError):
    """A copy was started that another process runs."""


class NotDeterministic(StreamproofError, ValueError):
    """A plan could give other rows at one copy than at the other."""


class CopiesDiffer(StreamproofError, RuntimeError):
    """The copies of a pair gave different rows for the same turn."""


class BothCopiesFailed(StreamproofError, RuntimeError):
    """Both copies of a pair were gone before one was replaced."""


class WrongCheckpoint(StreamproofError, ValueError):
    """A query was started with a checkpoint of other channels, another pipeline or another life."""


class ForeignTable(StreamproofError, ValueError):
    """A table is another query's, or rows are missing that its checkpoint says are in it."""


class QueryFailed(StreamproofError, RuntimeError):
    """A streaming query has stopped with an error."""


class StillBusy(StreamproofError, TimeoutError):
    """What was waited for has not happened within the time given."""


class NotRunning(StreamproofError, RuntimeError):
    """The call needs a running pipeline, or one that is stopped."""


class UnsuitableSession(StreamproofError, ValueError):
    """Settings are missing in the Spark session, without which state may be lost silently."""


class NoSuitableJava(StreamproofError, RuntimeError):
    """No Java of a version that Spark runs on was found where it was looked for."""


class UnverifiedProtocol(StreamproofError, RuntimeError):
    """The protocol that would run is not the one that its certificate is about."""


class ReplayedFreely(UserWarning):
    """A restored query with a watermark may take other rows to be late than the original did."""
