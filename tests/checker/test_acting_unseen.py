"""Code of a user that runs as a file is loaded, and that no call in the file shows.

Python calls methods for operators, properties, `with`, `for` and `del`; libraries call what they
were given or what overrides a method of theirs; a text can name a function; a name can stand for
something else when the file has been loaded. Whatever the way, a clock is found.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from streamproof.lang.impure import ImpureModel
from streamproof.models.kit.verdict import Status
from tests.checker.support.loaded import CLOCK, FILL, MODEL, checked

BY_PYTHON = {  # the head of a method that fills, and the statement that runs it
    "an operator": ("__or__(self, o)", "A | 1"),
    "an operator in a binding": ("__or__(self, o)", "X = A | 1"),
    "a sign": ("__neg__(self)", "X = -A"),
    "an attribute that is not there": ("__getattr__(self, n)", "X = A.p"),
    "an item": ("__getitem__(self, n)", "X = A[1]"),
    "an item of a class": ("__class_getitem__(cls, n)", "X = O[1]"),
    "the length": ("__len__(self)", "try:\n    len(A)\nexcept TypeError: ..."),
    "a context": ("__enter__(self)", "O.__exit__ = lambda *_: None\nwith A: ..."),
    "a truth": ("__bool__(self)", "try:\n    X = not A\nexcept TypeError: ..."),
    "a condition": ("__bool__(self)", "try:\n    if A: ...\nexcept TypeError: ..."),
    "an equality": ("__eq__(self, o)", "X = A == 1"),
    "a membership": ("__contains__(self, o)", "X = 1 in A"),
    "a text": ("__format__(self, o)", "try:\n    X = f'{A}'\nexcept TypeError: ..."),
    "a key": ("__hash__(self)", "try:\n    X = {A: 1}\nexcept TypeError: ..."),
    "a loop": ("__iter__(self)", "try:\n    for x in A: ...\nexcept TypeError: ..."),
    "an unpacking": ("__iter__(self)", "try:\n    (x,) = A\nexcept TypeError: ..."),
    "a subclass": ("__init_subclass__(cls)", "class P(O): ..."),
    "a name in a class": ("__set_name__(self, o, n)", "class P:\n    a = A"),
    "the end of an object": ("__del__(self)", "del A"),
    "an object that is replaced": ("__del__(self)", "A = None"),
    "a descriptor": ("__get__(self, o, t)", "class P:\n    d = O()\nX = P.d"),
    "the making of an object": ("__new__(cls)", "X = O()"),
    "an object that is called": ("__call__(self, *_)", "X = list(map(A, [1]))"),
    "an object that decorates": ("__call__(self, f)", "@A\ndef f(): ..."),
    "a method that is taken first": ("go(self)", "g = A.go\ng()\ndel A, g"),
    "a method of a text": ("go(self)", "getattr(A, ''.join(['g', 'o']))()"),
    "a method of an operator": (
        "go(self)",
        "from operator import methodcaller as m\nX = list(map(m(''.join(['g', 'o'])), [A]))",
    ),
    "an object that is gone": ("__or__(self, o)", "X = A | 1\ndel A, O"),
    "a key of a sorting": ("go(self)", "X = sorted([A], key=O.go)"),
    "a copy": ("__deepcopy__(self, m)", "import copy\nX = copy.deepcopy(A)"),
}
OF_PROPERTIES = {
    "a property": "X = A.p",
    "a property in a comprehension": "X = [a.p for a in [A]]",
    "a property in a loop": "for a in [A]:\n    a.p",
    "a property in a condition": "if (a := O()).p: ...",
    "a property in a pattern": "match A:\n    case O(p=1): ...",
    "a property in a place of a pattern": "O.__match_args__ = ('p',)\nmatch A:\n    case O(1): ...",
    "a property in a template": "X = '{0.p}'.format(A)",
    "a property by a text": "import operator\nX = operator.attrgetter(''.join(['', 'p']))(A)",
}
BY_LIBRARIES = {
    "a metaclass": "class Meta(type):\n    def __new__(cls, *a):\n        fill()\n"
    "        return super().__new__(cls, *a)\nclass P(metaclass=Meta): ...",
    "the space of a class": "class Meta(type):\n    @classmethod\n    def __prepare__(cls, *a):\n"
    "        fill()\n        return {}\nclass P(metaclass=Meta): ...",
    "a kind of instance": "class Meta(type):\n    def __instancecheck__(cls, o):\n        fill()\n"
    "class P(metaclass=Meta): ...\nX = isinstance(1, P)",
    "a member of an enum": "from enum import Enum\nclass E(Enum):\n    A = 1\n"
    "    def __init__(self, v):\n        fill()",
    "a number of an enum": "from enum import Enum, auto\nclass E(Enum):\n"
    "    def _generate_next_value_(n, *a):\n        fill()\n        return 1\n    A = auto()",
    "a member that is missing": "from enum import Enum\nclass E(Enum):\n    A = 1\n"
    "    @classmethod\n    def _missing_(cls, v):\n        fill()\n        return cls.A\nX = E(5)",
    "a key that is missing": "class D(dict):\n    def __missing__(self, k):\n        fill()\n"
    "A = D()\nX = A[1]",
    "a thread": "import threading\nclass T(threading.Thread):\n    def run(self):\n        fill()\n"
    "t = T()\nt.start()\nt.join()",
    "a visitor": "import ast\nclass V(ast.NodeVisitor):\n    def visit_Module(self, n):\n"
    "        fill()\nV().visit(ast.parse(''))",
    "a table of functions": "T = [fill]\nX = list(map(T[0], [1]))",
    "arguments in a list": "f = [fill, [1]]\nX = list(map(*f))",
    "arguments by name": "f = {'key': fill}\nX = sorted([1], **f)",
    "a lambda that is replaced": "def other(): ...\nT = [lambda *_: fill()]\n"
    "X = list(map(T[0], [1]))\nT[0] = other",
    "a lambda that is given": "X = list(map(lambda _: fill(), [1]))",
    "a lambda that is given in a list": "X = list(map(*[lambda _: fill(), [1]]))",
    "a lambda that is given by name": "X = sorted([1], key=lambda _: fill())",
    "a partial call": "from functools import partial\ng = partial(fill)\nX = sorted([1], key=g)",
    "a call that decorates": "import operator\n@operator.call\ndef f():\n    fill()",
    "a decorator in a table": "T = [lambda f: f()]\n@T[0]\ndef f():\n    fill()",
    "an abstract class": "import abc\nclass P(abc.ABC):\n    @classmethod\n"
    "    def __subclasshook__(cls, o):\n        fill()\n        return True\nX = isinstance(1, P)",
    "a warning": "import warnings\nwarnings.showwarning = fill",
}
BY_TEXT = {
    "a global": "globals()[''.join(['fi', 'll'])]()",
    "a name of the file": "vars()[''.join(['fi', 'll'])]()",
    "a global in a function": "def g():\n    return globals()[''.join(['fi', 'll'])]\ng()()",
    "a function of a module": "import sys\nm = sys.modules[__name__]\n"
    "getattr(m, ''.join(['fi', 'll']))()",
}
BY_OTHER_NAMES = {
    "a function that is deleted": "def f():\n    fill()\nf()\ndel f",
    "a function that is replaced": "def f():\n    fill()\nf()\nf = 1",
    "a function that is defined again": "def f():\n    fill()\nf()\ndef f(): ...",
    "a function that deletes itself": "def f():\n    fill()\ndef g():\n    global f\n    f()\n"
    "    del f\ng()",
    "a function of a class": "class P:\n    def f():\n        fill()\n    f()",
    "another name in a class": "class P:\n    f = fill\n    f()",
    "a default value in a class": "class P:\n    def f():\n        fill()\n    def g(x=f()): ...",
    "a default value by name in a class": "class P:\n    def f():\n        fill()\n"
    "    def g(*, x=f()): ...",
    "a decorator of a class": "class P:\n    def f(g):\n        fill()\n    @f\n    def h(): ...",
    "a class that is deleted": "class O:\n    def go(self):\n        fill()\nO().go()\ndel O",
    "an operator that is set": "class B: ...\nB.__or__ = lambda a, b: fill()\nX = B() | 1",
}
CLOCKS = {
    "imported by name": "from time import time\nLIMIT = [int(time()) // 10**9 + 8]",
    "a date": "import datetime as d\nLIMIT = [d.date.today().year // 1000 + 7]",
    "a moment": "from datetime import datetime\nLIMIT = [datetime.now().year // 1000 + 7]",
    "a moment of a subclass": "import datetime as d\nclass D(d.datetime): ...\n"
    "LIMIT = [D.now().year // 1000 + 7]",
    "numpy's": "import numpy as np\nLIMIT = [9 + min(0, np.datetime64('now').astype(int))]",
    "of timeit": "import timeit\nLIMIT = [9 + min(0, timeit.default_timer())]",
    "of a record": "import logging\nLIMIT = [9 + min(0, logging.makeLogRecord({}).created)]",
    "of a module by its text": "import importlib\n"
    "LIMIT = [int(importlib.import_module('time').time()) // 10**9 + 8]",
    "of a module by a hidden text": "import importlib\n"
    "LIMIT = [int(importlib.import_module(''.join(['ti', 'me'])).time()) // 10**9 + 8]",
    "by __import__": "LIMIT = [int(__import__(''.join(['ti', 'me'])).time()) // 10**9 + 8]",
    "of loaded modules": "import sys\nLIMIT = [int(sys.modules['ti' + 'me'].time()) // 10**9 + 8]",
    "in a text that is run": f"{CLOCK}LIMIT = []\nexec('LIMIT.append(clock())')",
}
WAYS = {
    **{
        name: f"{FILL}class O:\n    def {head}:\n        fill()\nA = O()\n{after}"
        for name, (head, after) in BY_PYTHON.items()
    },
    **{
        name: f"{FILL}class O:\n    @property\n    def p(self):\n        fill()\nA = O()\n{after}"
        for name, after in OF_PROPERTIES.items()
    },
    **{name: FILL + text for name, text in {**BY_LIBRARIES, **BY_OTHER_NAMES}.items()},
    **{f"{name} by a text": FILL + text for name, text in BY_TEXT.items()},
    **{f"a clock {name}": text for name, text in CLOCKS.items()},
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_a_clock_that_no_call_shows_is_refused(tmp_path: Path, way: str) -> None:
    with pytest.raises(ImpureModel, match="the model is made of it"):
        checked(tmp_path, f"{way}\n")


CLASS = "class P:\n    def clock(self):\n        return clock()\n"
PROPERTY = "class P:\n    @property\n    def p(self):\n        return clock()\n"
SUBCLASS = CLASS.replace("class P:", "class P(O):")
ASKED = {  # what a method of the model asks, and what stands ahead of it
    "a function of a module": (
        "getattr(NB, 'clock')()",
        "import sys\nNB = sys.modules[__name__]\n",
    ),
    "a function by a hidden text": (
        "getattr(NB, ''.join(['clo', 'ck']))()",
        "import sys\nNB = sys.modules[__name__]\n",
    ),
    "a method by a hidden text": ("getattr(P(), ''.join(['clo', 'ck']))()", CLASS),
    "a property of a template": (
        "int('{0.p}'.format(P()))",
        "class P:\n    @property\n    def p(self):\n        return clock()\n",
    ),
    "a property of a kept template": (
        "int(TEMPLATE.format(P()))",
        "class P:\n    @property\n    def p(self):\n        return clock()\nTEMPLATE = '{0.p}'\n",
    ),
    "a global of a function": (
        "other.__globals__[''.join(['clo', 'ck'])]()",
        "def other(): ...\n",
    ),
    "a subclass": ("[c for c in O.__subclasses__()][0]().clock()", f"class O: ...\n{SUBCLASS}"),
    "a method by its class": ("vars(P)['clock'](P())", CLASS),
    "a method of an operator": (
        "caller(''.join(['clo', 'ck']))(P())",
        f"from operator import methodcaller as caller\n{CLASS}",
    ),
    "a method of a library's class": (
        "P().visit(T)",
        (
            "import ast\nclass P(ast.NodeVisitor):\n    def visit_Module(self, n):\n"
            "        return clock()\nT = ast.parse('')\n"
        ),
    ),
    "a pattern": (
        "matched()",
        (
            f"{PROPERTY}def matched():\n"
            "    match P():\n        case P(p=9): return 9\n        case _: return 0\n"
        ),
    ),
    "a place of a pattern": (
        "matched()",
        (
            f"{PROPERTY}    __match_args__ = ('p',)\ndef matched():\n    match P():\n"
            "        case P(9): return 9\n        case _: return 0\n"
        ),
    ),
}


@pytest.mark.parametrize(("asked", "ahead"), ASKED.values(), ids=ASKED)
def test_a_clock_that_a_method_finds_by_a_text_is_refused(
    tmp_path: Path, asked: str, ahead: str
) -> None:
    text = f"{CLOCK}{ahead}" + MODEL.replace("LIMIT[0]", asked)
    with pytest.raises(ImpureModel, match="uses time|reads __globals__"):
        checked(tmp_path, "", text)


BY_IMPORTS = {  # how the limit of a neighbour, which is of a clock, comes into the file
    "in a function": "def get():\n    from NB import LIMIT\n    return LIMIT\nLIMIT = get()\n",
    "a module in a function": "def get():\n    import NB\n    return NB.LIMIT\nLIMIT = get()\n",
    "in a class": "class P:\n    from NB import LIMIT\nLIMIT = P.LIMIT\n",
    "in a guard": "try:\n    from NB import LIMIT\nexcept ImportError: ...\n",
    "under a name that is gone": (
        "from NB import clock as f\nLIMIT = []\nx = [LIMIT]\nx[0].append(f())\nf = 1\n"
    ),
    "by a text": "import importlib\nLIMIT = importlib.import_module('NB').LIMIT\n",
    "by a text and another name": (
        "from importlib import import_module as load\nLIMIT = load('NB').LIMIT\n"
    ),
    "by a name in it": "import pkgutil\nLIMIT = pkgutil.resolve_name('NB:LIMIT')\n",
}


@pytest.mark.parametrize("way", BY_IMPORTS.values(), ids=BY_IMPORTS)
def test_a_clock_of_a_neighbour_is_refused_wherever_it_is_imported(
    tmp_path: Path, way: str, request: pytest.FixtureRequest
) -> None:
    name = f"unseen_{request.node.callspec.id.replace(' ', '_')}"
    (tmp_path / f"{name}.py").write_text(f"{CLOCK}LIMIT = [clock()]\n", encoding="utf-8")
    with pytest.raises(ImpureModel, match="the model is made of it"):
        checked(tmp_path, way.replace("NB", name))


def test_a_clock_behind_a_name_that_a_neighbour_makes_up_is_refused(tmp_path: Path) -> None:
    made_up = f"{CLOCK}def __getattr__(name):\n    if name != 'LIMIT':\n"
    made_up += "        raise AttributeError(name)\n    return [clock()]\n"
    (tmp_path / "unseen_made_up.py").write_text(made_up, encoding="utf-8")
    with pytest.raises(ImpureModel, match="the model is made of it"):
        checked(tmp_path, "import unseen_made_up\nLIMIT = unseen_made_up.LIMIT\n")


IN_METHODS = {
    "a clock": "import time; return s.n < int(time.time()) // 10**9 + 8",
    "a clock by its name": "from time import time; return s.n < int(time()) // 10**9 + 8",
    "a clock by another name": "import time as t; return s.n < int(t.time()) // 10**9 + 8",
    "a moment": "from datetime import datetime; return s.n < datetime.now().year // 1000 + 7",
    "a neighbour": "import NB; return s.n < NB.clock()",
    "a function of a neighbour": "from NB import clock; return s.n < clock()",
    "a module of a package": "import NB.clocks; return s.n < NB.clocks.clock()",
    "a module by another name": "import NB.clocks as x; return s.n < x.clock()",
    "a module from a package": "from NB import clocks; return s.n < clocks.clock()",
    "a clock by a text": "import importlib; return s.n < importlib.import_module('time').time()",
    "a clock by a hidden text": (
        "import importlib; return s.n < importlib.import_module(''.join(['ti', 'me'])).time()"
    ),
}


@pytest.mark.parametrize("way", IN_METHODS.values(), ids=IN_METHODS)
def test_a_clock_that_a_method_imports_is_refused(
    tmp_path: Path, way: str, request: pytest.FixtureRequest
) -> None:
    name = f"unseen_in_a_method_{request.node.callspec.id.replace(' ', '_')}"
    (tmp_path / name).mkdir()
    for file in ("__init__.py", "clocks.py"):
        (tmp_path / name / file).write_text(CLOCK, encoding="utf-8")
    model = MODEL.replace("return s.n < LIMIT[0]", way.replace("NB", name))
    with pytest.raises(ImpureModel, match="when it is asked again"):
        checked(tmp_path, "", model)


def test_a_pure_module_that_a_method_imports_is_not_refused(tmp_path: Path) -> None:
    way = "import math; return s.n < math.floor(9.5)"
    assert checked(tmp_path, "", MODEL.replace("return s.n < LIMIT[0]", way)) is Status.EXHAUSTED
