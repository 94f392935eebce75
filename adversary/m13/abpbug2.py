from __future__ import annotations
from dataclasses import dataclass, replace, field
from enum import Enum, IntEnum, Flag, IntFlag, StrEnum
from typing import Annotated, NamedTuple, Any
import math, itertools, functools, collections, decimal, datetime, re, csv, calendar, fractions, pathlib, string, heapq, bisect, copy, operator, sys, warnings, contextvars, threading, types, typing
from streamproof.lang import *
from streamproof.proofs.invariant import Invariant

@dataclass(frozen=True)
class S:
    sbit: bool
    rbit: bool
    dfull: bool
    dbit: bool
    afull: bool
    abit: bool
    sent: Annotated[int, Range(0, 1)]
    out: Annotated[int, Range(0, 2)]
@dataclass(frozen=True)
class M(Model[S]):
    sizes = {"default": {}}
    @init
    def start(self) -> S: return S(False, False, False, False, False, True, 0, 0)
    @action(fairness=Fairness.WEAK)
    def send(self, s: S) -> S: return replace(s, dfull=True, dbit=s.sbit)
    @action
    def lose(self, s: S) -> S:
        require(s.dfull)
        return replace(s, dfull=False)
    @action
    def loseack(self, s: S) -> S:
        require(s.afull)
        return replace(s, afull=False)
    @action(fairness=Fairness.STRONG)
    def recv(self, s: S) -> S:
        require(s.dfull)
        if s.dbit == s.rbit: return replace(s, dfull=False, afull=True, abit=s.dbit)
        assert s.out < 1, "twice"
        return replace(s, dfull=False, afull=True, abit=s.dbit, rbit=not s.rbit, out=s.out + 1)
    @action(fairness=Fairness.STRONG)
    def ack(self, s: S) -> S:
        require(s.afull)
        if s.abit != s.sbit: return replace(s, afull=False)
        return replace(s, afull=False, sbit=not s.sbit, out=0)
    @always
    def once(self, s: S) -> bool: return s.out <= 1
    @leads_to
    def prog(self, s: S): return not s.sbit, s.sbit
MODEL = M
