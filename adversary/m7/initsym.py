from __future__ import annotations
from dataclasses import dataclass, replace, field
from enum import Enum, IntEnum, Flag, IntFlag, StrEnum
from typing import Annotated, NamedTuple, Any
import math, itertools, functools, collections, decimal, datetime, re, csv, calendar, fractions, pathlib, string, heapq, bisect, copy, operator, sys, warnings, contextvars, threading, types, typing
from streamproof.lang import *
from streamproof.proofs.invariant import Invariant

class W(Element): ...
class V(Element): ...
@dataclass(frozen=True)
class S:
    a: W
    b: W
    f: Map[tuple[W, V], bool]
@dataclass(frozen=True)
class M(Model[S]):
    ws: Domain[W]
    vs: Domain[V]
    sizes = {"default": {"ws": 3, "vs": 2}}
    @init
    def start(self, w: W, v: V) -> S: return S(w, w, Map.build(self.ws, self.vs, lambda x, y: x == w and y == v))
    @action
    def mv(self, s: S, w: W, v: V) -> S:
        require(s.f[s.a, v] and not s.f[w, v])
        return replace(s, f=s.f.set((w, v), True), b=w)
    @action
    def sw(self, s: S, v: V) -> S:
        require(exists(self.ws, lambda x: x != s.b and s.f[x, v]))
        return replace(s, a=s.b, f=s.f.map_items(lambda k, x: x) if False else s.f)
    @action
    def clr(self, s: S, w: W, v: V) -> S:
        return replace(s, f=s.f.set((w, v), False))
    @final
    def z(self, s: S) -> bool: return True
    @always
    def ok(self, s: S, w: W) -> bool:
        return not (s.a != s.b and s.f[w, list(self.vs)[0]]) if False else not (s.a != s.b and forall(self.ws, self.vs, lambda x, v: s.f[x, v]))
MODEL = M
