"""Every kind of file below a pipeline, a pair, a merged table: whose it is, what says its format.

A file of a kind that is not listed is an error: whoever adds one lists it, and gives it a format.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from enum import Enum
from pathlib import Path
from typing import Any

from streamproof.spark_bindings.storage.formats import FORMAT, FORMAT_KEY

Say = Callable[[str], Iterable[Any]]
"""Gives the parts of a file that say a format: each of them is to say it."""


def _object(text: str) -> Iterable[Any]:
    return [json.loads(text)]


def _lines(text: str) -> Iterable[Any]:
    return map(json.loads, filter(None, text.splitlines()))


def _commit(text: str) -> Iterable[Any]:
    (information,) = [line["commitInfo"] for line in _lines(text) if "commitInfo" in line]
    return [information]


def _offsets(text: str) -> Iterable[Any]:
    version, _, *offsets = text.splitlines()
    assert version == "v1"
    return [each for each in map(json.loads, offsets) if "channel" in each]


def _nothing(_: str) -> Iterable[Any]:
    return []


class Kind(Enum):
    """Whose a file is.

    The function gives the parts of it that say their format.
    """

    OBJECT = ("ours, an object", _object)
    LINES = ("ours, lines of objects", _lines)
    COMMIT = ("a commit of ours, in Delta's form", _commit)
    OFFSETS = ("Spark's, with offsets of ours in it", _offsets)
    SPARK = ("Spark's", None)
    DELTA = ("Delta's, or Arrow's", None)
    PASSING = ("ours, of a process: no later version reads anything in it", None)


Kinds = Mapping[str, Kind]
"""By a pattern of a file's path below a directory."""


def below(directory: str, kinds: Kinds) -> Kinds:
    """Return the kinds of files in a directory's directories of a name."""
    return {f"(?:{directory})/(?:{pattern})": kind for pattern, kind in kinds.items()}


SPARK: Kinds = {
    r"metadata|\.metadata\.crc": Kind.SPARK,
    r"offsets/\d+": Kind.OFFSETS,
    r"offsets/\.\d+\.crc": Kind.SPARK,
    r"commits/(\d+|\.\d+\.crc)": Kind.SPARK,
    r"sources/\d+/\.?\d+(\.compact)?(\.crc)?": Kind.SPARK,
    r"state/\d+/(_metadata|_stateSchema)/[^.]*(\..*crc)?": Kind.SPARK,
    r"state/\d+/\d+/(.*/)?\.?[\w.-]+\.(changelog|delta|snapshot|zip|sst|log)(\.crc)?": Kind.SPARK,
    r"state/\d+/\d+/(.*/)?_metadata/schema(\.crc)?": Kind.SPARK,
}
MERGE_CHECKPOINT: Kinds = {
    **SPARK,
    r"streamproof_merge\.json": Kind.OBJECT,
    r"streamproof_table\.json": Kind.OBJECT,
    r"streamproof_inputs\.json": Kind.OBJECT,
    r"streamproof_late_table\.json": Kind.OBJECT,
    r"streamproof_batches/\d+\.json": Kind.OBJECT,
}
TABLE: Kinds = {
    r"_delta_log/\d{20}\.json": Kind.COMMIT,
    r"_delta_log/\d{20}\.checkpoint\.parquet": Kind.DELTA,
    r"_delta_log/_last_checkpoint": Kind.DELTA,
    r"(rows|feed|turn)-[\w-]+\.parquet": Kind.DELTA,
}
CHANNEL: Kinds = {
    **TABLE,
    r"_streamproof_floor\.json": Kind.OBJECT,
    r"_streamproof_retention\.json": Kind.OBJECT,
    r"_streamproof_writers\.lock": Kind.PASSING,
}
PROCESS: Kinds = {
    r"lock|log\.txt": Kind.PASSING,
    r"beat\.json": Kind.OBJECT,
}
MACHINE: Kinds = {
    r"(earlier-)?events\.jsonl": Kind.LINES,
    r"recorders/\d+\.json": Kind.OBJECT,
}
QUERY: Kinds = {
    **MACHINE,
    **below("checkpoint", SPARK),
    r"batches/\d+\.json": Kind.OBJECT,
    r"state_plan\.json": Kind.OBJECT,
    r"inputs\.json": Kind.OBJECT,
    r"rerun\.json": Kind.OBJECT,
    r"rerun/[\w-]+\.\d+\.json": Kind.OBJECT,
}
COPY: Kinds = {
    **MACHINE,
    **PROCESS,
    r"(earlier-)?steps\.jsonl": Kind.LINES,
    **below("checkpoint", SPARK),
    r"kept/\d+\.json": Kind.OBJECT,
    r"delivered\.json": Kind.OBJECT,
    r"(checkpoint/)?incarnation\.json": Kind.OBJECT,
}
PAIR: Kinds = {
    **below("[AB]", COPY),
    r"order/\d+\.json": Kind.OBJECT,
    r"rows\.json": Kind.OBJECT,
    r"state_plan\.json": Kind.OBJECT,
    r"inputs\.json": Kind.OBJECT,
}
SNAPSHOT: Kinds = {
    r"request\.json": Kind.OBJECT,
    r"manifest\.json": Kind.OBJECT,
    r"outcome\.json": Kind.OBJECT,
    r"abandoned\.json": Kind.OBJECT,
    r"removed\.json": Kind.OBJECT,
    r"channels/[\w.-]+\.json": Kind.OBJECT,
    r"states/[\w.-]+\.json": Kind.OBJECT,
    **below(r"checkpoints/\w+", SPARK),
}
PIPELINE: Kinds = {
    r"pipeline\.json": Kind.OBJECT,
    **below(r"channels/\w+", CHANNEL),
    **below(r"queries/\w+", {**QUERY, **PAIR}),
    r"feeds/feed\.\w+/events\.jsonl": Kind.LINES,
    r"feeds/feed\.\w+/\d{6}/\d+\.json": Kind.OBJECT,
    **below(r"snapshots/\d{6}", SNAPSHOT),
    **below("alone|supervisor", PROCESS),
    r"vacuum/lock": Kind.PASSING,
    r"vacuum/(earlier-)?steps\.jsonl": Kind.LINES,
}


class Strange(AssertionError):
    """A file is of no known kind, or does not say its format."""


def look(root: Path, kinds: Kinds, *, is_old: bool = False) -> set[str]:
    """Look at each file below a directory; give the patterns of those that there are.

    Parameters
    ----------
    is_old : 0.1.0 wrote some of it, which says no format

    Raises
    ------
    Strange : if a file is of no kind, or one of ours does not say its format
    """
    patterns = {re.compile(pattern): kind for pattern, kind in kinds.items()}
    found = set()
    for file in sorted(root.rglob("*")):
        if file.is_dir():
            continue
        path = str(file.relative_to(root))
        matching = [pattern for pattern in patterns if pattern.fullmatch(path)]
        if len(matching) != 1:
            raise Strange(f"{path} is of {len(matching)} kinds: list it here, with its format")
        found.add(matching[0].pattern)
        _, parts = patterns[matching[0]].value
        for said in () if parts is None else parts(file.read_text()):
            number = said.get(FORMAT_KEY, None if is_old else "none")
            if number not in (None, FORMAT, str(FORMAT)):
                raise Strange(f"{path} says {FORMAT_KEY}={number}: {said}")
    return found
