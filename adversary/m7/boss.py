from __future__ import annotations
from dataclasses import dataclass, replace, field
from enum import Enum, IntEnum, Flag, IntFlag, StrEnum
from typing import Annotated, NamedTuple, Any
import math, itertools, functools, collections, decimal, datetime, re, csv, calendar, fractions, pathlib, string, heapq, bisect, copy, operator, sys, warnings, contextvars, threading, types, typing
from streamproof.lang import *
from streamproof.proofs.invariant import Invariant

class W(Element): ...
@dataclass(frozen=True)
class S:
    t: W
    n: Map[W, Annotated[int, Range(0, 2)]]
@dataclass(frozen=True)
class M(Model[S]):
    ws: Domain[W]
    boss: W
    vip: Map[W, bool]
    sizes = {"default": {"k": 4}}
    @classmethod
    def sized(cls, k: int):
        d = Domain(W, k); e = list(d)
        return cls(d, e[1], Map.build(d, lambda x: x == e[2]))
    @init
    def start(self, w: W) -> S: return S(w, Map.fill(self.ws, 0))
    @action
    def go(self, s: S, w: W) -> S:
        require(s.t == w and s.n[w] < 2)
        return replace(s, n=s.n.set(w, s.n[w] + 1))
    @action
    def turn(self, s: S, w: W) -> S:
        require(s.t != w and implies(self.vip[w], s.n[self.boss] > 0))
        return replace(s, t=w)
    @always
    def ok(self, s: S) -> bool:
        return not (s.n[self.boss] == 2 and forall(self.ws, lambda w: s.n[w] == 2 or self.vip[w]) and self.vip[s.t])
    @sometimes
    def each(self, s: S, w: W) -> bool: return s.t == w and s.n[w] == 2
MODEL = M
