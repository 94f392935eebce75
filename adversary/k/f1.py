from dataclasses import dataclass, replace, field, InitVar
from typing import Annotated
from streamproof.lang import *
from streamproof.proofs.invariant import Invariant
@dataclass(frozen=True)
class S:
    n: Annotated[int, Range(0, 9)]
    k: Annotated[int, Range(0, 9)] = field(default=0, compare=False)
@dataclass(frozen=True)
class M(Model[S]):
    sizes = {"default": {}}
    @init
    def start(self) -> S: return S(0)
    @action
    def step(self, s: S) -> S: return S((s.n + 1) % 3, s.k)
    @action
    def kk(self, s: S) -> S:
        require(s.k < 5)
        return S(s.n, s.k + 1)
    @always
    def small(self, s: S) -> bool: return s.k <= 2
INVARIANT = Invariant(M, conjuncts=(lambda m, s: s.k <= 2,))
MODEL = M
