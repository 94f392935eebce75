"""Paths: the way that a search went, as steps that the model's own methods take."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise

from streamproof.checker.lasso import Path
from streamproof.checker.native.code.cells import Encoder, Keys
from streamproof.checker.native.code.program import Program
from streamproof.checker.native.code.symmetry import Permutation, identity, moved
from streamproof.lang import Disabled
from streamproof.lang.model import Call


class EnginesDisagree(Exception):
    """The compiled code takes a step that the model's own methods do not. Streamproof is wrong."""


def path_along(program: Program, way: Sequence[Keys], more: Iterable[int] = ()) -> Path:
    """Find the steps of a way that a search went, from an initial state on.

    Where a state stands for its orbit, a step may lead to another state of the next orbit. Then all
    that came before changes places such that it leads to the very state that is wanted.

    Parameters
    ----------
    way : states, as numbers; representatives if the program has any
    more : ground actions to take from the last state on

    Raises
    ------
    EnginesDisagree : if the model's methods do not lead along it
    """
    taken, moves = [], []
    for before, wanted in pairwise(way):
        steps, reached = steps_up_to(program, before, wanted)
        taken.append(steps[-1])
        if program.symmetry:
            moves.append(program.symmetry.between(reached, wanted))
    path = Path(program.initial[way[0]], tuple(taken))
    if program.symmetry:
        path = Mover(program).moved_on_the_way(path, moves)
    return Path(path.start, (*path.steps, *more))


class Mover:
    """Lets elements change places on the paths of a program."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.calls = [call for call, _ in program.encoder.model.ground_actions]
        self.numbers = {call: number for number, call in enumerate(self.calls)}
        self.starts = {start: state for state, start in program.initial.items()}

    def moved(self, path: Path, permutation: Permutation) -> Path:
        """Return the path on which elements have changed places."""
        steps = tuple(self._step(step, permutation) for step in path.steps)
        return Path(self._start(path.start, permutation), steps)

    def moved_on_the_way(self, path: Path, permutations: Sequence[Permutation]) -> Path:
        """Return the path; after each step, elements change places on all steps before it.

        The path is gone once, from its end: each step is moved by what all later ones amount to.
        """
        amount = identity(self.program.encoder)
        steps: list[int] = []
        for step, permutation in zip(reversed(path.steps), reversed(permutations), strict=True):
            amount = {
                name: tuple(amount[name][element] for element in sent)
                for name, sent in permutation.items()
            }
            steps.append(self._step(step, amount))
        return Path(self._start(path.start, amount), tuple(reversed(steps)))

    def _start(self, start: int, permutation: Permutation) -> int:
        here = moved(self.program.encoder, self.starts[start], permutation)
        return self.program.initial[here]

    def _step(self, step: int, permutation: Permutation) -> int:
        return self.numbers[_moved_call(self.program.encoder, self.calls[step], permutation)]


def _moved_call(encoder: Encoder, call: Call, permutation: Permutation) -> Call:
    """Let elements change places in the arguments of an action."""
    sent = [
        encoder.domains[sort.name].elements[permutation[sort.name][index]]
        for sort, index in encoder.arguments_of(call)
    ]
    return replace(call, arguments=tuple(sent))


def steps_up_to(program: Program, before: Keys, wanted: Keys) -> tuple[list[int], Keys]:
    """List actions of a state, up to one that leads to a wanted orbit, and return its target.

    Raises
    ------
    EnginesDisagree : if none leads there
    """
    encoder, model = program.encoder, program.encoder.model
    state = encoder.decode(before)
    taken = []
    for number, (call, act) in enumerate(model.ground_actions):
        try:
            target = encoder.encode(act(state, *call.arguments))
        except (Disabled, AssertionError):
            continue
        taken.append(number)
        if target == wanted or (program.symmetry and _representative(program, target) == wanted):
            return taken, target
    raise EnginesDisagree(
        f"no action of {type(model).__name__} leads from {state} to {encoder.decode(wanted)}, "
        "which the compiled model reaches in one step"
    )


def _representative(program: Program, state: Keys) -> Keys:
    layout = program.layout
    return layout.unpack(program.represent(layout.pack([state]))[0])
