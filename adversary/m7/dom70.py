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
    h: Map[W, bool]
    k: Annotated[int, Range(0, 3)]
@dataclass(frozen=True)
class M(Model[S]):
    ws: Domain[W]
    sizes = {"default": {"ws": 70}}
    @init
    def start(self) -> S: return S(Map.fill(self.ws, False), 0)
    @action
    def go(self, s: S, w: W) -> S:
        require(not s.h[w] and s.k < 2)
        return S(s.h.set(w, True), s.k + 1)
    @action
    def fl(self, s: S) -> S: return S(s.h.map(lambda x: not x), 3 - s.k)
    @always
    def ok(self, s: S) -> bool: return count(self.ws, lambda w: s.h[w]) != 70
    @sometimes
    def som(self, s: S, w: W) -> bool: return s.h[w]
MODEL = M
