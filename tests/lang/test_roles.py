"""Names in a model: each means one thing, and no property is lost without a word."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Annotated, Any

import pytest

from streamproof.checker import check
from streamproof.checker import reference as plain
from streamproof.checker.native.engine import explore as native
from streamproof.lang import Domain, Element, Model, Range, WrongDefinition, require, roles
from streamproof.lang.model import (
    Fairness,
    Role,
    action,
    always,
    every_step,
    final,
    init,
    leads_to,
    sometimes,
)
from streamproof.models.kit import registry, verdict
from streamproof.models.kit.verdict import Status
from streamproof.proofs.induction import prove
from streamproof.proofs.invariant import Invariant

ENGINES = [plain.explore, native]


class P(Element): ...


@dataclass(frozen=True)
class State:
    k: Annotated[int, Range(0, 9)]


@dataclass(frozen=True)
class Up(Model[State]):
    @init
    def start(self) -> State:
        return State(0)

    @action(fairness=Fairness.WEAK)
    def up(self, s: State) -> State:
        require(s.k < 5)
        return State(s.k + 1)

    @always
    def q(self, s: State) -> bool:
        return s.k < 9

    @final
    def end(self, s: State) -> bool:
        return s.k == 5


RESERVED = ["moves", "calls", "methods", "domain_of", "ground_actions", "initial_states"]
RESERVED += ["sized", "ruled_out", "sizes", "protocol_name"]


def truth(self: Any, s: State) -> bool:
    return True


def of(name: str, member: Any, *bases: type) -> Any:
    """Make a model with one more member."""
    return dataclass(frozen=True)(type("Named", (*bases, Up), {name: member}))


def marked(decorator: Any) -> Any:
    """Make a property of its own."""

    def q(self: Any, s: State) -> bool:
        return True

    return decorator(q)


def plainly(method: Any) -> Any:
    def call(*arguments: Any) -> Any:
        return method(*arguments)

    return call


class Mixin:
    @sometimes
    def moves(self, s: State) -> bool:
        return s.k > 1


@dataclass(frozen=True)
class FieldLikeModel(Up):
    moves: int = 0


@dataclass(frozen=True)
class FieldLikeProperty(Up):
    q: bool = True


@dataclass(frozen=True)
class SizesAsField(Up):
    sizes: int = 0  # type: ignore[assignment]


class Both(Up):
    """One @init, and its own list of initial states."""

    def initial_states(self) -> Any:
        yield State(5)


class Twice(Up):
    @always
    @sometimes
    def both(self, s: State) -> bool:
        return s.k > 1


WRONG = {
    **{f"property-{name}": lambda n=name: of(n, marked(sometimes)) for name in RESERVED},
    **{f"action-{name}": lambda n=name: of(n, marked(action)) for name in RESERVED},
    **{f"helper-{name}": lambda n=name: of(n, truth) for name in RESERVED[:5]},
    "mixin": lambda: of("other", 1, Mixin),
    "field-like-model": lambda: FieldLikeModel,
    "field-like-property": lambda: FieldLikeProperty,
    "field-like-attribute": lambda: SizesAsField,
    "two-roles": lambda: Twice,
    "two-kinds-of-fairness": lambda: of("w", action(fairness=Fairness.WEAK)(marked(action))),
    "none": lambda: of("q", None),
    "true": lambda: of("q", True),
    "property-object": lambda: of("q", property(truth)),
    "dunder": lambda: of("__eq__", marked(always)),
    "dunder-len": lambda: of("__len__", marked(always)),
    "static": lambda: of("new", staticmethod(marked(always))),
    "marked-static": lambda: of("new", always(staticmethod(truth))),
    "class-method": lambda: of("new", classmethod(marked(always))),
    "property": lambda: of("new", property(marked(always))),
    "cached": lambda: of("new", functools.cached_property(marked(always))),
    "partial": lambda: of("new", functools.partialmethod(marked(always))),
    "wrapped": lambda: of("q2", plainly(renamed(marked(always), "q2"))),
    "no-state": lambda: of("new", always(lambda self: True)),
    "no-second-state": lambda: of("new", every_step(lambda self, s: True)),
    "many": lambda: of("new", always(lambda self, s, *more: True)),
    "by-name": lambda: of("new", always(lambda self, s, *, p=1: True)),
    **{f"finding-{name}": lambda n=name: of(n, marked(always)) for name in roles._FINDINGS},
}


def renamed(method: Any, name: str) -> Any:
    method.__name__ = name
    return method


@pytest.mark.parametrize("make", WRONG.values(), ids=WRONG)
def test_a_name_that_means_two_things_is_refused_by_everything(make):
    cls = make()
    for ask in (*(lambda e=engine: check(cls(), engine=e) for engine in ENGINES), cls):
        with pytest.raises(WrongDefinition, match=r"Rename|Write|Let|Leave out"):
            ask()
    with pytest.raises(WrongDefinition):
        prove(Invariant(cls, (truth_of,)))


def truth_of(m: Any, s: State) -> bool:
    return s.k >= 0


def test_named_like_a_method_of_model_is_told_so():
    with pytest.raises(WrongDefinition) as refused:
        of("moves", marked(sometimes))()
    assert str(refused.value) == (
        "Named.moves takes the place of what Model itself calls moves, so that nothing could be "
        "explored. Rename moves"
    )


def test_a_file_with_such_a_model_can_be_loaded_and_the_model_is_refused(tmp_path):
    path = tmp_path / "named.py"
    path.write_text(
        "from dataclasses import dataclass\n"
        "from streamproof.lang import *\n"
        "from tests.lang.test_roles import Up\n"
        "class Named(Up):\n"
        "    @always\n"
        "    def methods(self, s):\n"
        "        return True\n"
        "class Fine(Up): pass\n"
        "MODEL = Fine\n"
    )
    assert registry.find(f"{path}:Fine").__name__ == "Fine"
    with pytest.raises(WrongDefinition, match="Rename methods"):
        registry.build(f"{path}:Named")


# --------------------------------------------------------------------------- what stays allowed


class Overrides(Up):
    """An override without a decorator keeps its role, and its fairness."""

    def up(self, s: State) -> State:
        require(s.k < 7)
        return State(s.k + 1)

    def q(self, s: State) -> bool:
        return s.k < 3

    @leads_to
    def arrives(self, s: State) -> tuple[bool, bool]:
        return s.k == 0, s.k >= 3


@pytest.mark.parametrize("engine", ENGINES)
def test_an_override_without_a_decorator_keeps_its_role(engine):
    report = check(Overrides(), engine=engine)
    assert report.finding("q").verdict.status is Status.REFUTED
    assert dict(report.counts.firings)["up"] >= 3
    (up,) = Overrides.methods(Role.ACTION)
    assert up.fairness is Fairness.WEAK


class Decorates(Overrides):
    @action
    def up(self, s: State) -> State:
        return super().up(s)

    start = Up.start


class Below:
    def q(self, s: State) -> bool:
        return s.k < 2


class Mixed(Below, Up):
    """A mixin that comes first overrides, too."""


@pytest.mark.parametrize("engine", ENGINES)
def test_other_overrides_mean_what_they_say(engine):
    assert [m.fairness for m in Decorates.methods(Role.ACTION)] == [Fairness.NONE]
    assert check(Mixed(), engine=engine).finding("q").verdict.status is Status.REFUTED
    kept = of("new", functools.wraps(marked(always))(plainly(marked(always))))
    assert {method.name for method in kept.methods(Role.ALWAYS)} == {"q", "new"}


@dataclass(frozen=True)
class Lists(Model[Any]):
    """Lists its initial states itself, for want of an @init."""

    ps: Domain[P]

    def initial_states(self) -> Any:
        yield from (State(n) for n in range(3))

    def ruled_out(self) -> tuple[str, ...]:
        return ()

    @action
    def stay(self, s: State, p: P) -> State:
        return s

    @always
    def fine(self, s: State) -> bool:
        return s.k < 9


def test_a_model_may_list_its_initial_states_and_what_it_rules_out():
    report = check(Lists(Domain(P, 2)))
    assert report.verdict.status is Status.EXHAUSTED
    assert report.counts.distinct == 3


def test_a_model_that_lists_its_starts_itself_is_neither_traced_nor_proven():
    assert check(Both(), engine=plain.explore).counts.distinct == 1
    assert check(Both()).engine == "reference"
    with pytest.raises(WrongDefinition, match="lists its initial_states itself"):
        check(Both(), engine=native)
    with pytest.raises(WrongDefinition, match="lists its initial_states itself"):
        prove(Invariant(Both, (truth_of,)))


def test_the_names_of_findings_are_those_of_reports():
    assert {verdict.ACTIONS, verdict.CLAIMS, verdict.DEADLOCK} < set(roles._FINDINGS)


def test_a_property_of_a_class_that_type_makes_is_asked():
    """Such a class bears the name of the module `abc`, whose classes were taken for Model's own."""

    @always
    def never(_self, _state):
        return False

    made = type("Made", (Up,), {"never": never})
    made.__module__ = "abc"
    assert "never" in [method.name for method in made.methods(Role.ALWAYS)]
