from dataclasses import dataclass
from typing import Annotated
from streamproof.lang import *
from streamproof.proofs.invariant import Invariant
@dataclass(frozen=True)
class S:
    n: Annotated[int, Range(0, 9)]
from streamproof.models.mutant import Mutant
@dataclass(frozen=True)
class M(Model[S]):
    sizes = {"default": {}}
    @init
    def start(self) -> S: return S(0)
    @action
    def step(self, s: S) -> S:
        require(s.n < 5)
        assert s.n != 7, "never three"
        return S(s.n + 1)
    @action
    def back(self, s: S) -> S:
        require(s.n == 5)
        return S(0)
    @always
    def small(self, s: S) -> bool: return s.n <= 5
INVARIANT = Invariant(M, conjuncts=(lambda m, s: s.n <= 5,))
MODEL = M

class Bad(M):
    @action
    def step(self, s: S) -> S:
        require(s.n < 5)
        assert s.n != 3
        return S(s.n + 1)
MUTANTS = (Mutant("bad", Bad, {}, "claims", 4, "x"),)
