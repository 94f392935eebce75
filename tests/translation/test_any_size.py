"""Goal: each path that some values reach is compared, whatever the sizes and numbers. Method: small
models with paths that need many elements, large numbers, or nothing that exists."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pytest

from streamproof.lang import Domain, Element, Map, Model, count, exists, forall, require
from streamproof.lang import expr as ex
from streamproof.lang.form import TracedModel
from streamproof.lang.model import action, always, assume, init
from streamproof.lang.trace import trace_model
from streamproof.translation import TracingDisagrees, validate_model, witnesses
from streamproof.translation.units import Unit, model_units
from streamproof.translation.witnesses import Search, Wish, Witnesses
from tests.translation.support.seeing import is_traced

FAR = 2**50


class Place(Element): ...


class Copy(Element): ...


@dataclass(frozen=True)
class State:
    n: int
    full: Map[Place, bool]


@dataclass(frozen=True)
class Wide(Model[State]):
    """Two copies at most, and as many places as there are."""

    places: Domain[Place]
    copies: Domain[Copy]

    @assume
    def two_copies(self) -> bool:
        return forall(self.copies, self.copies, self.copies, lambda a, b, c: a in (b, c) or b == c)

    @init
    def start(self) -> State:
        return State(0, Map.fill(self.places, False))

    @action
    def fill(self, s: State, p: Place, q: Place, c: Copy, d: Copy) -> State:
        require(p != q and c != d and exists(self.places, lambda r: r not in (p, q)))
        return replace(s, full=s.full.set(p, True))

    @always
    def is_near(self, s: State) -> bool:
        return s.n - 1 != s.n + s.n + FAR or s.n < 0


@dataclass(frozen=True)
class Counting(Wide):
    """The same; and nine full places are too many, which need nine of them and two copies."""

    @always
    def few_are_full(self, s: State) -> bool:
        return count(self.places, lambda p: s.full[p]) != 9


@dataclass(frozen=True)
class Seeing(Wide):
    """A model that sees, where the number is far, that it is traced."""

    @always
    def is_near(self, s: State) -> bool:
        return s.n - 1 != s.n + s.n + FAR or is_traced()


@dataclass(frozen=True)
class Scaling(Wide):
    """The same; and a number of places times a number, which is far: Z3 decides it at a size."""

    @always
    def is_not_scaled(self, s: State) -> bool:
        return count(self.places, lambda p: s.full[p]) * s.n - 1 != FAR


def unit_of(cls: type[Model[State]], name: str) -> tuple[TracedModel, Unit]:
    traced = trace_model(cls)
    return traced, next(unit for unit in model_units(traced) if unit.name == name)


def test_as_many_elements_are_made_as_a_path_needs() -> None:
    traced, unit = unit_of(Wide, "fill")
    (command,) = traced.commands
    ((point, is_sure),) = Search(unit.shape).points(Wish(command.guard, command.guard))
    assert is_sure
    assert {name: len(domain) for name, domain in point.place.domains.items()} == {
        "Place": 3,
        "Copy": 2,
    }
    assert unit.plain(point).difference(unit.traced(point)) is None
    assert unit.seen == {0}


def test_numbers_may_be_as_large_as_a_path_needs() -> None:
    """It is compared at -1 - 2**50, where nothing but Z3 leads."""
    with pytest.raises(TracingDisagrees, match=f"is_near .*n={-1 - FAR}"):
        validate_model(Seeing(Domain(Place, 2), Domain(Copy, 2)))


def test_as_much_is_counted_as_a_condition_asks_for() -> None:
    report = validate_model(Counting(Domain(Place, 2), Domain(Copy, 2)))
    assert report.impossible == 0


@pytest.mark.slow
def test_numbers_reach_beyond_every_constant_where_they_are_multiplied() -> None:
    report = validate_model(Scaling(Domain(Place, 2), Domain(Copy, 2)))
    assert report.impossible == 0


@dataclass(frozen=True)
class CountingAll(Wide):
    """The same; and there is a place."""

    @always
    def there_is_one(self, s: State) -> bool:
        return count(self.places, lambda p: s.full[p] or not s.full[p]) != 0


def test_a_domain_may_have_to_be_empty() -> None:
    traced, unit = unit_of(CountingAll, "there_is_one")
    form = next(form for form in traced.properties if form.name == unit.name)
    broken = (ex.negate(form.conjuncts[0][1]),)
    wish = Wish(broken, broken)
    sizes = [
        len(point.place.domains["Place"])
        for point, is_sure in Search(unit.shape).points(wish)
        if is_sure
    ]
    assert sizes == [0]


def test_what_no_values_reach_is_told() -> None:
    shape = unit_of(Wide, "fill")[1].shape
    n = ex.Read("n", (), ex.INT)
    below_and_above = (ex.less(n, ex.literal(2)), ex.less(ex.literal(3), n))
    assert list(Search(shape).points(Wish(below_and_above, below_and_above))) == []


@dataclass(frozen=True)
class Links:
    n: int
    link: Map[tuple[Place, Place], bool]


@dataclass(frozen=True)
class Vain(Model[Links]):
    """A model of many conditions that hold nowhere, which only counting tells."""

    places: Domain[Place]

    @init
    def start(self) -> Links:
        return Links(0, Map.fill(self.places, self.places, False))

    @action
    def join(self, s: Links, p: Place, q: Place) -> Links:
        for number in range(80, 86):
            if count(self.places, lambda r: s.link[r, r] and s.n != s.n) == number:
                return s
        return replace(s, link=s.link.set((p, q), True))

    @always
    def linked(self, s: Links) -> bool:
        return s.n == 0


def test_what_is_counted_in_vain_is_not_tried_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[int] = []
    at = Search.at

    def noted(self: Search, size: Any, numbers: tuple[int, int]) -> Witnesses:
        tried.append(size if isinstance(size, int) else size["Place"])
        return at(self, size, numbers)

    monkeypatch.setattr(Search, "at", noted)
    monkeypatch.setattr(witnesses, "MISSED_CELLS_MAX", 2_000)
    report = validate_model(Vain(Domain(Place, 2)))
    assert report.impossible >= 6
    assert max(tried) == 31  # 31 * 31 + 1 variables, and 32 * 32 are too many
    assert tried.count(31) == 2
