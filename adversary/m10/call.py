from __future__ import annotations
from dataclasses import dataclass, replace, field
from enum import Enum, IntEnum, Flag, IntFlag, StrEnum
from typing import Annotated, NamedTuple, Any
import math, itertools, functools, collections, decimal, datetime, re, csv, calendar, fractions, pathlib, string, heapq, bisect, copy, operator, sys, warnings, contextvars, threading, types, typing
from streamproof.lang import *
from streamproof.proofs.invariant import Invariant

class W(Element):
    pass
@dataclass(frozen=True)
class S:
    n: Annotated[int, Range(0, 400)]
    bad: bool
class O:
    def __init__(self): self.k = 0
    def __call__(self):
        self.k += 1
        return self.k
o = O()

@dataclass(frozen=True)
class M(Model[S]):
    ws: Domain[W]
    sizes = {"default": {"ws": 2}}
    @init
    def start(self) -> S: return S(0, False)
    @action
    def step(self, s: S) -> S:
        require(s.n < 300 and not s.bad)
        return S(s.n + 1, s.bad)
    @action
    def again(self, s: S) -> S:
        require(s.bad or s.n == 300)
        return S(0, False)
    @action
    def probe(self, s: S, w: W) -> S:
        require(s.n > 100)
        return replace(s, bad=o() > 4000)
    @always
    def ok(self, s: S) -> bool:
        return not s.bad
MODEL = M
