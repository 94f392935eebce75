from mini import write
import sys,os
from run import case
C={}
def t(k,s): C[k]=s
D='@dataclass(frozen=True)\n'
# ring leader election (Chang-Roberts) with constants as maps, sized override
RING='''
class N(Element): ...
@dataclass(frozen=True)
class S:
    msg: Map[tuple[N, N], bool]   # msg[id, at]
    leader: Map[N, bool]
@dataclass(frozen=True)
class Ring(Model[S]):
    ns: Domain[N]
    succ: Map[N, N]
    rank: Map[N, int]
    sizes = {"default": {"k": 4}}
    @classmethod
    def sized(cls, k: int):
        d = Domain(N, k); e = list(d)
        order = {x: i for i, x in enumerate(e)}
        return cls(d, Map.build(d, lambda x: e[(order[x] + 1) % k]), Map.build(d, lambda x: (order[x] * 3) % k))
    @init
    def start(self) -> S: return S(Map.fill(self.ns, self.ns, False), Map.fill(self.ns, False))
    @action
    def send(self, s: S, n: N) -> S:
        return replace(s, msg=s.msg.set(n, self.succ[n], True)) if False else replace(s, msg=s.msg.set((n, self.succ[n]), True))
    @action
    def pass_(self, s: S, i: N, at: N) -> S:
        require(s.msg[i, at])
        gone = s.msg.set((i, at), False)
        if i == at: return replace(s, msg=gone, leader=s.leader.set(at, True))
        if self.rank[i] {op} self.rank[at]: return replace(s, msg=gone.set((i, self.succ[at]), True))
        return replace(s, msg=gone)
    @always
    def one(self, s: S) -> bool:
        return forall(self.ns, self.ns, lambda a, b: implies(s.leader[a] and s.leader[b], a == b))
    @sometimes
    def elected(self, s: S) -> bool: return exists(self.ns, lambda a: s.leader[a])
MODEL = Ring
'''
t('ring',RING.replace('{op}','>'))
t('ringbug',RING.replace('{op}','>=').replace('(order[x] * 3) % k','order[x] // 2'))
t('ringbug2',RING.replace('self.rank[i] {op} self.rank[at]','self.rank[i] != self.rank[at]'))
# element constants
t('boss','''
class W(Element): ...
@dataclass(frozen=True)
class S:
    t: W
    n: Map[W, Annotated[int, Range(0, 2)]]
@dataclass(frozen=True)
class M(Model[S]):
    ws: Domain[W]
    boss: W
    vip: Map[W, bool]
    sizes = {"default": {"k": 4}}
    @classmethod
    def sized(cls, k: int):
        d = Domain(W, k); e = list(d)
        return cls(d, e[1], Map.build(d, lambda x: x == e[2]))
    @init
    def start(self, w: W) -> S: return S(w, Map.fill(self.ws, 0))
    @action
    def go(self, s: S, w: W) -> S:
        require(s.t == w and s.n[w] < 2)
        return replace(s, n=s.n.set(w, s.n[w] + 1))
    @action
    def turn(self, s: S, w: W) -> S:
        require(s.t != w and implies(self.vip[w], s.n[self.boss] > 0))
        return replace(s, t=w)
    @always
    def ok(self, s: S) -> bool:
        return not (s.n[self.boss] == 2 and forall(self.ws, lambda w: s.n[w] == 2 or self.vip[w]) and self.vip[s.t])
    @sometimes
    def each(self, s: S, w: W) -> bool: return s.t == w and s.n[w] == 2
MODEL = M
''')
# init with several params that break symmetry
t('initsym','''
class W(Element): ...
class V(Element): ...
@dataclass(frozen=True)
class S:
    a: W
    b: W
    f: Map[tuple[W, V], bool]
@dataclass(frozen=True)
class M(Model[S]):
    ws: Domain[W]
    vs: Domain[V]
    sizes = {"default": {"ws": 3, "vs": 2}}
    @init
    def start(self, w: W, v: V) -> S: return S(w, w, Map.build(self.ws, self.vs, lambda x, y: x == w and y == v))
    @action
    def mv(self, s: S, w: W, v: V) -> S:
        require(s.f[s.a, v] and not s.f[w, v])
        return replace(s, f=s.f.set((w, v), True), b=w)
    @action
    def sw(self, s: S, v: V) -> S:
        require(exists(self.ws, lambda x: x != s.b and s.f[x, v]))
        return replace(s, a=s.b, f=s.f.map_items(lambda k, x: x) if False else s.f)
    @action
    def clr(self, s: S, w: W, v: V) -> S:
        return replace(s, f=s.f.set((w, v), False))
    @final
    def z(self, s: S) -> bool: return True
    @always
    def ok(self, s: S, w: W) -> bool:
        return not (s.a != s.b and s.f[w, list(self.vs)[0]]) if False else not (s.a != s.b and forall(self.ws, self.vs, lambda x, v: s.f[x, v]))
MODEL = M
''')
# big ints
def ints(k, rng, start, ups, prop, guard='True'):
    C[k]=f'''
@dataclass(frozen=True)
class S:
    n: Annotated[int, Range({rng})]
    m: Annotated[int, Range({rng})]
    f: bool
@dataclass(frozen=True)
class M(Model[S]):
    sizes = {{"default": {{}}}}
    @init
    def start(self) -> S: return S({start}, {start}, False)
''' + ''.join(f'''    @action
    def a{i}(self, s: S) -> S:
        require({g})
        return replace(s, {u})
''' for i,(g,u) in enumerate(ups)) + f'''    @final
    def z(self, s: S) -> bool: return True
    @always
    def ok(self, s: S) -> bool: return {prop}
INVARIANT = Invariant(M, conjuncts=(lambda m, s: m.ok(s),))
MODEL = M
'''
B62=2**62; 
ints('i1',f'0, {2**63-1}','1',[('s.n < 2**62','n=s.n * 2'),('s.m < 2**62','m=s.m * 2')],'s.n * s.m < 2**100')
ints('i2',f'0, {2**63-1}','1',[('s.n < 2**62','n=s.n * 2'),('s.m < 2**62','m=s.m * 2')],'s.n + s.m + s.n + s.m > 0 and s.n + s.m < 2**63')
ints('i3',f'{-2**63}, {2**63-1}','1',[('s.n > -2**62 and s.n < 2**61','n=s.n * -2'),('s.m > -2**62 and s.m < 2**61','m=s.m * -2')],'s.n * s.n * s.n * s.n >= 0 and s.n - s.m - s.m - s.m < 2**63 + 2**62')
ints('i4',f'0, {2**64-1}','1',[('s.n < 2**63','n=s.n * 2'),('s.m < 2**62','m=s.m * 2')],'not (s.n == 2**63 and s.m == 2**62)')
ints('i5',f'0, {2**70}','1',[('s.n < 2**69','n=s.n * 2')],'s.n < 2**69')
ints('i6',f'{2**64}, {2**64+3}',f'2**64',[('s.n < 2**64 + 3','n=s.n + 1')],'s.n - 2**64 < 3')
ints('i7',f'{-2**64-3}, {-2**64}',f'-2**64',[('s.n > -2**64 - 3','n=s.n - 1')],'s.n + 2**64 > -3')
ints('i8',f'0, {2**32}','1',[('s.n < 2**31','n=s.n * 2'),('s.m < 2**31','m=s.m * 2')],'s.n * s.m * s.n < 2**63 + 5 or s.f')
ints('i9',f'0, {2**32}','1',[('s.n < 2**31','n=s.n * 2'),('s.m < 2**31','m=s.m * 2'),('s.n * s.m * s.n * s.m == 0','f=True')],'not s.f')
ints('i10','0, 0','0',[('not s.f','f=True')],'not s.f')
ints('i11','5, 4','5',[('not s.f','f=True')],'not s.f')
ints('i12','-3, 3','0',[('s.n < 3','n=s.n + 1'),('s.n > -3','n=s.n - 1'),('s.n * 2 - s.m * -1 == -6','f=True')],'not s.f')
ints('i13','-3, 3','0',[('s.n < 4','n=s.n + 1')],'s.n < 100')
ints('i14','0, 255','0',[('s.n < 255','n=s.n + 1'),('s.n == 255 and s.m < 255','m=s.n'),('s.n - s.m < 0','f=True')],'s.n - s.m * 256 > -65025')
ints('i15',f'0, {2**63}','0',[('s.n < 1','n=s.n + 2**63'),('s.n > 1','m=s.n')],'s.m < 2**63')
ints('i16','0, 10','0',[('s.n < 5','n=(s.n + 1) * (10**30) - 10**30 * s.n - 10**30 + s.n + 1')],'s.n * 10**40 < 5 * 10**40')
# big domains
def dom(k, n, lo='s.h[w] < 1'):
    C[k]=f'''
class W(Element): ...
@dataclass(frozen=True)
class S:
    h: Map[W, bool]
    k: Annotated[int, Range(0, 3)]
@dataclass(frozen=True)
class M(Model[S]):
    ws: Domain[W]
    sizes = {{"default": {{"ws": {n}}}}}
    @init
    def start(self) -> S: return S(Map.fill(self.ws, False), 0)
    @action
    def go(self, s: S, w: W) -> S:
        require(not s.h[w] and s.k < 2)
        return S(s.h.set(w, True), s.k + 1)
    @action
    def fl(self, s: S) -> S: return S(s.h.map(lambda x: not x), 3 - s.k)
    @always
    def ok(self, s: S) -> bool: return count(self.ws, lambda w: s.h[w]) != {n}
    @sometimes
    def som(self, s: S, w: W) -> bool: return s.h[w]
MODEL = M
'''
for n in (0,1,2,17,63,64,65,70): dom(f'dom{n}',n)
if __name__=='__main__':
    sel=sys.argv[1:] or list(C)
    for k in sel:
        p=f'm7/{k}.py'; write(p,C[k])
        o,res,fl=case(os.path.abspath(p),prove='INVARIANT' in C[k],engines=('reference','native','nosym'))
        print(('!!! ' if fl else '')+k,fl,o.get('bad',str(o)[-100:]),o.get('distinct'),o.get('unmet'), ' | '.join(v[0][:95] for v in res.values()), [ (v[1] or {}).get('distinct') for v in res.values()]); sys.stdout.flush()
