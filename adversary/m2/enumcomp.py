from __future__ import annotations
from dataclasses import dataclass, replace, field
from enum import Enum, IntEnum, Flag, IntFlag, StrEnum
from typing import Annotated, NamedTuple, Any
import math, itertools, functools, collections, decimal, datetime, re, csv, calendar, fractions, pathlib, string, heapq, bisect, copy, operator, sys, warnings, contextvars, threading, types, typing
from streamproof.lang import *
from streamproof.proofs.invariant import Invariant

class E1(IntEnum):
    A = 1
class E2(IntEnum):
    A = 1

@dataclass(frozen=True)
class M(Model[Any]):
    sizes = {"default": {}}
    @init
    def start(self) -> Any: return (0, E2.A)
    @action
    def good(self, s: Any) -> Any:
        require(s[0] == 0)
        return (1, E2.A)
    @action
    def bad(self, s: Any) -> Any:
        require(s[0] == 0)
        return (1, E1.A)
    @action
    def back(self, s: Any) -> Any:
        require(s[0] == 1)
        return (0, E2.A)
    @always
    def ok(self, s: Any) -> bool:
        return not (s[1].name == 'A' and type(s[1]).__name__ == 'E1')
MODEL = M
