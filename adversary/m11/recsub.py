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
class R2(R1): pass

@dataclass(frozen=True)
class S:
    a: R1

@dataclass(frozen=True)
class M(Model[S]):
    sizes = {"default": {}}
    @init
    def start(self) -> S: return S(R1(0))
    @action
    def up(self, s: S) -> S:
        require(s.a.x < 5)
        return replace(s, a=R2(s.a.x + 1))

    @final
    def z(self, s: S) -> bool: return True
    @always
    def ok(self, s: S) -> bool: return s.a.x < 5

INVARIANT = Invariant(M, conjuncts=(lambda m, s: m.ok(s),))
MODEL = M
