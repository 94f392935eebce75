from __future__ import annotations
from dataclasses import dataclass, replace, field
from enum import Enum, IntEnum, Flag, IntFlag, StrEnum
from typing import Annotated, NamedTuple, Any
import math, itertools, functools, collections, decimal, datetime, re, csv, calendar, fractions, pathlib, string, heapq, bisect, copy, operator, sys, warnings, contextvars, threading, types, typing
from streamproof.lang import *
from streamproof.proofs.invariant import Invariant
def mk(t):
    @dataclass(frozen=True)
    class R:
        x: t
    R.__annotations__["x"] = t
    return dataclass(frozen=True)(type("R", (), {"__annotations__": {"x": t}}))
R1 = mk(bool)
R2 = mk(Annotated[int, Range(0,3)])

@dataclass(frozen=True)
class S:
    a: R1
    b: R2

@dataclass(frozen=True)
class M(Model[S]):
    sizes = {"default": {}}
    @init
    def start(self) -> S: return S(R1(False), R2(0))
    @action
    def up(self, s: S) -> S:
        require(not s.a.x)
        return replace(s, a=R1(True))
    @action
    def up2(self, s: S) -> S:
        require(s.a.x)
        return replace(s, b=R2(3))

    @final
    def z(self, s: S) -> bool: return True
    @always
    def ok(self, s: S) -> bool: return s.b.x < 3

INVARIANT = Invariant(M, conjuncts=(lambda m, s: m.ok(s),))
MODEL = M
