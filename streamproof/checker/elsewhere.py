"""Elsewhere: a model must answer in other processes as it does here.

Hashes of texts and addresses of objects are others in each process. What lets them decide something
answers alike however often it is asked in one process. So some processes, with given hashes, write
down what the methods of a model answer about its first states (`prefix`), and must write the same.
What can be seen to be the same everywhere (`evident`) is not asked.
"""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, fields
from io import BytesIO
from itertools import pairwise
from operator import attrgetter
from pathlib import Path
from typing import Any

from streamproof.checker.canonical import text_of
from streamproof.checker.evident import is_evident
from streamproof.checker.prefix import CHILD, MAIN, Request, Told
from streamproof.lang.impure import ImpureModel
from streamproof.lang.model import Model
from streamproof.lang.surroundings import computed_once

SEEDS = (0, 1, 2, 3)
"""The hashes of the processes that are compared: given ones, so that our own have no part in it."""
SECONDS_MAX = 30.0
"""After so long a process is ended, and what it has written by then is compared."""
_PROGRAM = "import sys; sys.path[:] = {path!r}; from streamproof.checker import prefix; "
_CALL = "prefix.main({place!r}, {number})"
_known: dict[tuple[type[Any], bytes], _Found] = {}


@dataclass(frozen=True, slots=True)
class _Found:
    """What a comparison of processes has found: a difference, or why it may have missed one."""

    difference: str = ""
    missing: str = ""


class _NotElsewhere(Exception):
    """A model cannot be loaded in another process."""


def require_same_elsewhere(model: Model[Any]) -> str:
    """Refuse a model whose methods answer otherwise in another process; each is asked once.

    Returns
    -------
    Why not all processes were compared; empty if all were, or if the code shows that none need be.

    Raises
    ------
    ImpureModel : if two processes differ in an answer
    """
    if CHILD in os.environ or is_evident(model):
        return ""
    try:
        request = request_for(model)
    except _NotElsewhere as reason:
        return str(reason)
    key = (type(model), request.fields)
    if key not in _known:
        _known[key] = _compared(request)
    if _known[key].difference:
        raise ImpureModel(_known[key].difference)
    return _known[key].missing


def request_for(model: Model[Any]) -> Request:
    """Return how a model is loaded in another process.

    Raises
    ------
    _NotElsewhere : if it cannot be
    """
    cls = type(model)
    module = sys.modules.get(cls.__module__)
    file = getattr(module, "__file__", None)
    if module is None or not file or not Path(file).is_file():
        raise _NotElsewhere(f"{cls.__name__} stands in no file")
    if not _can_start():
        raise _NotElsewhere("this program is no Python that can be started once more")
    name = _name_in(module, cls)
    if name is None:
        raise _NotElsewhere(f"{cls.__name__} is made inside of a function")
    kept = {field.name: getattr(model, field.name) for field in fields(cls)}
    computed = computed_once(cls)
    own = getattr(model, "__dict__", {})
    kept |= {name: value for name, value in own.items() if name not in computed}
    try:
        pickled = _pickled(kept)
    except Exception as error:  # noqa: BLE001 - whatever it is that cannot be handed on
        raise _NotElsewhere(f"a field cannot be handed on: {error}") from None
    path = str(Path(file).resolve())
    return Request(cls.__module__, path, name, _under(module), pickled, tuple(sys.argv))


def _under(module: Any) -> str:
    """Return the name of a module in another process, which runs another main module."""
    if module.__name__ != "__main__":
        return str(module.__name__)
    spec = module.__spec__  # of `python -m package.module`
    return MAIN if spec is None else str(spec.name)


def _can_start() -> bool:
    """Return whether `sys.executable` is Python, and no frozen program: that would start anew."""
    return bool(sys.executable) and not getattr(sys, "frozen", False)


def _name_in(module: Any, cls: type[Any]) -> str | None:
    """Find the name of a class in its module; None if it is inside of a function."""
    with suppress(AttributeError):
        if attrgetter(cls.__qualname__)(module) is cls:
            return str(cls.__qualname__)
    names = [name for name, value in list(vars(module).items()) if value is cls]
    return names[0] if names else None


class _Pickler(pickle._Pickler):  # noqa: SLF001 - the one whose table can be extended
    dispatch = dict(pickle._Pickler.dispatch)  # noqa: RUF012, SLF001


def _pickle_sorted(pickler: Any, members: Any) -> None:
    """Hand the members of a set on in an order that does not depend on our own hashes."""
    pickler.save_reduce(type(members), (sorted(members, key=text_of),), obj=members)


_Pickler.dispatch |= {set: _pickle_sorted, frozenset: _pickle_sorted}


def _pickled(value: Any) -> bytes:
    out = BytesIO()
    _Pickler(out, 5).dump(value)
    return out.getvalue()


# --------------------------------------------------------------------------- comparing


def _compared(request: Request) -> _Found:
    ended = _written(request)
    written = [told for told, _ in ended if told]
    for one, other in pairwise(written):
        if found := _first_difference(one, other):
            return _Found(difference=found)
    if len(written) == len(SEEDS):
        return _Found()
    why = next((error for told, error in ended if error and not told), "")
    done = f"{len(written)} of {len(SEEDS)} processes"
    reason = f"; another one ended with {why}" if why else f" within {SECONDS_MAX:g} s"
    return _Found(missing=f"{request.file} was loaded in {done}{reason}")


def _first_difference(one: Sequence[Told], other: Sequence[Told]) -> str | None:
    for left, right in zip(one, other, strict=False):
        for name in left.answers:
            mine, others = left.answers[name], right.answers.get(name)
            if left.state == right.state and mine != others:
                return _message(name, left.state, mine, str(others))
    return None


def _message(name: str, state: str, one: str, other: str) -> str:
    about = f" about {state}" if state else ""
    return (
        f"{name} was asked{about} in two processes, and answered {one} in one and {other} in the "
        "other: the hash of a text, the order of a set or the address of an object decides. A "
        "verdict would hold for one process alone, and a counterexample could not be run again. "
        "Go through sorted(...) of a set, or use a tuple, or a Map over a Domain; compare values "
        "by ==, and take nothing from the text of an object that does not say what it is"
    )


def _written(request: Request) -> list[tuple[list[Told], str]]:
    """Let processes write down what they find, at the same time, or the error in which each ended.

    Empty if none can be started.
    """
    with tempfile.TemporaryDirectory(prefix="streamproof-") as directory:
        place = Path(directory) / "request"
        place.write_bytes(pickle.dumps(request))
        outputs = [Path(directory) / f"{number}" for number, _ in enumerate(SEEDS)]
        started: list[subprocess.Popen[bytes]] = []
        try:
            for number, output in enumerate(outputs):
                started.append(_start(str(place), number, output))
            end = time.monotonic() + SECONDS_MAX
            for process in started:
                with suppress(subprocess.TimeoutExpired):
                    process.wait(max(0.0, end - time.monotonic()))
        except OSError:  # no more processes, or no Python: nothing can be compared
            return []
        finally:
            for process in started:
                process.kill()
                process.wait()
        return [(_read(output), _error_in(_errors_of(output))) for output in outputs]


def _start(place: str, number: int, output: Path) -> subprocess.Popen[bytes]:
    program = _PROGRAM.format(path=sys.path) + _CALL.format(place=place, number=number)
    with output.open("wb") as out, _errors_of(output).open("wb") as errors:
        return subprocess.Popen(  # noqa: S603 - Python itself, with a text of our own
            [sys.executable, "-c", program],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=errors,
            env={**os.environ, "PYTHONHASHSEED": str(SEEDS[number]), CHILD: "1"},
        )


def _read(output: Path) -> list[Told]:
    """Read what a process has written, as far as it came."""
    lines = output.read_text(encoding="utf-8").split("\n")[:-1]
    return [Told(*json.loads(line)) for line in lines]


def _errors_of(output: Path) -> Path:
    return output.with_suffix(".err")


def _error_in(errors: Path) -> str:
    """Return the last line of a traceback, if there is one."""
    lines = errors.read_text(encoding="utf-8", errors="replace").splitlines()
    return lines[-1] if any(line.startswith("Traceback") for line in lines) else ""
