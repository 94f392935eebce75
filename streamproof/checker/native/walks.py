"""Walks by the native engine: thousands side by side, with one call for a step of all.

Compiled code only finds out which walk breaks something. What that is, `checker.walks` says, whose
walk of that number takes the same way.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamproof.checker.exploration import INTERRUPTED
from streamproof.checker.native.code.codegen import Event
from streamproof.checker.native.code.grounding import OF_STATES, premises_of
from streamproof.checker.native.code.program import Program
from streamproof.checker.native.kernels.kernel import Kernel, Rows, Words
from streamproof.checker.native.memory import empty
from streamproof.checker.native.paths import EnginesDisagree
from streamproof.checker.native.search import REPORT_EVERY_SECONDS, wider_range
from streamproof.checker.native.table import Candidates
from streamproof.checker.packable import check_start
from streamproof.checker.progress import Meter
from streamproof.checker.walks import OnWalks, Plan, Sample, Tally, Walker, mix
from streamproof.lang.model import Model, Role
from streamproof.lang.quantify import Site, note_premise, observed_premises

BATCH = 1 << 12
"""Walks side by side."""
SUCCESSORS = 1 << 17
"""Successors that there is room for, unless one state may have more."""
STEPS_SAMPLED = 500
"""Steps that are taken by the model's own methods, to see which premises hold."""


class Course(NamedTuple):
    """How walks go, and what they have done.

    `starts` are the packed initial states, `key` is that of the seed, and walks below `until` are
    begun; `totals` and `taken`, per ground action, are counted up.
    """

    starts: Rows
    key: np.uint64
    until: np.uint64
    length_max: np.uint64
    totals: Words
    taken: Words


class Walking(NamedTuple):
    """Walks under way, a row each: their state, their number, its key, and the steps taken."""

    states: Rows
    numbers: Words
    keys: Words
    lengths: Words


_advance = Kernel(
    "walks", "advance", Walking, np.int64, Candidates, np.uint64, Course, result=np.int64
)


def walk(model: Model[Any], plan: Plan, on_walks: OnWalks) -> Sample:
    """Take the walks of a traced model that `checker.walks.walk` takes, some thousands at once.

    Raises
    ------
    Untraceable, WrongDefinition, Unpackable : if the model cannot be traced, or not packed
    BrokenModel : if a method of the model fails
    EnginesDisagree : if the compiled model and its Python methods are found to differ
    """
    check_start(model)
    walker: Walker[Any] = Walker(model, plan.seed)
    walker.look_at_starts()
    if walker.broken or not walker.starts:
        return walker.sample("native", walker.tally, 0.0, None)
    ranges: dict[str, tuple[int, int]] = {}
    while True:
        batch = _Batch(Program(model, ranges), plan, on_walks)
        stopped = None
        try:
            batch.run(batch.program.expand)
        except KeyboardInterrupt:
            stopped = INTERRUPTED
        if batch.wider is None or stopped:
            break
        ranges |= batch.wider
    return _sample(walker, batch, stopped)


class _Batch:
    """Walks that are taken side by side.

    Attributes
    ----------
    count : walks under way
    breaking : the lowest number of a walk that breaks something, as far as is known
    found : per number of one of the program's `first` functions, a walk that leads to where it
        holds, the steps of that walk, and the ground action of one more
    wider : ranges that numbers were found to need, if the program has no room for one
    """

    def __init__(self, program: Program, plan: Plan, on_walks: OnWalks) -> None:
        self.program, self.plan, self.on_walks = program, plan, on_walks
        rows = max(1, min(BATCH, SUCCESSORS // max(1, program.branching), plan.walks))
        width, self.room = program.layout.words, rows * program.branching
        self.walking = Walking(_words(rows, width), *(_words(rows) for _ in range(3)))
        self.written = Candidates(
            *(empty(n, np.uint64) for n in ((self.room, width), (self.room,), (self.room,)))
        )
        self.produced, self.event, self.recent = _words(1), _words(4), _words(width)
        actions = len(program.encoder.model.ground_actions)
        self.fired, self.enabled, self.taken = _words(actions), _words(actions), _words(actions)
        self.starts, self.totals = program.layout.pack(tuple(program.initial)), _words(4)
        self.count, self.until, self.seconds = 0, plan.walks, 0.0
        self.unmet = dict(enumerate(program.first))
        self.found: dict[int, tuple[int, int, int]] = {}
        self.breaking: int | None = None
        self.wider: dict[str, tuple[int, int]] | None = None

    @property
    def tally(self) -> Tally:
        """What was done so far."""
        return Tally(self.taken.tolist(), self.enabled.tolist(), *self.totals.tolist())

    def run(self, expand: Any) -> None:
        """Take all walks, or those below the first that breaks something."""
        self._advance()  # begins the first walks
        meter, report_at = Meter(), 0.0
        try:
            while self.count:
                self._expand(expand)
                self._ask()
                self._advance()
                if meter.seconds > report_at:
                    self.on_walks(self.tally)
                    report_at = meter.seconds + REPORT_EVERY_SECONDS
        finally:
            self.seconds = meter.seconds

    def _course(self) -> Course:
        key, until = np.uint64(mix(self.plan.seed)), np.uint64(self.until)
        length_max = np.uint64(self.plan.length_max)
        return Course(self.starts, key, until, length_max, self.totals, self.taken)

    def _expand(self, expand: Any) -> None:
        """Write where all steps of all walks lead, leaving out walks that break something."""
        while True:
            self.produced[:] = self.fired[:] = 0
            expand(
                self.walking.states,
                self.count,
                0,
                *self.written,
                self.room,
                1,
                self.produced,
                self.fired,
                self.event,
                self.recent,
                0,
            )
            event, position, action, cell = map(int, self.event)
            if event == Event.NONE:
                assert position == self.count  # there is room for all successors
                self.enabled += self.fired
                return
            if event == Event.WIDEN:
                state = self.walking.states[position]
                self.wider = wider_range(self.program, state, action, cell)
                self.until = 0
            else:
                self.breaking = self.until = int(self.walking.numbers[position])
            self._drop()

    def _ask(self) -> None:
        """Look at the states that steps lead to."""
        words, count, begin = self.written.words, int(self.produced[0]), 0
        while begin < count:
            begin += self.program.first_breaking(words[begin:count], count - begin)
            if begin < count:
                self.breaking = self.until = min(self.until, self._origin(begin)[0])
                begin += 1
        for asked, where in list(self.unmet.items()):
            at = where(words, count)
            if at < count:
                self.found[asked] = self._origin(at)
                del self.unmet[asked]

    def _origin(self, at: int) -> tuple[int, int, int]:
        """Return the walk that found a state, the number of its steps, and the next action."""
        action, position = divmod(int(self.written.origins[at]), 1 << 32)
        walking = self.walking
        return int(walking.numbers[position]), int(walking.lengths[position]), action

    def _advance(self) -> None:
        """Let each walk take a step, and others begin."""
        course, produced = self._course(), self.produced[0]
        self.count = _advance(self.walking, self.count, self.written, produced, course)
        if self.breaking is not None:
            self._drop()

    def _drop(self) -> None:
        """Leave out the walks whose numbers are too high to be of interest."""
        kept = np.flatnonzero(self.walking.numbers[: self.count] < self.until)
        for array in self.walking:
            array[: len(kept)] = array[kept]
        self.count = len(kept)


def _sample(walker: Walker[Any], batch: _Batch, stopped: str | None) -> Sample:
    """Let a walker say what a batch has found."""
    model = walker.model
    calls = [call for method in model.methods(Role.SOMETIMES) for call in model.calls(method)]
    for number, (which, length, action) in batch.found.items():
        if number < len(calls) and calls[number] not in walker.witnesses:
            walker.witnesses[calls[number]] = walker.path_to(which, length, action)
    if batch.breaking is not None:
        walker.walk(batch.breaking, batch.plan.length_max)
    elif stopped is None:
        try:
            _note_premises(walker, batch)
        except KeyboardInterrupt:
            stopped = INTERRUPTED
    if bool(walker.broken) != (batch.breaking is not None):
        raise EnginesDisagree(
            f"with seed {walker.seed}, the compiled model finds a fault on walk "
            f"{batch.breaking}, and its Python methods find {walker.broken or 'none'}"
        )
    return walker.sample("native", batch.tally, batch.seconds, stopped)


def _note_premises(walker: Walker[Any], batch: _Batch) -> None:
    """Report to the observer the premises that held somewhere on the walks."""
    traced, first = batch.program.encoder.traced, len(batch.program.first)
    of_states = [(form.name, site) for form, site, _ in premises_of(traced, *OF_STATES)]
    for number, part in enumerate(of_states, start=first - len(of_states)):
        note_premise(*part, number in batch.found)
    of_steps = [(form.name, site) for form, site, _ in premises_of(traced, Role.EVERY_STEP)]
    with observed_premises() as observed:
        for number in range(min(batch.plan.walks, STEPS_SAMPLED) if of_steps else 0):
            if walker.tally.steps < STEPS_SAMPLED:
                walker.walk(number, min(batch.plan.length_max, STEPS_SAMPLED))
    for part in of_steps:
        note_premise(*part, observed.get(part, False) or _holds_in_some_step(batch, part[1]))


def _holds_in_some_step(batch: _Batch, site: Site) -> bool:
    """Take all walks once more, up to a step in which a premise holds."""
    again = _Batch(batch.program, batch.plan, batch.on_walks)
    again.run(batch.program.expand_up_to(site))
    return again.breaking is not None


def _words(*shape: int) -> NDArray[np.uint64]:
    return np.zeros(shape, np.uint64)
