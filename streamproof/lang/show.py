"""Printing expressions and traced forms as guarded commands."""

from __future__ import annotations

from enum import Enum
from typing import assert_never

from streamproof.lang.expr import Apply, Const, Expr, Quantified, Read, Var
from streamproof.lang.form import Command, TracedModel, TracedTransition, Update, Variable

_INFIX = {"and": " and ", "or": " or ", "eq": " == ", "lt": " < ", "le": " <= "}
_INFIX |= {"add": " + ", "sub": " - ", "mul": " * "}
_BINDING = {"or": 1, "and": 2, "not": 3, "eq": 4, "lt": 4, "le": 4, "add": 5, "sub": 5, "mul": 6}


def show(expr: Expr, outer: int = 0) -> str:
    """Print an expression in Python's own notation, with as few parentheses as it needs."""
    match expr:
        case Const(value, _):
            return f"{type(value).__name__}.{value.name}" if isinstance(value, Enum) else str(value)
        case Var(name, _):
            return name
        case Read(variable, keys, _):
            return _named(variable) + (f"[{', '.join(map(show, keys))}]" if keys else "")
        case Quantified(kind, variables, body, _):
            bound = ", ".join(f"{variable.name}: {variable.sort}" for variable in variables)
            return f"{kind}({bound}: {show(body)})"
        case Apply(operator, arguments, _):
            return _show_apply(operator, arguments, outer)
        case _:
            assert_never(expr)


def _show_apply(operator: str, arguments: tuple[Expr, ...], outer: int) -> str:
    if operator == "ite":
        condition, then, otherwise = arguments
        return f"({show(then, 1)} if {show(condition, 1)} else {show(otherwise, 1)})"
    binding = _BINDING[operator]
    if operator == "not":
        inner = arguments[0]
        if isinstance(inner, Apply) and inner.operator == "eq":
            return _wrap(" != ".join(show(part, 5) for part in inner.arguments), 4, outer)
        return _wrap(f"not {show(inner, binding)}", binding, outer)
    if operator == "add" and isinstance(arguments[1], Const) and int(str(arguments[1].value)) < 0:
        text = f"{show(arguments[0], binding)} - {-int(str(arguments[1].value))}"
        return _wrap(text, binding, outer)
    # The right side of - and of comparisons binds tighter: a - (b - c), (a < b) == c.
    tighter = binding + (operator in ("sub", "eq", "lt", "le"))
    parts = [show(arguments[0], tighter), *(show(part, binding + 1) for part in arguments[1:])]
    return _wrap(_INFIX[operator].join(parts), binding, outer)


def _wrap(text: str, binding: int, outer: int) -> str:
    return f"({text})" if binding < outer else text


def show_command(command: Command) -> str:
    """Print one guarded command."""
    parameters = ", ".join(f"{p.name}: {p.sort}" for p in command.parameters)
    guard = "\n  and ".join(show(part, 3) for part in command.guard) or "True"
    lines = [f"{command.name}({parameters}):", f"  when {guard}"]
    lines += [f"  set  {show_update(update)}" for update in command.updates]
    lines += [
        f"  emit {effect.name}({', '.join(f'{n}={show(v)}' for n, v in effect.fields)})"
        for effect in command.effects
    ]
    return "\n".join(lines)


def show_update(update: Update) -> str:
    """Print a variable's new value; a change at a single key is printed as such."""
    keys, value = list(update.keys), update.value
    if isinstance(value, Apply) and value.operator == "ite":
        condition, then, otherwise = value.arguments
        if otherwise == Read(update.variable, update.keys, value.sort):
            pinned = f"{show(then)} where {show(condition)}"
            return f"{_named(update.variable)}[{', '.join(k.name for k in keys)}] := {pinned}"
    name = _named(update.variable)
    left = f"{name}[{', '.join(k.name for k in keys)}]" if keys else name
    return f"{left} := {show(value)}"


def show_variable(variable: Variable) -> str:
    """Print a variable's declaration."""
    keys = f"[{', '.join(map(str, variable.keys))}]" if variable.keys else ""
    return f"{_named(variable.name)}{keys}: {variable.sort}"


def _named(variable: str) -> str:
    """Name a variable; a state that is a single value has none."""
    return variable or "state"


def show_transition(transition: TracedTransition) -> str:
    """Print a protocol's transition, or another function of it."""
    kind = "transition" if transition.is_step else "function"
    head = ", ".join(show_variable(variable) for variable in transition.parameters)
    lines = [f"{kind} {transition.name}({head})"]
    lines += [show_command(command) for command in transition.commands]
    lines += [
        f"{claim.name}:\n  claim fails when {' and '.join(show(c, 3) for c in claim.broken_if)}"
        for claim in transition.claims
    ]
    return "\n".join(lines)


def show_model(traced: TracedModel) -> str:
    """Print a model: constants, variables, initial states, commands, claims and properties."""
    lines = [f"model {traced.name}"]
    lines += [f"constant {show_variable(constant)}" for constant in traced.constants]
    lines += [f"assume {show(assumption)}" for assumption in traced.assumptions]
    lines += [f"variable {show_variable(variable)}" for variable in traced.variables]
    lines += ["", *(f"initially {show_command(command)}" for command in traced.initial)]
    lines += ["", *(show_command(command) for command in traced.commands)]
    lines += [""] * bool(traced.claims)
    for claim in traced.claims:
        lines.append(f"claim in {claim.name} fails when")
        lines.append("  " + "\n  and ".join(show(part, 3) for part in claim.broken_if))
    lines.append("")
    for prop in traced.properties:
        head = ", ".join(f"{p.name}: {p.sort}" for p in prop.parameters)
        for name, conjunct in prop.conjuncts:
            label = f"{prop.name}({head})" + (f".{name}" if name else "")
            lines.append(f"{prop.role.value} {label}: {show(conjunct)}")
    return "\n".join(lines)


def show_protocol(transitions: tuple[TracedTransition, ...]) -> str:
    """Print a protocol: the text that its certificate's hash is taken of."""
    return "\n\n".join(map(show_transition, transitions))
