from mini import write
import sys,os
from run import case
C={}
# ---- equality merging in the reference engine. state class arbitrary; merge good w/ bad
def merge(good, bad, test, typ='Any', pre=''):
    return pre+f'''
@dataclass(frozen=True)
class M(Model[{typ}]):
    sizes = {{"default": {{}}}}
    @init
    def start(self) -> {typ}: return (0, {good})
    @action
    def good(self, s: {typ}) -> {typ}:
        require(s[0] == 0)
        return (1, {good})
    @action
    def bad(self, s: {typ}) -> {typ}:
        require(s[0] == 0)
        return (1, {bad})
    @action
    def back(self, s: {typ}) -> {typ}:
        require(s[0] == 1)
        return (0, {good})
    @always
    def ok(self, s: {typ}) -> bool:
        return not ({test})
MODEL = M
'''
C['zero']=merge('0.0','-0.0','math.copysign(1, s[1]) < 0')
C['czero']=merge('complex(0,0.0)','complex(0,-0.0)','math.copysign(1, s[1].imag) < 0')
C['dec']=merge("decimal.Decimal('1.0')","decimal.Decimal('1.00')","len(s[1].as_tuple().digits) == 3")
C['deczero']=merge("decimal.Decimal('0')","decimal.Decimal('-0')","s[1].is_signed()")
C['fold']=merge("datetime.datetime(2020,1,1)","datetime.datetime(2020,1,1,fold=1)","s[1].fold == 1")
C['time']=merge("datetime.time(1)","datetime.time(1,fold=1)","s[1].fold == 1")
C['tz']=merge("datetime.datetime(2020,1,1,tzinfo=datetime.timezone.utc)","datetime.datetime(2020,1,1,1,tzinfo=datetime.timezone(datetime.timedelta(hours=1)))","s[1].hour == 1")
C['tzname']=merge("datetime.timezone(datetime.timedelta(0),'A')","datetime.timezone(datetime.timedelta(0),'B')","s[1].tzname(None) == 'B'")
C['range']=merge("range(0,3,2)","range(0,4,2)","s[1].stop == 4")
C['range0']=merge("range(0)","range(7,7)","s[1].start == 7")
C['winpath']=merge("pathlib.PureWindowsPath('a')","pathlib.PureWindowsPath('A')","str(s[1]) == 'A'")
C['strattr']=merge("T('x', 1)","T('x', 2)","s[1].k == 2",pre='''
class T(str):
    def __new__(cls, v, k):
        o = str.__new__(cls, v); object.__setattr__(o, 'k', k); return o
''')
C['tupattr']=merge("T((1,), 1)","T((1,), 2)","s[1].k == 2",pre='''
class T(tuple):
    def __new__(cls, v, k):
        o = tuple.__new__(cls, v); o.k = k; return o
''')
C['intattr']=merge("T(1, 1)","T(1, 2)","s[1].k == 2",pre='''
class T(int):
    def __new__(cls, v, k):
        o = int.__new__(cls, v); o.k = k; return o
''')
C['fsattr']=merge("T((1,), 1)","T((1,), 2)","s[1].k == 2",pre='''
class T(frozenset):
    def __new__(cls, v, k):
        o = frozenset.__new__(cls, v); o.k = k; return o
''')
C['ntattr']=merge("T2(1, k=1)","T2(1, k=2)","s[1].k == 2",pre='''
class T(NamedTuple):
    a: int
class T2(T):
    def __new__(cls, a, k):
        o = T.__new__(cls, a); o.k = k; return o
''')
C['dcextra']=merge("T(1, 1)","T(1, 2)","s[1].k == 2",pre='''
@dataclass(frozen=True)
class T:
    a: int
    b: dataclasses_InitVar
    def __post_init__(self, b): object.__setattr__(self, 'k', b)
'''.replace('dataclasses_InitVar','__import__("dataclasses").InitVar[int]').replace('b: __imp','b: __imp'))
C['dcprop']=merge("mk(1)","mk(2)","s[1].k == 2",pre='''
@dataclass(frozen=True)
class T:
    a: int
def mk(k):
    o = T(1); object.__setattr__(o, 'k', k); return o
''')
C['fsfloat']=merge("frozenset([0.0])","frozenset([-0.0])","math.copysign(1, [*s[1]][0]) < 0")
C['fsbool']=merge("frozenset([1])","frozenset([True])","isinstance([*s[1]][0], bool)")
C['structtime']=merge("time_(1)","time_(2)","s[1].tm_zone == 'B'",pre='''
import time
def time_(k): return time.struct_time((1,2,3,4,5,6,7,8,0), {'tm_zone': 'A' if k == 1 else 'B', 'tm_gmtoff': 0})
''')
C['nan']=merge("float('nan')","float('inf')","s[1] == math.inf")
C['elt']=merge("mk(1)","mk(2)","s[1].k == 2",pre='''
class W(Element): ...
def mk(k):
    o = list(Domain(W, 1))[0]; object.__setattr__(o, 'k', k); return o
''')
C['eltsort']=merge("list(Domain(W, 2))[0]","list(Domain.of('x', ['a']))[0]","s[1] == 'a'",pre='''
class W(Element): ...
''')
C['mapdom']=merge("Map.fill(Domain(W, 2), 1)","Map.fill(Domain(W, 2), True)","isinstance(list(s[1].items())[0][1], bool)",pre='''
class W(Element): ...
''')
C['map0']=merge("Map.fill(Domain(W, 0), 1)","Map.fill(Domain(V, 0), 1)","s[1] == Map.fill(Domain(V, 0), 1) and s[1].domains[0].name == 'V'",pre='''
class W(Element): ...
class V(Element): ...
''')
C['frac']=merge("fractions.Fraction(1)","1","isinstance(s[1], int)")
C['enumcomp']=merge("E2.A","E1.A","s[1].name == 'A' and type(s[1]).__name__ == 'E1'",pre='''
class E1(IntEnum):
    A = 1
class E2(IntEnum):
    A = 1
''')
C['flagcomp']=merge("F.A|F.B","F(3)","False",pre='''
class F(Flag):
    A = 1
    B = 2
''')
C['ip']=merge("ipaddress.ip_address('fe80::1')","ipaddress.ip_address('fe80::1%1')","s[1].scope_id == '1'",pre='import ipaddress\n')
C['uuid']=merge("uuid.UUID(int=1)","uuid.UUID(int=1, is_safe=uuid.SafeUUID.safe)","s[1].is_safe == uuid.SafeUUID.safe",pre='import uuid\n')
C['td']=merge("datetime.timedelta(1)","datetime.timedelta(hours=24)","False")
C['dkey']=merge("types.MappingProxyType({1:2})","types.MappingProxyType({1:2})","False")
C['genericalias']=merge("list[int]","typing.List[int]","isinstance(s[1], types.GenericAlias)")
C['union']=merge("int | str","typing.Union[str, int]","s[1].__args__[0] is str")
C['union2']=merge("int | str","str | int","s[1].__args__[0] is str")
C['literal']=merge("typing.Literal[1, 2]","typing.Literal[2, 1]","s[1].__args__[0] == 2")
C['codeobj']=merge("f1.__code__","f2.__code__","False",pre="f1 = lambda: 0.0\nf2 = lambda: -0.0\n")
C['bytes']=merge("b'a'","memoryview(b'a')","isinstance(s[1], memoryview)")
C['memv']=merge("memoryview(b'a')","memoryview(b'a').cast('c')","s[1].format == 'c'")
C['interval']=merge("decimal.Decimal('NaN')","decimal.Decimal('1')","s[1] == 1")
if __name__=='__main__':
    os.makedirs('m2',exist_ok=True)
    sel=sys.argv[1:] or list(C)
    for k in sel:
        p=f'm2/{k}.py'; write(p,C[k])
        o,res,fl=case(os.path.abspath(p),prove=False,engines=('reference',))
        print(('!!! ' if fl else '')+k,fl,o.get('bad',o), res['reference'][0][:170]); sys.stdout.flush()
