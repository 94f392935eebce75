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
    C = 2
@dataclass(frozen=True)
class S:
    n: Annotated[int, Range(0, 9)]
    p: P
    h: Map[W, bool]
@dataclass(frozen=True)
class Base(Model[S]):
    ws: Domain[W]
    sizes = {"default": {"ws": 2}}
    @init
    def start(self) -> S: return S(0, P.A, Map.fill(self.ws, False))
    @action
    def step(self, s: S) -> S:
        require(s.n < 5)
        return replace(s, n=s.n + 1)
    @action
    def back(self, s: S) -> S:
        require(s.n == 5)
        return replace(s, n=0)
    @action
    def set_(self, s: S, w: W) -> S:
        return replace(s, h=s.h.set(w, True))
    @always
    def fine(self, s: S) -> bool: return s.n <= 5
    @always
    def bad(self, s: S) -> bool: return s.n <= 4
@dataclass(frozen=True)
class N(Base):
    def __getattribute__(self, name):
        if name == "bad": return lambda s: True
        return super().__getattribute__(name)
MODEL = N

INVARIANT = Invariant(MODEL, conjuncts=(lambda m, s: s.n <= 5,))
