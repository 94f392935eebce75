from __future__ import annotations
from dataclasses import dataclass, replace, field
from enum import Enum, IntEnum, Flag, IntFlag, StrEnum
from typing import Annotated, NamedTuple, Any
import math, itertools, functools, collections, decimal, datetime, re, csv, calendar, fractions, pathlib, string, heapq, bisect, copy, operator, sys, warnings, contextvars, threading, types, typing
from streamproof.lang import *
from streamproof.proofs.invariant import Invariant

class Ca(Element): ...
class St(Enum):
    M = 0
    S_ = 1
    I = 2
@dataclass(frozen=True)
class S:
    st: Map[Ca, St]
    fresh: Map[Ca, bool]
    mem: bool
@dataclass(frozen=True)
class M(Model[S]):
    cs: Domain[Ca]
    sizes = {"default": {"cs": 3}}
    @init
    def start(self) -> S: return S(Map.fill(self.cs, St.I), Map.fill(self.cs, False), True)
    @action
    def read(self, s: S, c: Ca) -> S:
        require(s.st[c] == St.I)
        dirty = exists(self.cs, lambda d: s.st[d] == St.M)
        return S(Map.build(self.cs, lambda d: St.S_ if d == c or False else s.st[d]),
                 s.fresh.set(c, exists(self.cs, lambda d: s.st[d] == St.M and s.fresh[d]) if dirty else s.mem), s.mem or dirty)
    @action
    def write(self, s: S, c: Ca) -> S:
        require(s.st[c] != St.M)
        return S(Map.build(self.cs, lambda d: St.M if d == c else St.I), Map.build(self.cs, lambda d: d == c), False)
    @action
    def evict(self, s: S, c: Ca) -> S:
        require(s.st[c] != St.I)
        return S(s.st.set(c, St.I), s.fresh.set(c, False), s.mem or s.st[c] == St.M)
    @always
    def coherent(self, s: S, c: Ca, d: Ca) -> bool: return implies(s.st[c] == St.M and d != c, s.st[d] == St.I)
    @always
    def sound(self, s: S, c: Ca) -> bool: return implies(s.st[c] != St.I, s.fresh[c])
def dirty_or_mem(m, s): return s.mem or exists(m.cs, lambda c: s.st[c] == St.M)
INVARIANT = Invariant(M, conjuncts=(lambda m, s: forall(m.cs, m.cs, lambda c, d: implies(s.st[c] == St.M and d != c, s.st[d] == St.I)), lambda m, s: forall(m.cs, lambda c: implies(s.st[c] != St.I, s.fresh[c])), dirty_or_mem))
MODEL = M
