from mini import write
import sys,os,random,itertools
from run import forked,cli,short
def gen(seed):
    r=random.Random(seed); k=r.choice([3,4,5]); na=r.choice([2,3,4])
    acts=[(r.choice(['NONE','WEAK','WEAK','STRONG','STRONG']),{n:r.randrange(k) for n in range(k) if r.random()<0.55}) for _ in range(na)]
    # params: one action by w
    inits=sorted(r.sample(range(k),r.choice([1,1,2])))
    P=sorted(r.sample(range(k),r.choice([1,2]))); Q=sorted(r.sample(range(k),r.choice([1,2])))
    Ev=sorted(r.sample(range(k),r.choice([1,2])))
    return k,acts,inits,P,Q,Ev
def text(k,acts,inits,P,Q,Ev,kind):
    body=''
    for i,(f,t) in enumerate(acts):
        body+=f'    @action(fairness=Fairness.{f})\n    def a{i}(self, s: S) -> S:\n'
        for n,m in t.items(): body+=f'        if s.n == {n}: return S({m})\n'
        body+='        require(False)\n        return s\n'
    ini=''.join(f'    @init\n    def i{j}(self) -> S: return S({n})\n' for j,n in enumerate(inits))
    prop=f'    @leads_to\n    def lt(self, s: S): return s.n in {tuple(P)}, s.n in {tuple(Q)}\n' if kind=='lt' else f'    @eventually\n    def ev(self, s: S): return s.n in {tuple(Ev)}\n'
    return f'''
@dataclass(frozen=True)
class S:
    n: Annotated[int, Range(0, {k-1})]
@dataclass(frozen=True)
class M(Model[S]):
    sizes = {{"default": {{}}}}
{ini}{body}    @final
    def z(self, s: S) -> bool: return True
    def ruled_out(self): return {tuple(f'a{i}' for i,(f,t) in enumerate(acts) if not (set(t)&reach(k,acts,inits)))!r}
{prop}
MODEL = M
'''
def reach(k,acts,inits):
    seen=set(inits); st=list(inits)
    while st:
        n=st.pop()
        for f,t in acts:
            if n in t and t[n] not in seen: seen.add(t[n]); st.append(t[n])
    return seen
def verdict(k,acts,inits,P,Q,Ev,kind):
    R=reach(k,acts,inits)
    if kind=='lt':
        starts={n for n in R if n in P}; region={n for n in R if n not in Q}; vac=not starts
    else: starts=set(inits); region={n for n in R if n not in Ev}; vac=False
    if vac: return 'UNDETERMINED'
    def succ(X,n): return {t[n] for f,t in acts if n in t and t[n]!=n and t[n] in X}
    def closure(X,S0):
        seen=set(S0)&set(X); st=list(seen)
        while st:
            n=st.pop()
            for m in succ(X,n):
                if m not in seen: seen.add(m); st.append(m)
        return seen
    way=closure(region,starts)
    for sz in range(1,len(way)+1):
        for X in itertools.combinations(sorted(way),sz):
            X=set(X)
            if not all(closure(X,[n])==X for n in X): continue
            ok=True
            for f,t in acts:
                if f=='NONE': continue
                en={n for n in X if n in t and t[n]!=n}
                taken=any(t[n] in X for n in en)
                if taken: continue
                if f=='WEAK' and en==X: ok=False
                if f=='STRONG' and en: ok=False
            if ok: return 'REFUTED'
    return 'EXHAUSTED'
if __name__=='__main__':
    bad=0; tally={}
    for seed in range(int(sys.argv[1]),int(sys.argv[2])):
        g=gen(seed)
        for kind in ('lt','ev'):
            want=verdict(*g,kind); p=f'm8/l{seed}{kind}.py'; write(p,text(*g,kind))
            got=[short(cli('check',p,'--json','--engine',e))[0] for e in (('reference','native') if seed%4==0 else ('reference',))]
            tally[want]=tally.get(want,0)+1
            if any(x.split()[0]!=want for x in got): print('!!!',p,want,got); bad+=1
    print('bad',bad,tally)
