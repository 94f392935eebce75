"""Random models: every sort of the language, several actions, properties of every kind.

An expression is drawn as a function of the state and of the elements in scope, and is run by Python
or traced like one that somebody wrote. Most of these models are nonsense; engines must agree on
them all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from random import Random
from typing import Annotated, Any

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

Scope = Mapping[str, Any]
"""Elements by name: those of P begin with p, those of Q with q."""
Expression = Callable[[Any, Any, Scope], Any]
"""A function of the model, the state, and what is in scope."""


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


class Writer:
    """Writes random expressions and methods."""

    def __init__(self, random: Random) -> None:
        self.random = random

    def element(self, sort: str, names: tuple[str, ...]) -> Expression:
        known = [name for name in names if name[0] == sort]
        if sort == "p" and (not known or self.random.random() < 0.3):
            return lambda m, s, e: s.who
        name = self.random.choice(known)
        return lambda m, s, e: e[name]

    def number(self, names: tuple[str, ...], depth: int) -> Expression:
        which = self.random.randrange(8 if depth else 4)
        if which == 0:
            value = self.random.randrange(-1, 3)
            return lambda m, s, e: value
        if which == 1:
            return lambda m, s, e: s.n
        if which == 2:
            return lambda m, s, e: s.k
        if which == 3:
            if not any(name[0] == "q" for name in names):
                return self.number(names, 0)
            q = self.element("q", names)
            return lambda m, s, e: s.boxes[q(m, s, e)].level
        if which <= 5:
            one, other = self.number(names, depth - 1), self.number(names, 0)
            sign = self.random.choice((1, -1))
            return lambda m, s, e: one(m, s, e) + sign * other(m, s, e)
        if which == 6:
            inner = self.truth((*names, f"p{depth}"), depth - 1)
            return lambda m, s, e: count(m.ps, lambda p: inner(m, s, {**e, f"p{depth}": p}))
        asked = self.truth(names, depth - 1)
        yes, no = self.number(names, 0), self.number(names, 0)
        return lambda m, s, e: yes(m, s, e) if asked(m, s, e) else no(m, s, e)

    def colour(self, names: tuple[str, ...], depth: int) -> Expression:
        which = self.random.randrange(4 if depth else 2)
        if which == 0:
            value = self.random.choice(list(Colour))
            return lambda m, s, e: value
        if which == 1 or not any(name[0] == "q" for name in names):
            return lambda m, s, e: s.colour
        if which == 2:
            p, q = self.element("p", names), self.element("q", names)
            return lambda m, s, e: s.pairs[p(m, s, e), q(m, s, e)]
        asked, yes = self.truth(names, depth - 1), self.colour(names, 0)
        return lambda m, s, e: yes(m, s, e) if asked(m, s, e) else s.colour

    def truth(self, names: tuple[str, ...], depth: int) -> Expression:
        which = self.random.randrange(11 if depth > 0 else 5)
        p = self.element("p", names)
        if which == 0:
            return lambda m, s, e: s.lit[p(m, s, e)]
        if which == 1:
            other = self.element("p", names)
            return lambda m, s, e: p(m, s, e) == other(m, s, e)
        if which == 2:
            member = self.random.choice(list(Colour))
            colour = self.colour(names, 0)
            return lambda m, s, e: colour(m, s, e) == member
        if which == 3:
            return lambda m, s, e: m.ready[p(m, s, e)]
        if which == 4:
            left, right = self.number(names, 0), self.number(names, 0)
            return lambda m, s, e: left(m, s, e) <= right(m, s, e)
        one = self.truth(names, depth - 1)
        if which == 5:
            return lambda m, s, e: not one(m, s, e)
        two = self.truth(names, depth - 1)
        if which == 6:
            return lambda m, s, e: one(m, s, e) and two(m, s, e)
        if which == 7:
            return lambda m, s, e: one(m, s, e) or two(m, s, e)
        if which == 8:
            left, right = self.number(names, depth - 1), self.number(names, depth - 1)
            return lambda m, s, e: left(m, s, e) < right(m, s, e)
        sort = self.random.choice("pq")
        name = f"{sort}{depth}"
        inner = self.truth((*names, name), depth - 1)
        quantifier = forall if which == 9 else exists
        return lambda m, s, e: quantifier(
            m.ps if sort == "p" else m.qs, lambda x: inner(m, s, {**e, name: x})
        )

    def update(self, names: tuple[str, ...]) -> Expression:
        """Write a function that gives a changed state."""
        which = self.random.randrange(7)
        p = self.element("p", names)
        number, truth, colour = self.number(names, 1), self.truth(names, 1), self.colour(names, 1)
        if which == 0:
            return lambda m, s, e: replace(s, n=number(m, s, e))
        if which == 1:
            return lambda m, s, e: replace(s, k=bounded(number(m, s, e)))
        if which == 2:
            return lambda m, s, e: replace(s, colour=colour(m, s, e), who=p(m, s, e))
        if which == 3:
            return lambda m, s, e: replace(s, lit=s.lit.set(p(m, s, e), truth(m, s, e)))
        if which == 4 and "q" in names:
            q = self.element("q", names)
            return lambda m, s, e: replace(
                s, boxes=s.boxes.set(q(m, s, e), Box(number(m, s, e), truth(m, s, e)))
            )
        if which in (4, 5):
            inner = self.colour((*names, "p9", "q9"), 1)
            return lambda m, s, e: replace(
                s,
                pairs=s.pairs.map_items(lambda p9, q9, _: inner(m, s, {**e, "p9": p9, "q9": q9})),
            )
        asked, one, two = self.truth(names, 1), self.update(names), self.update(names)
        return lambda m, s, e: one(m, s, e) if asked(m, s, e) else two(m, s, e)

    def action(self) -> Callable[..., Any]:
        """Write an action with none, one or two parameters."""
        names = self.random.choice(((), ("p",), ("p", "q")))
        guard, update, then = self.truth(names, 2), self.update(names), self.update(names)
        claim = self.truth(names, 1) if self.random.random() < 0.15 else None

        def step(model: Any, s: Any, scope: Scope) -> Any:
            require(guard(model, s, scope))
            if claim is not None:
                assert claim(model, s, scope)
            return then(model, update(model, s, scope), scope)

        if not names:

            def act0(self: Any, s: State) -> State:
                return step(self, s, {})

            return action(act0)
        if len(names) == 1:

            def act1(self: Any, s: State, p: P) -> State:
                return step(self, s, {"p": p})

            return action(act1)

        def act2(self: Any, s: State, p: P, q: Q) -> State:
            return step(self, s, {"p": p, "q": q})

        return action(act2)

    def methods(self) -> dict[str, Any]:
        """Write a model's actions and properties."""
        found: dict[str, Any] = {
            f"act_{n}": self.action() for n in range(self.random.randrange(1, 4))
        }
        likely, premise = self.truth((), 2), self.truth((), 1)
        rare, end, there = self.truth((), 2), self.truth((), 1), self.truth(("p",), 2)

        def invariant(self: Any, s: State) -> bool:
            return implies(premise(self, s, {}), likely(self, s, {}))

        def keeps(self: Any, before: State, after: State) -> bool:
            return rare(self, before, {}) or before.n <= after.n + 2 or rare(self, after, {})

        def happens(self: Any, s: State, p: P) -> bool:
            return there(self, s, {"p": p})

        def ends(self: Any, s: State) -> bool:
            return end(self, s, {})

        if self.random.random() < 0.4:
            found["invariant"] = always(invariant)
        if self.random.random() < 0.4:
            found["keeps"] = every_step(keeps)
        if self.random.random() < 0.5:
            found["happens"] = sometimes(happens)
        found["ends"] = final(ends)
        return found


def bounded(number: Any) -> Any:
    """Keep a number without a declared range from growing for ever."""
    require(number <= 5)
    require(number >= -5)
    return number


def random_model(seed: int, *, alike: bool = False) -> Base:
    """Write the model of a seed.

    Parameters
    ----------
    alike : whether nothing tells elements of a domain apart
    """
    random = Random(seed)
    kind = type(f"Random{seed}", (Base,), Writer(random).methods())
    ps, qs = Domain(P, random.randrange(1, 4)), Domain(Q, random.randrange(1, 3))
    ready = Map.build(ps, lambda p: random.random() < 0.5)
    if alike:
        ps, qs = Domain(P, 3), Domain(Q, random.randrange(1, 4))
        ready = Map.fill(ps, random.random() < 0.5)
    return kind(ps, qs, random.randrange(1, 4), ready)
