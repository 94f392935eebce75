from __future__ import annotations
from dataclasses import dataclass, replace, field
from enum import Enum, IntEnum, Flag, IntFlag, StrEnum
from typing import Annotated, NamedTuple, Any
import math, itertools, functools, collections, decimal, datetime, re, csv, calendar, fractions, pathlib, string, heapq, bisect, copy, operator, sys, warnings, contextvars, threading, types, typing
from streamproof.lang import *
from streamproof.proofs.invariant import Invariant

@dataclass(frozen=True)
class S:
    n: Annotated[int, Range(0, 18446744073709551615)]
    m: Annotated[int, Range(0, 18446744073709551615)]
    f: bool
@dataclass(frozen=True)
class M(Model[S]):
    sizes = {"default": {}}
    @init
    def start(self) -> S: return S(1, 1, False)
    @action
    def a0(self, s: S) -> S:
        require(s.n < 2**63)
        return replace(s, n=s.n * 2)
    @action
    def a1(self, s: S) -> S:
        require(s.m < 2**62)
        return replace(s, m=s.m * 2)
    @final
    def z(self, s: S) -> bool: return True
    @always
    def ok(self, s: S) -> bool: return not (s.n == 2**63 and s.m == 2**62)
INVARIANT = Invariant(M, conjuncts=(lambda m, s: m.ok(s),))
MODEL = M
