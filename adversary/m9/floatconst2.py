from __future__ import annotations
from dataclasses import dataclass, replace, field
from enum import Enum, IntEnum, Flag, IntFlag, StrEnum
from typing import Annotated, NamedTuple, Any
import math, itertools, functools, collections, decimal, datetime, re, csv, calendar, fractions, pathlib, string, heapq, bisect, copy, operator, sys, warnings, contextvars, threading, types, typing
from streamproof.lang import *
from streamproof.proofs.invariant import Invariant

class W(Element): ...
class P(Enum):
    A = 0
    B = 1
@dataclass(frozen=True)
class S:
    n: Annotated[int, Range(0, 9)]
    t: W
@dataclass(frozen=True)
class M(Model[S]):
    ws: Domain[W]
    lim: int
    sizes = {"default": {"ws": 2, "lim": 2.5}}

    @init
    def start(self, w: W) -> S: return S(0, w)
    @action
    def up(self, s: S) -> S:
        require(s.n < self.lim)
        return replace(s, n=s.n + 1)
    @action
    def zero(self, s: S, w: W) -> S: return S(0, w)
    @always
    def ok(self, s: S) -> bool: return not (s.n > self.lim and self.lim > 0)
CONJ = (lambda m, s: s.n <= m.lim or s.n == 0,)

INVARIANT = Invariant(M, conjuncts=CONJ)
MODEL = M
