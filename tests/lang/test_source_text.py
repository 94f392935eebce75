"""What of a source counts, whatever the version of Python."""

from __future__ import annotations

import ast

import pytest

from streamproof.lang.source_text import reads_docstrings, source_digest

EVERYTHING = '''"""Doc."""
from __future__ import annotations
import a.b as c, d
from .e import *
X: int = 1_000; Y = (1, 1.0, True, None, ..., 1j, b"x", "é\\u1e9e", -0.0)
@c
class A(B, metaclass=M): ...
async def f(a, /, b: int = 1, *args, c, d=2, **kw) -> int:
    """Doc."""
    global G
    async with a as b, c: await d
    async for x in y: break
    else: pass
    return [x async for x in y if x] + {**a, b: c} | {*a} - {k: v for k, v in z}
def g():
    try: yield (yield from x)
    except* (A, B) as e: raise E from e
    else: del a[1:2, ::3], b.c
    finally: assert not a, f"{a!r:>{w}} and {b=}"
    match a:
        case [1, *_, x] | {"k": None, **r} if x: nonlocal_ = 1
        case A(b=True) as c: pass
        case _: z = lambda *, a=1: (b := a if a else ~a)
    while a < b <= c is not d: a += 1; continue
'''
EVERYTHING_DIGEST = "26cf118c59e836d003c43786f1c44efa21f49492c6a83a026ed65be8f934d0f3"


def digest(text, *, docstrings=False):
    return source_digest(ast.parse(text), docstrings=docstrings)


def test_the_digest_is_the_same_in_every_version_of_python():
    """The number was taken under 3.11, 3.12 and 3.13."""
    assert digest(EVERYTHING) == EVERYTHING_DIGEST


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a = 1  # why", "a = 1"),
        ("a = 1\n\n\nb = 2", "a = 1; b = 2"),
        ("f(a,\n  b)", "f(a, b)"),
        ("a = 'x'", 'a = "x"'),
        ("a = 0x10", "a = 16"),
        ('def f():\n  """D."""\n  return 1', "def f():\n  return 1"),
        ('class A:\n  """D."""\n  a: int\n  """The a."""', "class A:\n  a: int"),
        ('__version__ = "1"', '__version__ = "2"'),
    ],
)
def test_layout_and_docstrings_do_not_count(one, other):
    assert digest(one) == digest(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a = 1", "a = 2"),
        ("a = 1", "a = True"),
        ("a = 1", "a = 1.0"),
        ("a = 0.0", "a = -0.0"),
        ("a = None", "a = ..."),
        ("a = 'None'", "a = None"),
        ("a = 'x'", "a = b'x'"),
        ("a = ['x']", "a = ['x', 'y']"),
        ("a = 'x'", "'x'"),
        ("f(a)", "f(*a)"),
        ("f(a=1)", "f(b=1)"),
        ("{a: b}", "{**b}"),
        ("def f(a, b=1): pass", "def f(a, *, b=1): pass"),
        ("def f(*, a, b=1): pass", "def f(*, a=1, b): pass"),
        ("def f(a, /): pass", "def f(a): pass"),
        ("a < b < c", "a < b and b < c"),
        ("if a: b\nc", "if a:\n  b\n  c"),
        ("match a:\n case None: b", "match a:\n case True: b"),
        ("match a:\n case _: b", "match a:\n case x: b"),
        ("a[1:]", "a[:1]"),
        ("a[b:]", "a[::b]"),
        ("f'{a}'", "f'{a!r}'"),
        ("f'{a!s}'", "f'{a!r}'"),
        ("import a", "import a as b"),
        ("from . import a", "from .. import a"),
        ("@f\ndef g(): pass", "def g(): pass"),
        ("try: a\nfinally: b", "try: a\nexcept: b"),
        ("try: a\nexcept E: b", "try: a\nexcept* E: b"),
        ("__version__ = '1'", "__version__ = f()"),
        ("version = '1'", "version = '2'"),
    ],
)
def test_what_does_something_counts(one, other):
    assert digest(one) != digest(other)


def test_docstrings_count_where_some_code_may_read_them():
    one, other = 'def f():\n  """D."""', 'def f():\n  """E."""'
    assert digest(one) == digest(other)
    assert digest(one, docstrings=True) != digest(other, docstrings=True)
    assert reads_docstrings(b"print(f.__doc__)")
    assert reads_docstrings(b"inspect.getdoc(f)")
    assert not reads_docstrings(b'"""A docstring."""')


def test_a_number_of_any_length_can_be_hashed():
    assert digest(f"a = 0x{'f' * 9000}") != digest(f"a = 0x{'f' * 9001}")
