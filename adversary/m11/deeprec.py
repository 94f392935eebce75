from __future__ import annotations
from dataclasses import dataclass, replace, field
from enum import Enum, IntEnum, Flag, IntFlag, StrEnum
from typing import Annotated, NamedTuple, Any
import math, itertools, functools, collections, decimal, datetime, re, csv, calendar, fractions, pathlib, string, heapq, bisect, copy, operator, sys, warnings, contextvars, threading, types, typing
from streamproof.lang import *
from streamproof.proofs.invariant import Invariant
@dataclass(frozen=True)
class R1:
    x: bool
@dataclass(frozen=True)
class R2:
    r: R1
    k: Annotated[int, Range(0,3)]
@dataclass(frozen=True)
class R3:
    r: R2
    f: bool

@dataclass(frozen=True)
class S:
    a: R3

@dataclass(frozen=True)
class M(Model[S]):
    sizes = {"default": {}}
    @init
    def start(self) -> S: return S(R3(R2(R1(False), 0), False))
    @action
    def up(self, s: S) -> S:
        require(s.a.r.k < 3)
        return replace(s, a=replace(s.a, r=replace(s.a.r, k=s.a.r.k + 1)))
    @action
    def up2(self, s: S) -> S:
        require(s.a.r.k == 3)
        return replace(s, a=replace(s.a, r=replace(s.a.r, r=R1(True))))

    @final
    def z(self, s: S) -> bool: return True
    @always
    def ok(self, s: S) -> bool: return not s.a.r.r.x

INVARIANT = Invariant(M, conjuncts=(lambda m, s: m.ok(s),))
MODEL = M
