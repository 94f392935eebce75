from mini import write
import sys,os
from run import case
C={}
def t(k,s): C[k]=s
def simple(k, fields, init, acts, prop, pre='', inv=True, extra=''):
    C[k]=pre+f'''
@dataclass(frozen=True)
class S:
{fields}
@dataclass(frozen=True)
class M(Model[S]):
    sizes = {{"default": {{}}}}
    @init
    def start(self) -> S: return {init}
{acts}
    @final
    def z(self, s: S) -> bool: return True
    @always
    def ok(self, s: S) -> bool: return {prop}
{extra}
''' + ('INVARIANT = Invariant(M, conjuncts=(lambda m, s: m.ok(s),))\n' if inv else '')+'MODEL = M\n'
A='    @action\n    def {n}(self, s: S) -> S:\n        require({g})\n        return replace(s, {u})\n'
N='    n: Annotated[int, Range(0, 9)]\n'
up=A.format(n='up',g='s.n < 5',u='n=s.n + 1')
simple('longand',N,'S(0)',up,' and '.join(f's.n != {i+6}' for i in range(800)))
simple('longandbug',N,'S(0)',up,' and '.join(f's.n != {i+6}' for i in range(800))+' and s.n != 5')
simple('longsum',N,'S(0)',up,'+'.join(['s.n']*1500)+' < 7500')
simple('longsum2',N,'S(0)',up,'sum([s.n] * 3000) < 15000')
simple('deepneg',N,'S(0)',up,'(lambda x: functools.reduce(lambda a, b: 1 - a, range(2001), x))(s.n) != -4')
simple('longor',N,'S(0)',up,'any([s.n == i for i in range(0,900) if i != 5])')
simple('manyfields',''.join(f'    f{i}: bool\n' for i in range(300))+N,'S('+','.join(['False']*300)+',0)',up+A.format(n='b',g='s.n == 5',u='f299=True'),'not s.f299')
simple('manyactions',N,'S(0)',''.join(A.format(n=f'a{i}',g=f's.n == {i%9}',u=f'n={i%9+1}') for i in range(300)),'s.n < 9')
simple('names','    state: bool\n    i64: Annotated[int, Range(0, 3)]\n    lambda_: bool\n    _x: bool\n    __y: bool\n    true: bool\n    self_: bool\n    printf: bool\n    n: Annotated[int, Range(0,9)]\n','S(False,0,False,False,False,False,False,False,0)',A.format(n='malloc',g='s.n < 5',u='n=s.n+1')+A.format(n='main',g='s.n == 5',u='printf=True')+A.format(n='free',g='s.printf',u='_x=True')+A.format(n='step',g='s._x',u='state=True, i64=3')+A.format(n='expand',g='s.state',u='true=True'),'not s.true')
simple('unicode','    größe: Annotated[int, Range(0, 9)]\n    名: bool\n    ﬁ: bool\n','S(0,False,False)',A.format(n='schließ',g='s.größe < 5',u='größe=s.größe+1')+A.format(n='次',g='s.größe == 5',u='名=True')+A.format(n='ﬁn',g='s.名',u='fi=True'),'not s.fi')
simple('nfkc','    ſ: Annotated[int, Range(0, 9)]\n    K: Annotated[int, Range(0, 9)]\n','S(0,0)',A.format(n='up',g='s.s < 5',u='s=s.s+1')+A.format(n='K2',g='s.s == 5',u='K=s.s'),'s.K < 5')
simple('enumvals','    p: P\n','S(P.A)',A.format(n='up',g='s.p == P.A',u='p=P.B')+A.format(n='up2',g='s.p == P.B',u='p=P.C')+A.format(n='up3',g='s.p == P.C',u='p=P["lambda"]'),'s.p != P["lambda"]',pre='P = Enum("P", {"A": [1], "B": (1,), "C": None, "lambda": 3.5})\n')
simple('enumeq','    p: P\n','S(P.A)',A.format(n='up',g='s.p == P.A',u='p=P.B'),'s.p != P.B',pre='class P(Enum):\n    A = 1\n    B = 2\n    def __eq__(self, o): return self is o\n    def __hash__(self): return 1\n')
simple('enumeq2','    p: P\n','S(P.A)',A.format(n='up',g='s.p == P.A',u='p=P.B')+A.format(n='up2',g='s.p == P.B',u='p=P.C'),'s.p != P.C',pre='class P(Enum):\n    A = 1\n    B = 2\n    C = 3\n    def __eq__(self, o): return self.value % 2 == o.value % 2\n    def __hash__(self): return self.value % 2\n')
simple('enumone','    p: P\n    n: Annotated[int, Range(0,9)]\n','S(P.A,0)',A.format(n='up',g='s.p == P.A and s.n < 5',u='n=s.n+1'),'s.n < 5',pre='class P(Enum):\n    A = 1\n')
simple('enumzero','    p: P | None\n    n: Annotated[int, Range(0,9)]\n','S(None,0)',A.format(n='up',g='s.n < 5',u='n=s.n+1'),'s.n < 5',pre='class P(Enum): pass\n')
simple('flagst','    p: P\n','S(P.A)',A.format(n='up',g='s.p == P.A',u='p=P.A|P.B'),'s.p != P.A|P.B',pre='class P(Flag):\n    A = 1\n    B = 2\n')
simple('sameenum','    p: P\n    q: Q\n','S(P.A, Q.A)',A.format(n='up',g='s.p == P.A',u='p=P.B')+A.format(n='up2',g='s.p == P.B',u='q=Q.C'),'s.q != Q.C',pre='def mk(*n):\n    class E(Enum):\n        A = 1\n        B = 2\n        C = 3\n    return E\nP = mk()\nQ = mk()\n')
simple('sameenum2','    p: P\n    q: Q\n','S(P.A, Q.X)',A.format(n='up',g='s.p == P.A',u='p=P.B')+A.format(n='up2',g='s.p == P.B',u='q=Q.A'),'not (s.q == Q.A and s.p == P.B)',pre='P = Enum("E", "A B")\nQ = Enum("E", "X A")\n')
simple('samerec','    a: R1\n    b: R2\n','S(R1(False), R2(0))',A.format(n='up',g='not s.a.x',u='a=R1(True)')+A.format(n='up2',g='s.a.x',u='b=R2(3)'),'s.b.x < 3',pre='def mk(t):\n    @dataclass(frozen=True)\n    class R:\n        x: t\n    R.__annotations__["x"] = t\n    return dataclass(frozen=True)(type("R", (), {"__annotations__": {"x": t}}))\nR1 = mk(bool)\nR2 = mk(Annotated[int, Range(0,3)])\n')
simple('deeprec','    a: R3\n','S(R3(R2(R1(False), 0), False))',A.format(n='up',g='s.a.r.k < 3',u='a=replace(s.a, r=replace(s.a.r, k=s.a.r.k + 1))')+A.format(n='up2',g='s.a.r.k == 3',u='a=replace(s.a, r=replace(s.a.r, r=R1(True)))'),'not s.a.r.r.x',pre='@dataclass(frozen=True)\nclass R1:\n    x: bool\n@dataclass(frozen=True)\nclass R2:\n    r: R1\n    k: Annotated[int, Range(0,3)]\n@dataclass(frozen=True)\nclass R3:\n    r: R2\n    f: bool\n')
simple('emptyrec','    a: R1\n    n: Annotated[int, Range(0,9)]\n','S(R1(), 0)',up,'s.n < 5 or s.a != R1()',pre='@dataclass(frozen=True)\nclass R1: pass\n')
simple('emptystate','    pass\n','S()',A.format(n='up',g='True',u=''),'True',inv=False)
simple('recmeth','    a: R1\n','S(R1(0))',A.format(n='up',g='s.a.can()',u='a=s.a.up()'),'s.a < R1(5)',pre='@dataclass(frozen=True, order=True)\nclass R1:\n    x: Annotated[int, Range(0,9)]\n    def can(self): return self.x < 5\n    def up(self): return R1(self.x + 1)\n')
simple('recsub','    a: R1\n','S(R1(0))',A.format(n='up',g='s.a.x < 5',u='a=R2(s.a.x + 1)'),'s.a.x < 5',pre='@dataclass(frozen=True)\nclass R1:\n    x: Annotated[int, Range(0,9)]\n@dataclass(frozen=True)\nclass R2(R1): pass\n')
simple('recsub2','    a: R1\n    n: Annotated[int, Range(0,9)]\n','S(R1(0), 0)',A.format(n='up',g='s.n < 2',u='n=s.n+1, a=R1(s.n) if s.n < 1 else R1(0)'),'s.a != R1(0) or s.n < 2',pre='@dataclass(frozen=True)\nclass R1:\n    x: Annotated[int, Range(0,9)]\n')
simple('slotsst',N,'S(0)',up,'s.n < 5')
C['slotsst']=C['slotsst'].replace('@dataclass(frozen=True)\nclass S','@dataclass(frozen=True, slots=True, kw_only=True, order=True)\nclass S').replace('S(0)','S(n=0)')
simple('intbool','    n: bool\n','S(False)',A.format(n='up',g='not s.n',u='n=1'),'s.n == False or s.n != 1')
simple('boolint',N,'S(False)',up,'s.n < 5')
simple('boolint2',N,'S(0)',A.format(n='up',g='s.n < 5',u='n=s.n + (s.n > 1) + 1'),'s.n < 5')
simple('statesub',N,'S(0)','    @action\n    def up(self, s: S) -> S:\n        require(s.n < 5)\n        return T(s.n + 1)\n','s.n < 5')
C['statesub']=C['statesub'].replace('MODEL = M','@dataclass(frozen=True)\nclass T(S): pass\nMODEL = M')
simple('mapextra','    h: Map[W, bool]\n','S(Map.fill(Domain(W, 2), False))','    @action\n    def up(self, s: S) -> S:\n        return S(Map.fill(Domain(W, 2), True))\n','not s.h[list(Domain(W,2))[0]]',pre='class W(Element): ...\n')
simple('nomove',N,'S(0)','','s.n < 1')
simple('selfonly',N,'S(0)',A.format(n='up',g='True',u='n=s.n'),'s.n < 1')
simple('notfinal',N,'S(0)',up,'s.n <= 5'); C['notfinal']=C['notfinal'].replace('return True','return s.n == 6')
simple('finaltruthy',N,'S(0)',up,'s.n <= 5'); C['finaltruthy']=C['finaltruthy'].replace('bool: return True','bool: return s.n')
simple('somet',N,'S(0)',up,'s.n <= 5',extra='    @sometimes\n    def so(self, s: S) -> bool: return s.n and s.n - 5\n')
simple('imp',N,'S(0)',up,'implies(s.n > 4, s.n > 7)')
simple('imp2',N,'S(0)',up,'implies(s.n, s.n < 5)')
simple('imp3',N,'S(0)',up,'implies(conclusion=s.n < 5, premise=s.n > 2)')
simple('imp4',N,'S(0)',up,'all(itertools.starmap(implies, [(s.n > 2, s.n < 5)]))')
simple('imp5',N,'S(0)',up,'imp(s.n > 20, s.n < 5)',pre='imp = implies\n')
simple('imp6',N,'S(0)',up,'functools.partial(implies, s.n > 20)(s.n < 5)')
simple('imp7',N,'S(0)',up,'(s.n <= 20 or s.n < 5)')
simple('imp8',N,'S(0)',up,'[implies][0](s.n > 20, s.n < 5)')
simple('imp9',N,'S(0)',up,'s.n < 20 or implies(s.n > 1, s.n < 5)')
simple('imp10',N,'S(0)',up,'f(s)',pre='def f(s): return implies(s.n > 20, False)\n')
simple('imp11',N,'S(0)',up,'all(map(implies, [s.n > 20], [False]))')
simple('esimp',N,'S(0)',up,'s.n <= 5',extra='    @every_step\n    def e(self, s: S, t: S) -> bool: return implies(s.n > t.n, False)\n')
if __name__=='__main__':
    sel=sys.argv[1:] or list(C)
    for k in sel:
        p=f'm11/{k}.py'; write(p,C[k])
        o,res,fl=case(os.path.abspath(p),prove='INVARIANT' in C[k],engines=('reference','nosym'))
        print(('!!! ' if fl or any('REFUSED 70' in v[0] for v in res.values()) else '')+k,fl,o.get('bad',str(o)[-100:]),o.get('distinct'), ' | '.join(v[0][:100] for v in res.values())); sys.stdout.flush()
