from mini import write
import sys,os
from run import case
C={}
PET='''
class Pr(Element): ...
class Pc(Enum):
    IDLE = 0
    WANT = 1
    SET = 2
    CRIT = 3
@dataclass(frozen=True)
class S:
    pc: Map[Pr, Pc]
    flag: Map[Pr, bool]
    turn: Pr
@dataclass(frozen=True)
class M(Model[S]):
    ps: Domain[Pr]
    sizes = {"default": {"ps": 2}}
    def others(self, p, what): return forall(self.ps, lambda q: p == q or what(q))
    @init
    def start(self, p: Pr) -> S: return S(Map.fill(self.ps, Pc.IDLE), Map.fill(self.ps, False), p)
    @action
    def want(self, s: S, p: Pr) -> S:
        require(s.pc[p] == Pc.IDLE)
        return replace(s, pc=s.pc.set(p, Pc.WANT), flag=s.flag.set(p, {FLAG}))
    @action(fairness=Fairness.WEAK)
    def yield_(self, s: S, p: Pr, q: Pr) -> S:
        require(s.pc[p] == Pc.WANT and p != q)
        return replace(s, pc=s.pc.set(p, Pc.SET), turn={TURN}, flag=s.flag.set(p, True))
    @action(fairness=Fairness.WEAK)
    def enter(self, s: S, p: Pr) -> S:
        require(s.pc[p] == Pc.SET)
        if not self.others(p, lambda q: not s.flag[q]): require(s.turn == p)
        return replace(s, pc=s.pc.set(p, Pc.CRIT))
    @action(fairness=Fairness.{FAIR})
    def leave(self, s: S, p: Pr) -> S:
        require(s.pc[p] == Pc.CRIT)
        return replace(s, pc=s.pc.set(p, Pc.IDLE), flag=s.flag.set(p, False))
    @always
    def mutex(self, s: S, p: Pr, q: Pr) -> bool:
        return implies(s.pc[p] == Pc.CRIT and s.pc[q] == Pc.CRIT, p == q)
    {LIVE}
INVARIANT = Invariant(M, conjuncts=(lambda m, s: m.mutex(s, *[0]) if False else forall(m.ps, m.ps, lambda p, q: implies(s.pc[p] == Pc.CRIT and s.pc[q] == Pc.CRIT, p == q)),))
MODEL = M
'''
L='@leads_to\n    def gets(self, s: S, p: Pr): return s.pc[p] == Pc.WANT, s.pc[p] == Pc.CRIT'
def pet(k,FLAG='True',TURN='q',FAIR='WEAK',LIVE=''): C[k]=PET.replace('{FLAG}',FLAG).replace('{TURN}',TURN).replace('{FAIR}',FAIR).replace('{LIVE}',LIVE)
pet('pet'); pet('petlive',LIVE=L); pet('petunfair',FAIR='NONE',LIVE=L); pet('petbugflag',FLAG='False',TURN='p'); pet('petbugturn',TURN='p')
C['pet3']=C['pet'].replace('"ps": 2','"ps": 3')
MSI='''
class Ca(Element): ...
class St(Enum):
    M = 0
    S_ = 1
    I = 2
@dataclass(frozen=True)
class S:
    st: Map[Ca, St]
    fresh: Map[Ca, bool]
    mem: bool
@dataclass(frozen=True)
class M(Model[S]):
    cs: Domain[Ca]
    sizes = {"default": {"cs": 3}}
    @init
    def start(self) -> S: return S(Map.fill(self.cs, St.I), Map.fill(self.cs, False), True)
    @action
    def read(self, s: S, c: Ca) -> S:
        require(s.st[c] == St.I)
        dirty = exists(self.cs, lambda d: s.st[d] == St.M)
        return S(s.st.map_items(lambda d, x: St.S_ if d == c or {DOWN} else x) if hasattr(s.st, 'zzz') else Map.build(self.cs, lambda d: St.S_ if d == c or {DOWN} else s.st[d]),
                 s.fresh.set(c, exists(self.cs, lambda d: s.st[d] == St.M and s.fresh[d]) if dirty else s.mem), {MEM})
    @action
    def write(self, s: S, c: Ca) -> S:
        require(s.st[c] != St.M)
        return S(Map.build(self.cs, lambda d: St.M if d == c else {INV}), Map.build(self.cs, lambda d: d == c), False)
    @action
    def evict(self, s: S, c: Ca) -> S:
        require(s.st[c] != St.I)
        return S(s.st.set(c, St.I), s.fresh.set(c, False), {EV})
    @always
    def coherent(self, s: S, c: Ca, d: Ca) -> bool: return implies(s.st[c] == St.M and d != c, s.st[d] == St.I)
    @always
    def sound(self, s: S, c: Ca) -> bool: return implies(s.st[c] != St.I, s.fresh[c])
def dirty_or_mem(m, s): return s.mem or exists(m.cs, lambda c: s.st[c] == St.M)
INVARIANT = Invariant(M, conjuncts=(lambda m, s: forall(m.cs, m.cs, lambda c, d: implies(s.st[c] == St.M and d != c, s.st[d] == St.I)), lambda m, s: forall(m.cs, lambda c: implies(s.st[c] != St.I, s.fresh[c])), dirty_or_mem))
MODEL = M
'''.replace("s.st.map_items(lambda d, x: St.S_ if d == c or {DOWN} else x) if hasattr(s.st, 'zzz') else ","")
def msi(k,DOWN='s.st[d] == St.M',MEM='s.mem or dirty',INV='St.I',EV='s.mem or s.st[c] == St.M'): C[k]=MSI.replace('{DOWN}',DOWN).replace('{MEM}',MEM).replace('{INV}',INV).replace('{EV}',EV)
msi('msi'); msi('msibug1',DOWN='False'); msi('msibug2',INV='s.st[d]'); msi('msibug3',EV='s.mem'); msi('msibug4',MEM='s.mem')
ABP='''
@dataclass(frozen=True)
class S:
    sbit: bool
    rbit: bool
    dfull: bool
    dbit: bool
    afull: bool
    abit: bool
    sent: Annotated[int, Range(0, 1)]
    out: Annotated[int, Range(0, 2)]
@dataclass(frozen=True)
class M(Model[S]):
    sizes = {"default": {}}
    @init
    def start(self) -> S: return S(False, False, False, False, False, True, 0, 0)
    @action(fairness=Fairness.WEAK)
    def send(self, s: S) -> S: return replace(s, dfull=True, dbit=s.sbit)
    @action
    def lose(self, s: S) -> S:
        require(s.dfull)
        return replace(s, dfull=False)
    @action
    def loseack(self, s: S) -> S:
        require(s.afull)
        return replace(s, afull=False)
    @action(fairness=Fairness.{F})
    def recv(self, s: S) -> S:
        require(s.dfull)
        if s.dbit {NE} s.rbit: return replace(s, dfull=False, afull=True, abit=s.dbit)
        assert s.out < 1, "twice"
        return replace(s, dfull=False, afull=True, abit=s.dbit, rbit=not s.rbit, out=s.out + 1)
    @action(fairness=Fairness.{F})
    def ack(self, s: S) -> S:
        require(s.afull)
        if s.abit != s.sbit: return replace(s, afull=False)
        return replace(s, afull=False, sbit=not s.sbit, out={OUT})
    @always
    def once(self, s: S) -> bool: return s.out <= 1
    @leads_to
    def prog(self, s: S): return not s.sbit, s.sbit
MODEL = M
'''
for k,F,NE,OUT in (('abp','STRONG','!=','0'),('abpweak','WEAK','!=','0'),('abpbug','STRONG','!=','s.out'),('abpbug2','STRONG','==','0')): C[k]=ABP.replace('{F}',F).replace('{NE}',NE).replace('{OUT}',OUT)
if __name__=='__main__':
    sel=sys.argv[1:] or list(C)
    for k in sel:
        p=f'm13/{k}.py'; write(p,C[k])
        o,res,fl=case(os.path.abspath(p),prove='INVARIANT' in C[k],engines=('reference','native'))
        print(('!!! ' if fl or any('REFUSED 70' in v[0] for v in res.values()) else '')+k,fl,o.get('bad',str(o)[-100:]),o.get('distinct'), ' | '.join(v[0][:90]+str((v[1] or {}).get('broken'))[:60] for v in res.values())); sys.stdout.flush()
