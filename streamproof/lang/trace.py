"""Tracing: running transitions on symbolic values to obtain their traced form."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import typing
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any, NoReturn

from streamproof.lang import expr as ex
from streamproof.lang.as_asked import require_as_first_asked
from streamproof.lang.errors import WrongDefinition
from streamproof.lang.expr import Var
from streamproof.lang.flatten import claims_of, updates_of, variables_of
from streamproof.lang.fork import Ending, Path, ask_premise, paths
from streamproof.lang.form import (
    ClaimForm,
    Command,
    EffectForm,
    PropertyForm,
    TracedModel,
    TracedTransition,
    Variable,
)
from streamproof.lang.model import STATES_TAKEN, Method, Model, Role, answers_of
from streamproof.lang.quantify import observing_premises
from streamproof.lang.refusals import blaming, untraceable
from streamproof.lang.roles import require_traced_starts
from streamproof.lang.scalars import is_symbolic, lift, scalar
from streamproof.lang.sorts import DomainSort, MapSort, RecordSort, ScalarSort, Sort, sort_of
from streamproof.lang.symbolic import merged, value_of

RESULT = "result"
"""What a function gives that is no transition, in its traced form."""


def trace_model(cls: type[Model[Any]]) -> TracedModel:
    """Trace every method of a model, for any size.

    Raises
    ------
    Untraceable : if a method does what has no symbolic reading; the message names function and line
    WrongDefinition : if a field or parameter has no sort
    """
    traced: TracedModel = _trace_model(cls)  # type: ignore[arg-type] # a class does hash
    return traced


@functools.cache
def _trace_model(cls: Any) -> TracedModel:
    require_as_first_asked(cls)
    return trace_anew(cls)


def trace_anew(cls: Any) -> TracedModel:
    """Trace a model again, as `trace_model` does once in a process."""
    model, state_sort = symbolic_model(cls), state_sort_of(cls)
    variables = tuple(variables_of(state_sort, ""))
    _check_names(cls, variables)
    state = value_of(state_sort, "")
    initial: list[Command] = []
    commands: list[Command] = []
    claims: list[ClaimForm] = []
    for method in cls.methods(Role.INIT):
        bound = _Bound.to(model, method, ())
        for path in paths(bound.call, method.name):
            _refuse_disabled(bound, path)
            _refuse_claims(bound, path)
            initial.append(_command(bound, path, state_sort, None))
    for method in cls.methods(Role.ACTION):
        bound = _Bound.to(model, method, (state,))
        for path in paths(bound.call, method.name):
            claims.extend(claims_of(method.name, bound.parameters, path))
            if path.ending is Ending.VALUE:
                commands.append(_command(bound, path, state_sort, state))
    return TracedModel(
        cls.__name__,
        cls,
        state_sort,
        tuple(_constants(cls)),
        variables,
        tuple(initial),
        tuple(commands),
        tuple(claims),
        tuple(_properties(cls, model, state, state_sort)),
        tuple(_assumption(_Bound.to(model, method, ())) for method in cls.methods(Role.ASSUME)),
    )


def _assumption(bound: _Bound) -> ex.Expr:
    answer = functools.partial(merged, functools.partial(_answer, bound, Role.ASSUME), ())
    (path,) = paths(answer, bound.method.name)
    _refuse_claims(bound, path)
    with blaming(bound.method.name, bound.call):
        held = ex.conjunction(*(lift(part, ex.BOOL) for _, part in path.value))
    return ex.quantify("forall", bound.parameters, held) if bound.parameters else held


def _refuse_disabled(bound: _Bound, path: Path) -> None:
    """Refuse a `require` in an `@init`: there is a state to begin in, or the model is broken."""
    if path.ending is Ending.DISABLED:
        with blaming(bound.method.name, bound.call):
            raise untraceable(
                "a `require` may fail in it, and it is @init, which always gives a state",
                "Say in a method marked @assume what must hold of the constants, or give several "
                "states",
            )


def _refuse_claims(bound: _Bound, path: Path) -> None:
    """Refuse an `assert` in what is no step, where nobody looks whether it holds."""
    if path.ending is Ending.BROKEN_CLAIM or path.claims:
        role = bound.method.role.value
        with blaming(bound.method.name, bound.call):
            raise untraceable(
                f"an assert may fail in it, and it is @{role}, which is no step",
                "State what must hold in a method of its own, marked @always or @assume",
            )


def symbolic_model(cls: type[Model[Any]]) -> Any:
    """Make an instance of a model whose domains are open and whose constants are symbolic."""
    model = object.__new__(_open_class(cls))  # type: ignore[arg-type] # a class does hash
    for name, sort in field_sorts(cls):
        object.__setattr__(model, name, value_of(sort, name))
    require_traced_starts(cls)
    return model


@functools.cache
def _open_class(cls: Any) -> Any:
    """Make a class of models that refuses what is no field, such as what `__post_init__` keeps."""

    def refuse(_model: Any, name: str) -> NoReturn:
        raise untraceable(
            f"it asks for {name}, which is no field of {cls.__name__}",
            "Declare a field for it, or compute it in a property",
        )

    return type(cls)(cls.__name__, (cls,), {"__getattr__": refuse, "__module__": cls.__module__})


def field_sorts(cls: type[Model[Any]]) -> Iterator[tuple[str, Sort]]:
    """Yield the sort of each field of a model.

    Raises
    ------
    WrongDefinition : if one has none, or is a domain of a type variable
    """
    hints = typing.get_type_hints(cls, include_extras=True)
    for field in dataclasses.fields(cls):
        hint = hints[field.name]
        if any(isinstance(part, typing.TypeVar) for part in typing.get_args(hint)):
            raise WrongDefinition(
                f"{cls.__name__}.{field.name} is {hint}, of a type variable, whose elements nobody "
                "knows. Declare the field again, in the class that is checked, with the class of "
                "its elements"
            )
        yield field.name, sort_of(hint)


def refuse_twin_domains(cls: type[Model[Any]]) -> None:
    """Refuse two domains of one class, which a form without sizes takes for the same.

    Raises
    ------
    WrongDefinition : if there are two
    """
    known: dict[Sort, str] = {}
    for name, sort in field_sorts(cls):
        if isinstance(sort, DomainSort) and known.setdefault(sort, name) != name:
            raise WrongDefinition(
                f"{cls.__name__} has two domains of {sort.element}, {known[sort]} and {name}, and "
                "a proof for any size would take them for one. Give each an Element class of its "
                "own"
            )


def _constants(cls: type[Model[Any]]) -> Iterator[Variable]:
    for name, sort in field_sorts(cls):
        if not isinstance(sort, DomainSort):
            yield from variables_of(sort, name)


def _check_names(cls: type[Model[Any]], variables: tuple[Variable, ...]) -> None:
    """Refuse a name that would mean two things in the traced form."""
    taken = {name: "a field of the model as well" for name, _ in field_sorts(cls)}
    if AFTER in taken:
        raise WrongDefinition(
            f"{cls.__name__} has a field {AFTER}, which is the prefix of the later state in an "
            "@every_step, so the traced form could not tell them apart. Rename the field"
        )
    taken[AFTER] = "the prefix of the later state in an @every_step"
    for variable in variables:
        name = variable.name.partition(".")[0]
        if name in taken:
            raise WrongDefinition(
                f"the state of {cls.__name__} has a field {name}, but {name} is {taken[name]}, so "
                "the traced form could not tell them apart. Rename the field"
            )


def state_sort_of(cls: type[Model[Any]]) -> Sort:
    """Find the sort of a model's states in the return annotation of its @init."""
    for method in cls.methods(Role.INIT):
        hints = typing.get_type_hints(getattr(cls, method.name), include_extras=True)
        if "return" not in hints:
            raise WrongDefinition(f"{cls.__name__}.{method.name} does not say what it returns")
        return sort_of(hints["return"])
    raise WrongDefinition(f"{cls.__name__} has no initial state: mark a method with @init")


@dataclasses.dataclass(frozen=True)
class _Bound:
    """A method with symbolic states and parameters, ready to be run."""

    method: Method
    call: Callable[[], Any]
    parameters: tuple[Var, ...]

    @classmethod
    def to(cls, model: Any, method: Method, states: tuple[Any, ...]) -> _Bound:
        parameters = parameters_of(method)
        call = functools.partial(getattr(model, method.name), *states, *map(scalar, parameters))
        return cls(method, call, parameters)


def parameters_of(method: Method) -> tuple[Var, ...]:
    """Return a method's parameters as variables.

    Raises
    ------
    WrongDefinition : if one has no scalar sort
    """
    return tuple(Var(name, _scalar_sort(note, method)) for name, note in method.parameters)


def _scalar_sort(annotation: Any, method: Method) -> ScalarSort:
    sort = sort_of(annotation)
    if isinstance(sort, RecordSort | MapSort | DomainSort):
        raise WrongDefinition(
            f"{method.name} takes a parameter of sort {sort}; only scalars can be parameters"
        )
    return sort


def _command(bound: _Bound, path: Path, sort: Sort, before: Any) -> Command:
    method = bound.method
    with blaming(method.name, bound.call):
        updates = tuple(updates_of(sort, "", path.value, before, ()))
    guard = ex.conjuncts(ex.conjunction(*path.condition))
    return Command(method.name, bound.parameters, guard, updates, (), method.fairness)


def _properties(
    cls: type[Model[Any]], model: Any, state: Any, state_sort: Sort
) -> Iterator[PropertyForm]:
    roles = tuple(role for role in Role if role not in NOT_PROPERTIES)
    for role in roles:
        states = (state, value_of(state_sort, AFTER))[: STATES_TAKEN.get(role, 1)]
        for method in cls.methods(role):
            bound = _Bound.to(model, method, states)
            ask = functools.partial(_answer, bound, role)
            answer = functools.partial(merged, ask, (), told_as=bound.call)
            with observing_premises(lambda code, held: ask_premise(code, lift(held, ex.BOOL))):
                (path,) = paths(answer, method.name)
            _refuse_claims(bound, path)
            with blaming(method.name, bound.call):
                conjuncts = tuple((name, lift(part, ex.BOOL)) for name, part in path.value)
            premises = dict.fromkeys((code for code, _ in path.premises), ex.FALSE)
            for code, condition in path.premises:
                premises[code] = ex.disjunction(premises[code], condition)
            yield PropertyForm(
                method.name, role, bound.parameters, conjuncts, tuple(premises.items())
            )


def _answer(bound: _Bound, role: Role) -> tuple[tuple[Any, Any], ...]:
    answers = answers_of(bound.method.name, role, bound.call())
    return tuple((_Name(name), held) for name, held in answers.items())


NOT_PROPERTIES = (Role.INIT, Role.ACTION, Role.ASSUME)
AFTER = "after"
"""The prefix of the variables of the later state in an `every_step` property."""


class _Name(str):
    """A conjunct's name, which merging leaves alone."""

    __slots__ = ()


# --------------------------------------------------------------------------- protocols


@functools.cache
def trace_protocol(module: ModuleType) -> tuple[TracedTransition, ...]:
    """Trace every transition of a protocol, in the order of the file.

    A transition is a public function that the module defines and whose result is a `Step`.
    """
    found = tuple(
        _transition(function, hints)
        for function, hints in _public_functions(module)
        if _is_step(hints.get("return"))
    )
    if not found:
        raise WrongDefinition(f"{module.__name__} defines no transition: none gives a Step")
    return found


@functools.cache
def trace_answers(module: ModuleType) -> tuple[TracedTransition, ...]:
    """Trace every other public function of a protocol: what it tells, and where a machine begins.

    Who runs a protocol relies on these as on its transitions.
    """
    return tuple(
        _transition(function, hints)
        for function, hints in _public_functions(module)
        if not _is_step(hints.get("return"))
    )


def _public_functions(module: ModuleType) -> Iterator[tuple[Callable[..., Any], dict[str, Any]]]:
    for name, function in vars(module).items():
        is_own = inspect.isfunction(function) and function.__module__ == module.__name__
        if is_own and not name.startswith("_"):
            yield function, typing.get_type_hints(function, include_extras=True)


def _is_step(annotation: Any) -> bool:
    """Recognise ``Step[S, Effect]``, which is ``tuple[S, tuple[Effect, ...]]``."""
    arguments = typing.get_args(annotation)
    if typing.get_origin(annotation) is not tuple or len(arguments) != 2:
        return False
    return (
        typing.get_origin(arguments[1]) is tuple and typing.get_args(arguments[1])[-1] is Ellipsis
    )


def _transition(function: Callable[..., Any], hints: dict[str, Any]) -> TracedTransition:
    names = list(inspect.signature(function).parameters)
    sorts = [sort_of(hints[name]) for name in names]
    is_step = _is_step(hints["return"])
    result_sort = sort_of(typing.get_args(hints["return"])[0] if is_step else hints["return"])
    scalars = tuple(
        Var(n, s)
        for n, s in zip(names, sorts, strict=True)
        if not isinstance(s, RecordSort | MapSort | DomainSort)
    )
    arguments = [
        scalar(Var(n, s))
        if not isinstance(s, RecordSort | MapSort | DomainSort)
        else value_of(s, n)
        for n, s in zip(names, sorts, strict=True)
    ]
    commands: list[Command] = []
    claims: list[ClaimForm] = []
    run = functools.partial(function, *arguments)
    run = run if is_step else functools.partial(merged, run, ())
    for path in paths(run, function.__name__):
        claims.extend(claims_of(function.__name__, scalars, path))
        if path.ending is Ending.VALUE:
            with blaming(function.__name__, function):
                after, effects = _step(path.value) if is_step else (path.value, ())
                name, before = (names[0], arguments[0]) if is_step else (RESULT, None)
                updates = tuple(updates_of(result_sort, name, after, before, ()))
            forms = tuple(_effect(effect) for effect in effects)
            guard = ex.conjuncts(ex.conjunction(*path.condition))
            commands.append(Command(function.__name__, scalars, guard, updates, forms))
    declared = tuple(
        variable
        for n, s in zip(names, sorts, strict=True)
        if not isinstance(s, DomainSort)
        for variable in variables_of(s, n)
    )
    return TracedTransition(function.__name__, declared, tuple(commands), tuple(claims), is_step)


def _step(value: Any) -> tuple[Any, tuple[Any, ...]]:
    match value:
        case (state, tuple() as effects):
            return state, effects
    raise untraceable(
        f"it gives {value!r}, which is no step",
        "Return the new state and a tuple of effects: return state, (SaveState(),)",
    )


def _effect(effect: Any) -> EffectForm:
    parts = []
    for field in dataclasses.fields(effect):
        value = getattr(effect, field.name)
        parts.append((field.name, value.expr if is_symbolic(value) else ex.literal(value)))
    return EffectForm(type(effect).__name__, tuple(parts))
