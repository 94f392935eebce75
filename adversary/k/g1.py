from dataclasses import dataclass, replace
from typing import Annotated
from streamproof.lang import *
from streamproof.proofs.invariant import Invariant
@dataclass(frozen=True)
class R:
    b: bool
    b_c: bool
@dataclass(frozen=True)
class S:
    a: R
    a_b: bool
    a__b: bool
    holds: bool
    n: bool
    when: bool
    true: bool
    And: bool
@dataclass(frozen=True)
class M(Model[S]):
    holds: bool
    n: Annotated[int, Range(0,5)]
    a_b: bool
    sizes = {"default": {"holds": True, "n": 3, "a_b": True}}
    @init
    def start(self) -> S: return S(R(False, False), False, False, False, False, False, False, False)
    @action
    def one(self, s: S) -> S: return replace(s, a_b=True)
    @action
    def two(self, s: S) -> S: return replace(s, a=replace(s.a, b_c=True))
    @action
    def three(self, s: S) -> S: return replace(s, holds=self.holds, n=self.n > 2, And=self.a_b)
    @always
    def ok(self, s: S) -> bool: return not s.a.b and not s.a__b and not s.when and not s.true
    @always
    def bad(self, s: S) -> bool: return not (s.a_b and s.a.b_c and s.holds and s.n and s.And)
INVARIANT = Invariant(M, conjuncts=(lambda m, s: m.ok(s), lambda m, s: m.bad(s)))
MODEL = M
