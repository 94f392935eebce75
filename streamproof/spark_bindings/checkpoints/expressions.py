"""How an expression of a plan is written: by the columns of the sources, alike in every session.

What Spark numbers anew in each session, or in each lambda, is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from streamproof.spark_bindings._spark import elements

_NUMBER = re.compile(r"#\d+L?|-T\d+ms")  # of a column, and how long its watermark waits
_LAMBDA = re.compile(r"lambda (\w+)#\d+L?")
_KEPT_HASH = "\0"


def number_of(column: Any) -> int:
    """Return the number that Spark gives a column in its session."""
    return int(column.exprId().id())


def text_of(expression: Any, columns: Mapping[int, str]) -> str:
    """Write an expression by the columns of the sources, alike in every session.

    Parameters
    ----------
    expression : Spark's own object
    columns : what its columns are, by the numbers that Spark gives them
    """
    if expression.nodeName() == "Alias":
        expression = expression.child()
    said = str(expression.toString())
    known = {each.toString(): each for each in elements(expression.references().toSeq())}
    for shown in sorted(known, key=len, reverse=True):
        said = _replaced(said, shown, columns.get(number_of(known[shown]), known[shown].name()))
    names = {name: f"_{n}" for n, name in enumerate(dict.fromkeys(_LAMBDA.findall(said)))}
    said = _LAMBDA.sub(lambda found: f"lambda {names[found[1]]}", said)
    for literal in _literals(expression) if "#" in said else ():
        said = _replaced(said, literal, literal)
    return _NUMBER.sub("", said).replace(_KEPT_HASH, "#")


def _replaced(said: str, shown: str, text: str) -> str:
    """Write a text in the place of what is shown, and keep what looks like a number in it."""
    plain = text.replace("#", _KEPT_HASH).replace("\\", r"\\")
    return re.sub(rf"{re.escape(shown)}(?![\dL])", plain, said)


def _literals(expression: Any) -> Iterable[str]:
    """List the texts of the literals in an expression that have a `#` in them."""
    waiting = [expression]
    while waiting:
        part = waiting.pop()
        waiting += elements(part.children())
        if part.nodeName() == "Literal" and "#" in (said := str(part.toString())):
            yield said
