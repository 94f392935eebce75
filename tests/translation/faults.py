"""One-place faults in a traced form, as a tracer with a bug would make them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from streamproof.lang import expr as ex
from streamproof.lang.expr import Apply, Const, Expr, Quantified, Read
from streamproof.lang.form import Command, TracedModel
from streamproof.lang.model import STATES_TAKEN
from streamproof.lang.sorts import BoolSort, EnumSort, IntSort
from streamproof.translation.shapes import MethodShape
from streamproof.translation.witnesses import Search, Wish


def faulty_forms(traced: TracedModel) -> Iterator[tuple[str, TracedModel]]:
    """Yield each form that differs in one place from a right one, with what differs."""
    for field in ("initial", "commands"):
        commands = getattr(traced, field)
        for index, command in enumerate(commands):
            others = (*commands[:index], *commands[index + 1 :])
            yield f"{command.name}: a path is lost", _with(traced, field, others)
            for what, wrong in _faulty_commands(command, may_stay=field == "commands"):
                changed = (*commands[:index], wrong, *commands[index + 1 :])
                yield f"{command.name}: {what}", _with(traced, field, changed)
    for index, claim in enumerate(traced.claims):
        others = (*traced.claims[:index], *traced.claims[index + 1 :])
        yield f"{claim.name}: a claim is lost", _with(traced, "claims", others)
    for index, form in enumerate(traced.properties):
        for part, (name, conjunct) in enumerate(form.conjuncts):
            for what, wrong in faulty(conjunct):
                parts = (*form.conjuncts[:part], (name, wrong), *form.conjuncts[part + 1 :])
                new = dataclasses.replace(form, conjuncts=parts)
                forms = (*traced.properties[:index], new, *traced.properties[index + 1 :])
                yield f"{form.name}: {what}", _with(traced, "properties", forms)


def says_the_same(right: TracedModel, wrong: TracedModel) -> bool:
    """Return whether forms that differ in a condition agree: Z3 finds no point between the two."""
    differing = list(_differing(right, wrong))
    return bool(differing) and not any(map(_may_differ, differing))


_Pair = tuple[MethodShape, tuple[Expr, ...], tuple[Expr, ...]]


def _differing(right: TracedModel, wrong: TracedModel) -> Iterator[_Pair]:
    for was, now in zip(right.commands, wrong.commands, strict=False):
        if was.name == now.name and set(was.updates) == set(now.updates) and was != now:
            own = tuple((part.name, part.sort) for part in was.parameters)
            yield MethodShape(right, 1, own), was.guard, now.guard  # type: ignore[arg-type] # elements
        elif was != now:
            return
    for form, other in zip(right.properties, wrong.properties, strict=False):
        own = tuple((part.name, part.sort) for part in form.parameters)
        for (_, was_so), (_, is_so) in zip(form.conjuncts, other.conjuncts, strict=False):
            if was_so != is_so:
                yield MethodShape(right, STATES_TAKEN.get(form.role, 1), own), (was_so,), (is_so,)  # type: ignore[arg-type] # elements


def _may_differ(pair: _Pair) -> bool:
    shape, right, wrong = pair
    search, left, other = Search(shape), ex.conjunction(*right), ex.conjunction(*wrong)
    for either in ((left, ex.negate(other)), (other, ex.negate(left))):
        if next(search.points(Wish(either, either)), None) is not None:
            return True
    return False


def _with(traced: TracedModel, field: str, value: object) -> TracedModel:
    return dataclasses.replace(traced, **{field: value})  # type: ignore[arg-type]


def _faulty_commands(command: Command, *, may_stay: bool) -> Iterator[tuple[str, Command]]:
    for index, part in enumerate(command.guard):
        rest = (*command.guard[:index], *command.guard[index + 1 :])
        yield f"without {part}", dataclasses.replace(command, guard=rest)
        for what, wrong in faulty(part):
            yield what, dataclasses.replace(command, guard=(*rest, wrong))
    for index, update in enumerate(command.updates):
        rest = (*command.updates[:index], *command.updates[index + 1 :])
        if may_stay:
            yield f"{update.variable} stays", dataclasses.replace(command, updates=rest)
        for what, wrong in faulty(update.value):
            new = dataclasses.replace(update, value=wrong)
            yield what, dataclasses.replace(command, updates=(*rest, new))


def faulty(expr: Expr) -> Iterator[tuple[str, Expr]]:
    """Yield expressions that differ in one place: a number, an operator, a part left out."""
    if isinstance(expr.sort, BoolSort):
        yield "negated", ex.negate(expr)
    match expr:
        case Const(value, IntSort()):
            yield f"{value} is one more", ex.literal(value + 1)
        case Const(value, EnumSort(cls)) if len(cls) > 1:
            members = list(cls)
            other = members[(members.index(value) + 1) % len(members)]
            yield f"{value} is {other}", ex.literal(other)
        case Apply():
            yield from _faulty_operator(expr)
        case Quantified("forall" | "exists" as kind, variables, body, sort):
            other = "exists" if kind == "forall" else "forall"
            yield f"{kind} is {other}", Quantified(other, variables, body, sort)
            for what, inner in faulty(body):
                yield what, Quantified(kind, variables, inner, sort)
        case Read(_, keys, _) if len(keys) > 1 and keys[0].sort == keys[1].sort:
            yield "keys change places", dataclasses.replace(expr, keys=keys[::-1])
        case _:
            return


_OTHER = {"lt": "le", "le": "lt", "and": "or", "or": "and", "add": "sub"}


def _faulty_operator(expr: Apply) -> Iterator[tuple[str, Expr]]:
    operator, arguments = expr.operator, expr.arguments
    if operator in _OTHER:
        yield f"{operator} is {_OTHER[operator]}", _built(_OTHER[operator], arguments)
    for index, argument in enumerate(arguments):
        if operator in ("and", "or"):
            rest = (*arguments[:index], *arguments[index + 1 :])
            yield f"without part {index}", ex.rebuild(operator, rest)
        for what, inner in faulty(argument):
            parts = (*arguments[:index], inner, *arguments[index + 1 :])
            yield what, dataclasses.replace(expr, arguments=parts)


def _built(operator: str, arguments: tuple[Expr, ...]) -> Expr:
    if operator == "sub":
        return ex.subtract(*arguments)
    return ex.rebuild(operator, arguments)
