from __future__ import annotations
from dataclasses import dataclass, replace, field
from enum import Enum, IntEnum, Flag, IntFlag, StrEnum
from typing import Annotated, NamedTuple, Any
import math, itertools, functools, collections, decimal, datetime, re, csv, calendar, fractions, pathlib, string, heapq, bisect, copy, operator, sys, warnings, contextvars, threading, types, typing
from streamproof.lang import *
from streamproof.proofs.invariant import Invariant

class W(Element):
    pass
@dataclass(frozen=True)
class S:
    n: Annotated[int, Range(0, 400)]
    bad: bool
EX = ValueError()
@dataclass(frozen=True)
class M(Model[S]):
    ws: Domain[W]
    sizes = {"default": {"ws": 2}}
    @init
    def start(self) -> S: return S(0, False)
    @action
    def step(self, s: S) -> S:
        require(s.n < 300 and not s.bad)
        return S(s.n + 1, s.bad)
    @action
    def again(self, s: S) -> S:
        require(s.bad or s.n == 300)
        return S(0, False)
    @action
    def probe(self, s: S, w: W) -> S:
        require(s.n > 100)
        EX.add_note('x')
        return replace(s, bad=len(EX.__notes__) > 50)
    @always
    def ok(self, s: S) -> bool:
        return not s.bad
MODEL = M
