from dataclasses import dataclass, replace
from typing import Annotated
from streamproof.lang import *
LIM = 60
class W(Element): ...
@dataclass(frozen=True)
class S:
    n: Annotated[int, Range(0, 99)]
    h: Map[W, Annotated[int, Range(0, 5)]]
@dataclass(frozen=True)
class M(Model[S]):
    ws: Domain[W]
    sizes = {"default": {"ws": 3}}
    @init
    def start(self) -> S: return S(0, Map.fill(self.ws, 0))
    @action
    def step(self, s: S) -> S:
        require(s.n < LIM)
        return replace(s, n=s.n + 1)
    @action
    def zero(self, s: S) -> S:
        require(s.n == LIM)
        return replace(s, n=0)
    @action
    def hh(self, s: S, w: W) -> S:
        require(s.h[w] < 5)
        return replace(s, h=s.h.set(w, s.h[w] + 1))
    @always
    def ok(self, s: S) -> bool: return s.n <= 80
    @sometimes
    def some(self, s: S) -> bool: return s.n == 3
MODEL = M
