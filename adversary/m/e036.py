from dataclasses import dataclass, replace
from enum import Enum, IntEnum, Flag, IntFlag, StrEnum
from typing import Annotated
import math, operator, itertools, functools, copy
from streamproof.lang import *
from streamproof.proofs.invariant import Invariant

class W(Element): ...
class V(Element): ...
class P(Enum):
    A = 0
    B = 1
    C = 2
class Q(Enum):
    A = 0
    B = 1
    C = 5
    D = 1
class R(StrEnum):
    A = ""
    B = "b"

@dataclass(frozen=True)
class S:
    n: Annotated[int, Range(-3, 4)]
    f: bool
    p: P
    q: Q
    w: W
    h: Map[W, Annotated[int, Range(-1, 1)]]
    out: Annotated[int, Range(-200, 200)]

@dataclass(frozen=True)
class M(Model[S]):
    ws: Domain[W]
    vs: Domain[V]
    sizes = {"default": {"ws": 2, "vs": 2}}
    @init
    def start(self, w: W) -> S:
        return S(0, False, P.A, Q.A, w, Map.fill(self.ws, 0), 0)
    @action
    def up(self, s: S) -> S:
        require(s.out == 0 and s.n < 4)
        return replace(s, n=s.n + 1)
    @action
    def down(self, s: S) -> S:
        require(s.out == 0 and s.n > -3)
        return replace(s, n=s.n - 1)
    @action
    def flip(self, s: S) -> S:
        require(s.out == 0)
        return replace(s, f=not s.f)
    @action
    def pq(self, s: S) -> S:
        require(s.out == 0)
        if s.p == P.A: return replace(s, p=P.B, q=Q.B)
        if s.p == P.B: return replace(s, p=P.C, q=Q.C)
        return replace(s, p=P.A, q=Q.A)
    @action
    def hh(self, s: S, w: W) -> S:
        require(s.out == 0)
        return replace(s, h=s.h.set(w, 1 if s.h[w] == 0 else -1 if s.h[w] == 1 else 0))
    @action
    def probe(self, s: S, w: W, v: V) -> S:
        require(s.out == 0)
        require(s.h == 3)
        return replace(s, out=1)
    @action
    def back(self, s: S) -> S:
        require(s.out != 0)
        return replace(s, out=0)
    @always
    def outs(self, s: S) -> bool:
        return s.out != 199

MODEL = M
