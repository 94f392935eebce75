from dataclasses import dataclass, replace
from typing import Annotated
from streamproof.lang import *
from streamproof.proofs.invariant import Invariant
@dataclass(frozen=True)
class S:
    n: Annotated[int, Range(0, 9)]
    def __post_init__(self):
        assert self.n < 4
@dataclass(frozen=True)
class M(Model[S]):
    sizes = {"default": {}}
    @init
    def start(self) -> S: return S(0)
    @action
    def step(self, s: S) -> S:
        return S(s.n + 1) if s.n < 5 else s
    @always
    def small(self, s: S) -> bool: return s.n <= 8
INVARIANT = Invariant(M, conjuncts=(lambda m, s: s.n <= 8,))
MODEL = M
