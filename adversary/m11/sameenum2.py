from __future__ import annotations
from dataclasses import dataclass, replace, field
from enum import Enum, IntEnum, Flag, IntFlag, StrEnum
from typing import Annotated, NamedTuple, Any
import math, itertools, functools, collections, decimal, datetime, re, csv, calendar, fractions, pathlib, string, heapq, bisect, copy, operator, sys, warnings, contextvars, threading, types, typing
from streamproof.lang import *
from streamproof.proofs.invariant import Invariant
P = Enum("E", "A B")
Q = Enum("E", "X A")

@dataclass(frozen=True)
class S:
    p: P
    q: Q

@dataclass(frozen=True)
class M(Model[S]):
    sizes = {"default": {}}
    @init
    def start(self) -> S: return S(P.A, Q.X)
    @action
    def up(self, s: S) -> S:
        require(s.p == P.A)
        return replace(s, p=P.B)
    @action
    def up2(self, s: S) -> S:
        require(s.p == P.B)
        return replace(s, q=Q.A)

    @final
    def z(self, s: S) -> bool: return True
    @always
    def ok(self, s: S) -> bool: return not (s.q == Q.A and s.p == P.B)

INVARIANT = Invariant(M, conjuncts=(lambda m, s: m.ok(s),))
MODEL = M
