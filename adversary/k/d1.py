from dataclasses import dataclass, replace
from typing import Annotated
from streamproof.lang import *
from streamproof.proofs.invariant import Invariant
class W(Element): ...
@dataclass(frozen=True)
class S:
    h: Map[W, bool]
@dataclass(frozen=True)
class M(Model[S]):
    few: Domain[W]
    many: Domain[W]
    sizes = {"default": {"few": 1, "many": 3}}
    @init
    def start(self) -> S: return S(Map.fill(self.many, False))
    @action
    def step(self, s: S, w: W) -> S:
        return S(s.h.set(w, True))
    @action
    def all_(self, s: S) -> S:
        return S(Map.fill(self.many, True))
    @always
    def small(self, s: S) -> bool:
        return exists(self.many, lambda w: not s.h[w]) or forall(self.few, lambda w: s.h[w])
    @always
    def p(self, s: S, w: W) -> bool:
        return implies(exists(self.many, lambda v: s.h[v]), s.h[w])
INVARIANT = Invariant(M, conjuncts=(lambda m, s: m.small(s),))
MODEL = M
