"""Which engines there are, and which one is used unless one is asked for."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from streamproof.checker import reference
from streamproof.checker.exploration import INTERRUPTED, Exploration
from streamproof.checker.limits import Limits
from streamproof.checker.progress import OnProgress, ignore
from streamproof.lang import StreamproofError, Untraceable, WrongDefinition
from streamproof.lang.model import Model
from streamproof.lang.trace import trace_model

if TYPE_CHECKING:
    from streamproof.checker.native.checkpoint import Checkpoint  # LLVM takes a while to load

SMALL = 500
"""Distinct states up to which the reference engine is done before code would be compiled."""


THREADS_MAX = 64
"""Threads that states can be divided between."""


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
    """The native engine where a model can be traced and is not small, else the reference engine."""
    NATIVE = "native"
    REFERENCE = "reference"


def engine_of(
    name: EngineName, threads: int | None = None, checkpoint: Checkpoint | None = None
) -> Engine:
    """Give the engine of a name.

    Parameters
    ----------
    threads : of the native engine, a power of two; None for as many as there are cores
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
        return partial(explore, threads=threads)
    return partial(explore_natively, threads=threads, checkpoint=checkpoint)


def explore_natively(
    model: Model[Any],
    *,
    limits: Limits | None = None,
    on_progress: OnProgress = ignore,
    threads: int | None = None,
    checkpoint: Checkpoint | None = None,
) -> Exploration:
    """Search with the native engine; see `native.engine.explore`."""
    from streamproof.checker.native import engine  # numba takes a while to load

    return engine.explore(
        model, limits=limits, on_progress=on_progress, threads=threads, checkpoint=checkpoint
    )


def explore(
    model: Model[Any],
    *,
    limits: Limits | None = None,
    on_progress: OnProgress = ignore,
    threads: int | None = None,
) -> Exploration:
    """Search with the reference engine as long as the model is small, then with the native one.

    The arguments are those of the native engine, if it comes to that.
    """
    limits = limits or Limits()
    small = SMALL if limits.states_max is None else min(SMALL, limits.states_max)
    found = reference.explore(
        model, limits=replace(limits, states_max=small), on_progress=on_progress
    )
    is_small = found.stopped is None or found.counts.distinct < small
    if is_small or small == limits.states_max or found.stopped == INTERRUPTED:
        return found
    try:
        trace_model(type(model))
    except (Untraceable, WrongDefinition):
        return reference.explore(model, limits=limits, on_progress=on_progress)
    return explore_natively(model, limits=limits, on_progress=on_progress, threads=threads)
