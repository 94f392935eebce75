"""A model is the oracle of a test by Hypothesis: two counters of which one has a mistake."""

from counter import Counters
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

END = 3


class Implementation:
    """Two counters; none goes beyond its end."""

    def __init__(self):
        self.left = self.right = 0

    def count_left(self):
        is_possible = self.left < END
        self.left += is_possible
        return is_possible

    def count_right(self):
        is_possible = self.right < END
        self.right += is_possible
        return is_possible


class Wrong(Implementation):
    def count_right(self):
        is_possible = self.right <= END
        self.right += is_possible
        return is_possible


class Machine(RuleBasedStateMachine):
    implementation = Implementation

    def __init__(self):
        super().__init__()
        self.real, model = self.implementation(), Counters(END)
        self.model, self.state = model, next(model.initial_states())

    @rule(action=st.sampled_from(["count_left", "count_right"]))
    def count(self, action):
        moves = [m for m in self.model.moves(self.state) if m.call.name == action]
        assert getattr(self.real, action)() == bool(moves)
        self.state = moves[0].target if moves else self.state


class WrongMachine(Machine):
    implementation = Wrong


if __name__ == "__main__":
    run_state_machine_as_test(Machine)
    print("the implementation takes the steps of the model")
    try:
        run_state_machine_as_test(WrongMachine)
    except AssertionError:
        print("the mistake is found")
