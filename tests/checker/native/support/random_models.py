"""Random models: every sort of the language, several actions, properties of every kind.

A model is drawn as Python text, which is run like what somebody wrote; a model that the engines
find different things in is shrunk, and printed as that text. Most of these models are nonsense;
engines must agree on them all the same.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum
from typing import Annotated, Any

from hypothesis import strategies as st

from streamproof.lang import (
    Domain,
    Element,
    Map,
    Model,
    Range,
    action,
    always,
    count,
    every_step,
    exists,
    final,
    forall,
    implies,
    init,
    require,
    sometimes,
)

Names = tuple[str, ...]
"""The elements in scope: names of those of P begin with p, of those of Q with q."""
Draw = Callable[[st.SearchStrategy[Any]], Any]

CONSTANTS = ("0", "1", "2", "-1")


class P(Element):
    """A process, say."""


class Q(Element):
    """Something else."""


class Colour(Enum):
    RED = "red"
    GREEN = "green"
    BLUE = "blue"


@dataclass(frozen=True)
class Box:
    level: Annotated[int, Range(0, "top")]
    on: bool


@dataclass(frozen=True)
class State:
    n: Annotated[int, Range(-1, 2)]
    k: int
    colour: Colour
    who: P
    lit: Map[P, bool]
    boxes: Map[Q, Box]
    pairs: Map[tuple[P, Q], Colour]


@dataclass(frozen=True)
class Base(Model[State]):
    """What random models share: their constants and their initial states."""

    ps: Domain[P]
    qs: Domain[Q]
    top: int
    ready: Map[P, bool]

    @init
    def start(self, p: P) -> State:
        return State(
            0,
            1,
            Colour.RED,
            p,
            Map.build(self.ps, lambda a: self.ready[a] and a == p),
            Map.fill(self.qs, Box(0, False)),
            Map.fill(self.ps, self.qs, Colour.GREEN),
        )

    def __repr__(self) -> str:
        constants = f"{self.ps}, {self.qs}, {self.top}, {self.ready}"
        return f"\n{self.source}\n\nRandom({constants})\n"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """Print alike where Hypothesis shows what failed."""
        printer.text(repr(self))


def bounded(number: Any) -> Any:
    """Keep a number without a declared range from growing for ever."""
    require(number <= 5)
    require(number >= -5)
    return number


def within(number: Any) -> Any:
    """Keep a number mostly inside its declared range, so that more happens than leaving it."""
    require(number <= 2)
    require(number >= -1)
    return number


VOCABULARY = {
    **{part.__name__: part for part in (Base, Box, Colour, Map, P, Q, State)},
    **{part.__name__: part for part in (action, always, every_step, final, sometimes)},
    **{part.__name__: part for part in (count, exists, forall, implies, require)},
    **{part.__name__: part for part in (bounded, replace, within)},
}
"""What the text of a model may name."""


# ------------------------------------------------------------------------------- expressions


def elements(sort: str, names: Names) -> st.SearchStrategy[str]:
    """Name an element of a sort, p or q."""
    return st.sampled_from(known(sort, names))


def known(sort: str, names: Names) -> list[str]:
    """List the elements of a sort: those in scope, and the one that every state names."""
    return [*(name for name in names if name.startswith(sort)), *["s.who"] * (sort == "p")]


def read_numbers(names: Names) -> list[str]:
    """List the numbers that differ from state to state."""
    return ["s.n", "s.k", *(f"s.boxes[{q}].level" for q in known("q", names))]


def read_colours(names: Names) -> list[str]:
    """List the colours that differ from state to state."""
    return [
        "s.colour",
        *(f"s.pairs[{p}, {q}]" for q in known("q", names) for p in known("p", names)),
    ]


def other_than(one: str, *others: str) -> st.SearchStrategy[str]:
    """Choose something else: what is compared with itself, or added to 0, says little."""
    return st.sampled_from([other for other in others if other != one])


@st.composite
def numbers(draw: Draw, names: Names, depth: int) -> str:
    """Write a number."""
    simple = st.sampled_from([*CONSTANTS, *read_numbers(names)])
    match draw(
        st.sampled_from(["simple"] + ["sum", "sum", "sum", "count", "choice"] * (depth > 0))
    ):
        case "simple":
            return draw(simple)
        case "sum":
            left = draw(numbers(names, depth - 1))
            right = draw(other_than(left, "1", "2", *read_numbers(names)))
            return f"({left} {draw(st.sampled_from('+-'))} {right})"
        case "count":
            name = f"p{depth}"
            return f"count(self.ps, lambda {name}: {draw(truths((*names, name), depth - 1))})"
        case _:
            asked = draw(truths(names, depth - 1))
            return f"({draw(simple)} if {asked} else {draw(simple)})"


@st.composite
def colours(draw: Draw, names: Names, depth: int) -> str:
    """Write a colour."""
    simple = st.sampled_from([*map(str, Colour), *read_colours(names)])
    if draw(one_in(3)) and depth > 0:
        asked = draw(truths(names, depth - 1))
        return f"({draw(simple)} if {asked} else {draw(simple)})"
    return draw(simple)


@st.composite
def truths(draw: Draw, names: Names, depth: int) -> str:
    """Write a truth value."""
    kinds = ["lit", "ready", "coloured", "ordered"] + ["same"] * (len(known("p", names)) > 1)
    kinds += ["not", "and", "or", "below", "forall", "exists"] * (depth > 0)
    match kind := draw(st.sampled_from(kinds)):
        case "lit":
            return f"s.lit[{draw(elements('p', names))}]"
        case "ready":
            return f"self.ready[{draw(elements('p', names))}]"
        case "same":
            one = draw(elements("p", names))
            return f"({one} == {draw(other_than(one, *known('p', names)))})"
        case "coloured":
            one = draw(st.sampled_from(read_colours(names)))
            return f"({one} == {draw(other_than(one, *map(str, Colour), *read_colours(names)))})"
        case "ordered":
            one = draw(st.sampled_from(read_numbers(names)))
            other = draw(other_than(one, *CONSTANTS, *read_numbers(names)))
            return f"({one} {draw(st.sampled_from(('<=', '>=')))} {other})"
        case "not":
            return f"(not {draw(truths(names, depth - 1))})"
        case "and" | "or":
            return f"({draw(truths(names, depth - 1))} {kind} {draw(truths(names, depth - 1))})"
        case "below":
            return f"({draw(numbers(names, depth - 1))} < {draw(numbers(names, depth - 1))})"
        case quantifier:
            sort = draw(st.sampled_from("pq"))
            name = f"{sort}{depth}"
            inner = draw(truths((*names, name), depth - 1))
            return f"{quantifier}(self.{sort}s, lambda {name}: {inner})"


@st.composite
def updates(draw: Draw, names: Names, depth: int = 2) -> str:
    """Write a changed state."""
    kinds = ["step", "turn", "n", "k", "colour", "lit", "pairs"] + ["box", "box"] * ("q" in names)
    match draw(st.sampled_from(kinds + ["choice"] * (depth > 0))):
        case "step":
            return f"replace(s, k=bounded(s.k {draw(st.sampled_from('+-'))} 1))"
        case "turn":
            key = draw(elements("p", names))
            return f"replace(s, lit=s.lit.set({key}, not s.lit[{key}]))"
        case "n":
            kept = draw(st.sampled_from(("within", "within", "within", "")))
            return f"replace(s, n={kept}({draw(numbers(names, 1))}))"
        case "k":
            return f"replace(s, k=bounded({draw(numbers(names, 1))}))"
        case "colour":
            who = draw(elements("p", names))
            return f"replace(s, colour={draw(colours(names, 1))}, who={who})"
        case "lit":
            key = draw(elements("p", names))
            return f"replace(s, lit=s.lit.set({key}, {draw(truths(names, 1))}))"
        case "pairs":
            inner = draw(colours((*names, "p9", "q9"), 1))
            return f"replace(s, pairs=s.pairs.map_items(lambda p9, q9, _: {inner}))"
        case "box":
            box = f"Box({draw(numbers(names, 1))}, {draw(truths(names, 1))})"
            return f"replace(s, boxes=s.boxes.set({draw(elements('q', names))}, {box}))"
        case _:
            one, two = draw(updates(names, depth - 1)), draw(updates(names, depth - 1))
            return f"({one} if {draw(truths(names, 1))} else {two})"


# ------------------------------------------------------------------------------------ models


@st.composite
def actions(draw: Draw, name: str) -> str:
    """Write an action with none, one or two parameters."""
    names = draw(st.sampled_from(((), ("p",), ("p", "q"))))
    parameters = "".join(f", {name}: {name.upper()}" for name in names)
    lines = [f"@action\ndef {name}(self, s: State{parameters}) -> State:"]
    if not draw(one_in(3)):
        lines.append(f"require({draw(truths(names, draw(st.integers(0, 2))))})")
    if draw(one_in(12)):
        lines.append(f"assert {draw(truths(names, 1))}")
    if draw(one_in(2)):
        lines.append(f"s = {draw(updates(names))}")
    lines.append(f"return {draw(updates(names))}")
    return "\n    ".join(lines)


@st.composite
def properties(draw: Draw) -> list[str]:
    """Write some properties: `ends` always, each of the others or not."""
    found = [f"@final\ndef ends(self, s: State) -> bool:\n    return {draw(truths((), 1))}"]
    if draw(one_in(2)):
        implied = f"implies({draw(truths((), 1))}, {draw(truths((), 2))})"
        found.append(f"@always\ndef invariant(self, s: State) -> bool:\n    return {implied}")
    if draw(one_in(2)):
        found.append(
            "@every_step\ndef keeps(self, before: State, after: State) -> bool:\n"
            f"    rare = lambda s: {draw(truths((), 1))}\n"
            f"    likely = lambda s: {draw(truths((), 2))}\n"
            "    return implies(rare(before), before.k <= after.k or likely(after))"
        )
    if draw(one_in(2)):
        there = draw(truths(("p",), 2))
        found.append(f"@sometimes\ndef happens(self, s: State, p: P) -> bool:\n    return {there}")
    return found


def one_in(number: int) -> st.SearchStrategy[bool]:
    """Return yes once in so many times; what is simpler is no."""
    return st.sampled_from([False] * (number - 1) + [True])


@st.composite
def random_models(draw: Draw, *, alike: bool = False) -> Base:
    """Make models.

    Parameters
    ----------
    alike : whether nothing tells elements of a domain apart
    """
    parts = [draw(actions(f"act_{n}")) for n in range(draw(st.integers(1, 3)))]
    parts += draw(properties())
    body = "\n".join(parts).replace("\n", "\n    ")
    source = ast.unparse(ast.parse(f"class Random(Base):\n    {body}"))
    ps = Domain(P, 3 if alike else draw(st.integers(1, 3)))
    qs = Domain(Q, draw(st.integers(1, 3 if alike else 2)))
    is_ready = st.just(draw(st.booleans())) if alike else st.booleans()
    ready = Map.build(ps, lambda _: draw(is_ready))
    return made(source)(ps, qs, draw(st.integers(1, 3)), ready)


def made(source: str) -> type[Base]:
    """Run the text of a model."""
    namespace = VOCABULARY | {"__name__": __name__}
    exec(compile(source, "random_model.py", "exec"), namespace)
    kind: type[Base] = namespace["Random"]
    kind.source = source
    return kind
