from __future__ import annotations
from dataclasses import dataclass, replace, field
from enum import Enum, IntEnum, Flag, IntFlag, StrEnum
from typing import Annotated, NamedTuple, Any
import math, itertools, functools, collections, decimal, datetime, re, csv, calendar, fractions, pathlib, string, heapq, bisect, copy, operator, sys, warnings, contextvars, threading, types, typing
from streamproof.lang import *
from streamproof.proofs.invariant import Invariant

class N(Element): ...
@dataclass(frozen=True)
class S:
    msg: Map[tuple[N, N], bool]   # msg[id, at]
    leader: Map[N, bool]
@dataclass(frozen=True)
class Ring(Model[S]):
    ns: Domain[N]
    succ: Map[N, N]
    rank: Map[N, int]
    sizes = {"default": {"k": 4}}
    @classmethod
    def sized(cls, k: int):
        d = Domain(N, k); e = list(d)
        order = {x: i for i, x in enumerate(e)}
        return cls(d, Map.build(d, lambda x: e[(order[x] + 1) % k]), Map.build(d, lambda x: (order[x] * 3) % k))
    @init
    def start(self) -> S: return S(Map.fill(self.ns, self.ns, False), Map.fill(self.ns, False))
    @action
    def send(self, s: S, n: N) -> S:
        return replace(s, msg=s.msg.set(n, self.succ[n], True)) if False else replace(s, msg=s.msg.set((n, self.succ[n]), True))
    @action
    def pass_(self, s: S, i: N, at: N) -> S:
        require(s.msg[i, at])
        gone = s.msg.set((i, at), False)
        if i == at: return replace(s, msg=gone, leader=s.leader.set(at, True))
        if self.rank[i] != self.rank[at]: return replace(s, msg=gone.set((i, self.succ[at]), True))
        return replace(s, msg=gone)
    @always
    def one(self, s: S) -> bool:
        return forall(self.ns, self.ns, lambda a, b: implies(s.leader[a] and s.leader[b], a == b))
    @sometimes
    def elected(self, s: S) -> bool: return exists(self.ns, lambda a: s.leader[a])
MODEL = Ring
