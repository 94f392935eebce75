"""Whose state is whose: the stateful operators of a plan, as a query ran them last.

Spark hands a state to whatever stands in its place in the plan, and compares the operators' kinds
and the types of their keys alone. So if two operators are exchanged, or one gets other keys of the
same types, each goes on with a state that means something else, and rows are lost or counted
wrongly without an error. So does one whose session has other settings: in another time zone,
`cast(t as date)` gives other keys. So a query notes its operators and these, and a start compares.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import shorten

from streamproof.spark_bindings.checkpoints.checkpoint import Checkpoint
from streamproof.spark_bindings.checkpoints.meaning import COMPUTING, LEGACY
from streamproof.spark_bindings.checkpoints.stateful import Stateful
from streamproof.spark_bindings.errors import WrongCheckpoint
from streamproof.spark_bindings.storage.json_files import read_json, write_json

STATE_PLAN_FILE = "state_plan.json"
"""In a query's directory, or a copy's: the stateful operators that its state is of."""
_DEFAULT = "at its default"
TOLD_MAX = 300
"""Characters that are told of an operator, at most."""


def check_state_plan(
    query: str,
    place: Path,
    operators: Sequence[Stateful],
    checkpoint: Checkpoint,
    settings: Mapping[str, str] | None = None,
) -> None:
    """Compare a plan's stateful operators with those that the state is of; note them.

    A note of a version that noted no settings is taken for one with the same.

    Called before Spark starts the query. May be repeated.

    Parameters
    ----------
    query, place : its name and its directory
    operators, checkpoint : `stateful_operators` of its plan, and where its state is
    settings : of the session, which decide what the operators mean; see `Lasting`

    Raises
    ------
    WrongCheckpoint : if the state is of others, or was written with other settings
    """
    file = place / STATE_PLAN_FILE
    now = [dataclasses.asdict(operator) for operator in operators]
    note = read_json(file) or {}
    stored, noted = note.get("stateful"), note.get("settings")
    if stored is not None and checkpoint.last_planned() is not None:
        old, new = ([(part["state"], part["rows"]) for part in each] for each in (stored, now))
        is_permuted = old != new and sorted(old) == sorted(new)
        if [state for state, _ in old] != [state for state, _ in new] or is_permuted:
            raise WrongCheckpoint(
                f"the plan of query {query!r} keeps state in {_in_words(now)}, but the state "
                f"in {checkpoint.path} is of {_in_words(stored)}. Spark knows states "
                "by their order alone, so rows would be lost, or counted wrongly. Nothing was "
                "written. Give the plan the operators that it had; or, if the state means the "
                f"same in both, delete {file}"
            )
        if now and noted is not None:
            _require_settings(query, file, noted, settings or {}, checkpoint)
    write_json(file, {"stateful": now, "settings": dict(settings or {})})


def _require_settings(
    query: str,
    file: Path,
    noted: Mapping[str, str],
    settings: Mapping[str, str],
    checkpoint: Checkpoint,
) -> None:
    names = noted.keys() & settings.keys()  # another decides nothing in one of them
    if names >= set(COMPUTING):
        names |= {name for name in {*noted, *settings} if name.startswith(LEGACY)}
    was, now = ({name: each.get(name, _DEFAULT) for name in names} for each in (noted, settings))
    if changed := [name for name in sorted(names) if was[name] != now[name]]:
        told = ", ".join(f"{name} is {now[name]}, and was {was[name]}" for name in changed)
        raise WrongCheckpoint(
            f"the session has other settings than the one in which query {query!r} wrote its state "
            f"in {checkpoint.path}: {told}. The same expressions would give other keys or values, "
            "so rows would be lost, or counted wrongly. Nothing was written. Set "
            f"{', '.join(_as_set(name, was[name]) for name in changed)} before the start; or, if "
            f"the state means the same in both, delete {file}"
        )


def _as_set(name: str, value: str) -> str:
    return f"{name} to its default" if value == _DEFAULT else f"{name}={value}"


def _in_words(operators: Sequence[Mapping[str, str]]) -> str:
    are_alike = len({part["state"] for part in operators}) < len(operators)
    told = [
        f"{part['state']} of rows where {part['rows']}" if are_alike else part["state"]
        for part in operators
    ]
    return "; ".join(shorten(text, TOLD_MAX, placeholder="...") for text in told) or "no operator"
