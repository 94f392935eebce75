"""write models from snippets: mini(name, state fields, init expr, body)"""
HEAD='''from __future__ import annotations
from dataclasses import dataclass, replace, field
from enum import Enum, IntEnum, Flag, IntFlag, StrEnum
from typing import Annotated, NamedTuple, Any
import math, itertools, functools, collections, decimal, datetime, re, csv, calendar, fractions, pathlib, string, heapq, bisect, copy, operator, sys, warnings, contextvars, threading, types, typing
from streamproof.lang import *
from streamproof.proofs.invariant import Invariant
'''
def write(path, text):
    open(path,'w').write(HEAD+text)
