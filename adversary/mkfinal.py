H='''from dataclasses import dataclass, field
from enum import Enum
import calendar, csv, decimal, functools, sys
from streamproof.lang import *
%s

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
%s
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
'''
V={}
def v(n,pre,body): V[n]=H%(pre,'\n'.join('        '+l for l in body.splitlines()))
W='class W(Element): ...\n'
v('hidden_callable',W+'class Counter:\n    def __init__(self): self.k = 0\n    def __call__(self):\n        self.k += 1\n        return self.k\nfresh = Counter()','return S(not s.n, fresh() > 1000)')
v('hidden_bound',W+'class Counter:\n    def __init__(self): self.k = 0\n    def fresh(self):\n        self.k += 1\n        return self.k\nfresh = Counter().fresh','return S(not s.n, fresh() > 1000)')
v('hidden_partial',W+'class Counter:\n    def __init__(self): self.k = 0\n    def fresh(self, by):\n        self.k += by\n        return self.k\nfresh = functools.partial(Counter().fresh, 1)','return S(not s.n, fresh() > 1000)')
v('hidden_handlers',W+'class Counter:\n    def __init__(self): self.k = 0\n    def fresh(self):\n        self.k += 1\n        return self.k\nHANDLERS = {"a": Counter().fresh}','return S(not s.n, HANDLERS["a"]() > 1000)')
v('hidden_element','class W(Element):\n    log = []\n    def note(self):\n        self.log.append(1)\n        return len(self.log)','return S(not s.n, w.note() > 1000)')
v('hidden_factory',W+'IDS = []\ndef next_id():\n    IDS.append(1)\n    return len(IDS)\n@dataclass(frozen=True)\nclass Msg:\n    id: int = field(default_factory=next_id)','return S(not s.n, Msg().id > 1000)')
v('hidden_dictsub',W+'class Table(dict):\n    uses = 0\n    def look(self, k):\n        self.uses += 1\n        return self[k]\nTABLE = Table(a=1)','TABLE.look("a")\nreturn S(not s.n, TABLE.uses > 1000)')
v('hidden_decimal',W,'decimal.getcontext().prec += 1\nreturn S(not s.n, decimal.getcontext().prec > 1000)')
v('hidden_csv',W,'k = csv.field_size_limit(csv.field_size_limit() + 1)\nreturn S(not s.n, k > 132000)')
v('hidden_switch',W,'sys.setswitchinterval(sys.getswitchinterval() + 1)\nreturn S(not s.n, sys.getswitchinterval() > 1000)')
v('hidden_cachedprop',W+'class Box:\n    @functools.cached_property\n    def seen(self): return []\nBOX = Box()','BOX.seen.append(1)\nreturn S(not s.n, len(BOX.seen) > 1000)')
v('hidden_dispatch',W+'@functools.singledispatch\ndef f(x): return 0','f.register(type("T", (), {}), f)\nreturn S(not s.n, len(f.registry) > 1000)')
v('hidden_exctb',W+'ERR = ValueError()','try: raise ERR\nexcept ValueError as e: t, k = e.__traceback__, 0\nwhile t: t, k = t.tb_next, k + 1\nreturn S(not s.n, k > 1000)')
v('hidden_subclasses',W+'class Msg: ...','class Ack(Msg): ...\nMsg.last = None if False else 0\nreturn S(not s.n, False)')
v('hidden_registry',W+'class Msg:\n    made = []\n    def __init_subclass__(cls): Msg.made.append(cls)','class Ack(Msg): ...\nreturn S(not s.n, len(Msg.__subclasses__()) > 1000)')
v('hidden_kept_class',W+'class Msg: ...\nKEEP = type("K", (), {})','M.__annotations__[len(M.__annotations__)] = 1\nreturn S(not s.n, len(M.__annotations__) > 1000)')
v('hidden_wherecls','class Base0: ...\nclass Log:\n    rows = []\n'+W+'Model.rows = []','self.rows.append(1)\nreturn S(not s.n, len(self.rows) > 1000)')
v('hidden_default_kw',W+'def fresh(*, seen=[]):\n    seen.append(1)\n    return len(seen)','return S(not s.n, fresh() > 1000)')
v('hidden_closure_obj',W+'class Counter:\n    k = 0\ndef make():\n    c = Counter()\n    def fresh():\n        c.k += 1\n        return c.k\n    return fresh\nfresh = make()','return S(not s.n, fresh() > 1000)')
v('hidden_wraps',W+'def counted(f):\n    @functools.wraps(f)\n    def g(*a):\n        g.calls += 1\n        return f(*a)\n    g.calls = 0\n    return g\n@counted\ndef ident(x): return x','ident(1)\nreturn S(not s.n, ident.calls > 1000)')
v('hidden_enum_cls','from enum import IntFlag\n'+W+'class P(Enum):\n    A = 1\n    @classmethod\n    def _missing_(cls, v):\n        MISS.append(v)\n        return cls.A\nMISS = []','P(5)\nreturn S(not s.n, len(MISS) > 1000)')
v('hidden_model_meta',W+'class Log:\n    def __init__(self): self.rows = []\n    def add(self):\n        self.rows.append(1)\n        return len(self.rows)\n','return S(not s.n, LOGGER(self) > 1000)')
V['hidden_model_meta']=V['hidden_model_meta'].replace('MODEL = M\n','LOGGER = (lambda add: lambda m: add())(Log().add)\nMODEL = M\n')
import os
for k,t in V.items(): open(f'final/{k}.py','w').write(t)
