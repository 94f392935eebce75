from __future__ import annotations
from dataclasses import dataclass, replace, field
from enum import Enum, IntEnum, Flag, IntFlag, StrEnum
from typing import Annotated, NamedTuple, Any
import math, itertools, functools, collections, decimal, datetime, re, csv, calendar, fractions, pathlib, string, heapq, bisect, copy, operator, sys, warnings, contextvars, threading, types, typing
from streamproof.lang import *
from streamproof.proofs.invariant import Invariant

@dataclass(frozen=True)
class S:
    größe: Annotated[int, Range(0, 9)]
    名: bool
    ﬁ: bool

@dataclass(frozen=True)
class M(Model[S]):
    sizes = {"default": {}}
    @init
    def start(self) -> S: return S(0,False,False)
    @action
    def schließ(self, s: S) -> S:
        require(s.größe < 5)
        return replace(s, größe=s.größe+1)
    @action
    def 次(self, s: S) -> S:
        require(s.größe == 5)
        return replace(s, 名=True)
    @action
    def ﬁn(self, s: S) -> S:
        require(s.名)
        return replace(s, fi=True)

    @final
    def z(self, s: S) -> bool: return True
    @always
    def ok(self, s: S) -> bool: return not s.fi

INVARIANT = Invariant(M, conjuncts=(lambda m, s: m.ok(s),))
MODEL = M
