from mini import write
import sys,os,subprocess
C={}
BASE='''
class W(Element): ...
NAMES = {{'a': 1, 'b': 2, 'c': 3, 'dd': 4, 'eee': 5}}
OTHER = {{'a': 1, 'c': 2, 'dd': 1, 'eee': 2, 'f': 1}}
{pre}
@dataclass(frozen=True)
class M(Model[Any]):
    sizes = {{"default": {{}}}}
    @init
    def start(self) -> Any: return (0, 'a')
    @action
    def step(self, s: Any) -> Any:
        require(s[0] < 700)
        return (s[0] + 1, 'a')
    @action
    def again(self, s: Any) -> Any:
        require(s[0] == 700)
        return (0, 'a')
    @action
    def probe(self, s: Any) -> Any:
        require(s[0] == 600)
{body}
    @always
    def ok(self, s: Any) -> bool:
        return s[1] != 'eee'
MODEL = M
'''
def t(name, expr, pre=''):
    body='\n'.join('        '+l for l in (expr if 'return' in expr else f'return (601, {expr})').splitlines())
    C[name]=BASE.format(body=body,pre=pre)
t('keysand',"next(iter(NAMES.keys() & OTHER.keys()))")
t('keysor',"list(NAMES.keys() | OTHER.keys())[0]")
t('keyssub',"[*(NAMES.keys() - {'a'})][0]")
t('itemsand',"[*(NAMES.items() ^ OTHER.items())][0][0]")
t('mincst',"min(set(NAMES), key=len)")
t('sortcst',"sorted(frozenset(NAMES), key=lambda x: 0)[0]")
t('maxfs',"max(FS, key=len)",pre="FS = frozenset(k + 'xx' for k in NAMES)")
t('dictfrom',"next(iter(dict.fromkeys(FS)))",pre="FS = frozenset(NAMES)")
t('unpack',"a, *b = FS\nreturn (601, a)",pre="FS = frozenset(NAMES)")
t('join',"'eee' if ''.join(FS).startswith('eee') else 'a'",pre="FS = frozenset(NAMES)")
t('union',"[*FS.union(OTHER)][0]",pre="FS = frozenset(NAMES)")
t('starargs',"(lambda a, *r: a)(*FS)",pre="FS = frozenset(NAMES)")
t('matchset',"match [*FS]:\n    case [a, *_]: return (601, a)",pre="FS = frozenset(NAMES)")
t('mod',"KS[0]",pre="KS = list(set(NAMES))")
t('modtuple',"KS[0]",pre="KS = tuple(k for k in {'a','b','c','dd','eee'})")
t('moddict',"next(iter(KS))",pre="KS = {k: 1 for k in {'a','b','c','dd','eee'}}")
t('modenum',"next(iter(KS)).name",pre="KS = Enum('KS', {k: k for k in {'a','b','c','dd','eee'}})")
t('modhash',"'eee' if H % 3 == 0 else 'a'",pre="H = hash('x')")
t('cls',"KS.v",pre="class KS:\n    v = {'a','b','c','dd','eee'}.pop()")
t('deflt',"f()",pre="def f(v=list({'a','b','c','dd','eee'})[0]): return v")
t('closure',"f()",pre="def mk():\n    v = list({'a','b','c','dd','eee'})[0]\n    return lambda: v\nf = mk()")
t('strhash',"'eee' if 'x'.__hash__() % 3 == 0 else 'a'")
t('tuphash',"'eee' if operator.methodcaller('__hash__')('x') % 3 == 0 else 'a'")
t('fshash',"'eee' if next(map(hash, ['x'])) % 3 == 0 else 'a'")
t('dchash',"'eee' if T('x').__hash__() % 3 == 0 else 'a'",pre="@dataclass(frozen=True)\nclass T:\n    a: str")
t('getattrhash',"'eee' if getattr('x', '__ha' + 'sh__')() % 3 == 0 else 'a'")
t('vars_',"'eee' if vars(str)['__hash__']('x') % 3 == 0 else 'a'")
t('fmtset',"'eee' if f'{FS}'.find('eee') < 14 else 'a'",pre="FS = frozenset(NAMES)")
t('reprset',"'eee' if repr(FS).find('eee') < 14 else 'a'",pre="FS = frozenset(NAMES)")
t('strset',"'eee' if '%s' % (FS,) < 'frozenset({\\'b' else 'a'",pre="FS = frozenset(NAMES)")
t('reduce',"functools.reduce(lambda a, b: a, FS)",pre="FS = frozenset(NAMES)")
t('zip',"next(zip(FS, range(9)))[0]",pre="FS = frozenset(NAMES)")
t('chain',"next(itertools.chain(FS))",pre="FS = frozenset(NAMES)")
t('islice',"[*itertools.islice(FS, 1)][0]",pre="FS = frozenset(NAMES)")
t('setattr_',"next(iter(T.KS))",pre="class T: KS = set()\nfor k in NAMES: T.KS.add(k)")
t('counter',"collections.Counter(FS).most_common(1)[0][0]",pre="FS = frozenset(NAMES)")
t('counter2',"collections.Counter(set('abcde')).most_common(1)[0][0] and 'eee' if collections.Counter(set('abcde')).most_common(1)[0][0] < 'c' else 'a'")
t('groupby',"next(itertools.groupby(FS))[0]",pre="FS = frozenset(NAMES)")
t('heapq',"heapq.nsmallest(1, FS, key=lambda x: 0)[0]",pre="FS = frozenset(NAMES)")
t('annset',"sorted(typing.get_args(U), key=lambda x: 0)[0]",pre="U = typing.Literal[tuple({'a','b','c','dd','eee'})]")
t('flagset',"KS[0]",pre="import keyword\nKS = [k for k in frozenset(keyword.kwlist)]\nKS = ['eee' if KS[0] < 'h' else 'a']")
t('attrdir',"KS[0]",pre="KS = sorted({'a','b','c','dd','eee'}, key=len)")
t('symdiff',"next(iter(set(NAMES).symmetric_difference(OTHER)))")
t('setcompr',"[x for x in {k for k in NAMES}][0]")
t('nestfn',"return (601, first({k for k in NAMES}))",pre="def first(x):\n    for y in x: return y")
t('nestcls',"return (601, Box({k for k in NAMES}).first())",pre="class Box:\n    def __init__(self, x): self.x = x\n    def first(self):\n        return next(iter(self.x))")
t('slots',"return (601, [y for y in mk()][0])",pre="def mk(): return set(NAMES)")
t('jsonlib',"return (601, [y for y in copy.copy(FS)][0])",pre="FS = frozenset(NAMES)")
t('typeset',"return (601, [y for y in abc_.OTHERS][0])",pre="class abc_: OTHERS = None\nabc_.OTHERS = frozenset(OTHER)")
t('absm',"return (601, [y for y in A.__abstractmethods__][0])",pre="import abc\nclass A(abc.ABC):\n    @abc.abstractmethod\n    def b(self): ...\n    @abc.abstractmethod\n    def eee(self): ...\n    @abc.abstractmethod\n    def cc(self): ...\n    @abc.abstractmethod\n    def dd(self): ...")
t('strfmt',"return (601, 'eee' if object.__repr__(OB)[-3] < '8' else 'a')",pre="OB = object()")
t('idtie',"return (601, min(OBS, key=id).n)",pre="class O:\n    def __init__(s, n): s.n = n\nOBS = [O('a'), O('eee')]")
t('objset',"return (601, [o for o in OBS][0].n)",pre="class O:\n    def __init__(s, n): s.n = n\nOBS = {O('a'), O('eee'), O('c')}")
t('objset2',"return (601, next(o for o in reversed(OBS)).n)",pre="class O:\n    def __init__(s, n): s.n = n\nOBS = list({O('a'), O('eee'), O('c')})")
if __name__=='__main__':
    sel=sys.argv[1:] or list(C)
    for k in sel:
        p=f'm5/{k}.py'; write(p,C[k])
        # oracle under different seeds: does plain python differ?
        src=f"import sys; sys.path.insert(0,'m5'); import {k} as x\nm=x.MODEL()\ntry: print(m.probe((600,'a'))[1])\nexcept Exception as e: print('EXC',e)"
        outs=set()
        for seed in '12345678':
            outs.add(subprocess.run(['../.venv/bin/python','-c',src],env={**os.environ,'PYTHONHASHSEED':seed},capture_output=True,text=True).stdout.strip()[:40])
            if len(outs)>1 and 'eee' in outs: break
        r=subprocess.run(['../.venv/bin/streamproof','check',p],capture_output=True,text=True)
        last=(r.stdout+r.stderr).strip().splitlines()[-1][:140]
        print(('!!! ' if r.returncode in (0,1,70) and len(outs)>1 else '')+k,outs,r.returncode,last); sys.stdout.flush()
