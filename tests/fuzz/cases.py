"""Cases: random models, each by its number, put together so that something happens in them.

A model is drawn as Python text. Actions are kept if they happen and lead to new states; properties
are drawn until they hold, or fail, in as many of the states as is wanted: most random properties
break in the first state, and then nothing else would be compared.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import product
from random import Random
from typing import Any

from streamproof.checker.properties import judge
from streamproof.checker.ranges import find_outside
from streamproof.lang import Disabled
from streamproof.lang.model import Call, promised
from tests.fuzz import methods
from tests.fuzz.methods import Written
from tests.fuzz.schema import (
    Impossible,
    Schema,
    draw_schema,
    write_head,
    write_instance,
    write_types,
)

STATES_MOST = 120
"""States that a model may reach; a few may have more, and their search is cut."""
STATES_FEW = 8
"""States below which little happens; a few models have no more."""
TRIES = 6
"""Candidates for one method, of which the first that fits is taken."""


PROBE = Call("probe", (), ())


@dataclass(frozen=True)
class Case:
    """A random model: its number, its text, and the model that the text makes."""

    number: int
    text: str

    @functools.cached_property
    def model(self) -> Any:
        """Run the text."""
        return run(self.text)["MODEL"]


def run(text: str) -> dict[str, Any]:
    """Run the text of a model; give what it defines."""
    names: dict[str, Any] = {"__name__": __name__}
    exec(compile(text, "random_model.py", "exec", dont_inherit=True), names)
    return names


def case(number: int) -> Case:
    """Draw the model of a number: the same one every time."""
    return Case(number, text_of(number))


@functools.lru_cache(maxsize=1_000)
def text_of(number: int) -> str:
    """Draw the text of the model of a number."""
    rng = Random(number)
    while True:
        try:
            return Assembly(rng).text()
        except Impossible:
            continue


def several(rng: Random, chances: dict[str, float], again: float) -> Iterator[str]:
    """Draw each of some roles with its chance, and another time with a part of it."""
    for role, chance in chances.items():
        for factor in (1, again, again**2):
            if rng.random() >= chance * factor:
                break
            yield role


@dataclass
class Assembly:
    """A model that is being put together, and what is reached in it so far."""

    rng: Random
    schema: Schema = field(init=False)
    parts: list[Written] = field(default_factory=list)
    states: dict[Any, int] = field(default_factory=dict)
    steps: list[tuple[Any, Any]] = field(default_factory=list)
    actions: list[tuple[Any, int]] = field(default_factory=list)

    def text(self) -> str:
        """Draw all of it."""
        rng = self.rng
        self.schema = draw_schema(rng)
        self.helpers = self._helpers()
        self.begun = [
            methods.write_init(rng, self.schema, n) for n in range(rng.choice((1, 1, 1, 2)))
        ]
        self.instance = write_instance(rng, self.schema)
        self.over = rng.randrange(3) if rng.random() < 0.15 else 99
        self._start()
        self.may_break = rng.random() < 0.12
        wanted = rng.choice((1, 2, 3, 3, 4))
        for number in range(5):
            if number < wanted or len(self.states) < STATES_FEW:
                self._add_action(f"act_{number}")
        is_empty = not all(self.schema.sizes.values())
        if len(self.states) < STATES_FEW and rng.random() < (0.4 if is_empty else 0.93):
            raise Impossible
        self._add_properties()
        return self._whole()

    # ---------------------------------------------------------------------------------- states

    def _helpers(self) -> tuple[methods.Helper, ...]:
        count = self.rng.choice((0, 0, 1))
        written = [methods.write_helper(self.rng, self.schema, number) for number in range(count)]
        self.helping = [Written(lines) for _, lines in written]
        return tuple(helper for helper, _ in written)

    def _start(self) -> None:
        """Run what there is, and begin with its initial states."""
        self.names = run(self._whole())
        self.model = self.names["MODEL"]
        self.outside = find_outside(self.model) or (lambda _: None)
        try:
            states = dict.fromkeys(self.model.initial_states(), 0)
        except Exception as error:
            raise Impossible from error
        if any(self.outside(state) for state in states) and self.rng.random() < 0.97:
            raise Impossible
        if not states and all(self.schema.sizes.values()):
            raise Impossible
        self.states = states

    def _whole(self) -> str:
        """Write all there is: in one class, or with an action that overrides another one."""
        body = [*self.helping, *self.begun, *self.parts]
        over = self.over if self.over < len(self.parts) else -1
        last = ""
        name = "M"
        if over >= 0 and self.parts[over].lines[0].startswith("@action"):
            role, head, *lines = self.parts[over].lines
            body[body.index(self.parts[over])] = Written([role, head, "    return s"])
            inner = "\n".join(methods.indented([head, *lines]))
            name, last = "Base", f"\n\n\nclass M(Base):\n{inner}"
        text = "\n\n".join("\n".join(methods.indented(part.lines)) for part in body)
        parts = [write_types(self.schema), methods.HELPING]
        parts += [f"{write_head(self.schema, name)}\n\n{text}{last}", self.instance]
        return "\n\n\n".join(parts) + "\n"

    def _function(self, written: Written) -> Callable[..., Any]:
        """Make one method without its class."""
        names = dict(self.names)
        text = "\n".join(written.lines)
        exec(compile(text, "random_model.py", "exec", dont_inherit=True), names)
        function: Callable[..., Any] = names[written.name]
        return function

    def _calls(self, written: Written) -> list[tuple[Any, ...]]:
        """List the arguments behind the states that a method may be given."""
        return list(product(*(getattr(self.model, f"{sort.lower()}s") for sort in written.sorts)))

    # --------------------------------------------------------------------------------- actions

    def _add_action(self, name: str) -> None:
        for attempt in range(TRIES):
            claims = self.rng.random() < 0.25
            try:
                written = methods.write_action(
                    self.rng, self.schema, name, self.helpers, claims=claims, loose=self.may_break
                )
            except Impossible:
                continue
            act = self._function(written)
            new = self._explored([(act, arguments) for arguments in self._calls(written)])
            if new is None:
                continue
            states, steps, actions = new
            wanted = (4, 4, 3, 2, 1, 1)[attempt] if self.rng.random() < 0.93 else 0
            if len(steps) == len(self.steps) or len(states) < len(self.states) + wanted:
                continue
            self.parts.append(written)
            self.states, self.steps, self.actions = states, steps, actions
            return

    def _explored(self, added: list[Any]) -> tuple[dict[Any, int], list[Any], list[Any]] | None:
        """Take all steps with some more actions; None if one fails, or leads too far."""
        states, steps = dict(self.states), list(self.steps)
        actions = [*self.actions, *added]
        most = STATES_MOST if self.rng.random() < 0.97 else 4 * STATES_MOST
        known, waiting = len(states), list(states)
        try:
            for number, state in enumerate(waiting):
                for after in self._targets(state, added if number < known else actions):
                    steps.append((state, after))
                    if after not in states:
                        states[after] = states[state] + 1
                        waiting.append(after)
                if len(states) > most:
                    return None
        except Impossible:
            return None
        return states, steps, actions

    def _targets(self, state: Any, actions: list[Any]) -> Iterator[Any]:
        """Take the steps of a state.

        Raises
        ------
        Impossible : if one breaks something, and nothing is to break, or if one fails
        """
        for act, arguments in actions:
            try:
                after = act(self.model, state, *arguments)
                if self.outside(after) is None:
                    yield after
                    continue
            except Disabled:
                continue
            except AssertionError:
                pass
            except Exception as error:
                raise Impossible from error
            if not self.may_break:
                raise Impossible

    # ------------------------------------------------------------------------------ properties

    def _add_properties(self) -> None:
        rng = self.rng
        stuck = set(self.states) - {before for before, after in self.steps}
        if stuck and rng.random() < 0.85:
            if rng.random() < 0.2:
                self._add("final", bool)
            self._add("final", lambda held: held >= stuck)
            if not self.parts or self.parts[-1].lines[0] != "@final":
                head = "def final_9(self, s: State) -> bool:"
                self.parts.append(Written(["@final", head, "    return True"]))
        elif rng.random() < 0.2:
            self._add("final", bool)
        everywhere = set(self.states)
        for role in several(rng, {"always": 0.8, "every_step": 0.45}, 0.35):
            whole = everywhere if role == "always" else set(range(len(self.steps)))
            self._add(role, self._wanted(whole))
        for role in several(rng, {"sometimes": 0.6, "leads_to": 0.4, "eventually": 0.3}, 0.5):
            most = rng.choice((2, len(everywhere) // 2, len(everywhere) - 1))
            self._add(role, lambda held, most=most: 0 < len(held) <= most)
        if rng.random() < 0.15:
            self._add("assume", bool)
        self._add_ruled_out()

    def _wanted(self, whole: set[Any]) -> Callable[[set[Any]], bool]:
        """Decide whether an invariant is to hold: mostly, or to fail, best far from the start."""
        early = {state for state, depth in self.states.items() if depth == 0}
        if self.rng.random() < 0.83:
            return lambda held: held == whole
        return lambda held: held != whole and held >= (early & whole)

    def _add(self, role: str, is_wanted: Callable[[set[Any]], bool]) -> None:
        """Draw properties of a role until one holds where it is wanted to."""
        number = len(self.parts)
        for _ in range(TRIES):
            try:
                written = methods.write_property(self.rng, self.schema, role, number, self.helpers)
            except Impossible:
                continue
            held = self._held(role, written)
            if held is not None and is_wanted(held):
                self.parts.append(written)
                return

    def _held(self, role: str, written: Written) -> set[Any] | None:
        """Find the states, or the numbers of the steps, in which a property holds."""
        calls, ask = self._calls(written), self._function(written)
        where: Any = [(state, (state,)) for state in self.states]
        if role == "every_step":
            where = enumerate(self.steps)
        if role == "assume":
            where = [(0, ())]
        join = any if role in ("sometimes", "final") else all
        try:
            return {
                place
                for place, states in where
                if join(self._holds(role, ask(self.model, *states, *call)) for call in calls)
            }
        except Exception:  # noqa: BLE001 - as where a number is no truth value
            return None

    def _holds(self, role: str, answer: Any) -> bool:
        if role == "leads_to":
            made, answer = promised("probe", answer)
            return bool(made) and not answer
        is_kept = judge(PROBE, answer) is None
        return not is_kept if role == "eventually" else is_kept

    def _add_ruled_out(self) -> None:
        happening = [part.name for part in self.parts if part.lines[0].startswith("@action")]
        if happening and self.rng.random() < 0.04:
            name = self.rng.choice(happening)
            self.parts.append(Written(["def ruled_out(self):", f"    return ({name!r},)"]))
