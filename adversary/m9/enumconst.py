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
    p: P
    sizes = {"default": {"ws": 2, "p": 7}}

    @init
    def start(self, w: W) -> S: return S(0, w)
    @action
    def up(self, s: S) -> S:
        require(s.n < 3)
        return replace(s, n=s.n + 1)
    @action
    def zero(self, s: S, w: W) -> S: return S(0, w)
    @always
    def ok(self, s: S) -> bool: return self.p == P.A or self.p == P.B
CONJ = (lambda m, s: s.n <= 3,)

INVARIANT = Invariant(M, conjuncts=CONJ)
MODEL = M
