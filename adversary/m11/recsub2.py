from __future__ import annotations
from dataclasses import dataclass, replace, field
from enum import Enum, IntEnum, Flag, IntFlag, StrEnum
from typing import Annotated, NamedTuple, Any
import math, itertools, functools, collections, decimal, datetime, re, csv, calendar, fractions, pathlib, string, heapq, bisect, copy, operator, sys, warnings, contextvars, threading, types, typing
from streamproof.lang import *
from streamproof.proofs.invariant import Invariant
@dataclass(frozen=True)
class R1:
    x: Annotated[int, Range(0,9)]

@dataclass(frozen=True)
class S:
    a: R1
    n: Annotated[int, Range(0,9)]

@dataclass(frozen=True)
class M(Model[S]):
    sizes = {"default": {}}
    @init
    def start(self) -> S: return S(R1(0), 0)
    @action
    def up(self, s: S) -> S:
        require(s.n < 2)
        return replace(s, n=s.n+1, a=R1(s.n) if s.n < 1 else R1(0))

    @final
    def z(self, s: S) -> bool: return True
    @always
    def ok(self, s: S) -> bool: return s.a != R1(0) or s.n < 2

INVARIANT = Invariant(M, conjuncts=(lambda m, s: m.ok(s),))
MODEL = M
