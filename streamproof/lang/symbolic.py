"""Symbolic domains, maps and records: whole values that are known only as expressions."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterator
from enum import Enum
from itertools import starmap
from typing import Any

from streamproof.lang import expr as ex
from streamproof.lang.domain import Domain, Element
from streamproof.lang.errors import StreamproofError
from streamproof.lang.expr import Expr, Var
from streamproof.lang.fork import Ending, Path, ask_premise, break_claim, fresh_name, paths
from streamproof.lang.map import Map
from streamproof.lang.records import (
    are_like_tuples,
    assembled,
    changed_record,
    changed_tuple,
    has_parts,
    parts_compared,
)
from streamproof.lang.refusals import blaming, quantifiers_over, refused_in, untraceable
from streamproof.lang.runs import current_run
from streamproof.lang.scalars import (
    SymbolicBool,
    is_symbolic,
    is_visible,
    lift,
    refuse_text,
    scalar,
)
from streamproof.lang.sorts import DomainSort, ElementSort, MapSort, RecordSort, ScalarSort, Sort
from streamproof.lang.watch import unwatched_methods

# --------------------------------------------------------------------------- maps and domains


@unwatched_methods
class OpenDomain(Domain[Any]):
    """A domain whose size is left open."""

    __slots__ = ("sort",)
    is_open = True

    def __init__(self, sort: ElementSort) -> None:
        self.name, self.sort = sort.name, sort

    def __getattribute__(self, name: str) -> Any:
        if name == "__class__":
            return Domain
        if is_visible(name, public=("elements",)):
            return object.__getattribute__(self, name)
        raise untraceable(
            f"it asks for the attribute {name} of the domain {_name_of(self)}, which is open",
            "Write forall, exists and count over the domain, and Map.build for a map",
        )

    @property
    def elements(self) -> Any:  # type: ignore[override]  # there is none to be listed
        """Refuse to name an element by its number."""
        raise untraceable(
            f"it takes elements of the domain {self.name} by their number",
            f"Give the model a field of sort {self.name}, or the method a parameter",
        )

    def symbolic_map(self, domains: tuple[Domain[Any], ...], function: Callable[..., Any]) -> Any:
        """Return a function of the keys."""
        variables = _variables(domains)
        return SymbolicMap(variables, merged(function, variables))

    def symbolic_quantifier(
        self, kind: str, domains: tuple[Domain[Any], ...], function: Callable[..., Any]
    ) -> Any:
        """Write the quantifier down."""
        variables = _variables(domains)
        body = lift(merged(function, variables, may_claim=False), ex.BOOL)
        return scalar(ex.quantify(kind, variables, body))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, OpenDomain) and self.sort == other.sort

    def __hash__(self) -> int:
        raise untraceable(f"it uses the domain {self.name} as a key", "Compare domains by ==")

    def mixture(self, domains: tuple[Domain[Any], ...]) -> StreamproofError:
        """Refuse to range over domains with a size as well."""
        error = super().mixture(domains)
        return untraceable(str(error), "Range over domains of the model alone")

    def __bool__(self) -> bool:
        raise untraceable(
            f"it asks whether the domain {self.name} has elements, whose size is open",
            f"Write exists({self.name.lower()}s, lambda _: True)",
        )

    def __iter__(self) -> Iterator[Any]:
        raise untraceable(
            f"it iterates over the domain {self.name}, whose size is open",
            f"{quantifiers_over(f'{self.name.lower()}s')}, and Map.map where a map is made. There "
            "is no sum over a domain of open size: keep the total in a field",
        )

    def __len__(self) -> int:
        plural = f"{self.name.lower()}s"
        raise untraceable(
            f"it asks for the size of the domain {self.name}",
            f"Leave the size open: a majority is count({plural}, yes) > count({plural}, no), none "
            f"is not exists({plural}, yes)",
        )

    def __contains__(self, element: object) -> bool:
        raise untraceable(f"it looks for a member of {self.name}", "Compare elements by ==")

    def __repr__(self) -> str:
        refuse_text(f"Domain({self.name})")
        return f"Domain({self.name})"


def _name_of(domain: OpenDomain) -> str:
    return domain.name


_OF_A_MAP = ("build", "domains", "fill", "items", "map", "map_items", "set")


@unwatched_methods
class SymbolicMap(Map[Any, Any]):
    """A map as a function: bound variables for the keys, and the value in terms of them."""

    __slots__ = ("body", "variables")

    def __init__(self, variables: tuple[Var, ...], body: Any) -> None:
        self.variables, self.body = variables, body

    def __getattribute__(self, name: str) -> Any:
        if name == "__class__":
            return Map
        if is_visible(name, public=_OF_A_MAP):
            return object.__getattribute__(self, name)
        raise untraceable(
            f"it asks for the attribute {name} of a symbolic map",
            f"A map has {', '.join(_OF_A_MAP)}; compare maps by ==",
        )

    @property
    def domains(self) -> tuple[Domain[Any], ...]:
        """Return the key domains, whose sizes are open."""
        return tuple(OpenDomain(_element_sort(variable)) for variable in self.variables)

    def __getitem__(self, key: Any) -> Any:
        return substitute_value(self.body, dict(zip(self.variables, self._keys(key), strict=True)))

    def __setitem__(self, key: Any, value: Any) -> None:
        raise untraceable(
            "it assigns to a key of a map, which nothing changes",
            "Write m.set(key, value), which gives a changed copy, and return a state that has it",
        )

    def set(self, key: Any, value: Any) -> SymbolicMap:
        """Return a map that differs at one key."""
        pairs = zip(self.variables, self._keys(key), strict=True)
        here = ex.conjunction(*(ex.equal(variable, part) for variable, part in pairs))
        return SymbolicMap(self.variables, choose_value(here, value, self.body))

    def map(self, function: Callable[[Any], Any]) -> SymbolicMap:
        """Apply a function to every value, along all its paths."""
        variables = tuple(Var(fresh_name(), variable.sort) for variable in self.variables)
        value = self[_as_key(variables)]
        return SymbolicMap(variables, merged(lambda *_: function(value), variables))

    def map_items(self, function: Callable[..., Any]) -> SymbolicMap:
        """Apply a function of the key's parts and the value."""
        variables = tuple(Var(fresh_name(), variable.sort) for variable in self.variables)
        value = self[_as_key(variables)]
        return SymbolicMap(variables, merged(lambda *key: function(*key, value), variables))

    def items(self) -> Iterator[tuple[Any, Any]]:
        """Refuse: a map without a size has no list of items."""
        return iter(self)

    def __iter__(self) -> Iterator[Any]:
        raise untraceable(
            "it iterates over a symbolic map, whose size is open",
            f"{quantifiers_over('m')}, which range over the keys of a map m, and Map.map_items "
            "where a map is made. A sum of its values is kept in a field beside it",
        )

    def __len__(self) -> int:
        raise untraceable(
            "it asks for the size of a symbolic map",
            "Leave the size open: a majority is count(m, yes) > count(m, no), over the keys of a "
            "map m",
        )

    def __eq__(self, other: object) -> Any:
        if not issubclass(type(other), SymbolicMap):
            if isinstance(other, Map):
                raise untraceable(
                    "it compares a map of the state with one over a domain that has a size",
                    "Make the other map a field of the model, or by Map.fill or Map.build here",
                )
            return NotImplemented
        assert isinstance(other, SymbolicMap)
        mine = self[_as_key(self.variables)]
        same = equal_values(mine, other[_as_key(self.variables)])
        return SymbolicBool(ex.quantify("forall", self.variables, same))

    def __ne__(self, other: object) -> Any:
        same = self.__eq__(other)
        return same if same is NotImplemented else SymbolicBool(ex.negate(same.expr))

    def __bool__(self) -> bool:
        raise untraceable("it asks for the truth of a symbolic map", "Compare maps by ==")

    def __hash__(self) -> int:
        raise untraceable("it uses a symbolic map as a key of a dict", "Compare maps by ==")

    def __repr__(self) -> str:
        keys = ", ".join(str(variable.sort) for variable in self.variables)
        refuse_text(f"Map({keys})")
        return f"Map({keys} -> {self.body!r})"

    def _keys(self, key: Any) -> tuple[Expr, ...]:
        parts = key if isinstance(key, tuple) else (key,)
        if len(parts) != len(self.variables):
            raise untraceable(
                f"it reads a map over {len(self.variables)} domains at {len(parts)} keys",
                "Give one key for each domain: m[p, q]",
            )
        return tuple(lift(part, v.sort) for part, v in zip(parts, self.variables, strict=True))


def _as_key(variables: tuple[Var, ...]) -> Any:
    parts = tuple(scalar(variable) for variable in variables)
    return parts[0] if len(parts) == 1 else parts


def _variables(domains: tuple[Domain[Any], ...]) -> tuple[Var, ...]:
    assert all(issubclass(type(domain), OpenDomain) for domain in domains)
    return tuple(Var(fresh_name(), ElementSort(domain.name)) for domain in domains)


def _element_sort(variable: Var) -> ElementSort:
    assert isinstance(variable.sort, ElementSort)
    return variable.sort


# --------------------------------------------------------------------------- whole values


def value_of(sort: Sort, variable: str, keys: tuple[Expr, ...] = ()) -> Any:
    """Make the symbolic value of a state variable: records field by field, maps as functions."""
    match sort:
        case RecordSort(cls, fields):
            prefix = f"{variable}." if variable else ""
            parts = {name: value_of(part, prefix + name, keys) for name, part in fields}
            return assembled(cls, parts)
        case MapSort(key_sorts, value):
            variables = tuple(Var(fresh_name(), key) for key in key_sorts)
            return SymbolicMap(variables, value_of(value, variable, (*keys, *variables)))
        case DomainSort(element):
            return OpenDomain(element)
        case _:
            return scalar(ex.Read(variable, keys, sort))


def substitute_value(value: Any, replacement: dict[Var, Expr]) -> Any:
    """Replace variables everywhere inside a value."""
    if is_symbolic(value):
        return scalar(ex.substitute(value.expr, replacement))
    if isinstance(value, SymbolicMap):
        return SymbolicMap(value.variables, substitute_value(value.body, replacement))
    if isinstance(value, tuple):
        return changed_tuple(value, (substitute_value(part, replacement) for part in value))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return changed_record(
            value, lambda name: substitute_value(getattr(value, name), replacement)
        )
    if value is None or isinstance(value, bool | int | str | Enum | Element | Domain):
        return value
    raise untraceable(
        f"it keeps {value!r} in a map, of which it is not known how it depends on the key",
        "Let a map have numbers, truth values, members, elements, maps, tuples or frozen records",
    )


def equal_values(left: Any, right: Any) -> Expr:
    """Return the condition under which two values are equal, part by part, as Python says."""
    if isinstance(left, SymbolicMap):
        return lift(left == right, ex.BOOL)
    if has_parts(left) or has_parts(right):
        pairs = parts_compared(left, right)
        return ex.FALSE if pairs is None else ex.conjunction(*starmap(equal_values, pairs))
    if is_symbolic(left):
        return ex.equal(left.expr, lift(right, left.expr.sort))
    if is_symbolic(right):
        return ex.equal(right.expr, lift(left, right.expr.sort))
    return ex.truth(left == right)


def choose_value(condition: Expr, then: Any, otherwise: Any) -> Any:
    """Return ``then if condition else otherwise``, part by part.

    Raises
    ------
    Untraceable : if the two differ in type, such as two effects, or one is missing
    """
    if isinstance(condition, ex.Const):
        return then if condition.value else otherwise
    if isinstance(then, SymbolicMap) and isinstance(otherwise, SymbolicMap):
        body = otherwise[_as_key(then.variables)]
        return SymbolicMap(then.variables, choose_value(condition, then.body, body))
    if are_like_tuples(then, otherwise):
        pairs = zip(then, otherwise, strict=True)
        return changed_tuple(then, (choose_value(condition, *pair) for pair in pairs))
    if _is_scalar(then) and _is_scalar(otherwise):
        sort = then.expr.sort if is_symbolic(then) else _sort_beside(then, otherwise)
        return scalar(ex.choose(condition, lift(then, sort), lift(otherwise, sort)))
    if type(then) is type(otherwise) and dataclasses.is_dataclass(then):
        return changed_record(
            then,
            lambda name: choose_value(condition, getattr(then, name), getattr(otherwise, name)),
        )
    if isinstance(then, str) and then == otherwise:  # the name of a property's conjunct
        return then
    raise untraceable(
        f"its paths give {then!r} and {otherwise!r}, which differ in type and so cannot be merged",
        "Inside a quantifier or Map.map every path must give the same type, and the same effects; "
        "give a field that says whether the effect is wanted",
    )


def _sort_beside(plain: Any, other: Any) -> ScalarSort:
    return other.expr.sort if is_symbolic(other) else ex.literal(plain).sort


def _is_scalar(value: Any) -> bool:
    return is_symbolic(value) or isinstance(value, bool | int | Enum | Element)


def merged(
    function: Callable[..., Any],
    variables: tuple[Var, ...],
    *,
    may_claim: bool = True,
    told_as: Callable[..., Any] | None = None,
) -> Any:
    """Run a function on bound variables along all its paths, and merge what they give.

    Parameters
    ----------
    may_claim : whether it runs for every element, so that a claim in it is made for every element
    told_as : the method or conjunct that is asked, if it is no lambda in one
    """
    name = getattr(function, "__name__", "lambda")
    found = paths(functools.partial(function, *map(scalar, variables)), name)
    for path in found:
        if path.ending is Ending.DISABLED:
            what = "`require` stands inside a quantifier, Map.map or property, which refuse no step"
            remedy = "Write require(forall(...)) around it, or a condition in its place"
            raise refused_in(told_as, what, remedy)
        is_claiming = path.ending is Ending.BROKEN_CLAIM or path.claims
        if is_claiming and not (may_claim and current_run()):
            what = "a claim stands inside a quantifier or conjunct, which may end before it"
            remedy = "Write assert forall(...) before it, or make it a conjunct of its own"
            raise refused_in(told_as, what, remedy)
        taken = ex.conjunction(*path.condition)
        if path.ending is Ending.BROKEN_CLAIM:
            break_claim(_for_some(variables, taken), path.value)
        for condition, where in path.claims:
            break_claim(_for_some(variables, taken, condition), where)
        for code, condition in path.premises:
            ask_premise(code, _for_some(variables, taken, condition))
    live = [path for path in found if path.ending is Ending.VALUE]
    if not live:
        raise refused_in(
            told_as, "every path through a lambda fails its claim", "Correct the assert"
        )
    with blaming(getattr(told_as, "__name__", name), told_as):
        return _merge(live, 0)


def _for_some(variables: tuple[Var, ...], *conditions: Expr) -> Expr:
    condition = ex.conjunction(*conditions)
    return ex.quantify("exists", variables, condition) if variables else condition


def _merge(found: list[Path], depth: int) -> Any:
    if len(found) == 1:
        return found[0].value
    condition = found[0].decisions[depth][0]
    yes = [path for path in found if path.decisions[depth][1]]
    no = [path for path in found if not path.decisions[depth][1]]
    if not yes or not no:  # the other answer broke a claim: nothing to tell apart
        return _merge(yes or no, depth + 1)
    return choose_value(condition, _merge(yes, depth + 1), _merge(no, depth + 1))
