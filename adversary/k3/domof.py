from dataclasses import dataclass, replace, field
from typing import Any
import functools
from streamproof.lang import *
class N(Element): ...
@dataclass(frozen=True)
class S:
    n: N
@dataclass(frozen=True)
class M(Model[S]):
    ns: Domain[N]
    first: N
    sizes = {"default": {"k": 3}}
    @classmethod
    def sized(cls, k: int):
        d = Domain(N, k)
        return cls(d, dict(zip({"a", "b", "c"}, d))["a"])
    @init
    def start(self) -> S: return S(self.first)
    @action
    def up(self, s: S) -> S: return s
    @always
    def ok(self, s: S) -> bool: return s.n != list(self.ns)[0]
MODEL = M
