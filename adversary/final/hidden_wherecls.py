from dataclasses import dataclass, field
from enum import Enum
import calendar, csv, decimal, functools, sys
from streamproof.lang import *
class Base0: ...
class Log:
    rows = []
class W(Element): ...
Model.rows = []

@dataclass(frozen=True)
class S:
    n: bool
    bad: bool

@dataclass(frozen=True)
class M(Model[S]):
    ws: Domain[W]
    sizes = {"default": {"ws": 1}}
    @init
    def start(self) -> S: return S(False, False)
    @action
    def step(self, s: S, w: W) -> S:
        self.rows.append(1)
        return S(not s.n, len(self.rows) > 1000)
    @always
    def ok(self, s: S) -> bool: return not s.bad
MODEL = M

if __name__ == "__main__":  # a plain walk
    m = M(Domain(W, 1)); s = m.start(); w = list(m.ws)[0]
    for i in range(3000):
        s = m.step(s, w)
        if not m.ok(s):
            print("plain run: ok broken after", i + 1, "steps"); break
    else: print("plain run: held")
