"""Docstrings of this repository as numpydoc reads them.

Here annotations give the type, so what follows a name's colon is its description:

    inputs : streaming DataFrames by name, all of one schema. A single one
        comes out in order

Numpydoc takes that for a type. Before a page is made, names and description go on lines of their
own.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import griffe

SECTIONS = ("Parameters", "Attributes", "Raises")
HEAD = re.compile(r"^(?P<names>\*{0,2}\w[\w.*, ]*?) : (?P<text>.*)$")


def as_numpydoc(docstring: str) -> str:
    """Put names and descriptions of parameters, attributes and errors on lines of their own.

    Names that share a description get it each: their types may differ.
    """
    lines: list[list[str]] = []
    section = previous = ""
    for line in docstring.splitlines():
        if not line.strip("-"):  # a rule begins a section, an empty line ends it
            section = previous if line else ""
        head = HEAD.match(line) if section in SECTIONS else None
        if head:
            lines.append([head["names"], f"    {head['text']}"])
        elif lines and section in SECTIONS and line.startswith("    "):
            lines[-1].append(line)
        else:
            lines.append([line])
        previous = line
    return "\n".join(text for item in lines for text in _each(item))


def _each(item: list[str]) -> Iterator[str]:
    """Repeat a description for each of its names; a line without one stays as it is."""
    names, *described = item
    for name in names.split(", ") if described else [names]:
        yield name
        yield from described


class HouseStyle(griffe.Extension):
    """Rewrites each docstring before a page is made of it."""

    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        """Called by griffe once for each object that it has read."""
        del kwargs
        if obj.docstring is not None:
            obj.docstring.value = as_numpydoc(obj.docstring.value)
