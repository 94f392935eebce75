"""Code that looks at the text of a symbolic value, or at the world around a trace."""

# ruff: noqa: UP031, UP032, T201

from __future__ import annotations

import inspect
import os
import pickle
import random
import sys
import threading
import time
from contextlib import suppress
from dataclasses import asdict, replace

from streamproof.lang import require

# --------------------------------------------------------------------------- text


def text(model, s, p):
    return replace(s, flag=str(s.n) == "1500")


def length_of_text(model, s, p):
    return replace(s, n=len(str(s.n)))


def f_string(model, s, p):
    return replace(s, flag=f"{s.n}" == "1500")


def formatted(model, s, p):
    return replace(s, flag="{}".format(s.n) == "1500")


def percent(model, s, p):
    return replace(s, flag="%d" % s.n == "1500")


def digits(model, s, p):
    return replace(s, flag=s.n in [int(d) for d in f"{s.n:d}"])


def text_of_a_record(model, s, p):
    return replace(s, flag="1500" in repr(s))


def text_of_a_map(model, s, p):
    return replace(s, flag="1500" in f"{s.m}")


def text_of_a_domain(model, s, p):
    return replace(s, flag=repr(model.ps) == "Domain(P, 3)")


def text_of_a_caught_claim(model, s, p):
    try:
        assert s.n < 5, f"it is {s.n}"
    except AssertionError as broken:
        return replace(s, flag="1500" in str(broken))
    return s


def text_of_a_caught_guard(model, s, p):
    with suppress(Exception):
        require(s.n < 5, f"it is {s.n}")
        return s
    return replace(s, n=0)


def text_from_a_helper(model, s, p):
    def why():
        return f"{s.n}"

    return replace(s, flag=why() == "1500")


def text_printed(model, s, p):
    print(s.n)
    return s


# --------------------------------------------------------------------------- the world around


def chance(model, s, p):
    return replace(s, n=random.randrange(5))


def clock(model, s, p):
    return replace(s, n=int(time.time()))


def environment(model, s, p):
    return replace(s, flag="HOME" in os.environ)


def frames(model, s, p):
    return replace(s, n=len(inspect.stack()))


def caller(model, s, p):
    return replace(s, flag="lang" in sys._getframe(1).f_code.co_filename)


def local_names(model, s, p):
    return replace(s, n=len(locals()))


def profiler(model, s, p):
    return replace(s, flag=sys.getprofile() is None)


def thread(model, s, p):
    return replace(s, n=threading.get_ident())


def import_inside(model, s, p):
    import random as chances

    return replace(s, n=chances.randrange(5))


def evaluated(model, s, p):
    return replace(s, flag=eval("type(s.n) == int"))


def dictionary_of_a_record(model, s, p):
    return replace(s, n=len(s.__dict__))


def state_changed_in_place(model, s, p):
    object.__setattr__(s, "n", 7)
    return s


def as_plain_data(model, s, p):
    return replace(s, flag=pickle.dumps(asdict(s)) == b"")
