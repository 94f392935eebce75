from __future__ import annotations
from dataclasses import dataclass, replace, field
from enum import Enum, IntEnum, Flag, IntFlag, StrEnum
from typing import Annotated, NamedTuple, Any
import math, itertools, functools, collections, decimal, datetime, re, csv, calendar, fractions, pathlib, string, heapq, bisect, copy, operator, sys, warnings, contextvars, threading, types, typing
from streamproof.lang import *
from streamproof.proofs.invariant import Invariant

class Pr(Element): ...
class Pc(Enum):
    IDLE = 0
    WANT = 1
    SET = 2
    CRIT = 3
@dataclass(frozen=True)
class S:
    pc: Map[Pr, Pc]
    flag: Map[Pr, bool]
    turn: Pr
@dataclass(frozen=True)
class M(Model[S]):
    ps: Domain[Pr]
    sizes = {"default": {"ps": 3}}
    def others(self, p, what): return forall(self.ps, lambda q: p == q or what(q))
    @init
    def start(self, p: Pr) -> S: return S(Map.fill(self.ps, Pc.IDLE), Map.fill(self.ps, False), p)
    @action
    def want(self, s: S, p: Pr) -> S:
        require(s.pc[p] == Pc.IDLE)
        return replace(s, pc=s.pc.set(p, Pc.WANT), flag=s.flag.set(p, True))
    @action(fairness=Fairness.WEAK)
    def yield_(self, s: S, p: Pr, q: Pr) -> S:
        require(s.pc[p] == Pc.WANT and p != q)
        return replace(s, pc=s.pc.set(p, Pc.SET), turn=q, flag=s.flag.set(p, True))
    @action(fairness=Fairness.WEAK)
    def enter(self, s: S, p: Pr) -> S:
        require(s.pc[p] == Pc.SET)
        if not self.others(p, lambda q: not s.flag[q]): require(s.turn == p)
        return replace(s, pc=s.pc.set(p, Pc.CRIT))
    @action(fairness=Fairness.WEAK)
    def leave(self, s: S, p: Pr) -> S:
        require(s.pc[p] == Pc.CRIT)
        return replace(s, pc=s.pc.set(p, Pc.IDLE), flag=s.flag.set(p, False))
    @always
    def mutex(self, s: S, p: Pr, q: Pr) -> bool:
        return implies(s.pc[p] == Pc.CRIT and s.pc[q] == Pc.CRIT, p == q)
    
INVARIANT = Invariant(M, conjuncts=(lambda m, s: m.mutex(s, *[0]) if False else forall(m.ps, m.ps, lambda p, q: implies(s.pc[p] == Pc.CRIT and s.pc[q] == Pc.CRIT, p == q)),))
MODEL = M
