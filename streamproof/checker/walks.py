"""Random walks: what they are, whichever engine takes them, and an engine in plain Python.

A walk starts in one of the distinct initial states, and goes on by steps that change the state,
each of those that are possible with the same probability. It comes to an end where there is none,
or is cut at a length. Every step that is possible in a state on its way is looked at, taken or not:
its claims, ranges, the properties of steps, and the invariants in the state that it leads to.

Which way a walk takes depends on the model, the seed and the walk's number, and on nothing else:
its random numbers are SplitMix64's, from a key of its own [SLF14]. So any walk can be taken again
alone, and all engines take the same ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Generic, TypeAlias, TypeVar

from streamproof.checker.counterexample import BrokenModel, LeftRange
from streamproof.checker.disturbed import undisturbed_actions
from streamproof.checker.exploration import INTERRUPTED, Path
from streamproof.checker.progress import Meter
from streamproof.checker.properties import STUCK, Broken, Properties
from streamproof.checker.ranges import find_outside
from streamproof.lang import Disabled, WrongDefinition
from streamproof.lang.model import Call, Model
from streamproof.models.kit.verdict import CLAIMS, DEADLOCK

S = TypeVar("S")

WALKS = 10_000
"""Walks that are taken unless told otherwise: about a second's work of the native engine."""
LENGTH_MAX = 200
"""Steps after which a walk is cut unless told otherwise."""
SEEDS = 1 << 64
"""How many seeds there are."""
GAMMA = 0x9E3779B97F4A7C15
_ALL_BITS = SEEDS - 1


@dataclass(frozen=True, slots=True)
class Plan:
    """Which walks are to be taken.

    Attributes
    ----------
    walks : how many
    length_max : steps after which a walk is cut
    seed : from 0 to 2**64 - 1
    """

    walks: int = WALKS
    length_max: int = LENGTH_MAX
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("walks", "length_max"):
            value = getattr(self, name)
            if value < 1:
                raise ValueError(
                    f"{name} is {value}, so nothing would be looked at and every property would be "
                    "undetermined. Give 1 or more"
                )
        if not 0 <= self.seed < SEEDS:
            raise ValueError(
                f"the seed is {self.seed}, and a random number has 64 bits, so another seed would "
                "give the same walks. Give one from 0 to 2**64 - 1"
            )


@dataclass
class Tally:
    """What walks have done.

    Attributes
    ----------
    walks : walks that were begun
    ended : those that came to where no step changes the state; the others were cut, or stopped
    steps : steps that were taken
    longest : steps of the longest walk
    taken : per ground action, how often it was taken
    enabled : per ground action, how often it was possible in a state on a walk, and so looked at
    """

    taken: list[int]
    enabled: list[int]
    walks: int = 0
    ended: int = 0
    steps: int = 0
    longest: int = 0


@dataclass(frozen=True, slots=True)
class Sample:
    """What walks found.

    Attributes
    ----------
    seconds : how long the walks took, without compiling
    broken : the properties that fail at the end of `path`; empty if none was seen to fail
    walk : the number of the walk that found it, the lowest there is; None for an initial state
    path : how that walk got there
    witnesses : per `sometimes` property (with its arguments) that was seen to hold, a way there
    stopped : why not all walks were taken, other than a broken property
    """

    engine: str
    tally: Tally
    seconds: float
    broken: tuple[Broken, ...] = ()
    walk: int | None = None
    path: Path | None = None
    witnesses: Mapping[Call, Path] = field(default_factory=dict)
    stopped: str | None = None


OnWalks: TypeAlias = Callable[[Tally], None]
"""Told now and then what was done so far; it should return quickly."""


def key_of(seed: int, walk: int) -> int:
    """Return the key of a walk's random numbers."""
    return mix(mix(seed) + walk * GAMMA)


def choice(key: int, number: int, among: int) -> int:
    """Choose one of several things by a walk's random number of that number: 0 for its start."""
    return (mix(key + number * GAMMA) >> 32) * among >> 32


def mix(bits: int) -> int:
    """Mix 64 bits so that each of them depends on all [SLF14]."""
    bits &= _ALL_BITS
    bits = ((bits ^ bits >> 30) * 0xBF58476D1CE4E5B9) & _ALL_BITS
    bits = ((bits ^ bits >> 27) * 0x94D049BB133111EB) & _ALL_BITS
    return bits ^ bits >> 31


def walk(model: Model[Any], plan: Plan, on_walks: OnWalks) -> Sample:
    """Take walks one after the other, by the model's own methods.

    Raises
    ------
    BrokenModel : if a method of the model fails
    """
    walker, meter = Walker(model, plan.seed), Meter()
    stopped = None
    try:
        walker.look_at_starts()
        for number in range(plan.walks if walker.starts else 0):
            if walker.broken:
                break
            walker.walk(number, plan.length_max)
            on_walks(walker.tally)
    except KeyboardInterrupt:
        stopped = INTERRUPTED
    return walker.sample("reference", walker.tally, meter.seconds, stopped)


class Walker(Generic[S]):
    """Takes walks by the model's own methods.

    Attributes
    ----------
    starts : the distinct initial states, each after its place among all initial states
    broken : what was found to fail; then there is no other walk
    tally, witnesses : of the walks taken so far, as in a sample
    """

    def __init__(self, model: Model[S], seed: int) -> None:
        self.model, self.seed = model, seed
        self.properties: Properties[S] = Properties.of(model)
        self.outside = find_outside(model)
        actions = enumerate(undisturbed_actions(model))
        self.actions = [(number, act, call.arguments) for number, (call, act) in actions]
        self.tally = Tally([0] * len(self.actions), [0] * len(self.actions))
        self.starts: list[tuple[int, S]] = []
        self.broken: tuple[Broken, ...] = ()
        self.witnesses: dict[Call, Path] = {}
        self._unmet = list(self.properties.sometimes)
        self._number: int | None = None  # of the walk that is being taken
        self._start = 0
        self._steps: list[int] = []  # of that walk
        self._path: Path | None = None  # to where something fails

    def look_at_starts(self) -> None:
        """Find the initial states, and ask what must hold in each.

        Raises
        ------
        BrokenModel : if a method of the model fails
        """
        seen: set[S] = set()
        with self._failures():
            for start, state in enumerate(self.model.initial_states()):
                if state not in seen:
                    seen.add(state)
                    self._start = start
                    self.starts.append((start, state))
                    self._ask(state)
                if self.broken:
                    return

    def walk(self, number: int, length_max: int) -> None:
        """Take a walk, up to what it breaks.

        Parameters
        ----------
        number : which walk
        length_max : steps after which it is cut

        Raises
        ------
        BrokenModel : if a method of the model fails
        """
        key, state = self._begin(number)
        self.tally.walks += 1
        with self._failures():
            for _ in range(length_max):
                options = self._look(state)
                if self.broken:
                    break
                if not options:
                    self.tally.ended += 1
                    break
                state = self._take(key, options)
                self.tally.taken[self._steps[-1]] += 1
                self.tally.steps += 1
        self.tally.longest = max(self.tally.longest, len(self._steps))

    def path_to(self, number: int, length: int, *more: int) -> Path:
        """Take the first steps of a walk again, without asking anything.

        Parameters
        ----------
        number, length : which walk, and how many steps
        more : another ground action, at the end
        """
        key, state = self._begin(number)
        for _ in range(length):
            state = self._take(key, self._options(state, self._moves(state)))
        return self._here(*more)

    def sample(self, engine: str, tally: Tally, seconds: float, stopped: str | None) -> Sample:
        """Return the findings; the arguments are those of an engine that may be another."""
        found = self.broken, self._number, self._path
        return Sample(engine, tally, seconds, *found, self.witnesses, stopped)

    def _begin(self, number: int) -> tuple[int, S]:
        key = key_of(self.seed, number)
        self._start, state = self.starts[choice(key, 0, len(self.starts))]
        self._number, self._steps = number, []
        return key, state

    def _take(self, key: int, options: Sequence[tuple[int, S]]) -> S:
        action, state = options[choice(key, len(self._steps) + 1, len(options))]
        self._steps.append(action)
        return state

    def _look(self, state: S) -> list[tuple[int, S]]:
        """Ask everything of a state's steps, and give those that change it."""
        moves = []
        for number, target in self._moves(state):
            if target is None:
                self._refute((Broken(CLAIMS, "an assert failed"),), number)
                return []
            self.tally.enabled[number] += 1
            self._check_range(target, number)
            self._refute(self.properties.broken_by(state, target), number)
            if self.broken:
                return []
            moves.append((number, target))
        if not moves and not self.properties.is_final(state):
            self._refute((Broken(DEADLOCK, STUCK),))
        options = self._options(state, moves)
        for number, target in options:
            self._ask(target, number)
            if self.broken:
                break
        return options

    def _moves(self, state: S) -> Iterator[tuple[int, S | None]]:
        """List the steps that a state allows, as ground actions; None where a claim fails."""
        for number, act, arguments in self.actions:
            try:
                target = act(state, *arguments)
            except Disabled:
                continue
            except AssertionError:
                yield number, None
                continue
            except Exception as error:
                raise BrokenModel.by(self.model, self._here(), self._name(number), error) from error
            if target is None:
                raise WrongDefinition(
                    f"{self._name(number)} gave no state: does it lack a `return`?"
                )
            yield number, target

    def _options(self, state: S, moves: Iterable[tuple[int, S | None]]) -> list[tuple[int, S]]:
        return [(action, to) for action, to in moves if to is not None and to != state]

    def _ask(self, state: S, *action: int) -> None:
        """Ask what must hold in a state, which an action may have led to."""
        if not action:
            self._check_range(state)
        self._refute(self.properties.broken_in(state), *action)
        met = dict.fromkeys(check.call for check in self._unmet if check.holds(state))
        if met:
            self._unmet = [check for check in self._unmet if check.call not in met]
            self.witnesses |= dict.fromkeys(met, self._here(*action))

    def _check_range(self, state: S, *action: int) -> None:
        if self.outside and (found := self.outside(state)):
            raise LeftRange.of(self.model, self._here(*action), self._name(*action), found)

    def _refute(self, broken: tuple[Broken, ...], *action: int) -> None:
        if broken:
            self.broken, self._path = broken, self._here(*action)

    def _here(self, *more: int) -> Path:
        return Path(self._start, (*self._steps, *more))

    def _name(self, *action: int) -> str:
        return str(self.model.ground_actions[action[0]][0]) if action else "@init"

    @contextmanager
    def _failures(self) -> Iterator[None]:
        """Add the place to a failure outside of actions, which report their own."""
        try:
            yield
        except (BrokenModel, WrongDefinition):
            raise
        except Exception as error:
            path = self._here() if self.starts else None
            raise BrokenModel.by(self.model, path, "a property or @init", error) from error
