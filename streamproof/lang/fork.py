"""Running a function once for every path: a symbolic truth forks the run.

A run follows a list of answers to the questions that it asks (`decide`); the first question without
an answer is taken to be true, and the other answer is queued. Nothing is parsed: Python itself runs
`if`, `and`, `or`, `not`, `in`, `match` and chained comparisons.

A path ends in a refusal if anything on the way had no symbolic reading, whatever the function made
of the error, if its code may see that a value is symbolic, or if something outside of it changed.
"""

from __future__ import annotations

import dataclasses
import itertools
import sys
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from enum import Enum
from typing import Any, TypeAlias

from streamproof.lang.claims import claim_text
from streamproof.lang.errors import Disabled, TooManyPaths, Untraceable
from streamproof.lang.expr import FALSE, Const, Expr, negate
from streamproof.lang.guarded import is_guarded
from streamproof.lang.origin import Origin, origin_of
from streamproof.lang.quantify import Site
from streamproof.lang.refusals import (
    location_of,
    noted,
    refused_at,
    refused_error,
    untraceable,
)
from streamproof.lang.runs import Run, Unending, current_run, running
from streamproof.lang.watch import watching

PATHS_MAX = 256
"""Paths of one action, or of one merged lambda, before it is refused."""


Questions: TypeAlias = tuple[Expr, ...]
"""What holds on one path: the questions that it asks, or their negations, in order."""


class Ending(Enum):
    """How a path ends."""

    VALUE = "value"
    DISABLED = "disabled"
    BROKEN_CLAIM = "broken claim"


@dataclass(frozen=True)
class Path:
    """One path through a function.

    Attributes
    ----------
    decisions : the questions asked on the way with the answers followed, in order
    value : what the function gave; for a broken claim, where it stands
    claims : claims inside merged lambdas: the condition that breaks one, and where it stands
    premises : premises of `implies` on the way: whose, and under which condition they hold
    """

    decisions: tuple[tuple[Expr, bool], ...]
    ending: Ending
    value: Any
    claims: tuple[tuple[Expr, str], ...]
    premises: tuple[tuple[Site, Expr], ...]

    @property
    def condition(self) -> Questions:
        """The path condition, as the conjuncts that this path chose."""
        return tuple(asked if answer else negate(asked) for asked, answer in self.decisions)


_fresh = itertools.count()


def fresh_name() -> str:
    """Return a variable name that no source text can contain."""
    return f"%{next(_fresh)}"


def decide(condition: Expr) -> bool:
    """Answer a symbolic truth: by what is known on this path, or by forking the run."""
    if isinstance(condition, Const):
        return bool(condition.value)
    run = current_run()
    if run is None:
        raise untraceable(
            "a symbolic value was asked for its truth outside a trace",
            "Call the function through trace(...)",
        )
    known = run.known(condition)
    if known is not None:
        return known
    asked = len(run.decisions)
    before, answer = run.prefix[asked] if asked < len(run.prefix) else (condition, True)
    if before != condition:
        raise untraceable(
            f"it asks {condition} where it asked {before} before, so runs of it are not alike",
            "Let it depend on its arguments alone, and on nothing that is kept between two runs",
        )
    if asked >= PATHS_MAX:
        raise untraceable(
            f"it asked more than {PATHS_MAX} questions on one path, as a symbolic loop does",
            "Loop over a quantifier or Map.map instead, which need no size",
        )
    run.decisions.append((condition, answer))
    run.learn(condition, answer)
    return answer


def break_claim(condition: Expr, where: str) -> None:
    """Note that a claim inside a merged lambda fails under a condition."""
    run = current_run()
    if run is not None and condition != FALSE:
        if is_guarded(sys._getframe()):  # noqa: SLF001 - how a frame is had
            raise untraceable(
                "a claim stands inside a lambda, and around that a `try` or `with`, which would "
                "catch what the first element raises that breaks it",
                "Write assert forall(...) outside of it, or take the `try` away",
            )
        run.claims.append((condition, where))


def ask_premise(site: Site, condition: Expr) -> None:
    """Note under which condition the premise of an `implies` holds."""
    run = current_run()
    if run is not None:
        run.premises.append((site, condition))


def paths(function: Callable[[], Any], name: str) -> list[Path]:
    """Run a function once for every path, in the order of a depth-first search, true first.

    Raises
    ------
    Untraceable : if it does what has no symbolic reading
    TooManyPaths : if it has more than `PATHS_MAX`
    """
    found: list[Path] = []
    pending: list[tuple[tuple[Expr, bool], ...]] = [()]
    while pending:
        prefix = pending.pop()
        run = Run(prefix, current_run())
        ending, value = _run_path(function, name, run)
        decisions = tuple(run.decisions)
        pending.extend(
            (*decisions[:index], (decisions[index][0], False))
            for index in range(len(prefix), len(decisions))
            if decisions[index][1]
        )
        learned = tuple(run.claims), tuple(run.premises)
        found.append(Path(decisions, ending, value, *learned))
        if len(found) > PATHS_MAX:
            remedy = (
                "Split it into several actions, or move conditions into forall, exists or Map.map"
            )
            what = f"it has more than {PATHS_MAX} paths"
            raise noted(TooManyPaths(name, location_of(function), what, remedy))
    _tell_observer(found)
    return found


_observer: ContextVar[list[list[Questions]] | None] = ContextVar("observer", default=None)


@contextmanager
def observing_paths() -> Iterator[list[list[Questions]]]:
    """Collect the conditions of all paths, function by function, those of lambdas in them first.

    A traced form has them no longer where all paths give the same.
    """
    noted_paths: list[list[Questions]] = [[]]
    token = _observer.set(noted_paths)
    try:
        yield noted_paths
    finally:
        noted_paths.pop()
        _observer.reset(token)


def _tell_observer(found: list[Path]) -> None:
    noted_paths = _observer.get()
    if noted_paths is None:
        return
    around: Questions = ()
    run = outer = current_run()
    while run is not None:
        around = (*(held if answer else negate(held) for held, answer in run.decisions), *around)
        run = run.outer
    noted_paths[-1] += [(*around, *path.condition) for path in found]
    if outer is None:
        noted_paths.append([])


def _run_path(function: Callable[[], Any], name: str, run: Run) -> tuple[Ending, Any]:
    """Follow one path to its end, and raise what was refused on the way, whoever caught it."""
    run.memory.watch(function)
    with running(run):
        try:
            with watching():
                ended = _run_once(function, name)
        except Unending:
            if run.outer is not None and run.outer.is_unending:
                raise
            refused = run.refusal or run.doubt
            assert refused is not None, "a path is stopped for its refusals"
            raise refused from None
        except Untraceable as error:
            if error is not run.doubt:
                noted(error)
            raise (run.refusal or error) from None
        _refuse_change(run, name, function)
    refused = run.refusal or run.doubt
    if refused is not None:
        raise refused
    return ended


def _refuse_change(run: Run, name: str, function: Callable[..., Any]) -> None:
    changed = run.memory.changed()
    if changed is None:
        return
    what, place = changed
    remedy = (
        "A function is traced once a path, and a lambda once for all elements: let it depend on "
        "its arguments alone, and return all that it finds"
    )
    code = next(iter(run.entered.values()), None)
    if place is None and code is not None:
        place = code, code.co_firstlineno
    if place is not None:
        noted(refused_at(*place, f"it {what}", remedy))
    else:
        noted(Untraceable(name, location_of(function), f"it {what}", remedy))


def _run_once(function: Callable[[], Any], name: str) -> tuple[Ending, Any]:
    try:
        return Ending.VALUE, function()
    except Disabled:
        return Ending.DISABLED, None
    except AssertionError as broken:
        if not _is_claim(broken):
            raise refused_error(broken, name, "Please report it: streamproof is wrong") from broken
        return Ending.BROKEN_CLAIM, claim_text(broken)
    except Untraceable:
        raise
    except dataclasses.FrozenInstanceError as error:
        raise refused_error(
            error, name, "Give a changed copy: dataclasses.replace(record, ...)"
        ) from error
    except RecursionError as error:
        remedy = "Recursion on a symbolic value never ends: use a quantifier or Map.map"
        raise Untraceable(name, location_of(function), "it recursed without end", remedy) from error
    except Exception as error:
        remedy = "A transition must run without errors on every state that its guard admits"
        raise refused_error(error, name, remedy) from error


def _is_claim(broken: AssertionError) -> bool:
    """Return whether a failed claim is the user's, not one that streamproof makes about itself."""
    *_, (frame, _) = traceback.walk_tb(broken.__traceback__)
    return origin_of(frame.f_code) is not Origin.LANGUAGE
