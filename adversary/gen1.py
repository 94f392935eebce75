import sys,os,textwrap
from run import case
T='''from dataclasses import dataclass, replace
from enum import Enum, IntEnum, Flag, IntFlag, StrEnum
from typing import Annotated
import math, operator, itertools, functools, copy
from streamproof.lang import *
from streamproof.proofs.invariant import Invariant

class W(Element): ...
class V(Element): ...
class P(Enum):
    A = 0
    B = 1
    C = 2
class Q(Enum):
    A = 0
    B = 1
    C = 5
    D = 1
class R(StrEnum):
    A = ""
    B = "b"
{pre}
@dataclass(frozen=True)
class S:
    n: Annotated[int, Range(-3, 4)]
    f: bool
    p: P
    q: Q
    w: W
    h: Map[W, Annotated[int, Range(-1, 1)]]
    out: Annotated[int, Range(-200, 200)]

@dataclass(frozen=True)
class M(Model[S]):
    ws: Domain[W]
    vs: Domain[V]
    sizes = {{"default": {{"ws": 2, "vs": 2}}}}
    @init
    def start(self, w: W) -> S:
        return S(0, False, P.A, Q.A, w, Map.fill(self.ws, 0), 0)
    @action
    def up(self, s: S) -> S:
        require(s.out == 0 and s.n < 4)
        return replace(s, n=s.n + 1)
    @action
    def down(self, s: S) -> S:
        require(s.out == 0 and s.n > -3)
        return replace(s, n=s.n - 1)
    @action
    def flip(self, s: S) -> S:
        require(s.out == 0)
        return replace(s, f=not s.f)
    @action
    def pq(self, s: S) -> S:
        require(s.out == 0)
        if s.p == P.A: return replace(s, p=P.B, q=Q.B)
        if s.p == P.B: return replace(s, p=P.C, q=Q.C)
        return replace(s, p=P.A, q=Q.A)
    @action
    def hh(self, s: S, w: W) -> S:
        require(s.out == 0)
        return replace(s, h=s.h.set(w, 1 if s.h[w] == 0 else -1 if s.h[w] == 1 else 0))
    @action
    def probe(self, s: S, w: W, v: V) -> S:
        require(s.out == 0)
{body}
    @action
    def back(self, s: S) -> S:
        require(s.out != 0)
        return replace(s, out=0)
    @always
    def outs(self, s: S) -> bool:
        return s.out != 199
{more}
MODEL = M
'''
E=[
# truthiness
"s.n","s.p","s.q","s.r","w","s.w","s.h","self.ws","s","s.f and s.n","s.n or s.f","s.n and s.w","not s.q","not s.r", "not s.p",
"bool(s.q)","bool(s.n)","bool(s.p)","bool(w)","bool(s.r)",
# mixed compare
"s.n == s.f","s.f == 1","s.f < s.n","s.n == 2.5","s.n < 2.5","s.n == 2.0","s.n < math.inf","s.n == None","s.n != 'a'","s.p == 1","s.q == 1","s.q < 3","s.q == s.n","s.r == 'b'","s.r == ''","s.p == s.q","s.w == w","s.w == v","w == v","v != w","w == 0","s.h == 3","s.h == s.h.set(w, 1)","s.p == Q.B","s.q == P.B","s.q == Q.B and s.q in (1, 5)","s.p in (P.A, P.C)","s.p in {P.A, P.C}","s.n in (1, 2)","s.n in range(2)","s.n in range(-2,4,2)","s.n in [s.h[w], 3]","-2 < s.n < 2","0 < s.n > s.h[w] < 1","s.n is 1","s.p is P.A","s.f is True","s.n in {1,2,3}",
"s.n in {1: 2}","(s.n, s.f) == (1, True)","(s.n, s.f) < (1, True)","[s.n] == [1]","(s.n,) in ((1,), (2,))","(s.n, w) == (1, s.w)","(s.n, 1) == (s.n, True)", "[s.n, 1][0] == 1", "s.f == (s.n > 0)","s.f > (s.n > 0)","s.f & (s.n > 0)","s.f ^ (s.n > 0)","s.f | s.n","s.f ^ s.n == 1","~s.f == -1","-s.f == -1","s.f + s.f == 2","s.n == True","s.f is not None","s.w is not None",
"s.w.index == 0","s.p.value == 1","s.p.name == 'B'","s.q.value == 5","s.q + 1 == 2","s.q * 2 > 3","s.r + 'x' == 'bx'","len(s.r)","s.q in range(2)","max(s.q, 1) == 1","P(s.n) == P.A","P(s.q) == P.B","Q(s.n) == 1","P['A'] == s.p","list(P)[0] == s.p","list(P).index(s.p) == 1","s.p in list(P)[:2]","s.p in P","s.n in P","s.p in Q",
"any(s.h[x] == 1 for x in self.ws)","all(s.h[x] for x in self.ws)","exists(self.ws, lambda x: s.h[x])","forall(self.ws, lambda x: s.h[x] or s.n)","forall(self.ws, lambda x: x)","exists(self.ws, lambda x: s.p)","forall(self.ws, lambda x: s.q)","forall(self.ws, lambda x: s.r)","forall(self.ws, lambda x: s.n - 1)","count(self.ws, lambda x: s.h[x]) == 2","count(self.ws, lambda x: s.h[x] * s.n) == 1","count(self.ws, lambda x: s.h[x] == s.n) >= 1","forall(self.ws, self.vs, lambda x, y: s.h[x] == s.n)","exists(self.ws, self.ws, lambda x, y: x != y and s.h[x] == s.h[y])","forall(s.h, lambda x: s.h[x] == 0)","forall(self.ws, lambda x: exists(self.ws, lambda y: x != y and s.h[y] > s.h[x]))","forall(self.ws, lambda x, n=s.n: s.h[x] <= n)","forall(self.ws, lambda *a: s.h[a[0]] <= s.n)","exists(self.ws, lambda x: implies(s.h[x] > 0, s.n > 0))","forall(self.ws, lambda x: s.h[x] <= s.h[w]) and s.w == w","exists(self.ws, lambda w: s.h[w] > 0) and s.h[w] < 0",
"sum(s.h[x] for x in self.ws) == 1","len(self.ws) == 2","w in self.ws","list(self.ws)[0] == w","min(self.ws) == w","sorted(self.ws)[0] == w","next(iter(self.ws)) == w","s.h.items()","dict(s.h.items())[w] == 1","min(s.h[w], s.n) == 1","max(s.n, 0, s.h[w]) == 1","sorted([s.n, 1])[0] == 1","sorted([s.n, s.h[w]], reverse=True)[0] == 1","sorted([s.n, -s.n, 1], key=lambda x: x*x)[0] == 1","min(s.n, -s.n, key=lambda x: x*x) == 1","max([s.f, s.n]) == 1","max(s.f, True) == 1","min(1, s.f) == s.n",
"s.n // 2 == -1","s.n // -2 == -1","s.n % 2 == 1","s.n % -2 == -1","s.n % 3 == 2","7 // (s.n + 10) == 0","-7 % (s.n + 10) == 2","divmod(s.n, 2) == (0, 1)","divmod(s.n, -3)[1] == -2","pow(s.n, 2) == 4","s.n ** 3 == 8","pow(s.n, 2, 3) == 1","2 ** s.n == 4","abs(s.n) == 2","round(s.n) == 2","round(s.n, -1) == 0","int(s.n) == 2","float(s.n) == 2","s.n / 2 == 1","s.n / 2 > 0.6","s.n * 0.5 == 1","str(s.n) == '2'","f'{s.n}' == '2'","s.n & 1","s.n | 1 == 3","s.n ^ 1 == 0","s.n << 1 == 4","s.n >> 1 == 1","s.n >> 1 == -1","~s.n == 1","-s.n == 1","+s.n == 1","+s.f == 1","s.n.bit_length() == 2","s.n.real == 2","s.n.numerator == 2","s.n.__add__(1) == 2","s.n - -s.n == 4","s.n * s.n * s.n == 8",
"operator.lt(s.n, 1)","operator.mod(s.n, 2) == 1","operator.itemgetter(0)([s.n]) == 1","operator.contains((1,2), s.n)","operator.indexOf([0,1,2,3,4,-1,-2,-3], s.n) == 2","operator.countOf([1,1,s.n], 1) == 3","operator.truth(s.n)","operator.not_(s.n)","[1,2,3].count(s.n) == 1","[1,2,3,0,4,-1,-2,-3].index(s.n) == 2","(1,2,3).count(s.n)","[s.n,2].count(2) == 2",
"functools.reduce(lambda a, b: a + b, [s.n, 1]) == 2","math.gcd(s.n, 2) == 2","math.prod([s.n, 2]) == 4","sum([s.n, s.f]) == 2","sum([s.n], s.f) == 2","list(itertools.takewhile(lambda x: x < s.n, [0, 1, 2])) == [0]","len(list(filter(lambda x: x < s.n, [0, 1, 2]))) == 1","len([x for x in range(3) if x < s.n]) == 2","list(zip([s.n], [1])) == [(2, 1)]","list(enumerate([s.n]))[0] == (0, 2)","[*range(3)][s.f] == 1","'ab'[s.f] == 'b'","(10, 20)[s.f] == 20","(10, 20)[s.n > 0] == 20","[0, 1][s.q == 1] == 1","{True: 1, False: 2}[s.f] == 1","{1: 5, 0: 6}.get(s.n) == 5","{P.A: 1, P.B: 2, P.C: 3}[s.p] == 2","{w: s.n}[s.w] == 1","{w: s.n}.get(s.w, 4) == 4","{s.n: 1} == {2: 1}","dict([(s.n, 1)]).get(2) == 1","set([s.n]) == {2}","frozenset([s.n]) == frozenset([2])","len({s.n, 1}) == 1","len({s.p, P.A}) == 1","len({w, s.w}) == 1", "len(range(s.n)) == 2","sum(range(s.n)) == 1","[1] * s.n == [1, 1]","bytes(s.n) == b'00'","chr(s.n + 65) == 'B'","isinstance(s.n, int)","isinstance(s.f, int)","isinstance(s.n, bool)","isinstance(s.q, int)","isinstance(s.r, str)","isinstance(s.p, P)","isinstance(w, W)","isinstance(s, S)","isinstance(s.h, Map)","isinstance(s.n, Enum)","hash(s.n) == 2","copy.copy(s.n) == 2","copy.deepcopy(s) == s","(y := s.n) == 2 and y > 1","(lambda: s.n)() == 2","[y for y in [s.n]][0] == 2","next(y for y in (1, 2, 3) if y > 2) == s.n","next((y for y in (1, 2, 3) if y > s.n), 0) == 2","s == s","s == replace(s, n=2)","s.h == Map.fill(self.ws, 0)","s.h.map(lambda x: x + 1)[w] == 1","s.h.map_items(lambda k, x: x + (k == w))[s.w] == 1","Map.build(self.ws, lambda x: s.h[x] + s.n)[w] == 2","Map.build(self.ws, lambda x: x == w) == Map.build(self.ws, lambda x: x == s.w)","Map.build(self.ws, self.vs, lambda x, y: s.h[x])[w, v] == 1","Map.fill(self.ws, s.n)[w] == 1", "Map.fill(self.ws, s.w)[w] == w", "(s.n if s.f else s.p) == 1","(s.n if s.f else s.q) == 1","(w if s.f else v) == w","(s.n, s.p)[0] == 1","(s.n or s.p) == P.A","(s.n and s.q) == 0","(s.n or None) is None","(s.f and w) == w","(s.f or w) == w","(s.f == False) + 1 == s.n","sum([s.f, s.n > 0, True]) == 2","[s.f, s.n > 0].count(True) == 1","[s.f, True].index(True) == 0","(s.f, s.n > 0).count(False) == 2","True in (s.f, s.n > 0)","1 in (s.f, s.n > 1)","(s.n > 0) in (s.f,)","s.n.__class__ is int","True if s.n else False","not not s.n","s.n > 0 or 1 // s.n == -1","1 // s.n == 1","s.n != 0 and 4 // s.n == 2","[1,2,3][1] == s.n","hasattr(s, 'n')","getattr(s, 'n') == 1","getattr(s, 'nn', 1) == 1","s.n == S.__dataclass_fields__", "abs(s.f) == 1", "round(s.f) == 1","int(s.f) == 1","int(s.q) == 1","int(s.n > 0) == 1","divmod(s.f, 2) == (0, 1)","pow(s.f, 2) == 1","s.f ** 2 == 1","s.f // 1 == 1","s.f * s.n == 2","s.n * s.f == 2","s.f - s.n == 0","s.q - s.n == 0","s.q % 2 == 1","s.q // 2 == 2","s.q == True","s.q > s.f","-s.q == -1","s.q & 1","s.q ** 2 == 25","abs(s.q) == 5","sum([s.q, 1]) == 2","s.q < Q.C","max(Q) == s.q","s.p == max(P, key=lambda e: e.value)","s.p.value + s.n == 2","P.A.value == s.n",
]
if __name__=='__main__':
    lo,hi=int(sys.argv[1]),int(sys.argv[2])
    E=[e for e in E if 's.r' not in e]+['s.q == Q.D','s.q.name == "B"','s.q in (Q.D, Q.C)']
    for i,e in list(enumerate(E))[lo:hi]:
        body='        require(%s)\n        return replace(s, out=1)'%e
        p='m/e%03d.py'%i
        open(p,'w').write(T.format(pre='',body=body,more=''))
        o,res,fl=case(os.path.abspath(p),prove=False,engines=('reference','nosym'))
        st={k:v[0] for k,v in res.items()}
        line='%03d %-55s %s %s'%(i,e,{k:v[:20] for k,v in st.items()},o.get('distinct', o.get('exc','')[-80:]))
        print(line if not fl else '!!! '+line+' '+' '.join(fl)); sys.stdout.flush()
        if fl:
            print(res)
