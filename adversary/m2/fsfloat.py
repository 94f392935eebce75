from __future__ import annotations
from dataclasses import dataclass, replace, field
from enum import Enum, IntEnum, Flag, IntFlag, StrEnum
from typing import Annotated, NamedTuple, Any
import math, itertools, functools, collections, decimal, datetime, re, csv, calendar, fractions, pathlib, string, heapq, bisect, copy, operator, sys, warnings, contextvars, threading, types, typing
from streamproof.lang import *
from streamproof.proofs.invariant import Invariant

@dataclass(frozen=True)
class M(Model[Any]):
    sizes = {"default": {}}
    @init
    def start(self) -> Any: return (0, frozenset([0.0]))
    @action
    def good(self, s: Any) -> Any:
        require(s[0] == 0)
        return (1, frozenset([0.0]))
    @action
    def bad(self, s: Any) -> Any:
        require(s[0] == 0)
        return (1, frozenset([-0.0]))
    @action
    def back(self, s: Any) -> Any:
        require(s[0] == 1)
        return (0, frozenset([0.0]))
    @always
    def ok(self, s: Any) -> bool:
        return not (math.copysign(1, [*s[1]][0]) < 0)
MODEL = M
