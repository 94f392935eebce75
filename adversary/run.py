"""fork-per-case harness: oracle vs engines. usage: run.py file... ; prints a table; flags mismatches"""
import os, sys, json, io, contextlib, traceback, time, importlib.util, inspect, typing, itertools, dataclasses, signal, tempfile
sys.path.insert(0,'/work/w/breaker')
import z3, networkx, llvmlite.binding
from streamproof.cli import main as climain
import streamproof.cli.app, streamproof.checker.check, streamproof.proofs.induction
try:
    import streamproof.checker.native, streamproof.checker.liveness, streamproof.checker.elsewhere
except Exception as e: print(e)
import streamproof.lang as L
from streamproof.lang.model import Model, Role

def load(path):
    name='adv_'+os.path.basename(path)[:-3]
    spec=importlib.util.spec_from_file_location(name,path); m=importlib.util.module_from_spec(spec); sys.modules[name]=m; sys.path.insert(0,os.path.dirname(path)); spec.loader.exec_module(m); return m

def build(cls,size):
    hints=typing.get_type_hints(cls,include_extras=True)
    made={}
    for k,v in size.items():
        a=typing.get_args(hints.get(k))
        made[k]=L.Domain(a[0],v) if typing.get_origin(hints.get(k)) is L.Domain and isinstance(v,int) else v
    return cls.sized(**made)

def oracle(path, cls=None, size=None, maxn=200000):
    """own BFS using only bound methods. identity of states: (type-tagged repr-free) ==, with type check by repr-key"""
    m=load(path); cls=getattr(m,cls) if cls else m.MODEL
    if size is None: size=cls.sizes.get('default', next(iter(cls.sizes.values()),{})) if cls.sizes else {}
    model=build(cls,size)
    def calls(me):
        doms=[]
        for n,a in me.parameters:
            doms.append(list(model.domain_of(a,me.name)))
        return list(itertools.product(*doms))
    ms={r:[(me,calls(me)) for me in type(model).methods(r)] for r in Role}
    init=[]
    for me,cs in ms[Role.INIT]:
        for c in cs: init.append(getattr(model,me.name)(*c))
    if 'initial_states' in [k for b in type(model).__mro__ if b is not Model and b.__module__!='streamproof.lang.model' for k in vars(b)]:
        init=list(model.initial_states())
    bad=set(); seen={}; order=[]
    def truth(a):
        if isinstance(a,str): return False
        if isinstance(a,dict): return all(truth(x) for x in a.values())
        if a is not True and a is not False: bad.add('NONBOOL'); 
        return bool(a)
    def add(s):
        if s not in seen: seen[s]=len(seen); order.append(s)
    for s in init: add(s)
    gen=len(init); fired=set(); some=set()
    i=0; edges=[]
    while i<len(order) and i<maxn:
        s=order[i]; i+=1
        for me,cs in ms[Role.ALWAYS]:
            for c in cs:
                if not truth(getattr(model,me.name)(s,*c)): bad.add(me.name)
        for me,cs in ms[Role.SOMETIMES]:
            for c in cs:
                if truth(getattr(model,me.name)(s,*c)): some.add((me.name,c))
        n=0
        for me,cs in ms[Role.ACTION]:
            for c in cs:
                try: t=getattr(model,me.name)(s,*c)
                except L.Disabled: continue
                except AssertionError: bad.add('claim'); n+=1; continue
                n+=1; gen+=1; fired.add(me.name)
                for pe,ps in ms[Role.EVERY_STEP]:
                    for p in ps:
                        if not truth(getattr(model,pe.name)(s,t,*p)): bad.add(pe.name)
                add(t)
        if n==0 and not any(truth(getattr(model,me.name)(s,*c)) for me,cs in ms[Role.FINAL] for c in cs): bad.add('deadlock')
    unmet=[(me.name,c) for me,cs in ms[Role.SOMETIMES] for c in cs if (me.name,c) not in some]
    dead=[me.name for me,cs in ms[Role.ACTION] if me.name not in fired]
    return dict(bad=sorted(bad), distinct=len(seen), generated=gen, unmet=[str(u) for u in unmet], dead=dead)

def forked(fn, timeout=120):
    r,w=os.pipe(); pid=os.fork()
    if pid==0:
        os.close(r); signal.alarm(timeout)
        out=io.StringIO(); res={}
        dn=os.open('/tmp/adv/stderr.txt',os.O_RDWR|os.O_CREAT|os.O_TRUNC); os.dup2(dn,2); 
        o2=os.open('/tmp/adv/stdout.txt',os.O_RDWR|os.O_CREAT|os.O_TRUNC); os.dup2(o2,1)
        sys.stdout=open(1,'w',closefd=False); sys.stderr=open(2,'w',closefd=False)
        try: res['v']=fn()
        except SystemExit as e: res['exit']=e.code
        except BaseException as e: res['exc']=traceback.format_exc()[-700:]
        sys.stdout.flush(); sys.stderr.flush()
        res['out']=open('/tmp/adv/stdout.txt').read(); res['err']=open('/tmp/adv/stderr.txt').read()[-1500:]
        os.write(w,json.dumps(res,default=str).encode()); os.close(w); os._exit(0)
    os.close(w); data=b''
    while True:
        b=os.read(r,65536)
        if not b: break
        data+=b
    os.close(r); _,st=os.waitpid(pid,0)
    if not data: return {'abort':st}
    return json.loads(data)

def cli(*args):
    def go():
        sys.argv=['streamproof',*args]; 
        r=climain(); raise SystemExit(r)
    return forked(go)

def short(r, js=True):
    if 'abort' in r: return 'ABORT%s'%r['abort'], None
    if 'exc' in r: return 'EXC '+r['exc'].strip().splitlines()[-1][:150], None
    code=r.get('exit')
    if js:
        try:
            d=json.loads(r['out']); st=d['verdict']['status']; 
            br=[f['name'] for f in d.get('findings',[]) if f['verdict']['status']!='EXHAUSTED'] if st!='EXHAUSTED' else []
            c=d.get('counts') or {}
            return st, dict(engine=d.get('engine'),distinct=c.get('distinct'),generated=c.get('generated'),broken=br)
        except Exception as e:
            t=(r['err'] or r['out']).strip()
            return ('TRACEBACK ' if 'Traceback' in t else 'REFUSED ')+str(code)+' '+' '.join(t.split())[:230], None
    t=(r['out']+r['err']).strip(); return str(code)+' '+' '.join(t.split())[-200:], None

def case(path, prove=True, engines=('reference','native','nosym'), extra=(), target=None, verbose=False):
    o=forked(lambda: oracle(path, target.split(':')[1] if target and ':' in target else None))
    o=o.get('v') or {'exc':o.get('exc','?')[-300:]}
    res={}
    for e in engines:
        a=['check',target or path,'--json',*extra]
        if e=='nosym': a+=['--engine','native','--no-symmetry']
        elif e!='auto': a+=['--engine',e]
        res[e]=short(cli(*a))
    if prove: res['prove']=short(cli('prove',target or path,'--json'))
    flags=[]
    okbad=bool(o.get('bad')) 
    for e,(st,d) in res.items():
        if st=='EXHAUSTED' and (okbad or o.get('unmet') or o.get('dead') or 'exc' in o): flags.append('FALSEGREEN:'+e)
        if st=='PROVED' and (okbad and set(o['bad'])-{'deadlock','NONBOOL'} or 'exc' in o): flags.append('FALSEGREEN:'+e)
        if st=='REFUTED' and not okbad and e!='prove' : flags.append('REFUTED?:'+e)
        if st=='EXHAUSTED' and d['distinct']!=o.get('distinct'): flags.append(f'COUNT:{e}')
        if st=='EXHAUSTED' and d['generated']!=o.get('generated'): flags.append(f'GEN:{e}')
        if st.startswith(('ABORT','TRACEBACK','EXC')): flags.append('CRASH:'+e)
    sts={v[0].split()[0] for k,v in res.items() if k!='prove' and not v[0].startswith('REFUSED')}
    if len(sts)>1: flags.append('DIFFER')
    return o,res,flags

if __name__=='__main__':
    for p in sys.argv[1:]:
        t=None
        if ':' in p: t=os.path.abspath(p); p=p.split(':')[0]
        t0=time.time()
        o,res,flags=case(os.path.abspath(p),target=t)
        print('==',p,'!!! '+' '.join(flags) if flags else 'ok','%.1fs'%(time.time()-t0)); print('   oracle',o)
        for k,v in res.items(): print('   ',k,v)
        sys.stdout.flush()
