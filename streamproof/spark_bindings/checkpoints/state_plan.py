"""Whose state is whose: the stateful operators of a plan, as a query ran them last.

Spark hands a state to whatever stands in its place in the plan, and compares the operators' kinds
and the types of their keys alone. So if two operators are exchanged, or one gets other keys of the
same types, each goes on with a state that means something else, and rows are lost or counted
wrongly without an error. So does one whose session has other settings: in another time zone,
`cast(t as date)` gives other keys. So a query notes its operators and these, and a start compares.

A watermark is kept as a number of milliseconds, whichever column it was of: by another column, rows
would be late at once, or never. And what a query has emitted stands: in another output mode, what
it has held back is lost, or what it has emitted comes again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from textwrap import shorten

from streamproof.spark_bindings.checkpoints.checkpoint import Checkpoint
from streamproof.spark_bindings.checkpoints.keeping import was_noted_before
from streamproof.spark_bindings.checkpoints.meaning import ANSI, LEGACY
from streamproof.spark_bindings.checkpoints.stateful import Lasting
from streamproof.spark_bindings.errors import WrongCheckpoint
from streamproof.spark_bindings.storage.json_files import as_written, read_json, write_json
from streamproof.spark_bindings.storage.place import Place

STATE_PLAN_FILE = "state_plan.json"
"""In a query's directory, or a copy's: the stateful operators that its state is of."""
_DEFAULT = "at its default"
_CUT_OFF = re.compile(r"\\.\\.\\.\\ \d+\\ more\\ fields")  # of more than 25 arguments, once
TOLD_MAX = 300
"""Characters that are told of an operator, at most."""


def check_state_plan(query: str, place: Place, plan: Lasting, checkpoint: Checkpoint) -> None:
    """Compare a plan's stateful operators with those that the state is of; note them.

    What the note of an older version leaves out is taken to be the same.

    Called before Spark starts the query. May be repeated.

    Parameters
    ----------
    query, place : its name and its directory
    plan, checkpoint : `lasting_of` its plan, and where its state is

    Raises
    ------
    WrongCheckpoint : if the state is of others, or was written with other settings, by another
        watermark, or in another output mode
    """
    file = place / STATE_PLAN_FILE
    note = read_json(file) or {}
    stored = note.get("stateful")
    if stored is not None and checkpoint.last_planned() is not None:
        beneath = note.get("beneath")
        with as_written(file):
            was = [(part["state"], part["rows"]) for part in stored]
            _require_operators(query, file, was, plan, checkpoint, is_older=beneath is None)
            if beneath is not None:
                _require_beneath(query, file, [[*each] for each in beneath], plan)
        if plan.stateful:
            _require_watermarks(query, file, note.get("watermarks") or [], plan.watermarks)
            _require_output_mode(query, file, note.get("output_mode"), plan.output_mode)
            _require_settings(query, file, note.get("settings"), plan.settings, checkpoint)
    noted = {
        "stateful": [{"state": each.state, "rows": each.rows} for each in plan.stateful],
        "beneath": [[*each.beneath] for each in plan.stateful],
        "settings": dict(plan.settings),
        "watermarks": list(plan.watermarks),
    }
    write_json(file, {**noted, "output_mode": plan.output_mode})


def notes_several_watermarks(place: Place) -> bool:
    """Return whether a query, as it ran last, has state and several watermarks."""
    note = read_json(place / STATE_PLAN_FILE) or {}
    return bool(note.get("stateful")) and len(note.get("watermarks") or []) > 1


def _require_operators(
    query: str,
    file: Place,
    was: Sequence[tuple[str, str]],
    plan: Lasting,
    checkpoint: Checkpoint,
    *,
    is_older: bool,
) -> None:
    now = [
        (each.state, each.rows)
        for each in plan.stateful
        if not is_older or was_noted_before(each.state)
    ]
    is_permuted = was != now and sorted(was) == sorted(now)
    alike = [_is_alike(one, other) for (one, _), (other, _) in zip(was, now, strict=False)]
    if len(was) != len(now) or not all(alike) or is_permuted:
        raise WrongCheckpoint(
            f"the plan of query {query!r} keeps state in {_in_words(now)}, but the state "
            f"in {checkpoint.place} is of {_in_words(was)}. Spark knows states "
            "by their order alone, so rows would be lost, or counted wrongly. Nothing was "
            "written. Give the plan the operators that it had; or, if the state means the "
            f"same in both, delete {file}"
        )


def _is_alike(was: str, now: str) -> bool:
    """Compare what two states are of; an older version did not write all of it."""
    return was == now or bool(re.fullmatch(_CUT_OFF.sub(".*", re.escape(was)), now, re.DOTALL))


def _require_beneath(query: str, file: Place, was: Sequence[Sequence[str]], plan: Lasting) -> None:
    """Require the same beneath each of several operators of one form."""
    states = [each.state for each in plan.stateful]
    for number, (old, each) in enumerate(zip(was, plan.stateful, strict=True)):
        if old == [*each.beneath]:
            continue
        before, now = next(
            (one, other)
            for one, other in zip_longest(old, each.beneath, fillvalue="nothing")
            if one != other
        )
        which = states[: number + 1].count(each.state)
        raise WrongCheckpoint(
            f"the plan of query {query!r} has {states.count(each.state)} operators "
            f"{_short(each.state)}, and beneath number {which} is {_short(now.strip())}, where "
            f"{_short(before.strip())} was. Spark knows states by their order alone, so "
            "one would go on with the state of another, and rows would be lost or doubled. "
            "Nothing was written. Give each what was beneath it, in the same order; or start a "
            "new pipeline, in another directory, with this plan; or, if the state means the same "
            f"in both, delete {file}"
        )


def _require_watermarks(query: str, file: Place, was: Sequence[str], now: Sequence[str]) -> None:
    if was and list(was) != list(now):  # one that comes to a plan without begins at nothing
        raise WrongCheckpoint(
            f"the plan of query {query!r} has {_marks(now)}, but its state was written with "
            f"{_marks(was)}. Spark goes on from the time that the old one has reached, so rows "
            "would be dropped as late, or repetitions and closed windows would come again. Nothing "
            "was written. Give withWatermark the column that it had, or start a new pipeline with "
            f"this plan; or, if the times mean the same, delete {file}"
        )


def _require_output_mode(query: str, file: Place, was: str | None, now: str) -> None:
    if was and was != now:
        raise WrongCheckpoint(
            f"query {query!r} has output_mode={now!r}, but its state was written with "
            f"output_mode={was!r}. What its rows have changed until now was emitted as that mode "
            "says, or held back, so results would be lost, or emitted twice. Nothing was written. "
            f"Write output_mode={was!r}, or start a new pipeline with this mode; or, if both give "
            f"the same rows, delete {file}"
        )


def _require_settings(
    query: str,
    file: Place,
    noted: Mapping[str, str] | None,
    settings: Mapping[str, str],
    checkpoint: Checkpoint,
) -> None:
    if noted is None:
        return
    names = noted.keys() & settings.keys()  # another decides nothing in one of them
    if ANSI in names:  # something is computed in both
        names |= {name for name in {*noted, *settings} if name.startswith(LEGACY)}
    was, now = ({name: each.get(name, _DEFAULT) for name in names} for each in (noted, settings))
    if changed := [name for name in sorted(names) if was[name] != now[name]]:
        told = ", ".join(f"{name} is {now[name]}, and was {was[name]}" for name in changed)
        raise WrongCheckpoint(
            f"the session has other settings than the one in which query {query!r} wrote its state "
            f"in {checkpoint.place}: {told}. The same expressions would give other keys or values, "
            "so rows would be lost, or counted wrongly. Nothing was written. Set "
            f"{', '.join(_as_set(name, was[name]) for name in changed)} before the start; or, if "
            f"the state means the same in both, delete {file}"
        )


def _as_set(name: str, value: str) -> str:
    return f"{name} to its default" if value == _DEFAULT else f"{name}={value}"


def _marks(columns: Sequence[str]) -> str:
    return f"withWatermark on {', '.join(columns)}" if columns else "no watermark"


def _in_words(operators: Sequence[tuple[str, str]]) -> str:
    are_alike = len({state for state, _ in operators}) < len(operators)
    told = [f"{state} of {_rows(rows)}" if are_alike else state for state, rows in operators]
    return "; ".join(map(_short, told)) or "no operator"


def _rows(conditions: str) -> str:
    return f"rows where {conditions}" if conditions else "all rows"


def _short(text: str) -> str:
    return shorten(text, TOLD_MAX, placeholder="...")
