from mini import write
import sys,os
from run import case
C={}
PRE='''
class W(Element): ...
class P(Enum):
    A = 0
    B = 1
    C = 2
@dataclass(frozen=True)
class S:
    n: Annotated[int, Range(0, 9)]
    p: P
    h: Map[W, bool]
@dataclass(frozen=True)
class Base(Model[S]):
    ws: Domain[W]
    sizes = {"default": {"ws": 2}}
    @init
    def start(self) -> S: return S(0, P.A, Map.fill(self.ws, False))
    @action
    def step(self, s: S) -> S:
        require(s.n < 5)
        return replace(s, n=s.n + 1)
    @action
    def back(self, s: S) -> S:
        require(s.n == 5)
        return replace(s, n=0)
    @action
    def set_(self, s: S, w: W) -> S:
        return replace(s, h=s.h.set(w, True))
    @always
    def fine(self, s: S) -> bool: return s.n <= 5
    @always
    def bad(self, s: S) -> bool: return s.n <= 4
'''
END='''
INVARIANT = Invariant(MODEL, conjuncts=(lambda m, s: s.n <= 5,))
'''
def t(k, sub, end=END): C[k]=PRE+sub+end
D='@dataclass(frozen=True)\n'
t('plain_override', D+'class M(Base):\n    def bad(self, s: S) -> bool: return s.n <= 4\nMODEL = M\n')
t('attr_none', D+'class M(Base):\n    bad = None\nMODEL = M\n')
t('del_', D+'class M(Base): pass\ndel Base.bad\nBase.bad = lambda self, s: True\nMODEL = M\n')
t('lambda_', D+'class M(Base):\n    bad = lambda self, s: s.n <= 4\nMODEL = M\n')
t('mixin', D+'class M(Base):\n    pass\nclass Mix:\n    @always\n    def bad2(self, s: S) -> bool: return s.n <= 3\ndel Base.bad\n'+D+'class N(Mix, M): pass\nMODEL = N\n')
t('mixin2', 'del Base.bad\nclass Mix:\n    @always\n    def bad2(self, s: S) -> bool: return s.n <= 3\n'+D+'class N(Base, Mix): pass\nMODEL = N\n')
t('mixshadow', 'class Mix:\n    def bad(self, s: S) -> bool: return True\n'+D+'class N(Mix, Base): pass\nMODEL = N\n')
t('setattr_after', 'del Base.bad\n'+D+'class N(Base): pass\nN.late = always(lambda self, s: s.n <= 4)\nMODEL = N\n')
t('wrapped', 'del Base.bad\ndef deco(f):\n    @functools.wraps(f)\n    def g(self, s): return f(self, s)\n    return g\n'+D+'class N(Base):\n    @deco\n    @always\n    def bad3(self, s: S) -> bool: return s.n <= 4\nMODEL = N\n')
t('wrapped2', 'del Base.bad\ndef deco(f):\n    def g(self, s): return f(self, s)\n    return g\n'+D+'class N(Base):\n    @deco\n    @always\n    def bad3(self, s: S) -> bool: return s.n <= 4\nMODEL = N\n')
t('static', 'del Base.bad\n'+D+'class N(Base):\n    @staticmethod\n    @always\n    def bad3(s: S) -> bool: return s.n <= 4\nMODEL = N\n')
t('static2', 'del Base.bad\n'+D+'class N(Base):\n    @always\n    @staticmethod\n    def bad3(s: S) -> bool: return s.n <= 4\nMODEL = N\n')
t('clsm', 'del Base.bad\n'+D+'class N(Base):\n    @classmethod\n    @always\n    def bad3(cls, s: S) -> bool: return s.n <= 4\nMODEL = N\n')
t('mangled', 'del Base.bad\n'+D+'class N(Base):\n    @always\n    def __bad(self, s: S) -> bool: return s.n <= 4\nMODEL = N\n')
t('partialm', 'del Base.bad\n'+D+'class N(Base):\n    @always\n    def bad3(self, s: S, k: int = 3) -> bool: return s.n <= 4\n    bad4 = functools.partialmethod(bad3, k=2)\nMODEL = N\n')
t('kwonly', 'del Base.bad\n'+D+'class N(Base):\n    @always\n    def bad3(self, s: S, *, w: W) -> bool: return s.n <= 4\nMODEL = N\n')
t('defarg', 'del Base.bad\n'+D+'class N(Base):\n    @always\n    def bad3(self, s: S, w: W = None) -> bool: return s.n <= 4 or w == None\nMODEL = N\n')
t('prop', 'del Base.bad\n'+D+'class N(Base):\n    @property\n    @always\n    def bad3(self): return lambda s: s.n <= 4\nMODEL = N\n')
t('cprop', 'del Base.bad\n'+D+'class N(Base):\n    @functools.cached_property\n    @always\n    def bad3(self): return lambda s: s.n <= 4\nMODEL = N\n')
t('field_shadow', 'del Base.bad\n'+D+'class N(Base):\n    bad: bool = True\nMODEL = N\n')
t('field_shadow2', D+'class N(Base):\n    bad: bool = True\nMODEL = N\n')
t('getattribute', D+'class N(Base):\n    def __getattribute__(self, name):\n        if name == "bad": return lambda s: True\n        return super().__getattribute__(name)\nMODEL = N\n')
t('getattr_', 'del Base.bad\n'+D+'class N(Base):\n    def __getattr__(self, name):\n        if name == "lim": return 3\n        raise AttributeError(name)\n    @always\n    def bad3(self, s: S) -> bool: return s.n <= self.lim\nMODEL = N\n')
t('postinit', D+'class N(Base):\n    def __post_init__(self):\n        object.__setattr__(self, "bad", lambda s: True)\nMODEL = N\n')
t('new', D+'class N(Base):\n    def __new__(cls, *a, **k):\n        return super().__new__(Other)\n'+D+'class Other(N):\n    def __new__(cls, *a, **k): return object.__new__(cls)\n    @always\n    def bad(self, s: S) -> bool: return True\nMODEL = N\n')
t('meta', 'class Meta(type):\n    def __getattribute__(cls, n):\n        if n == "bad": return always(lambda self, s: True)\n        return super().__getattribute__(n)\n'+D+'class N(Base, metaclass=Meta): pass\nMODEL = N\n')
t('twice', 'del Base.bad\n'+D+'class N(Base):\n    @always\n    def q(self, s: S) -> bool: return s.n <= 4\n    @always\n    def q(self, s: S) -> bool: return s.n <= 5\nMODEL = N\n')
t('twiceaction', 'del Base.bad\n'+D+'class N(Base):\n    @action\n    def q(self, s: S) -> S: return replace(s, p=P.C)\n    @action\n    def q(self, s: S) -> S: return replace(s, p=P.B)\n    @always\n    def z(self, s: S) -> bool: return s.p != P.C\nMODEL = N\n')
t('decoaction', 'del Base.bad\n'+D+'class N(Base):\n    def step(self, s: S) -> S:\n        require(s.n < 7)\n        return replace(s, n=s.n + 1)\nMODEL = N\n')
t('super', 'del Base.bad\n'+D+'class N(Base):\n    @action\n    def step(self, s: S) -> S:\n        t = super().step(s)\n        return replace(t, n=t.n + 1) if t.n == 5 else t\n    @final\n    def ff(self, s: S) -> bool: return s.n > 5\nMODEL = N\n')
t('nested', 'del Base.bad\n'+D+'class N(Base):\n    @always\n    def q(self, s: S) -> bool:\n        def inner(x):\n            if x > 4: return False\n            return True\n        return inner(s.n)\nMODEL = N\n')
t('strprop', 'del Base.bad\n'+D+'class N(Base):\n    @always\n    def q(self, s: S) -> bool: return s.n <= 4 or "too big"\nMODEL = N\n')
t('strprop2', 'del Base.bad\n'+D+'class N(Base):\n    @always\n    def q(self, s: S) -> bool: return s.n <= 4 or ""\nMODEL = N\n')
t('mapprop', 'del Base.bad\n'+D+'class N(Base):\n    @always\n    def q(self, s: S): return {"a": True, "b": s.n <= 4 or "x"}\nMODEL = N\n')
t('mapprop2', 'del Base.bad\n'+D+'class N(Base):\n    @always\n    def q(self, s: S): return {"a": True, **({"b": False} if s.n > 4 else {})}\nMODEL = N\n')
t('mapprop3', 'del Base.bad\n'+D+'class N(Base):\n    @always\n    def q(self, s: S): return {"a": True, "a": s.n <= 4}\nMODEL = N\n')
t('mapprop4', 'del Base.bad\n'+D+'class N(Base):\n    @always\n    def q(self, s: S): return {} if s.n > 4 else {"a": True}\nMODEL = N\n')
t('noneprop', 'del Base.bad\n'+D+'class N(Base):\n    @always\n    def q(self, s: S) -> bool:\n        if s.n <= 4: return True\nMODEL = N\n')
t('raiseprop', 'del Base.bad\n'+D+'class N(Base):\n    @always\n    def q(self, s: S) -> bool:\n        assert s.n <= 4\n        return True\nMODEL = N\n')
t('reqprop', 'del Base.bad\n'+D+'class N(Base):\n    @always\n    def q(self, s: S) -> bool:\n        require(s.n <= 4)\n        return True\nMODEL = N\n')
t('assertinit', 'del Base.bad\n'+D+'class N(Base):\n    @init\n    def start(self) -> S:\n        s = super().start()\n        assert s.n == 1\n        return s\nMODEL = N\n')
t('asserteverystep', 'del Base.bad\n'+D+'class N(Base):\n    @every_step\n    def q(self, s: S, t: S) -> bool:\n        assert s.n != 4\n        return True\nMODEL = N\n')
t('stutter', 'del Base.bad\n'+D+'class N(Base):\n    @every_step\n    def q(self, s: S, t: S) -> bool: return s != t\nMODEL = N\n')
t('esparam', 'del Base.bad\n'+D+'class N(Base):\n    @every_step\n    def q(self, s: S, t: S, w: W) -> bool: return t.h[w] == s.h[w] or s.n < 5\nMODEL = N\n')
t('esclose', 'del Base.bad\n'+D+'class N(Base):\n    @every_step\n    def q(self, a: S, b: S) -> bool: return b.n >= a.n or not forall(self.ws, lambda w: a.h[w])\nMODEL = N\n')
t('finalbool', 'del Base.bad\n'+D+'class N(Base):\n    @action\n    def back(self, s: S) -> S:\n        require(s.n == 6)\n        return s\n    @action\n    def set_(self, s: S, w: W) -> S:\n        require(not s.h[w])\n        return replace(s, h=s.h.set(w, True))\n    @final\n    def ff(self, s: S, w: W) -> bool: return not s.h[w]\nMODEL = N\n')
t('assertlambda', 'del Base.bad\n'+D+'class N(Base):\n    @action\n    def q(self, s: S) -> S:\n        def f(w):\n            assert s.n < 5\n            return s.h[w]\n        require(exists(self.ws, f))\n        return s\nMODEL = N\n')
t('assertbuild', 'del Base.bad\n'+D+'class N(Base):\n    @action\n    def q(self, s: S) -> S:\n        def f(w):\n            assert not (s.n == 5 and s.h[w])\n            return True\n        return replace(s, h=Map.build(self.ws, f))\nMODEL = N\n')
t('assertafterrequire', 'del Base.bad\n'+D+'class N(Base):\n    @action\n    def q(self, s: S) -> S:\n        assert s.n < 5\n        require(s.n < 2)\n        return s\nMODEL = N\n')
t('assertraise', 'del Base.bad\n'+D+'class N(Base):\n    @action\n    def q(self, s: S) -> S:\n        if s.n == 5: raise AssertionError("x")\n        return s\nMODEL = N\n')
t('assertsub', 'del Base.bad\nclass MyA(AssertionError): pass\n'+D+'class N(Base):\n    @action\n    def q(self, s: S) -> S:\n        if s.n == 5: raise MyA("x")\n        return s\nMODEL = N\n')
t('raisedis', 'del Base.bad\n'+D+'class N(Base):\n    @action\n    def q(self, s: S) -> S:\n        try:\n            require(s.n < 5)\n        except Disabled:\n            return replace(s, n=9)\n        return s\n    @final\n    def f(self, s: S) -> bool: return s.n == 9\nMODEL = N\n')
t('finally_', 'del Base.bad\n'+D+'class N(Base):\n    @action\n    def q(self, s: S) -> S:\n        try:\n            require(s.n < 5)\n            return s\n        finally:\n            return replace(s, n=9)\n    @final\n    def f(self, s: S) -> bool: return s.n == 9\nMODEL = N\n')
t('finallyassert', 'del Base.bad\n'+D+'class N(Base):\n    @action\n    def q(self, s: S) -> S:\n        try:\n            assert s.n < 5\n            return s\n        finally:\n            require(s.n < 4)\nMODEL = N\n')
t('finally2', 'del Base.bad\n'+D+'class N(Base):\n    @action\n    def q(self, s: S) -> S:\n        try:\n            require(s.n < 2)\n            return s\n        finally:\n            assert s.n < 5\nMODEL = N\n')
t('lambdaassertprop', 'del Base.bad\n'+D+'class N(Base):\n    @always\n    def q(self, s: S) -> bool:\n        def f(w):\n            assert s.n < 5\n            return True\n        return forall(self.ws, f)\nMODEL = N\n')
t('statemethod', 'del Base.bad\ndef big(self): return self.n > 4\nS.big = property(big)\n'+D+'class N(Base):\n    @always\n    def q(self, s: S) -> bool: return not s.big\nMODEL = N\n')
t('ctxsupp', 'del Base.bad\nimport contextlib\n'+D+'class N(Base):\n    @action\n    def q(self, s: S) -> S:\n        with contextlib.suppress(Disabled):\n            require(s.n < 5)\n            return s\n        return replace(s, n=9)\n    @final\n    def f(self, s: S) -> bool: return s.n == 9\nMODEL = N\n')
t('ctxsuppassert', 'del Base.bad\nimport contextlib\n'+D+'class N(Base):\n    @action\n    def q(self, s: S) -> S:\n        with contextlib.suppress(AssertionError):\n            assert s.n < 5\n            return s\n        return replace(s, n=9)\n    @final\n    def f(self, s: S) -> bool: return s.n == 9\nMODEL = N\n')
if __name__=='__main__':
    sel=sys.argv[1:] or list(C)
    for k in sel:
        p=f'm6/{k}.py'; write(p,C[k])
        o,res,fl=case(os.path.abspath(p),prove=True,engines=('reference','native'))
        print(('!!! ' if fl else '')+k,fl,o.get('bad',str(o)[-100:]), ' | '.join(v[0][:75] for v in res.values())); sys.stdout.flush()
