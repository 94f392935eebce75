from __future__ import annotations
from dataclasses import dataclass, replace, field
from enum import Enum, IntEnum, Flag, IntFlag, StrEnum
from typing import Annotated, NamedTuple, Any
import math, itertools, functools, collections, decimal, datetime, re, csv, calendar, fractions, pathlib, string, heapq, bisect, copy, operator, sys, warnings, contextvars, threading, types, typing
from streamproof.lang import *
from streamproof.proofs.invariant import Invariant

@dataclass(frozen=True)
class S:
    state: bool
    i64: Annotated[int, Range(0, 3)]
    lambda_: bool
    _x: bool
    __y: bool
    true: bool
    self_: bool
    printf: bool
    n: Annotated[int, Range(0,9)]

@dataclass(frozen=True)
class M(Model[S]):
    sizes = {"default": {}}
    @init
    def start(self) -> S: return S(False,0,False,False,False,False,False,False,0)
    @action
    def malloc(self, s: S) -> S:
        require(s.n < 5)
        return replace(s, n=s.n+1)
    @action
    def main(self, s: S) -> S:
        require(s.n == 5)
        return replace(s, printf=True)
    @action
    def free(self, s: S) -> S:
        require(s.printf)
        return replace(s, _x=True)
    @action
    def step(self, s: S) -> S:
        require(s._x)
        return replace(s, state=True, i64=3)
    @action
    def expand(self, s: S) -> S:
        require(s.state)
        return replace(s, true=True)

    @final
    def z(self, s: S) -> bool: return True
    @always
    def ok(self, s: S) -> bool: return not s.true

INVARIANT = Invariant(M, conjuncts=(lambda m, s: m.ok(s),))
MODEL = M
