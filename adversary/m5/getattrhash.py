from __future__ import annotations
from dataclasses import dataclass, replace, field
from enum import Enum, IntEnum, Flag, IntFlag, StrEnum
from typing import Annotated, NamedTuple, Any
import math, itertools, functools, collections, decimal, datetime, re, csv, calendar, fractions, pathlib, string, heapq, bisect, copy, operator, sys, warnings, contextvars, threading, types, typing
from streamproof.lang import *
from streamproof.proofs.invariant import Invariant

class W(Element): ...
NAMES = {'a': 1, 'b': 2, 'c': 3, 'dd': 4, 'eee': 5}
OTHER = {'a': 1, 'c': 2, 'dd': 1, 'eee': 2, 'f': 1}

@dataclass(frozen=True)
class M(Model[Any]):
    sizes = {"default": {}}
    @init
    def start(self) -> Any: return (0, 'a')
    @action
    def step(self, s: Any) -> Any:
        require(s[0] < 700)
        return (s[0] + 1, 'a')
    @action
    def again(self, s: Any) -> Any:
        require(s[0] == 700)
        return (0, 'a')
    @action
    def probe(self, s: Any) -> Any:
        require(s[0] == 600)
        return (601, 'eee' if getattr('x', '__ha' + 'sh__')() % 3 == 0 else 'a')
    @always
    def ok(self, s: Any) -> bool:
        return s[1] != 'eee'
MODEL = M
