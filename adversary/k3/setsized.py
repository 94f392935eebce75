"""Priorities are read off a set of airports in `sized`."""
from dataclasses import dataclass, replace
from typing import Annotated
from streamproof.lang import *
from streamproof.proofs.invariant import Invariant
class W(Element): ...
@dataclass(frozen=True)
class S:
    n: Annotated[int, Range(0, 9)]
    t: W
@dataclass(frozen=True)
class M(Model[S]):
    ws: Domain[W]
    rank: Map[W, int]
    sizes = {"default": {"k": 3}}
    @classmethod
    def sized(cls, k: int):
        d = Domain(W, k)
        airports = {"ewr", "jfk", "lga"}
        order = {w: ["ewr", "jfk", "lga"].index(a) for w, a in zip(d, airports)}
        return cls(d, Map.build(d, lambda w: order[w]))
    @init
    def start(self) -> S:
        return S(0, list(self.ws)[0])
    @action
    def up(self, s: S) -> S:
        require(s.n < self.rank[s.t])
        return replace(s, n=s.n + 1)
    @final
    def done(self, s: S) -> bool: return True
    @always
    def ok(self, s: S) -> bool: return s.n < 2
MODEL = M
