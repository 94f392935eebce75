"""A model as a state machine of Hypothesis: rules from its actions, the oracle from its states."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from hypothesis import strategies as st
from hypothesis.control import current_build_context
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from streamproof.lang.model import Model
from streamproof.testing.adapter import Adapter, Fitted, fitted
from streamproof.testing.assertions import Size, sized
from streamproof.testing.follow import Follower, Unexplained
from streamproof.testing.possible import Oracle
from streamproof.testing.shorten import shortened


@st.composite
def _calls(draw: st.DrawFn, machine: ModelMachine) -> str:
    """Draw an action that may be asked for now, and then its arguments; an empty text if none may.

    The action is drawn first, or one with many arguments would push the others aside. Both are
    drawn from those that fit, and not refused afterwards: what was refused cannot shrink away.
    """
    fitting = machine.follower.askable()
    if not fitting:
        return ""
    name = draw(st.sampled_from(list(fitting)))
    return draw(st.sampled_from(fitting[name]))


class ModelMachine(RuleBasedStateMachine):
    """A system that is asked for the actions of a model; made by `state_machine`."""

    oracle: ClassVar[Oracle[Any]]
    size: ClassVar[Size]
    fit: ClassVar[Fitted]

    def __init__(self) -> None:
        super().__init__()
        self.follower = Follower(self.oracle, self.size, self.fit)

    @initialize(start=st.runner().flatmap(lambda machine: st.integers(0, machine.start_max)))
    def begin(self, start: int) -> None:
        """Make the system."""
        self.follower.begin(start)

    @rule(call=st.runner().flatmap(_calls))
    def step(self, call: str) -> None:
        """Have the system carry out an action, and look for the states that explain it."""
        if not call:
            return
        try:
            self.follower.ask(call)
        except Unexplained as failure:
            if current_build_context().is_final:  # shown to the user, unless it can be shortened
                shorter = shortened(failure, self._failure_of)
                failure.args, failure.run = shorter.args, shorter.run
            raise

    def _failure_of(self, run: Sequence[str]) -> Unexplained | None:
        """Have another system take a run, and return its failure; None if there is none."""
        other = Follower(self.oracle, self.size, self.fit)
        try:
            other.begin(self.follower.start)
            for call in run:
                if not other.may_ask(call):
                    return None
                other.ask(call)
        except Unexplained as failure:
            return failure
        finally:
            other.close()
        return None

    @property
    def start_max(self) -> int:
        """The last initial state, where the adapter chooses one."""
        return len(self.follower.starts) - 1 if self.fit.chooses_start else 0

    def teardown(self) -> None:
        """Stop the system."""
        self.follower.close()


def state_machine(
    model: Model[Any] | type[Model[Any]],
    size: Size = "",
    *,
    adapter: type[Adapter],
    properties: bool = True,
) -> type[ModelMachine]:
    """Make a `RuleBasedStateMachine` that tests a real system against a model.

    In each step an action is drawn whose guard holds in a state that explains the run so far, and
    arguments from the domains of its parameters. The adapter has the system carry it out. Then the
    states that explain the run are found anew: there must be one.

    Parameters
    ----------
    model, size : the oracle, as `assert_exhausted` takes them
    adapter : carries out the actions on the system, and tells what it sees
    properties : whether the model's own properties are asked on the way, for sizes that no search
        reaches; without them where a mutant takes the model's place

    Raises
    ------
    WrongAdapter : if the adapter does not fit the model
    UnknownSize : if the model has no such size

    Examples
    --------
    >>> from hypothesis import settings
    >>> from hypothesis.stateful import run_state_machine_as_test
    >>> from streamproof.lang import Model, action, init
    >>> class Lamp(Model[bool]):
    ...     @init
    ...     def dark(self) -> bool:
    ...         return False
    ...
    ...     @action
    ...     def toggle(self, lit: bool) -> bool:
    ...         return not lit
    >>> class Switch(Adapter):
    ...     presses = 0
    ...
    ...     def toggle(self):
    ...         self.presses = min(self.presses + 1, 2)
    ...
    ...     def observe(self):
    ...         return self.presses % 2 == 1
    ...
    ...     def expected(self, lit):
    ...         return lit
    >>> machine = state_machine(Lamp, adapter=Switch)
    >>> try:
    ...     run_state_machine_as_test(machine, settings=settings(database=None))
    ... except AssertionError as error:
    ...     print(str(error).splitlines()[0])
    the system shows False, and the model expects True. The run:
    """
    built = sized(model, size)
    fit = fitted(built, adapter)
    oracle: Oracle[Any] = Oracle(built, adapter.unseen, properties)
    body = {"oracle": oracle, "size": size, "fit": fit}
    return type(f"{type(built).__name__}Machine", (ModelMachine,), body)
