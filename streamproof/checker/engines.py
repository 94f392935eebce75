"""Which engines there are, and which one is used unless one is asked for."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from streamproof.checker import reference
from streamproof.checker.exploration import INTERRUPTED, Exploration
from streamproof.checker.lasso import promise_names
from streamproof.checker.limits import Limits
from streamproof.checker.native.code.terms import NumberTooLarge
from streamproof.checker.packable import NotCompiled, Unpackable, why_not_packable
from streamproof.checker.progress import OnProgress, ignore, states_to_find
from streamproof.installed import absence, require
from streamproof.lang import StreamproofError, Untraceable, WrongDefinition
from streamproof.lang.model import Model

if TYPE_CHECKING:
    from streamproof.checker.native.checkpoint.checkpoint import (
        Checkpoint,  # LLVM takes a while to load
    )

SMALL = 500
"""Distinct states up to which the reference engine is done before code would be compiled.

500 states of Chandy-Lamport take it 0.17 s. The native engine takes 0.55 s to begin, even where its
code is kept, and more than ten times that where it is not.
"""
FEW = 4_000
"""Distinct states up to which the reference engine goes on, if there seem to be no more.

They take it a second or two, and compiling takes two to ten.
"""
UNFIT = "the native engine cannot take the model"
THREADS_MAX = 64
"""Threads that states can be divided between."""


class SymmetryRefused(StreamproofError, ValueError):
    """Symmetry is asked for where it cannot be made use of."""


class NotKept(StreamproofError, ValueError):
    """A search was to be kept in a directory by an engine that cannot do so."""


class Engine(Protocol):
    """Explores a model: a function, whichever engine it belongs to."""

    def __call__(
        self, model: Model[Any], *, limits: Limits | None = None, on_progress: OnProgress = ignore
    ) -> Exploration:
        """Visit every reachable state, nearest first, up to the first that breaks a property."""


class EngineName(StrEnum):
    """What a user may ask for."""

    AUTO = "auto"
    """The native engine where a model can be packed and is not small, else the reference engine."""
    NATIVE = "native"
    REFERENCE = "reference"


def engine_of(
    name: EngineName,
    threads: int | None = None,
    symmetry: bool | None = None,
    checkpoint: Checkpoint | None = None,
) -> Engine:
    """Return the engine of a name.

    Parameters
    ----------
    threads : of the native engine, a power of two; None for as many as there are cores
    symmetry : whether the native engine keeps one state of each orbit; None for doing so where the
        model has no promises
    checkpoint : where the native engine keeps the search; no other engine can

    Raises
    ------
    NotKept : if the reference engine is to keep a search
    """
    if name is EngineName.REFERENCE:
        if checkpoint is not None:
            raise NotKept(
                "the reference engine keeps whole Python objects, which it cannot write down, so "
                "the search would be lost if it were ended. Nothing was searched. Leave out "
                "--engine, or leave out --checkpoint and --resume"
            )
        return reference.explore
    if name is EngineName.AUTO and checkpoint is None:
        return partial(explore, threads=threads, symmetry=symmetry)
    return partial(explore_natively, threads=threads, symmetry=symmetry, checkpoint=checkpoint)


def symmetry_for(
    model: Model[Any], asked: bool | None, engine: EngineName, *, liveness: bool
) -> bool:
    """Decide whether to make use of symmetry: where no promises are to be decided.

    Parameters
    ----------
    asked : what the user wants, if anything
    engine : which engine is to search
    liveness : whether the promises of the model belong to the question

    Raises
    ------
    SymmetryRefused : if it is asked for together with promises, or with the reference engine
    """
    promises = promise_names(model)
    if asked is None:
        return not (liveness and promises)
    if asked and engine is EngineName.REFERENCE:
        raise SymmetryRefused(
            "the reference engine visits every state and knows nothing of symmetry. Leave out "
            "--symmetry or --engine reference"
        )
    if asked and liveness and promises:
        raise SymmetryRefused(
            f"{', '.join(promises)} promises something on infinite runs, where it matters which "
            "element is served; with symmetry elements change places on the way, so that a run "
            "that serves each in turn looks like one that starves all but one. Leave out "
            "--symmetry, or liveness with --safety"
        )
    return asked


def explore_natively(
    model: Model[Any],
    *,
    limits: Limits | None = None,
    on_progress: OnProgress = ignore,
    threads: int | None = None,
    symmetry: bool | None = None,
    checkpoint: Checkpoint | None = None,
) -> Exploration:
    """Search with the native engine; see `native.engine.explore`.

    Symmetry that is neither asked for nor refused is used where the model has no promises.

    Raises
    ------
    NotInstalled : if what compiles models, or what compares them with their code, is missing
    """
    require_native()
    from streamproof.checker.native import engine  # LLVM takes a while to load

    if symmetry is None:
        symmetry = not promise_names(model)
    return engine.explore(
        model,
        limits=limits,
        on_progress=on_progress,
        threads=threads,
        symmetry=symmetry,
        checkpoint=checkpoint,
    )


def explore(
    model: Model[Any],
    *,
    limits: Limits | None = None,
    on_progress: OnProgress = ignore,
    threads: int | None = None,
    symmetry: bool | None = None,
) -> Exploration:
    """Search with the reference engine as long as the model is small, then with the native one.

    The arguments are those of the native engine, if it comes to that. `Exploration.why` says why
    the one or the other was used.
    """
    limits = limits or Limits()
    found, is_enough = _by_reference(model, limits, SMALL, on_progress)
    more = states_to_find(found.counts.distinct, found.level_ends)
    if not is_enough and found.counts.distinct + more <= FEW:
        found, is_enough = _by_reference(model, limits, FEW, on_progress)
    if is_enough:
        states = f"{found.counts.distinct:,} states were visited before code would be compiled"
        return replace(found, why=states)
    try:
        refusal = why_not_native(model)
        if refusal is None:
            found = explore_natively(
                model, limits=limits, on_progress=on_progress, threads=threads, symmetry=symmetry
            )
            return replace(found, why=f"there are more than {SMALL} states")
    except (Untraceable, WrongDefinition, Unpackable, NumberTooLarge, NotCompiled) as error:
        refusal = f"{UNFIT}: {error}"
    except KeyboardInterrupt:  # while the native engine was being loaded
        return replace(found, stopped=INTERRUPTED)
    found = reference.explore(model, limits=limits, on_progress=on_progress)
    return replace(found, why=refusal)


def require_native() -> None:
    """Refuse to use the native engine where it is not installed.

    A green verdict of it needs Z3, too: it rests on a comparison of the traced form with the code.

    Raises
    ------
    NotInstalled : if it is not
    """
    require("check", "the native engine", result="Nothing was searched")


def why_not_native(model: Model[Any]) -> str | None:
    """Report why the native engine is not used for a model; None if it can be."""
    absent = absence("check")
    if absent:
        return f"the native engine is {absent}"
    refusal = why_not_packable(model)
    return None if refusal is None else f"{UNFIT}: {refusal}"


def _by_reference(
    model: Model[Any], limits: Limits, states_max: int, on_progress: OnProgress
) -> tuple[Exploration, bool]:
    """Search up to so many states; tell whether that is all that is asked."""
    most = states_max if limits.states_max is None else min(states_max, limits.states_max)
    found = reference.explore(
        model, limits=replace(limits, states_max=most), on_progress=on_progress
    )
    is_whole = found.stopped is None or found.counts.distinct < most
    return found, is_whole or most == limits.states_max or found.stopped == INTERRUPTED
