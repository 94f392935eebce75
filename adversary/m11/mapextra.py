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

@dataclass(frozen=True)
class M(Model[S]):
    sizes = {"default": {}}
    @init
    def start(self) -> S: return S(Map.fill(Domain(W, 2), False))
    @action
    def up(self, s: S) -> S:
        return S(Map.fill(Domain(W, 2), True))

    @final
    def z(self, s: S) -> bool: return True
    @always
    def ok(self, s: S) -> bool: return not s.h[list(Domain(W,2))[0]]

INVARIANT = Invariant(M, conjuncts=(lambda m, s: m.ok(s),))
MODEL = M
