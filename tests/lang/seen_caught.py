"""Code that catches a refusal, or keeps something from one path to the next."""

# ruff: noqa: BLE001, E722, B012, SIM107, PLW0603, B006

from __future__ import annotations

import itertools
from contextlib import suppress
from dataclasses import replace

from streamproof.lang import exists, forall, require
from tests.lang.support.refused import sized_map

LOG: list[int] = []
NUMBERS = itertools.count()
SEEN_BEFORE: dict[str, int] = {}
PLAIN_MAP = sized_map()


class Kept:
    count = 0
    log: list[int] = []


class Catching:
    """A context manager that catches everything."""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return True


# --------------------------------------------------------------------------- swallowed refusals


def swallowed_by_exception(model, s, p):
    try:
        odd = s.n % 800 == 799
    except Exception:
        odd = False
    return replace(s, flag=odd)


def swallowed_by_type_error(model, s, p):
    try:
        return replace(s, n=s.n // 2)
    except TypeError:
        return replace(s, n=7)


def swallowed_bare(model, s, p):
    try:
        return replace(s, n=s.n // 2)
    except:
        return replace(s, n=7)


def swallowed_by_base_exception(model, s, p):
    try:
        return replace(s, n=len(model.ps))
    except BaseException:
        return replace(s, n=7)


def swallowed_by_finally(model, s, p):
    try:
        return replace(s, n=s.n // 2)
    finally:
        return replace(s, n=7)


def swallowed_by_suppress(model, s, p):
    with suppress(Exception):
        return replace(s, n=s.n // 2)
    return replace(s, n=7)


def swallowed_by_exit(model, s, p):
    with Catching():
        return replace(s, n=s.n // 2)
    return replace(s, n=7)


def swallowed_in_a_lambda(model, s, p):
    def halved(n):
        try:
            return n // 2
        except Exception:
            return 7

    return replace(s, m=s.m.map(halved))


def swallowed_around_a_lambda(model, s, p):
    try:
        return replace(s, m=s.m.map(lambda n: n // 2))
    except Exception:
        return s


def swallowed_as_disabled(model, s, p):
    try:
        half = s.n // 2
    except Exception:
        require(False)
    return replace(s, n=half)


def swallowed_as_a_claim(model, s, p):
    try:
        half = s.n // 2
    except Exception as error:
        raise AssertionError from error
    return replace(s, n=half)


def swallowed_in_a_generator(model, s, p):
    def halves():
        try:
            yield s.n // 2
        except Exception:
            yield 7

    return replace(s, n=next(halves()))


def swallowed_with_a_default(model, s, p):
    return replace(s, n=next((q for q in model.ps), 7) and 7)


def swallowed_require_in_a_lambda(model, s, p):
    def positive(n):
        require(n > 0)
        return n

    try:
        return replace(s, m=s.m.map(positive))
    except Exception:
        return replace(s, n=7)


def swallowed_claim_in_a_lambda(model, s, p):
    def positive(n):
        assert n > 0
        return n

    try:
        return replace(s, m=s.m.map(positive))
    except AssertionError:
        return replace(s, n=7)


def swallowed_error_in_a_lambda(model, s, p):
    def positive(n):
        if n < 0:
            raise ValueError
        return n

    try:
        return replace(s, m=s.m.map(positive))
    except ValueError:
        return replace(s, n=7)


def swallowed_question_limit(model, s, p):
    n = s.n
    try:
        while n > 0:
            n = n - 1
    except Exception:
        n = 0
    return replace(s, n=n)


def swallowed_mixture(model, s, p):
    try:
        return replace(s, flag=exists(model.ps, PLAIN_MAP, lambda q, r: s.pair[q, r]))
    except Exception:
        return s


# --------------------------------------------------------------------------- kept between paths


def global_counter(model, s, p):
    global CALLS
    CALLS += 1
    return replace(s, n=CALLS)


CALLS = 0


def global_list(model, s, p):
    LOG.append(1)
    return replace(s, n=len(LOG))


def global_dict(model, s, p):
    return replace(s, n=SEEN_BEFORE.setdefault("n", len(SEEN_BEFORE)))


def global_iterator(model, s, p):
    return replace(s, n=next(NUMBERS))


def class_counter(model, s, p):
    Kept.count += 1
    return replace(s, n=Kept.count)


def class_list(model, s, p):
    Kept.log.append(1)
    return replace(s, n=len(Kept.log))


def function_attribute(model, s, p):
    function_attribute.calls = getattr(function_attribute, "calls", 0) + 1
    return replace(s, n=function_attribute.calls)


def default_list(model, s, p, seen=[]):
    seen.append(1)
    return replace(s, n=len(seen))


def counting_class():
    calls = []

    class Counting:
        def count(self):
            calls.append(1)
            return len(calls)

        @property
        def counted(self):
            return self.count()

    return Counting


MADE = counting_class()()


def list_around_a_method(model, s, p):
    return replace(s, n=MADE.count())


def list_around_a_property(model, s, p):
    return replace(s, n=MADE.counted)


def list_outside_of_a_lambda(model, s, p):
    seen = []
    m = s.m.map(lambda n: seen.append(n) or n)
    return replace(s, m=m, n=len(seen))


def append_outside_of_a_lambda(model, s, p):
    seen = []
    append = seen.append
    require(forall(model.ps, lambda q: append(q) is None))
    return replace(s, n=len(seen))


def counter_outside_of_a_lambda(model, s, p):
    n = 0

    def counted(value):
        nonlocal n
        n += 1
        return value

    return replace(s, m=s.m.map(counted), n=n)


def iterator_outside_of_a_lambda(model, s, p):
    numbers_of_keys = iter(range(100))
    return replace(s, m=s.m.map(lambda n: next(numbers_of_keys)))


def dict_outside_of_a_lambda(model, s, p):
    found = {}
    flag = exists(model.ps, lambda q: found.update(last=s.m[q]) or True)
    return replace(s, flag=flag, n=found.get("last", 0))


# --------------------------------------------------------------------------- never ending


def tries_for_ever(model, s, p):
    while True:
        try:
            return replace(s, n=s.n // 2)
        except Exception:
            continue


def tries_a_lambda_for_ever(model, s, p):
    while True:
        try:
            return replace(s, m=s.m.map(lambda n: n // 2))
        except Exception:
            continue


def counts_up_to_the_same_object(model, s, p):
    n = 0
    while n is not s.n:
        n += 1
    return replace(s, n=n)


# --------------------------------------------------------------------------- kept in maps


def list_in_a_map(model, s, p):
    return replace(s, n=s.m.map(lambda n: [n])[p][0])


def function_in_a_map(model, s, p):
    return replace(s, n=s.m.map(lambda n: lambda: n)[p]())


def generator_in_a_map(model, s, p):
    return replace(s, n=next(s.m.map(lambda n: (k for k in (n,)))[p]))
