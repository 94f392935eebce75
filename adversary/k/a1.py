from dataclasses import dataclass, replace
from typing import Annotated
from streamproof.lang import *
from streamproof.proofs.invariant import Invariant
@dataclass(frozen=True)
class S:
    n: Annotated[int, Range(0, 9)]
@dataclass(frozen=True)
class M(Model[S]):
    sizes = {"default": {}}
    @init
    def start(self) -> S: return S(0)
    def initial_states(self):
        yield S(0)
        yield S(7)
    @action
    def step(self, s: S) -> S:
        require(s.n < 3)
        return S(s.n + 1)
    @final
    def done(self, s: S) -> bool: return s.n >= 3
    @always
    def small(self, s: S) -> bool: return s.n <= 3
INVARIANT = Invariant(M, conjuncts=(lambda m, s: s.n <= 3,))
MODEL = M
