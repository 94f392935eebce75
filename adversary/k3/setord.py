"""Steps in the order of a set of names, numbered when the file is loaded."""
from dataclasses import dataclass, replace
from typing import Annotated
from streamproof.lang import *
from streamproof.proofs.invariant import Invariant
PLACES = {"ewr", "jfk", "lga"}
EWR, JFK, LGA = (list(PLACES).index(p) for p in ("ewr", "jfk", "lga"))
@dataclass(frozen=True)
class S:
    n: Annotated[int, Range(0, 9)]
@dataclass(frozen=True)
class M(Model[S]):
    sizes = {"default": {}}
    @init
    def start(self) -> S: return S(EWR)
    @action
    def step(self, s: S) -> S:
        require(s.n != LGA)
        return S(s.n + 1 if s.n < 2 else 0)
    @final
    def done(self, s: S) -> bool: return s.n == LGA
    @always
    def never_jfk(self, s: S) -> bool: return s.n != JFK
INVARIANT = Invariant(M, conjuncts=(lambda m, s: m.never_jfk(s),lambda m, s: 0 <= s.n and s.n <= 2))
MODEL = M
