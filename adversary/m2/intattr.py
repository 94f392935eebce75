from __future__ import annotations
from dataclasses import dataclass, replace, field
from enum import Enum, IntEnum, Flag, IntFlag, StrEnum
from typing import Annotated, NamedTuple, Any
import math, itertools, functools, collections, decimal, datetime, re, csv, calendar, fractions, pathlib, string, heapq, bisect, copy, operator, sys, warnings, contextvars, threading, types, typing
from streamproof.lang import *
from streamproof.proofs.invariant import Invariant

class T(int):
    def __new__(cls, v, k):
        o = int.__new__(cls, v); o.k = k; return o

@dataclass(frozen=True)
class M(Model[Any]):
    sizes = {"default": {}}
    @init
    def start(self) -> Any: return (0, T(1, 1))
    @action
    def good(self, s: Any) -> Any:
        require(s[0] == 0)
        return (1, T(1, 1))
    @action
    def bad(self, s: Any) -> Any:
        require(s[0] == 0)
        return (1, T(1, 2))
    @action
    def back(self, s: Any) -> Any:
        require(s[0] == 1)
        return (0, T(1, 1))
    @always
    def ok(self, s: Any) -> bool:
        return not (s[1].k == 2)
MODEL = M
