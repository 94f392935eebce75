from __future__ import annotations
from dataclasses import dataclass, replace, field
from enum import Enum, IntEnum, Flag, IntFlag, StrEnum
from typing import Annotated, NamedTuple, Any
import math, itertools, functools, collections, decimal, datetime, re, csv, calendar, fractions, pathlib, string, heapq, bisect, copy, operator, sys, warnings, contextvars, threading, types, typing
from streamproof.lang import *
from streamproof.proofs.invariant import Invariant
class T(int):
    def __eq__(self, o): return False
    def __hash__(self): return 0

@dataclass(frozen=True)
class S:
    n: Annotated[int, Range(0, 9)]

@dataclass(frozen=True)
class M(Model[S]):
    sizes = {"default": {}}
    @init
    def start(self) -> S: return S(0)
    @action
    def up(self, s: S) -> S:
        require(s.n < 5)
        return replace(s, n=s.n + 1)
    @action
    def jump(self, s: S) -> S:
        require(s.n == 4 and not (s.n == T(4)))
        return replace(s, n=9)

    @final
    def z(self, s: S) -> bool: return True
    @always
    def ok(self, s: S) -> bool: return s.n < 9

INVARIANT = Invariant(M, conjuncts=(lambda m, s: m.ok(s),))
MODEL = M
