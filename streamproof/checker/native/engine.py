"""The native engine's function, of the form that `check` takes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from streamproof.checker.counterexample import LeftRange, retrace
from streamproof.checker.exploration import INTERRUPTED, Exploration, Path, Reduction, counts_of
from streamproof.checker.lasso import Liveness
from streamproof.checker.limits import LimitReached, Limits, threads_useful
from streamproof.checker.native.checkpoint.checkpoint import Checkpoint
from streamproof.checker.native.checkpoint.keeper import keeper_of
from streamproof.checker.native.checkpoint.resume import take_over
from streamproof.checker.native.code.codegen import Event
from streamproof.checker.native.code.program import Program
from streamproof.checker.native.paths import EnginesDisagree, Mover
from streamproof.checker.native.premises import note_premises
from streamproof.checker.native.search import Found, Search, widened
from streamproof.checker.packable import check_start
from streamproof.checker.progress import OnProgress, ignore
from streamproof.checker.properties import STUCK, Broken, Properties
from streamproof.checker.ranges import find_outside
from streamproof.lang.model import Call, Model, Role
from streamproof.models.kit.verdict import CLAIMS, DEADLOCK


def explore(
    model: Model[Any],
    *,
    limits: Limits | None = None,
    on_progress: OnProgress = ignore,
    threads: int | None = None,
    symmetry: bool = False,
    checkpoint: Checkpoint | None = None,
) -> Exploration:
    """Visit every reachable state of a traced model, nearest first, as the reference engine does.

    It keeps to the limits and tells `on_progress` in the same way. One thread visits states in the
    very order of the reference engine. Several threads do not, so once they have found that
    something is wrong, one thread says what comes first.

    Parameters
    ----------
    threads : a power of two; None for one up to the first wide level, and from there on as many as
        the machine has cores for, beyond which more only wait for each other
    symmetry : whether to keep one state of each orbit, which counts the same and shows as much, but
        decides no promise
    checkpoint : where the search is kept, so that it goes on after it was ended

    Raises
    ------
    CheckpointRefused : if it cannot be kept there, or cannot go on from there
    Untraceable, WrongDefinition, Unpackable : if the model cannot be traced, or not packed
    BrokenModel : if an @init fails
    LeftRange : if a number is, or is driven by an action, out of its declared range
    EnginesDisagree : if the compiled model and its Python methods are found to differ
    """
    limits = limits or Limits()
    wanted = 1 if limits.states_max is not None else threads or threads_useful()
    begins_narrow = threads is None and checkpoint is None
    check_start(model)
    with keeper_of(checkpoint, model) as keeper:
        ranges = dict(keeper.ranges)
        while True:
            program = Program(model, ranges, symmetry=symmetry)
            first = 1 if begins_narrow else wanted
            search = Search(program, limits, on_progress, first, wanted // first)
            stopped, is_read = None, False
            try:
                with keeper.following(search):
                    is_read = True
                    search.run()
                    if search.gives_way:
                        search = _with_threads(search, wanted)
                        search.run()
            except (LimitReached, KeyboardInterrupt) as end:
                if isinstance(end, KeyboardInterrupt) and not is_read:  # it is kept as it was
                    raise
                stopped = str(end) or INTERRUPTED
            found = search.found
            if found is not None and found.event is Event.WIDEN:
                ranges |= widened(search, found)
            elif found is not None and not search.is_in_order:
                wanted = 1
            else:
                return _report(model, search, stopped)


def _with_threads(earlier: Search, threads: int) -> Search:
    """Go on with several threads where one has come."""
    search = Search(earlier.program, earlier.limits, earlier.on_progress, threads)
    take_over(search, earlier)
    return search


def _report(model: Model[Any], search: Search, stopped: str | None) -> Exploration:
    broken: tuple[Broken, ...] = ()
    path = None
    starts = search.program.starts
    if search.found is not None:
        broken, path = _what_breaks(model, search, search.found)
        if search.found.event is Event.NONE and not path.steps:
            starts = path.start + 1  # those behind it were not looked at
    counts = counts_of(model, search.distinct, starts, search.depth, search.fired)
    witnesses: dict[Call, Path] = {}
    try:
        witnesses = _witnesses(model, search)
        note_premises(model, search)
    except KeyboardInterrupt:
        stopped = INTERRUPTED
    decide = partial(_decide_liveness, model, search)
    return Exploration(
        counts,
        broken,
        path,
        witnesses,
        stopped,
        "native",
        decide,
        _reduction(search),
        search.resumed,
        tuple(search.level_ends),
        sum(part.done for part in search.partitions),
    )


def _reduction(search: Search) -> Reduction | None:
    symmetry = search.program.symmetry
    if symmetry is None:
        return None
    alike = tuple((group.domain, len(group.members)) for group in symmetry.used)
    return Reduction(search.kept, alike, search.resumed_from.distinct)


def _decide_liveness(model: Model[Any], search: Search) -> Liveness:
    from streamproof.checker.native.liveness import decide_liveness

    return decide_liveness(model, search)


def _what_breaks(
    model: Model[Any], search: Search, found: Found
) -> tuple[tuple[Broken, ...], Path]:
    """Ask the model's own methods what is wrong where the search ended."""
    if found.event is Event.DEADLOCK:
        broken = (Broken(DEADLOCK, STUCK),)
        return broken, search.path_to(found.reference)
    if found.event is Event.NONE:
        path = search.path_to(found.reference)
        *before, state = retrace(model, path).states
        properties = Properties.of(model)
        of_step = properties.broken_by(before[-1], state) if before else ()
        return (*of_step, *_confirmed(properties.broken_in(state), state)), path
    path = search.path_to(found.reference, found.action)
    if found.event is Event.CLAIM:
        return (Broken(CLAIMS, "an assert failed"),), path
    before, after = retrace(model, path).states[-2:]
    if found.event is Event.LEFT_RANGE:
        outside = find_outside(model)
        told = outside(after) if outside else None
        action = str(model.ground_actions[found.action][0])
        raise LeftRange.of(model, path, action, _confirmed(told, after))
    return _confirmed(Properties.of(model).broken_by(before, after), after), path


def _confirmed(answer: Any, state: Any) -> Any:
    if not answer:
        raise EnginesDisagree(f"the compiled model finds a fault in {state} that is none")
    return answer


def _witnesses(model: Model[Any], search: Search) -> dict[Call, Path]:
    calls = [call for method in model.methods(Role.SOMETIMES) for call in model.calls(method)]
    found = {
        call: search.first(where) for call, where in zip(calls, search.program.first, strict=False)
    }
    paths = {call: search.path_to(at) for call, at in found.items() if at is not None}
    if search.program.symmetry is None:
        return paths
    nearest = sorted(paths.items(), key=lambda item: len(item[1].steps))
    mover = Mover(search.program)
    shown = {call: _shown_by_likes(mover, call, nearest) for call in calls}
    return {call: path for call, path in shown.items() if path is not None}


def _shown_by_likes(mover: Mover, call: Call, nearest: Sequence[tuple[Call, Path]]) -> Path | None:
    """Return a path to a witness, made of the path to one for like elements; None without one."""
    program = mover.program
    assert program.symmetry is not None
    wanted = program.encoder.arguments_of(call)
    for other, path in nearest:
        if other.name == call.name:
            pairs = zip(program.encoder.arguments_of(other), wanted, strict=True)
            permutation = program.symmetry.sending((sort.name, a, b) for (sort, a), (_, b) in pairs)
            if permutation is not None:
                return mover.moved(path, permutation)
    return None
