"""What every engine says of a model, and every shape of compiled code."""

from __future__ import annotations

import pytest

from streamproof.checker import Limits, check
from streamproof.checker import explore as reference
from streamproof.checker.counterexample import BrokenModel
from streamproof.checker.engines import EngineName
from streamproof.checker.native.checkpoint.checkpoint import Checkpoint
from streamproof.checker.native.code import program
from streamproof.checker.native.code.terms import NumberTooLarge
from streamproof.checker.native.engine import explore as native
from streamproof.checker.simulate import simulate
from streamproof.checker.walks import Plan

PLAN = Plan(walks=40, length_max=60)


def told(ask):
    """Give what a check or a simulation says: statuses, counts and traces; or how it failed."""
    try:
        report = ask()
    except NumberTooLarge:
        return "NumberTooLarge"
    except BrokenModel as error:
        return type(error).__name__, str(error)
    return {part.name: part.verdict.to_json() for part in report.findings}


def with_symmetry(model, **options):
    return native(model, symmetry=True, **options)


def two_threads(model, **options):
    return native(model, threads=2, **options)


def resumed(place):
    def explore(model, **options):
        directory = place / str(len(list(place.iterdir())))
        native(model, checkpoint=Checkpoint(directory), limits=Limits(depth_max=2))
        return native(model, checkpoint=Checkpoint(directory, resume=True), **options)

    return explore


def answers(model, place):
    """Give what plain Python says of a model and of walks, and what compiled code does."""
    wanted = told(lambda: check(model, engine=reference))
    found = {}
    with pytest.MonkeyPatch.context() as patch:
        for loops in (False, True):
            patch.setattr(program, "is_large", lambda encoder, loops=loops: loops)
            engines = [native, with_symmetry, two_threads, resumed(place)]
            for engine in engines:
                name = engine.__name__, loops
                found[name] = told(lambda engine=engine: check(model, engine=engine))
            found["walks", loops] = told(
                lambda: simulate(model, plan=PLAN, engine=EngineName.NATIVE)
            )
    walked = told(lambda: simulate(model, plan=PLAN, engine=EngineName.REFERENCE))
    return wanted, walked, found


def assert_right(model, place, *, may_refuse=False):
    """See that every shape says the same as plain Python, or refuses if it may."""
    wanted, walked, found = answers(model, place)
    for name, answer in found.items():
        if may_refuse and answer == "NumberTooLarge":
            continue
        assert answer == (walked if name[0] == "walks" else wanted), name
    return wanted
