from __future__ import annotations
from dataclasses import dataclass, replace, field
from enum import Enum, IntEnum, Flag, IntFlag, StrEnum
from typing import Annotated, NamedTuple, Any
import math, itertools, functools, collections, decimal, datetime, re, csv, calendar, fractions, pathlib, string, heapq, bisect, copy, operator, sys, warnings, contextvars, threading, types, typing
from streamproof.lang import *
from streamproof.proofs.invariant import Invariant

import time
def time_(k): return time.struct_time((1,2,3,4,5,6,7,8,0), {'tm_zone': 'A' if k == 1 else 'B', 'tm_gmtoff': 0})

@dataclass(frozen=True)
class M(Model[Any]):
    sizes = {"default": {}}
    @init
    def start(self) -> Any: return (0, time_(1))
    @action
    def good(self, s: Any) -> Any:
        require(s[0] == 0)
        return (1, time_(1))
    @action
    def bad(self, s: Any) -> Any:
        require(s[0] == 0)
        return (1, time_(2))
    @action
    def back(self, s: Any) -> Any:
        require(s[0] == 1)
        return (0, time_(1))
    @always
    def ok(self, s: Any) -> bool:
        return not (s[1].tm_zone == 'B')
MODEL = M
