"""Whether what a checkpoint holds was acknowledged by the present incarnation of its copy.

A copy that catches up leaves its checkpoint for the other copy's, which may be older. What it had
before it needs again, so from before the other copy's batch is chosen, the old checkpoint
acknowledges nothing: it is of an incarnation that was replaced (mutant `flux/stale-ack` of
`streamproof.protocols.flux`).
"""

from __future__ import annotations

from streamproof.spark_bindings.checkpoints.checkpoint import Checkpoint
from streamproof.spark_bindings.storage.json_files import read_json, write_json
from streamproof.spark_bindings.storage.place import Place

_NAME = "incarnation.json"  # beside a checkpoint: the copy's; in a checkpoint: whose it is


def present(checkpoint: Checkpoint) -> int:
    """Return the incarnation of the copy that a checkpoint is of."""
    return _read(checkpoint.place.parent)


def of_checkpoint(checkpoint: Checkpoint) -> int:
    """Return the incarnation that a checkpoint was made for."""
    return _read(checkpoint.place)


def supersede(checkpoint: Checkpoint) -> int:
    """Begin a new incarnation of a copy, and give it: its checkpoint acknowledges nothing more."""
    number = max(present(checkpoint), of_checkpoint(checkpoint)) + 1
    _write(checkpoint.place.parent, number)
    return number


def sign(place: Place, number: int) -> None:
    """Write into a new checkpoint the incarnation that it is made for."""
    _write(place, number)


def keep(checkpoint: Checkpoint) -> None:
    """Let a copy go on in its checkpoint, also if it was to be replaced."""
    number = of_checkpoint(checkpoint)
    if present(checkpoint) != number:
        _write(checkpoint.place.parent, number)


def _read(place: Place) -> int:
    stored = read_json(place / _NAME, number=int)
    return 0 if stored is None else int(stored["number"])


def _write(place: Place, number: int) -> None:
    write_json(place / _NAME, {"number": number})
