"""Invariants: the named conjuncts and lemmas that are proven of a model, and their traced form."""

from __future__ import annotations

import functools
import inspect
import typing
from collections.abc import Callable
from dataclasses import dataclass
from types import FunctionType
from typing import Any

from streamproof.lang import expr as ex
from streamproof.lang.errors import WrongDefinition
from streamproof.lang.expr import Expr, Read, Var
from streamproof.lang.flatten import claims_of
from streamproof.lang.fork import Ending, fresh_name, paths
from streamproof.lang.form import Command, Update
from streamproof.lang.model import Model
from streamproof.lang.refusals import blaming
from streamproof.lang.scalars import lift, scalar
from streamproof.lang.sorts import DomainSort, MapSort, RecordSort, ScalarSort, sort_of
from streamproof.lang.symbolic import merged, value_of
from streamproof.lang.trace import AFTER, refuse_twin_domains, state_sort_of, symbolic_model


@dataclass(frozen=True)
class Invariant:
    """What holds in every reachable state of a model, for any size.

    Attributes
    ----------
    conjuncts : functions of the model, a state and elements, each holding for all elements; the
        first line of the docstring says in a sentence what it means
    lemmas : functions of the same form that hold in every state with the invariant. A lemma may run
        the model's actions; a `require` in it is an assumption

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from streamproof.lang import Model
    >>> @dataclass(frozen=True)
    ... class Account:
    ...     paid: int
    ...     owed: int
    >>> def adds_up(model: Model[Account], now: Account) -> bool:
    ...     return now.paid == now.owed
    >>> Invariant(Model[Account], conjuncts=(adds_up,)).lemmas
    ()
    """

    model_class: type[Model[Any]]
    conjuncts: tuple[Callable[..., bool], ...]
    lemmas: tuple[Callable[..., bool], ...] = ()

    def __post_init__(self) -> None:
        for kind, functions in (("conjunct", self.conjuncts), ("lemma", self.lemmas)):
            names = [name for name, _ in named(functions, kind)]
            twice = sorted({name for name in names if names.count(name) > 1})
            if twice:
                raise WrongDefinition(
                    f"{len(names)} {kind}s of {self.model_class.__name__} share the names "
                    f"{', '.join(twice)}, so one would be taken for another and never be proven. "
                    "Give each a name of its own"
                )


def named(
    functions: tuple[Callable[..., bool], ...], kind: str
) -> list[tuple[str, Callable[..., bool]]]:
    """Name functions by themselves, and a lambda, which has no name, by its kind and number.

    Raises
    ------
    WrongDefinition : if one is no function
    """
    for function in functions:
        if not isinstance(function, FunctionType):
            raise WrongDefinition(
                f"{function!r} is given as a {kind}, and is no function, so it has no name to be "
                "told by and no parameters with annotations. Write it as a function with def"
            )
    return [
        (f"{kind} {number}" if function.__name__ == "<lambda>" else function.__name__, function)
        for number, function in enumerate(functions, start=1)
    ]


@dataclass(frozen=True, slots=True)
class Implication:
    """A lemma along one path: the premises imply the conclusion, for all parameters.

    Attributes
    ----------
    is_claim : an `assert` in it fails where the premises hold, so they must hold nowhere
    """

    name: str
    parameters: tuple[Var, ...]
    premises: tuple[Expr, ...]
    conclusion: Expr
    is_claim: bool = False


def traced_conjuncts(invariant: Invariant) -> dict[str, Expr]:
    """Trace the conjuncts, each closed by a quantifier over its elements."""
    return {
        name: ex.quantify("forall", parameters, body) if parameters else body
        for name, (parameters, body) in open_conjuncts(invariant).items()
    }


def open_conjuncts(invariant: Invariant) -> dict[str, tuple[tuple[Var, ...], Expr]]:
    """Trace the conjuncts: what each says of its parameters."""
    model, state = _model_and_state(invariant)
    found: dict[str, tuple[tuple[Var, ...], Expr]] = {}
    for name, function in named(invariant.conjuncts, "conjunct"):
        parameters = parameters_taken(function)
        arguments = [scalar(parameter) for parameter in parameters]
        applied = functools.partial(function, model, state, *arguments)
        answer = merged(applied, (), told_as=function)
        with blaming(name, function):
            body = lift(answer, ex.BOOL)
        found[name] = parameters, body
    return found


def traced_lemmas(invariant: Invariant) -> list[Implication]:
    """Trace the lemmas: one implication for each path, and for each claim on it."""
    model, state = _model_and_state(invariant)
    found = []
    for name, function in named(invariant.lemmas, "lemma"):
        parameters = parameters_taken(function)
        arguments = [scalar(parameter) for parameter in parameters]
        applied = functools.partial(function, model, state, *arguments)
        for path in paths(applied, function.__name__):
            found += [
                Implication(name, parameters, claim.broken_if, ex.FALSE, is_claim=True)
                for claim in claims_of(name, parameters, path)
            ]
            if path.ending is Ending.VALUE:
                with blaming(name, function):
                    conclusion = lift(path.value, ex.BOOL)
                found.append(Implication(name, parameters, path.condition, conclusion))
    return found


def _model_and_state(invariant: Invariant) -> tuple[Any, Any]:
    cls = invariant.model_class
    refuse_twin_domains(cls)
    return symbolic_model(cls), value_of(state_sort_of(cls), "")


def parameters_taken(function: Callable[..., Any]) -> tuple[Var, ...]:
    """Return what a conjunct or lemma takes beside the model and the state, as variables."""
    hints = typing.get_type_hints(function, include_extras=True)
    taken = list(inspect.signature(function).parameters.values())
    if odd := [str(part) for part in taken if part.kind not in _BY_PLACE]:
        raise WrongDefinition(
            f"{function.__qualname__} takes {', '.join(odd)} not by place, and a conjunct "
            "is given the model, a state and one value for each further parameter, in this order. "
            "Write a plain parameter for each"
        )
    names = [part.name for part in taken][2:]
    if unknown := [name for name in names if name not in hints]:
        raise WrongDefinition(
            f"{function.__qualname__} takes {', '.join(unknown)} without an annotation, so it is "
            "not known of which values it should hold. Write a function with def, and annotate "
            "each parameter after the model and the state: with an Element class, an Enum, or int"
        )
    return tuple(Var(name, _scalar(sort_of(hints[name]), name)) for name in names)


_BY_PLACE = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def _scalar(sort: Any, name: str) -> ScalarSort:
    if isinstance(sort, RecordSort | MapSort | DomainSort):
        raise WrongDefinition(f"{name} is a {sort}: conjuncts hold for all elements or numbers")
    return typing.cast("ScalarSort", sort)


# --------------------------------------------------------------------------- after a step


def after_step(expr: Expr, command: Command) -> Expr:
    """Restate an expression about the state before a command for the state after it."""
    updates = {update.variable: update for update in command.updates}
    return _rewrite(expr, lambda read: _updated(read, updates))


def across_step(expr: Expr, command: Command) -> Expr:
    """Replace what an `every_step` property reads of the later state by the command's updates."""
    updates = {update.variable: update for update in command.updates}

    def later(read: Read) -> Expr:
        root, _, name = read.variable.partition(".")  # a state that is one value has no name
        return _updated(Read(name, read.keys, read.sort), updates) if root == AFTER else read

    return _rewrite(expr, later)


def _updated(read: Read, updates: dict[str, Update]) -> Expr:
    update = updates.get(read.variable)
    if update is None:
        return read
    return ex.substitute(update.value, dict(zip(update.keys, read.keys, strict=True)))


def _rewrite(expr: Expr, replace: Callable[[Read], Expr]) -> Expr:
    match expr:
        case ex.Const() | Var():
            return expr
        case Read(variable, keys, sort):
            return replace(Read(variable, tuple(_rewrite(k, replace) for k in keys), sort))
        case ex.Quantified(kind, variables, body, _):
            # An update may have quantifiers of its own: no name of theirs may capture one of ours.
            fresh = tuple(Var(fresh_name(), variable.sort) for variable in variables)
            opened = ex.substitute(body, dict(zip(variables, fresh, strict=True)))
            return ex.quantify(kind, fresh, _rewrite(opened, replace))
        case ex.Apply(operator, arguments, _):
            return ex.rebuild(operator, tuple(_rewrite(part, replace) for part in arguments))
