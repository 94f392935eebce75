from mini import write
import sys,os
from run import case
C={}
def t(k,s,inv=True): C[k]=s+('\nINVARIANT = Invariant(M, conjuncts=CONJ)\nMODEL = M\n' if inv else '\nMODEL = M\n')
BASE='''
class W(Element): ...
class P(Enum):
    A = 0
    B = 1
@dataclass(frozen=True)
class S:
    n: Annotated[int, Range(0, 9)]
    t: W
@dataclass(frozen=True)
class M(Model[S]):
    ws: Domain[W]
{fields}
    sizes = {{"default": {{{size}}}}}
{sized}
    @init
    def start(self, w: W) -> S: return S(0, w)
    @action
    def up(self, s: S) -> S:
        require({g})
        return replace(s, n=s.n + 1)
    @action
    def zero(self, s: S, w: W) -> S: return S(0, w)
    @always
    def ok(self, s: S) -> bool: return {p}
CONJ = ({inv},)
'''
def f(k,fields,size,g,p,inv,sized=''):
    t(k,BASE.format(fields='\n'.join('    '+x for x in fields.split(';') if x),size=size,g=g,p=p,inv=inv,sized='\n'.join('    '+l for l in sized.splitlines())))
f('floatconst','lim: int','"ws": 2, "lim": 2.5','s.n < self.lim','s.n <= self.lim','lambda m, s: s.n <= m.lim or s.n == 0',)
f('floatconst2','lim: int','"ws": 2, "lim": 2.5','s.n < self.lim','not (s.n > self.lim and self.lim > 0)','lambda m, s: s.n <= m.lim or s.n == 0')
f('boolconst','lim: bool','"ws": 2, "lim": 3','s.n < 3 and self.lim','s.n <= 0 or self.lim == True','lambda m, s: s.n <= 0 or m.lim')
f('outsider','boss: W','"k": 2','s.n < 3','exists(self.ws, lambda w: w == self.boss)','lambda m, s: s.n <= 3',sized='@classmethod\ndef sized(cls, k: int): return cls(Domain(W, k), list(Domain(W, k + 2))[-1])')
f('outsider2','boss: W','"k": 2','s.n < 3 and s.t != self.boss','s.n <= 3 and exists(self.ws, lambda w: w == s.t)','lambda m, s: s.n <= 3',sized='@classmethod\ndef sized(cls, k: int): return cls(Domain(W, k), list(Domain(W, k + 2))[-1])\n@action\ndef tb(self, s: S) -> S: return replace(s, t=self.boss)')
f('rangeconst','lim: Annotated[int, Range(0, 3)]','"ws": 2, "lim": 5','s.n < self.lim','s.n <= 3','lambda m, s: s.n <= 3')
f('rangeconst2','lim: Annotated[int, Range(0, 3)]','"ws": 2, "lim": 5','s.n < self.lim','s.n <= self.lim','lambda m, s: s.n <= m.lim or s.n == 0')
f('maprange','mp: Map[W, Annotated[int, Range(0, 3)]]','"k": 2','s.n < self.mp[s.t]','s.n <= 3','lambda m, s: s.n <= 3',sized='@classmethod\ndef sized(cls, k: int): return cls(Domain(W, k), Map.fill(Domain(W, k), 5))')
f('mapfloat','mp: Map[W, int]','"k": 2','s.n < self.mp[s.t]','s.n == 0 or s.n <= self.mp[s.t] or s.n < 0','lambda m, s: s.n == 0 or s.n <= m.mp[s.t]',sized='@classmethod\ndef sized(cls, k: int): return cls(Domain(W, k), Map.fill(Domain(W, k), 2.5))')
f('mapdomother','mp: Map[W, bool]','"k": 2','s.n < 3','forall(self.ws, lambda w: self.mp[w]) == forall(self.mp, lambda w: self.mp[w])','lambda m, s: s.n <= 3',sized='@classmethod\ndef sized(cls, k: int):\n    d = Domain(W, k + 1)\n    return cls(Domain(W, k), Map.build(d, lambda x: x != list(d)[-1]))')
f('enumconst','p: P','"ws": 2, "p": 7','s.n < 3','self.p == P.A or self.p == P.B','lambda m, s: s.n <= 3')
f('classattr','','"ws": 2','s.n < self.LIM','s.n <= 4','lambda m, s: s.n <= 4',sized='LIM = 4')
C['classattr']+='\nM.LIM = 6\n'
f('postfield','lim: int','"ws": 2, "lim": 3','s.n < self.lim2','s.n <= 4','lambda m, s: s.n <= 4',sized='def __post_init__(self): object.__setattr__(self, "lim2", 6)')
f('postfix','lim: int','"ws": 2, "lim": 3','s.n < 5','s.n <= self.lim','lambda m, s: s.n <= m.lim',sized='def __post_init__(self): object.__setattr__(self, "lim", 6)')
f('hashsized','lim: int','"k": 2','s.n < self.lim','s.n <= 4','lambda m, s: s.n <= m.lim or s.n == 0',sized='@classmethod\ndef sized(cls, k: int): return cls(Domain(W, k), 4 + hash("x") % 2)')
f('assumelie','lim: int','"ws": 2, "lim": 3','s.n < self.lim','s.n <= self.lim','lambda m, s: s.n <= m.lim',sized='@assume\ndef a(self) -> bool: return self.lim >= 0')
f('assumelie2','lim: int','"ws": 2, "lim": 3','s.n < self.lim','s.n <= 2','lambda m, s: s.n <= 2',sized='@assume\ndef a(self) -> bool: return self.lim <= 2')
f('propfield','','"ws": 2','s.n < self.lim','s.n <= 4','lambda m, s: s.n <= 4',sized='@property\ndef lim(self): return 4 if len(self.ws) < 2 else 6')
f('propfield2','','"ws": 2','s.n < self.lim','s.n <= 4','lambda m, s: s.n <= 4',sized='@functools.cached_property\ndef lim(self): return 6')
f('emptydom','','"ws": 0','s.n < 3','s.n <= 3','lambda m, s: s.n <= 3')
f('two','','"ws": 2','s.n < 3','exists(self.ws, lambda w: w != s.t) or s.n < 3','lambda m, s: s.n <= 3')
f('one','','"ws": 1','s.n < 3','exists(self.ws, self.ws, lambda w, v: w != v) or s.n < 3','lambda m, s: s.n <= 3')
f('defaultfield','lim: int = 3','"ws": 2','s.n < self.lim','s.n <= 2','lambda m, s: s.n <= 2')
f('strconst','nm: str','"ws": 2, "nm": "b"','s.n < 3 and (self.nm == "a" or s.n < 2)','s.n <= 1','lambda m, s: s.n <= 1')
f('tupconst','nm: tuple[int, ...]','"ws": 2, "nm": (1, 5)','any(s.n < x for x in self.nm)','s.n <= 1','lambda m, s: s.n <= 1')
f('optconst','lim: int | None','"ws": 2, "lim": None','s.n < 3 if self.lim is None else s.n < self.lim','s.n <= 2','lambda m, s: s.n <= 2')
f('optconst2','lim: int','"ws": 2, "lim": None','s.n < 3 if self.lim is None else s.n < 1','s.n <= 1','lambda m, s: s.n <= 1')
f('elemorder','','"ws": 2','s.n < 3 and s.t == list(self.ws)[0]','s.n <= 2','lambda m, s: s.n <= 2')
f('invlemma','','"ws": 2','s.n < 3','s.n <= 2','lambda m, s: s.n <= 2')
f('cachedsize','lim: int','"ws": 2, "lim": 3','s.n < self.lim and s.n < 8','implies(s.n > 5, self.lim > 5)','lambda m, s: s.n <= m.lim or s.n == 0')
if __name__=='__main__':
    sel=sys.argv[1:] or list(C)
    for k in sel:
        p=f'm9/{k}.py'; write(p,C[k])
        o,res,fl=case(os.path.abspath(p),prove=True,engines=('reference','nosym'))
        print(('!!! ' if fl else '')+k,fl,o.get('bad',str(o)[-100:]),o.get('distinct'),o.get('unmet'), ' | '.join(v[0][:130] for v in res.values())); sys.stdout.flush()
