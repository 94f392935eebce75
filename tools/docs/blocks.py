"""Blocks of a page that are made when the site is built: `<!-- generated: NAME -->`.

On a protocol's page, NAME is one of `BLOCKS`; the protocol is the page's file name. The names in
`COMMON` may stand on any page.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

from streamproof.diagrams.draw import drawing_of
from streamproof.diagrams.spacetime import svg
from tools.docs import limits, runs, tables
from tools.docs.runs import RUNS

MARK = re.compile(r"^<!-- generated: ([\w ]+) -->$", re.MULTILINE)


@cache
def diagrams(protocol: str) -> dict[str, tuple[str, str]]:
    """Draw a protocol's run and its mutant's; give the SVG of each, and the command below it."""
    model, run, command = runs.shown_run(protocol)
    title = f"A run of {protocol}"
    shown = svg(drawing_of(protocol, model, run), title)
    mutated, wrong, broken, again = runs.mutant_run(protocol)
    title = f"A run of {protocol} with the mistake {RUNS[protocol].mutant}"
    mutant = svg(drawing_of(protocol, mutated, wrong, broken), title)
    return {"run": (shown, command), "mistake": (mutant, again)}


def run(protocol: str) -> str:
    """Show a run as it should be."""
    return _figure(protocol, "run", RUNS[protocol].caption)


def mistake(protocol: str) -> str:
    """Show the shortest run that breaks a mutant."""
    told = RUNS[protocol]
    return _figure(protocol, "mistake", f"`{told.mutant}`: {told.mutant_caption}")


def _figure(protocol: str, name: str, caption: str) -> str:
    _, command = diagrams(protocol)[name]
    alternative = re.sub(r"[`\[\]]", "", caption)
    image = f"![{alternative}]({protocol}-{name}.svg)"
    return f"{caption}\n\n{image}\n\n```\n{command}\n```"


BLOCKS: dict[str, Callable[[str], str]] = {
    "run": run,
    "mistake": mistake,
    "assumptions": lambda protocol: tables.section(protocol, "Assumptions"),
    "deviations": lambda protocol: tables.section(protocol, "Deviations from the paper"),
    "transitions": tables.transitions,
    "properties": tables.properties,
    "mutants": tables.mutants,
    "sizes": tables.sizes,
    "proof": tables.proof,
}
"""What a protocol's page may ask for."""


COMMON: dict[str, Callable[[], str]] = {
    "extras": limits.extras,
    "limits": limits.limits,
    "settings": limits.settings,
    "versions": limits.versions,
}
"""What any page may ask for."""


def filled(markdown: str, protocol: str) -> str:
    """Fill the blocks of a page.

    Parameters
    ----------
    markdown : the page
    protocol : that it is about; empty if it is about none

    Raises
    ------
    KeyError : if there is no block of a name
    """

    def made(match: re.Match[str]) -> str:
        name = match[1]
        return BLOCKS[name](protocol) if protocol and name in BLOCKS else COMMON[name]()

    return MARK.sub(made, markdown)
