from __future__ import annotations
from dataclasses import dataclass, replace, field
from enum import Enum, IntEnum, Flag, IntFlag, StrEnum
from typing import Annotated, NamedTuple, Any
import math, itertools, functools, collections, decimal, datetime, re, csv, calendar, fractions, pathlib, string, heapq, bisect, copy, operator, sys, warnings, contextvars, threading, types, typing
from streamproof.lang import *
from streamproof.proofs.invariant import Invariant

@dataclass(frozen=True)
class S:
    n: Annotated[int, Range(0, 4)]
@dataclass(frozen=True)
class M(Model[S]):
    sizes = {"default": {}}
    @init
    def i0(self) -> S: return S(0)
    @action(fairness=Fairness.STRONG)
    def a0(self, s: S) -> S:
        if s.n == 0: return S(1)
        if s.n == 1: return S(0)
        require(False)
        return s
    @action(fairness=Fairness.WEAK)
    def a1(self, s: S) -> S:
        if s.n == 2: return S(0)
        if s.n == 3: return S(1)
        require(False)
        return s
    @action(fairness=Fairness.STRONG)
    def a2(self, s: S) -> S:
        if s.n == 1: return S(0)
        if s.n == 3: return S(4)
        if s.n == 4: return S(2)
        require(False)
        return s
    @final
    def z(self, s: S) -> bool: return True
    def ruled_out(self): return ('a1',)
    @eventually
    def ev(self, s: S): return s.n in (0, 1)

MODEL = M
