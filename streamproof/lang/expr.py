"""The intermediate representation: small, hashable, printable expressions over a state.

Expressions are built through the functions of this file, which simplify as they go, so that two
ways to write the same thing often become the same expression.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from typing import assert_never

from streamproof.lang.nodes import (
    BOOL,
    FALSE,
    INT,
    TRUE,
    Apply,
    Const,
    Expr,
    Quantified,
    Read,
    Var,
    conjuncts,
    free_variables,
    height,
    variables_read,
)
from streamproof.lang.sorts import BoolSort, EnumSort

__all__ = [
    "BOOL", "FALSE", "INT", "TRUE", "Apply", "Const", "Expr", "Quantified", "Read", "Var", "add",
    "choose", "conjunction", "conjuncts", "disjunction", "equal", "free_variables", "height",
    "less", "less_equal", "literal", "multiply", "negate", "quantify", "rebuild", "substitute",
    "subtract", "truth", "variables_read",
]  # fmt: skip


def literal(value: bool | int | Enum) -> Const:
    """Lift a plain value."""
    if isinstance(value, bool):
        return Const(value, BOOL)
    if isinstance(value, int):
        return Const(value, INT)
    return Const(value, EnumSort(type(value)))


def truth(value: bool) -> Expr:
    """Lift a truth value."""
    return TRUE if value else FALSE


def negate(operand: Expr) -> Expr:
    """Build ``not operand``, pushed inwards over and, or and comparisons."""
    if isinstance(operand, Const):
        return truth(not operand.value)
    if isinstance(operand, Apply):
        match operand.operator:
            case "not":
                return operand.arguments[0]
            case "lt":
                return less_equal(operand.arguments[1], operand.arguments[0])
            case "le":
                return less(operand.arguments[1], operand.arguments[0])
            case "and":
                return disjunction(*map(negate, operand.arguments))
            case "or":
                return conjunction(*map(negate, operand.arguments))
    if isinstance(operand, Quantified) and operand.kind in ("forall", "exists"):
        other = "exists" if operand.kind == "forall" else "forall"
        return Quantified(other, operand.variables, negate(operand.body), BOOL)
    return Apply("not", (operand,), BOOL)


def conjunction(*operands: Expr) -> Expr:
    """Build ``a and b and ...``, flat, without repeats."""
    return _junction("and", TRUE, FALSE, operands)


def disjunction(*operands: Expr) -> Expr:
    """Build ``a or b or ...``, flat, without repeats."""
    return _junction("or", FALSE, TRUE, operands)


def _junction(operator: str, unit: Expr, zero: Expr, operands: tuple[Expr, ...]) -> Expr:
    flat: dict[Expr, None] = {}
    for operand in operands:
        same = isinstance(operand, Apply) and operand.operator == operator
        for part in operand.arguments if same and isinstance(operand, Apply) else (operand,):
            if part == zero or negate(part) in flat:
                return zero
            if part != unit:
                flat[part] = None
    # a or (not a and b) is a or b: forking writes the longer one, readers want the shorter.
    parts = tuple(_without(part, operator, flat) for part in flat)
    if parts != tuple(flat):
        return _junction(operator, unit, zero, parts)
    if not parts:
        return unit
    return parts[0] if len(parts) == 1 else Apply(operator, parts, BOOL)


def _without(part: Expr, operator: str, siblings: dict[Expr, None]) -> Expr:
    dual = "or" if operator == "and" else "and"
    if not (isinstance(part, Apply) and part.operator == dual):
        return part
    if any(argument in siblings for argument in part.arguments):  # absorbed by a sibling
        return TRUE if operator == "and" else FALSE
    kept = tuple(argument for argument in part.arguments if negate(argument) not in siblings)
    if len(kept) == len(part.arguments):
        return part
    return conjunction(*kept) if dual == "and" else disjunction(*kept)


def equal(left: Expr, right: Expr) -> Expr:
    """Build ``left == right``; a literal goes to the right, a variable to the left."""
    if left == right:
        return TRUE
    if isinstance(left, Const) and isinstance(right, Const):
        return truth(left.value == right.value)
    if _rank(left) > _rank(right):
        left, right = right, left
    if isinstance(left.sort, BoolSort) and isinstance(right, Const):
        return left if right.value else negate(left)
    return Apply("eq", (left, right), BOOL)


def _rank(expr: Expr) -> tuple[int, str]:
    """Order the sides of an equality, so that it is the same expression either way round."""
    match expr:
        case Var(name, _):
            return 0, name
        case Read(variable, _, _):
            return 1, variable
        case Const():
            return 3, ""
        case _:
            return 2, ""


def less(left: Expr, right: Expr) -> Expr:
    """Build ``left < right``."""
    if isinstance(left, Const) and isinstance(right, Const):
        return truth(_number(left) < _number(right))
    return FALSE if left == right else Apply("lt", (left, right), BOOL)


def less_equal(left: Expr, right: Expr) -> Expr:
    """Build ``left <= right``."""
    if isinstance(left, Const) and isinstance(right, Const):
        return truth(_number(left) <= _number(right))
    return TRUE if left == right else Apply("le", (left, right), BOOL)


def add(left: Expr, right: Expr) -> Expr:
    """Build ``left + right``; literals are gathered on the right."""
    if isinstance(left, Const):
        left, right = right, left
    if isinstance(right, Const):
        if _number(right) == 0:
            return left
        if isinstance(left, Const):
            return literal(_number(left) + _number(right))
        if isinstance(left, Apply) and left.operator == "add":
            inner, constant = left.arguments
            if isinstance(constant, Const):
                return add(inner, literal(_number(constant) + _number(right)))
    return Apply("add", (left, right), INT)


def subtract(left: Expr, right: Expr) -> Expr:
    """Build ``left - right``."""
    if left == right:
        return literal(0)
    if isinstance(right, Const):
        return add(left, literal(-_number(right)))
    return Apply("sub", (left, right), INT)


def multiply(left: Expr, right: Expr) -> Expr:
    """Build ``left * right``; a literal goes to the right."""
    if isinstance(left, Const):
        left, right = right, left
    if isinstance(right, Const):
        if isinstance(left, Const):
            return literal(_number(left) * _number(right))
        if _number(right) in (0, 1):
            return left if _number(right) == 1 else literal(0)
    return Apply("mul", (left, right), INT)


def choose(condition: Expr, then: Expr, otherwise: Expr) -> Expr:
    """Build ``then if condition else otherwise``."""
    if isinstance(condition, Const):
        return then if condition.value else otherwise
    if then == otherwise:
        return then
    # Where x == k holds, m[k] is m[x]: a map set to its own value at a key did not change.
    here = {
        part.arguments[0]: part.arguments[1]
        for part in conjuncts(condition)
        if isinstance(part, Apply) and part.operator == "eq"
    }
    known = {left: right for left, right in here.items() if isinstance(left, Var)}
    if known and substitute(then, known) == substitute(otherwise, known):
        return otherwise
    if isinstance(then, Apply) and then.operator == "ite" and then.arguments[2] == otherwise:
        return choose(conjunction(condition, then.arguments[0]), then.arguments[1], otherwise)
    if isinstance(otherwise, Apply) and otherwise.operator == "ite":
        inner, changed, same = otherwise.arguments
        if same == then:  # an exception within what stays: one condition says when it changes
            return choose(conjunction(negate(condition), inner), changed, then)
    if isinstance(then.sort, BoolSort):
        return _choose_truth(condition, then, otherwise)
    return Apply("ite", (condition, then, otherwise), then.sort)


def _choose_truth(condition: Expr, then: Expr, otherwise: Expr) -> Expr:
    opposite = negate(condition)
    # `a and b` gives a itself where a is false, so forks often hand the condition back.
    then, otherwise = _given(then, condition, opposite), _given(otherwise, opposite, condition)
    if then == TRUE:
        return disjunction(condition, otherwise)
    if then == FALSE:
        return conjunction(negate(condition), otherwise)
    if otherwise == TRUE:
        return disjunction(opposite, then)
    if otherwise == FALSE:
        return conjunction(condition, then)
    for operator, join in (("or", conjunction), ("and", disjunction)):
        # (x or e) if c else e is (c and x) or e: the paths of a chain of `or` share their ends.
        rest = _remainder(operator, then, otherwise)
        if rest is not None:
            guarded = join(condition if operator == "or" else opposite, rest)
            return rebuild(operator, (guarded, otherwise))
        rest = _remainder(operator, otherwise, then)
        if rest is not None:
            guarded = join(opposite if operator == "or" else condition, rest)
            return rebuild(operator, (guarded, then))
    return Apply("ite", (condition, then, otherwise), BOOL)


def _given(expr: Expr, true: Expr, false: Expr) -> Expr:
    """Simplify a truth value where one expression is known to hold and its opposite not to."""
    if expr in (true, false):
        return truth(expr == true)
    if isinstance(expr, Apply) and expr.operator in ("and", "or"):
        return rebuild(expr.operator, tuple(_given(part, true, false) for part in expr.arguments))
    return expr


def _remainder(operator: str, whole: Expr, part: Expr) -> Expr | None:
    """Return x if `whole` is `x or part` (or `x and part`)."""
    if not (isinstance(whole, Apply) and whole.operator == operator):
        return None
    same = isinstance(part, Apply) and part.operator == operator
    shared = part.arguments if same and isinstance(part, Apply) else (part,)
    if not set(shared) <= set(whole.arguments):
        return None
    return rebuild(operator, tuple(x for x in whole.arguments if x not in shared))


def quantify(kind: str, variables: tuple[Var, ...], body: Expr) -> Expr:
    """Build a quantifier. A closed body stays quantified: the domain may be empty.

    Bound variables are named by the quantifier's height, so that two quantifiers that say the same
    are the same expression, and an inner one never takes an outer one's name.
    """
    if (kind, body) in (("forall", TRUE), ("exists", FALSE)):
        return body
    if kind == "forall" and isinstance(body, Quantified) and body.kind == "forall":
        return _bound(kind, variables + body.variables, body.body)
    return _bound(kind, variables, body)


def _bound(kind: str, variables: tuple[Var, ...], body: Expr) -> Expr:
    level = height(body) + 1
    others = set(free_variables(body)).difference(variables)
    names = _bound_names(variables, level)
    while not others.isdisjoint(names):
        level += 1
        names = _bound_names(variables, level)
    renamed = substitute(body, dict(zip(variables, names, strict=True)))
    return Quantified(kind, names, renamed, INT if kind == "count" else BOOL)


def _bound_names(variables: tuple[Var, ...], level: int) -> tuple[Var, ...]:
    return tuple(Var(_bound_name(v, level, i), v.sort) for i, v in enumerate(variables))


def _bound_name(variable: Var, level: int, index: int) -> str:
    """Name a bound variable as no Python identifier can be named: p₁, p₁', p₂."""
    subscript = "".join(chr(0x2080 + int(digit)) for digit in str(level))
    return str(variable.sort)[0].lower() + subscript + "'" * index


def substitute(expr: Expr, replacement: dict[Var, Expr]) -> Expr:
    """Replace free variables, simplifying again; what replaces them is not captured."""
    match expr:
        case Const():
            return expr
        case Var():
            return replacement.get(expr, expr)
        case Read(variable, keys, sort):
            return Read(variable, tuple(substitute(key, replacement) for key in keys), sort)
        case Quantified():
            return _substitute_inside(expr, replacement)
        case Apply(operator, arguments, _):
            return rebuild(operator, tuple(substitute(part, replacement) for part in arguments))
        case _:
            assert_never(expr)


def _substitute_inside(expr: Quantified, replacement: dict[Var, Expr]) -> Expr:
    """Replace variables in a quantifier's body, where its own names mean its own variables.

    What replaces them may bind the same names, or have them free: a key can hold a quantifier.
    """
    own = expr.variables
    replacement = {name: value for name, value in replacement.items() if name not in own}
    around = {free for value in replacement.values() for free in free_variables(value)}
    if not around.isdisjoint(own):
        apart = {name: Var(f"{name.name}*", name.sort) for name in own}
        body = substitute(expr.body, {**apart})
        renamed = Quantified(expr.kind, tuple(apart.values()), body, expr.sort)
        return _substitute_inside(renamed, replacement)
    return quantify(expr.kind, own, substitute(expr.body, replacement))


def rebuild(operator: str, arguments: tuple[Expr, ...]) -> Expr:
    """Build an operator application by name, simplified."""
    return _BUILDERS[operator](*arguments)


_BUILDERS: dict[str, Callable[..., Expr]] = {
    "not": negate,
    "and": conjunction,
    "or": disjunction,
    "eq": equal,
    "lt": less,
    "le": less_equal,
    "add": add,
    "sub": subtract,
    "mul": multiply,
    "ite": choose,
}


def _number(constant: Const) -> int:
    assert isinstance(constant.value, int), f"{constant.value!r} is not a number"
    return constant.value
