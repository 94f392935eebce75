from mini import write
import sys,os
from run import case
C={}
BASE='''
class W(Element):
    {wattrs}
@dataclass(frozen=True)
class S:
    n: Annotated[int, Range(0, 400)]
    bad: bool
{pre}
@dataclass(frozen=True)
class M(Model[S]):
    ws: Domain[W]
    sizes = {{"default": {{"ws": 2}}}}
    @init
    def start(self) -> S: return S(0, False)
    @action
    def step(self, s: S) -> S:
        require(s.n < 300 and not s.bad)
        return S(s.n + 1, s.bad)
    @action
    def again(self, s: S) -> S:
        require(s.bad or s.n == 300)
        return S(0, False)
    @action
    def probe(self, s: S, w: W) -> S:
        require(s.n > {at})
{body}
    @always
    def ok(self, s: S) -> bool:
        return not s.bad
MODEL = M
'''
def hid(name, body, wattrs='pass', pre='', at=100):
    body='\n'.join('        '+l for l in body.strip().splitlines())
    C[name]=BASE.format(body=body,wattrs=wattrs,pre=pre,at=at)
# hidden state: bad only when called many times
hid('elt_attr',"k = getattr(w, 'k', 0)\nobject.__setattr__(w, 'k', k + 1)\nreturn replace(s, bad=k > 50)")
hid('elt_attr2',"w.k = w.k + 1\nreturn replace(s, bad=w.k > 50)",wattrs='k = 0')
hid('elt_list',"w.log.append(1)\nreturn replace(s, bad=len(w.log) > 50)",wattrs='log = []')
hid('elt_cls',"W.k += 1\nreturn replace(s, bad=W.k > 50)",wattrs='k = 0')
hid('elt_meth',"return replace(s, bad=w.tick() > 50)",wattrs='k = 0\n    def tick(self):\n        self.k += 1\n        return self.k')
hid('elt_dict',"w.__dict__['k'] = w.__dict__.get('k', 0) + 1\nreturn replace(s, bad=w.__dict__['k'] > 50)")
hid('elt_setattr',"setattr(w, 'k', getattr(w, 'k', 0) + 1)\nreturn replace(s, bad=w.k > 50)")
hid('dom_attr',"object.__setattr__(self.ws, 'k', getattr(self.ws, 'k', 0) + 1)\nreturn replace(s, bad=self.ws.k > 50)")
hid('model_attr',"object.__setattr__(self, 'k', getattr(self, 'k', 0) + 1)\nreturn replace(s, bad=self.k > 50)")
hid('state_cls',"S.k = getattr(S, 'k', 0) + 1\nreturn replace(s, bad=S.k > 50)")
hid('enum_attr',"P.A.k = getattr(P.A, 'k', 0) + 1\nreturn replace(s, bad=P.A.k > 50)",pre='class P(Enum):\n    A = 1')
hid('fn_attr',"tick.k = getattr(tick, 'k', 0) + 1\nreturn replace(s, bad=tick.k > 50)",pre='def tick(): pass')
hid('csvlimit',"old = csv.field_size_limit()\ncsv.field_size_limit(old + 1)\nreturn replace(s, bad=old > 131072 + 50)")
hid('calendar',"old = calendar.firstweekday()\ncalendar.setfirstweekday((old + 1) % 7)\nreturn replace(s, bad=old == 6 and s.n % 2 == 0)")
hid('decprec',"c = decimal.getcontext()\nc.prec += 1\nreturn replace(s, bad=c.prec > 80)")
hid('decflag',"x = decimal.Decimal(1) / 3 if s.n > 200 else 0\nreturn replace(s, bad=s.n < 150 and bool(decimal.getcontext().flags[decimal.Inexact]))")
hid('fsize',"csv.register_dialect('d%d' % s.n)\nreturn replace(s, bad=len(csv.list_dialects()) > 60)")
hid('warn',"warnings.simplefilter('ignore')\nreturn replace(s, bad=len(warnings.filters) > 60)")
hid('ctxvar',"k = cv.get()\ncv.set(k + 1)\nreturn replace(s, bad=k > 50)",pre="cv = contextvars.ContextVar('cv', default=0)")
hid('tlocal',"tl.k = getattr(tl, 'k', 0) + 1\nreturn replace(s, bad=tl.k > 50)",pre="tl = threading.local()")
hid('deflist',"x = tick()\nreturn replace(s, bad=x > 50)",pre="def tick(a=[]):\n    a.append(1)\n    return len(a)")
hid('gen',"return replace(s, bad=next(g) > 50)",pre="g = (i for i in range(10**9))")
hid('count',"return replace(s, bad=next(g) > 50)",pre="g = itertools.count()")
hid('cycle',"return replace(s, bad=next(g) == 50)",pre="g = itertools.cycle(range(100))")
hid('nonlocal',"return replace(s, bad=tick() > 50)",pre="def mk():\n    k = 0\n    def t():\n        nonlocal k\n        k += 1\n        return k\n    return t\ntick = mk()")
hid('obj',"return replace(s, bad=o() > 50)",pre="class O:\n    k = 0\n    def __call__(self):\n        self.k += 1\n        return self.k\no = O()")
hid('proparg',"return replace(s, bad=o.x > 50)",pre="class O:\n    def __init__(self): self.k = 0\n    @property\n    def x(self):\n        self.k += 1\n        return self.k\no = O()")
hid('cachedprop',"return replace(s, bad=len(o.x) > 50 or o.x.append(1) is not None)",pre="class O:\n    @functools.cached_property\n    def x(self): return []\no = O()")
hid('intern_enum',"F(s.n)\nreturn replace(s, bad=len(F._value2member_map_) > 160)",pre='class F(IntFlag):\n    A = 1\n    B = 512')
hid('flagboundary',"x = F(s.n % 64)\nreturn replace(s, bad=len(list(F.__members__)) > 10)",pre='class F(IntFlag):\n    A = 1\n    B = 512')
hid('recl',"sys.setrecursionlimit(sys.getrecursionlimit() + 1)\nreturn replace(s, bad=sys.getrecursionlimit() > 1100)")
hid('switch',"sys.setswitchinterval(sys.getswitchinterval() + 1)\nreturn replace(s, bad=sys.getswitchinterval() > 50)")
hid('deque',"d.rotate(1)\nreturn replace(s, bad=d[0] == 50)",pre="d = collections.deque(range(100))")
hid('heap',"heapq.heappush(h, len(h))\nreturn replace(s, bad=len(h) > 50)",pre="h = []")
hid('bisect',"bisect.insort(h, s.n)\nreturn replace(s, bad=len(h) > 50)",pre="h = []")
hid('subclasses',"type('X%d' % s.n, (O,), {})\nreturn replace(s, bad=len(O.__subclasses__()) > 50)",pre="class O: pass")
hid('initsub',"class X(O): pass\nreturn replace(s, bad=len(O.reg) > 50)",pre="class O:\n    reg = []\n    def __init_subclass__(cls): O.reg.append(1)")
hid('singledisp',"f.register(type('X%d' % s.n, (), {}), lambda x: 1)\nreturn replace(s, bad=len(f.registry) > 50)",pre="@functools.singledispatch\ndef f(x): return 0")
hid('abcreg',"O.register(int)\nreturn replace(s, bad=s.n < 150 and isinstance(3, O))",pre="import abc\nclass O(abc.ABC): pass")
hid('stringio',"b.write('x')\nreturn replace(s, bad=b.tell() > 50)",pre="import io\nb = io.StringIO()")
hid('bytearr',"b.append(1)\nreturn replace(s, bad=len(b) > 50)",pre="b = bytearray()")
hid('arr',"b.append(1)\nreturn replace(s, bad=len(b) > 50)",pre="import array\nb = array.array('i')")
hid('chainmap',"b['k'] = b.get('k', 0) + 1\nreturn replace(s, bad=b['k'] > 50)",pre="b = collections.ChainMap({})")
hid('iter',"return replace(s, bad=next(it) > 50)",pre="it = iter(range(10**6))")
hid('zipit',"return replace(s, bad=next(it)[0] > 50)",pre="it = zip(range(10**6), range(10**6))")
hid('mapit',"return replace(s, bad=next(it) > 50)",pre="it = map(int, range(10**6))")
hid('tee',"return replace(s, bad=next(it) > 50)",pre="it = itertools.tee(range(10**6))[0]")
hid('defdict',"d[s.n]\nreturn replace(s, bad=len(d) > 50)",pre="d = collections.defaultdict(int)")
hid('counter',"c['x'] += 1\nreturn replace(s, bad=c['x'] > 50)",pre="c = collections.Counter()")
hid('lru',"return replace(s, bad=f(s.n % 7) > 5)",pre="k = [0]\n@functools.lru_cache(maxsize=3)\ndef f(x):\n    k[0] += 1\n    return k[0]")
hid('exc',"EX.args = EX.args + (1,)\nreturn replace(s, bad=len(EX.args) > 50)",pre="EX = ValueError()")
hid('exctb',"try:\n    raise EX\nexcept ValueError as e:\n    t = e.__traceback__; k = 0\n    while t: t = t.tb_next; k += 1\nreturn replace(s, bad=k > 50)",pre="EX = ValueError()")
hid('excnote',"EX.add_note('x')\nreturn replace(s, bad=len(EX.__notes__) > 50)",pre="EX = ValueError()")
hid('annot',"M.__annotations__['x%d' % s.n] = 1\nreturn replace(s, bad=len(M.__annotations__) > 50)")
hid('slotobj',"o.v += 1\nreturn replace(s, bad=o.v > 50)",pre="class O:\n    __slots__ = ('v',)\no = O(); o.v = 0")
hid('modattr',"math.k = getattr(math, 'k', 0) + 1\nreturn replace(s, bad=math.k > 50)")
hid('builtin',"import builtins\nbuiltins.k = getattr(builtins, 'k', 0) + 1\nreturn replace(s, bad=builtins.k > 50)")
hid('sysmod',"sys.modules['k%d' % s.n] = sys\nreturn replace(s, bad=sum(m.startswith('k') for m in sys.modules) > 50)")
hid('path',"sys.path.append('x')\nreturn replace(s, bad=len(sys.path) > 60)")
hid('recache',"re.compile('a' * s.n)\nreturn replace(s, bad=len(re._cache) > 50)")
hid('mapitems',"object.__setattr__(MP, 'k', getattr(MP, 'k', 0) + 1)\nreturn replace(s, bad=MP.k > 50)",pre="MP = Map.fill(Domain(W, 2), 0)")
hid('mapval',"d = MP[list(self.ws)[0]]; d.append(1)\nreturn replace(s, bad=len(d) > 50)",pre="MP = Map.fill(Domain(W, 2), [])")
hid('domof',"d = DO.elements[0]\nd.v += 1\nreturn replace(s, bad=d.v > 50)",pre="class O:\n    v = 0\nDO = Domain.of('x', [O(), O()])")
hid('fieldmeta',"S.__dataclass_fields__['n'].metadata\nf = S.__dataclass_fields__['n']\nf.k = 1\nreturn replace(s, bad=False)")
hid('partial',"p.keywords['k'] = p.keywords.get('k', 0) + 1\nreturn replace(s, bad=p.keywords['k'] > 50)",pre="p = functools.partial(dict)")
hid('ns',"ns.k += 1\nreturn replace(s, bad=ns.k > 50)",pre="ns = types.SimpleNamespace(k=0)")
hid('weak',"O()\nws_.add(O())\nreturn replace(s, bad=False)",pre="import weakref\nclass O: pass\nws_ = weakref.WeakSet()")
hid('userlist',"u.append(1)\nreturn replace(s, bad=len(u) > 50)",pre="u = collections.UserList()")
hid('slicedict',"MAT['k'] += 1\nreturn replace(s, bad=MAT['k'] > 50)",pre="import string\nMAT = string.Template('x').__dict__\nMAT['k'] = 0")
hid('matchstar',"it_ = IT.send(None)\nreturn replace(s, bad=it_ > 50)",pre="def G():\n    k = 0\n    while True:\n        k += 1\n        yield k\nIT = G()")
hid('hashside',"O() in {O()}\nreturn replace(s, bad=O.k > 50)",pre="class O:\n    k = 0\n    def __hash__(self):\n        O.k += 1\n        return 1\n    def __eq__(self, o): return True")
hid('fmtside',"f'{o}'\nreturn replace(s, bad=o.k > 50)",pre="class O:\n    k = 0\n    def __format__(self, x):\n        self.k += 1\n        return ''\no = O()")
hid('ctxmgr',"with o: pass\nreturn replace(s, bad=o.k > 50)",pre="class O:\n    k = 0\n    def __enter__(self): self.k += 1\n    def __exit__(self, *a): pass\no = O()")
hid('iterside',"[*o]\nreturn replace(s, bad=o.k > 50)",pre="class O:\n    k = 0\n    def __iter__(self):\n        self.k += 1\n        return iter(())\no = O()")
hid('replaceside',"replace(T(1), a=2)\nreturn replace(s, bad=T.k > 50)",pre="@dataclass(frozen=True)\nclass T:\n    a: int\n    k = 0\n    def __post_init__(self): T.k += 1")
if __name__=='__main__':
    os.makedirs('m3',exist_ok=True)
    sel=sys.argv[1:] or list(C)
    for k in sel:
        p=f'm3/{k}.py'; write(p,C[k])
        o,res,fl=case(os.path.abspath(p),prove=False,engines=('reference','native'))
        print(('!!! ' if fl else '')+k,fl,o.get('bad',str(o)[-100:]), res['reference'][0][:60],'|',res['native'][0][:90]); sys.stdout.flush()
