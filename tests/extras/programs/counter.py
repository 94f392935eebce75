"""A small model: two counters that stop at their end."""

from dataclasses import dataclass

from streamproof.lang import Model, action, always, final, init, require


@dataclass(frozen=True)
class State:
    left: int
    right: int


@dataclass(frozen=True)
class Counters(Model[State]):
    end: int
    sizes = {"default": {"end": 3}}

    @init
    def start(self) -> State:
        return State(0, 0)

    @action
    def count_left(self, s: State) -> State:
        require(s.left < self.end)
        return State(s.left + 1, s.right)

    @action
    def count_right(self, s: State) -> State:
        require(s.right < self.end)
        return State(s.left, s.right + 1)

    @always
    def nothing_is_beyond(self, s: State) -> bool:
        return s.left <= self.end and s.right <= self.end

    @final
    def both_are_at_the_end(self, s: State) -> bool:
        return s.left == self.end and s.right == self.end


MODEL = Counters
