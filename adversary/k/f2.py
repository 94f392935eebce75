from dataclasses import dataclass, replace, field, InitVar
from typing import Annotated
from streamproof.lang import *
from streamproof.proofs.invariant import Invariant
@dataclass(frozen=True)
class S:
    n: Annotated[int, Range(0, 9)]
    k: Annotated[int, Range(0, 19)] = field(init=False, default=0)
    def __post_init__(self):
        object.__setattr__(self, "k", 2 * self.n)
@dataclass(frozen=True)
class M(Model[S]):
    sizes = {"default": {}}
    @init
    def start(self) -> S: return S(0)
    @action
    def step(self, s: S) -> S: return S((s.n + 1) % 4)
    @always
    def small(self, s: S) -> bool: return s.k <= 5
INVARIANT = Invariant(M, conjuncts=(lambda m, s: s.k <= 5,))
MODEL = M
