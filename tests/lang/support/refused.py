"""Actions that cannot be traced, one for each refusal, with what the message must say.

The line that must be named is marked by a comment.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from streamproof.lang import Domain, Element, Map, Model, action, exists, forall, init, require
from streamproof.lang.fork import PATHS_MAX


class P(Element):
    pass


class Color(Enum):
    RED = 1
    GREEN = 2


@dataclass(frozen=True)
class Small:
    wanted: bool


@dataclass(frozen=True)
class Big:
    wanted: bool


@dataclass(frozen=True)
class S:
    n: int
    flag: bool
    color: Color
    owner: P
    m: Map[P, int]
    pair: Map[tuple[P, P], bool]


@dataclass(frozen=True)
class Base(Model[S]):
    ps: Domain[P]
    bound: int

    @init
    def start(self) -> S:
        raise NotImplementedError


def model_with(step: Callable[..., Any]) -> type[Model[S]]:
    """Make a model whose only action is a function of the model, a state and an element."""

    @dataclass(frozen=True)
    class Refused(Base):
        @init
        def start(self, p: P) -> S:
            m, pair = Map.fill(self.ps, 0), Map.fill(self.ps, self.ps, False)
            return S(0, False, Color.RED, p, m, pair)

        @action
        def act(self, s: S, p: P) -> S:
            return step(self, s, p)

    return Refused


def sized_map():
    """Make a map over a domain that has a size."""
    return Map.fill(Domain(P, 2), 0)


def float_product(model, s, p):
    return replace(s, n=s.n * 0.5)  # here


def float_sum(model, s, p):
    return replace(s, n=0.5 + s.n)  # here


def float_conversion(model, s, p):
    return replace(s, n=int(float(s.n)))  # here


def float_comparison(model, s, p):
    require(s.n < 1.5)  # here
    return s


def division(model, s, p):
    return replace(s, n=s.n / 2)  # here


def whole_division(model, s, p):
    return replace(s, n=s.n // 2)  # here


def remainder(model, s, p):
    return replace(s, n=s.n % 2)  # here


def power(model, s, p):
    return replace(s, n=2**s.n)  # here


def iterated_domain(model, s, p):
    return replace(s, n=sum(s.m[q] for q in model.ps))  # here


def numbered_element(model, s, p):
    return replace(s, owner=model.ps.elements[0])  # here


def iterated_map(model, s, p):
    for _ in s.m:  # here
        pass
    return s


def iterated_items(model, s, p):
    return replace(s, n=sum(n for _, n in s.m.items()))  # here


def any_of_map(model, s, p):
    require(any(n > 0 for _, n in s.m.items()))  # here
    return s


def iterated_value(model, s, p):
    return replace(s, n=sum(s.n))  # here


def length_of_domain(model, s, p):
    return replace(s, n=len(model.ps))  # here


def length_of_map(model, s, p):
    return replace(s, n=len(s.m))  # here


def length_of_value(model, s, p):
    return replace(s, n=len(s.n))  # here


def member_of_domain(model, s, p):
    require(p in model.ps)  # here
    return s


def symbolic_range(model, s, p):
    for _ in range(s.n):  # here
        pass
    return s


def dict_key(model, s, p):
    return replace(s, n={p: 1}[p])  # here


def map_as_dict_key(model, s, p):
    return replace(s, n={s.m: 1}[s.m])  # here


def list_index(model, s, p):
    return replace(s, n=[1, 2, 3][s.n])  # here


def set_member(model, s, p):
    require(s.n in {1, 2})  # here
    return s


def plain_list(model, s, p):
    require(forall([1, 2], lambda n: s.n != n))  # here
    return s


def no_domain(model, s, p):
    require(exists(lambda q: s.m[q] > 0))  # here
    return s


def mixed_domains(model, s, p):
    require(exists(model.ps, Domain(P, 2), lambda q, r: s.pair[q, r]))  # here
    return s


def enum_and_int(model, s, p):
    require(s.color == 1)  # here
    return s


def enum_and_int_in_a_match(model, s, p):
    match s.color:
        case 1:  # here
            return s
        case _:
            return replace(s, n=1)


def element_and_int(model, s, p):
    require(s.owner != 0)  # here
    return s


def bool_and_int(model, s, p):
    return replace(s, flag=s.flag & 3)  # here


def wrong_number_of_keys(model, s, p):
    require(s.pair[p])  # here
    return s


def wrong_key(model, s, p):
    require(s.m[1] > 0)  # here
    return s


def mutated_record(model, s, p):
    s.n = 1  # here
    return s


def recursion(model, s, p):
    def down(n):
        return down(n - 1) if n > 0 else n

    return replace(s, n=down(s.n))


def endless_recursion(model, s, p):
    def down(n):
        return down(n + 1)

    return replace(s, n=down(s.n))


def symbolic_while(model, s, p):
    n = s.n
    while n > 0:  # here
        n = n - 1
    return replace(s, n=n)


def many_paths(model, s, p):
    n = 0
    for bit in range(9):
        if s.n * s.n > bit * model.bound:
            n += 1
        elif s.m[p] * bit > model.bound:
            n += 2
    return replace(s, n=n)


def require_in_quantifier(model, s, p):
    def positive(q):
        require(s.m[q] > 0)
        return True

    require(forall(model.ps, positive))  # here
    return s


def require_in_map(model, s, p):
    def less(n):
        require(n > 0)
        return n - 1

    return replace(s, m=s.m.map(less))  # here


def merged_types(model, s, p):
    effects = s.m.map(lambda n: Small(True) if n > 0 else Big(True))  # here
    require(effects[p].wanted)
    return s


def merged_with_none(model, s, p):
    effects = s.m.map(lambda n: Small(True) if n > 0 else None)  # here
    require(effects[p].wanted)
    return s


def merged_lengths(model, s, p):
    effects = s.m.map(lambda n: (Small(True),) if n > 0 else ())  # here
    require(effects[p])
    return s


def claim_in_quantifier(model, s, p):
    def positive(q):
        assert s.m[q] > 0
        return s.flag

    require(forall(model.ps, positive))  # here
    return s


def claim_in_a_map_in_a_quantifier(model, s, p):
    def positive(flag):
        assert flag
        return flag

    require(exists(model.ps, lambda q: s.pair.map(positive)[q, p]))  # here
    return s


def claim_that_always_fails(model, s, p):
    def never(n):
        assert False, "never"  # noqa: B011, PT015 - the point

    return replace(s, m=s.m.map(never))  # here


def error_of_its_own(model, s, p):
    return replace(s, n=s.no_such_field)  # here


REFUSED = {
    float_product: ("float 0.5", "scale to an int"),
    float_sum: ("float 0.5", "scale to an int"),
    float_conversion: ("to a float", "scale to an int"),
    float_comparison: ("float 1.5", "scale to an int"),
    division: ("divides", "scale to an int"),
    whole_division: ("divides", "Compare products instead"),
    remainder: ("divides", "Compare products instead"),
    power: ("power", "Multiply"),
    iterated_domain: ("iterates over the domain P", "exists(ps, lambda ...) instead of any(...)"),
    numbered_element: ("elements of the domain P by their number", "a field of sort P"),
    iterated_map: ("iterates over a symbolic map", "Map.map_items where a map is made"),
    iterated_items: ("iterates over a symbolic map", "A sum of its values is kept in a field"),
    any_of_map: ("iterates over a symbolic map", "exists(m, lambda ...) instead of any(...)"),
    iterated_value: ("iterates over the symbolic value n", "Use forall or Map.map"),
    length_of_domain: ("size of the domain P", "count(ps, yes) > count(ps, no)"),
    length_of_map: ("size of a symbolic map", "count(m, yes) > count(m, no)"),
    length_of_value: ("length of the symbolic value n", "Keep a count"),
    member_of_domain: ("member of P", "Compare elements by =="),
    symbolic_range: ("loop bound", "instead of a loop"),
    dict_key: ("key of a dict", "Use a Map over a Domain"),
    map_as_dict_key: ("key of a dict", "Compare maps by =="),
    list_index: ("used as an index", "Use a Map over a Domain"),
    set_member: ("member of a set", "Use a Map over a Domain"),
    plain_list: ("not over [1, 2]", "Declare a Domain"),
    no_domain: ("name at least one domain", "before the function"),
    mixed_domains: ("some of these domains have a size", "have none"),
    enum_and_int: ("value of sort Color with 1", "Use values of sort Color on both sides"),
    enum_and_int_in_a_match: ("value of sort Color with 1", "Use values of sort Color"),
    element_and_int: ("value of sort P with 0", "Use values of sort P on both sides"),
    bool_and_int: ("value of sort bool with 3", "Use values of sort bool"),
    wrong_number_of_keys: ("over 2 domains at 1 keys", "one key for each domain"),
    wrong_key: ("value of sort P with 1", "Use values of sort P"),
    mutated_record: ("FrozenInstanceError", "dataclasses.replace"),
    symbolic_while: (f"more than {PATHS_MAX} questions on one path", "Loop over a quantifier"),
    require_in_quantifier: ("`require` stands inside", "Write require(forall(...))"),
    require_in_map: ("`require` stands inside", "Write require(forall(...))"),
    merged_types: ("Small(wanted=True) and Big(wanted=True)", "a field that says whether"),
    merged_with_none: ("Small(wanted=True) and None", "a field that says whether"),
    merged_lengths: ("(Small(wanted=True),) and ()", "a field that says whether"),
    claim_in_quantifier: ("a claim stands inside a quantifier", "Write assert forall(...)"),
    claim_in_a_map_in_a_quantifier: ("inside a quantifier", "Write assert forall(...)"),
    claim_that_always_fails: ("every path through a lambda fails", "Correct the assert"),
    error_of_its_own: ("no_such_field", "run without errors on every state"),
}


# Where the function as a whole is to blame, it is named with its first line.


def float_result(model, s, p):
    require(s.flag)
    return replace(s, n=1.5)


def no_result(model, s, p):
    require(s.flag)


def no_map(model, s, p):
    return replace(s, m=0)


def record_for_a_number(model, s, p):
    return replace(s, n=Small(True))


ANYWHERE = {
    float_result: ("float 1.5", "scale to an int"),
    no_result: ("gives None where a S belongs", "Return the whole next state"),
    no_map: ("gives 0 where a Map[P -> int] belongs", "Give a Map"),
    record_for_a_number: ("value of sort int with Small", "Use values of sort int"),
    endless_recursion: ("recursed without end", "use a quantifier or Map.map"),
    many_paths: (f"more than {PATHS_MAX} paths", "Split it into several actions"),
}
