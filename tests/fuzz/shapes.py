"""What a random model may be like, besides naming something: each shape with its test."""

from __future__ import annotations

import ast
import typing
from collections.abc import Callable, Iterator
from typing import Any

from streamproof import lang
from streamproof.lang import Fairness, Range
from streamproof.lang.model import Method, Role
from streamproof.lang.sorts import IntSort, MapSort, RecordSort, sort_of
from tests.fuzz.schema import FAR


class Used:
    """A model as text, as a class and as a traced form, for what is asked of it."""

    def __init__(self, text: str, model: Any) -> None:
        self.text, self.model = text, model
        self.nodes = list(ast.walk(ast.parse(text)))
        self.calls = [node for node in self.nodes if isinstance(node, ast.Call)]
        self.functions = {
            node.name: node for node in self.nodes if isinstance(node, ast.FunctionDef)
        }
        self.sort = sort_of(self.functions_result())

    def functions_result(self) -> Any:
        """Return the class of the states."""
        (first, *_) = self.model.methods(Role.INIT)
        return typing.get_type_hints(getattr(type(self.model), first.name))["return"]

    def methods(self, *roles: Role) -> list[Method]:
        """List the methods of some roles."""
        return [method for role in roles for method in self.model.methods(role)]

    def body(self, method: Method) -> ast.FunctionDef:
        """Return a method as text was parsed."""
        return self.functions[method.name]

    def called(self, *names: str) -> Iterator[ast.Call]:
        """List the calls of functions or methods of some names."""
        for node in self.calls:
            name = getattr(node.func, "id", getattr(node.func, "attr", ""))
            if name in names:
                yield node

    def sorts(self, sort: Any = None) -> Iterator[Any]:
        """List all sorts in a state."""
        sort = sort or self.sort
        yield sort
        match sort:
            case RecordSort(_, fields):
                for _, part in fields:
                    yield from self.sorts(part)
            case MapSort(keys, value):
                yield from keys
                yield from self.sorts(value)

    def ranges(self) -> Iterator[Range]:
        """List the declared ranges of numbers in a state."""
        for sort in self.sorts():
            if isinstance(sort, IntSort) and sort.range:
                yield sort.range

    def sizes(self) -> list[int]:
        """Return the sizes of the domains."""
        return [len(part) for part in vars(self.model).values() if isinstance(part, lang.Domain)]


def has(node: ast.AST, *kinds: type[ast.AST]) -> bool:
    """Return whether a part of a text has some kind of node below it."""
    return any(isinstance(part, kinds) for part in ast.walk(node) if part is not node)


def calls_below(node: ast.AST, *names: str) -> bool:
    """Return whether functions of some names are called below a node."""
    return any(
        isinstance(part, ast.Call) and getattr(part.func, "id", "") in names
        for part in ast.walk(node)
        if part is not node
    )


def ends_early(function: ast.FunctionDef) -> bool:
    """Return whether a function may return before its last statement."""
    return any(has(part, ast.Return) for part in function.body[:-1])


QUANTIFIERS = ("forall", "exists", "count")
PROPERTIES = tuple(role for role in Role if role not in (Role.INIT, Role.ACTION, Role.ASSUME))


def is_far(end: Any) -> bool:
    """Return whether the end of a range is a number of many bits."""
    return isinstance(end, int) and abs(end) >= FAR - 2


def in_quantifier(name: str) -> Callable[[Used], bool]:
    """Make the test whether a function is called inside a quantifier."""
    return lambda used: any(calls_below(node, name) for node in used.called(*QUANTIFIERS))


def over(count: int) -> Callable[[Used], bool]:
    """Make the test whether a lambda of a quantifier takes so many elements."""
    return lambda used: any(
        isinstance(node.args[-1], ast.Lambda) and len(node.args[-1].args.args) == count
        for node in used.called(*QUANTIFIERS)
    )


def values_of_maps(used: Used) -> list[Any]:
    """List the sorts of the values of maps in a state."""
    return [sort.value for sort in used.sorts() if isinstance(sort, MapSort)]


SHAPES: dict[str, Callable[[Used], bool]] = {
    "a map in a map": lambda u: any(isinstance(part, MapSort) for part in values_of_maps(u)),
    "a record in a map": lambda u: any(isinstance(part, RecordSort) for part in values_of_maps(u)),
    "a map in a record": lambda u: any(
        isinstance(part, MapSort)
        for sort in u.sorts()
        if isinstance(sort, RecordSort) and sort != u.sort
        for _, part in sort.fields
    ),
    "a record in a record": lambda u: any(
        isinstance(part, RecordSort)
        for sort in u.sorts()
        if isinstance(sort, RecordSort) and sort != u.sort
        for _, part in sort.fields
    ),
    "a map over two domains": lambda u: any(
        isinstance(sort, MapSort) and len(set(sort.keys)) == 2 for sort in u.sorts()
    ),
    "a map over one domain twice": lambda u: any(
        isinstance(sort, MapSort) and len(set(sort.keys)) < len(sort.keys) for sort in u.sorts()
    ),
    "elements in a map": lambda u: any(
        type(p).__name__ == "ElementSort" for p in values_of_maps(u)
    ),
    "several @init": lambda u: len(u.methods(Role.INIT)) > 1,
    "several initial states of one @init": lambda u: (
        len(u.methods(Role.INIT)) == 1 and len(set(u.model.initial_states())) > 1
    ),
    "the same initial state twice": lambda u: (
        len(list(u.model.initial_states())) > len(set(u.model.initial_states()))
    ),
    "no initial state": lambda u: not list(u.model.initial_states()),
    "@init with parameters": lambda u: any(m.parameters for m in u.methods(Role.INIT)),
    "a fork in @init": lambda u: any(has(u.body(m), ast.If) for m in u.methods(Role.INIT)),
    "a choice in @init": lambda u: any(has(u.body(m), ast.IfExp) for m in u.methods(Role.INIT)),
    "an action without parameters": lambda u: any(not m.parameters for m in u.methods(Role.ACTION)),
    "an action with two parameters": lambda u: any(
        len(m.parameters) > 1 for m in u.methods(Role.ACTION)
    ),
    "an action that is fair with parameters": lambda u: any(
        m.parameters and m.fairness is not Fairness.NONE for m in u.methods(Role.ACTION)
    ),
    "no action": lambda u: not u.methods(Role.ACTION),
    **{
        f"{role.value} with parameters": lambda u, role=role: any(
            m.parameters for m in u.methods(role)
        )
        for role in (*PROPERTIES, Role.ASSUME)
    },
    **{
        f"two of {role.value}": lambda u, role=role: len(u.methods(role)) > 1 for role in PROPERTIES
    },
    "an early return of an action": lambda u: any(
        ends_early(u.body(m)) for m in u.methods(Role.ACTION)
    ),
    "an early return of a property": lambda u: any(
        ends_early(u.body(m)) for m in u.methods(*PROPERTIES)
    ),
    "elif": lambda u: any(
        isinstance(node, ast.If) and any(isinstance(part, ast.If) for part in node.orelse)
        for node in u.nodes
    ),
    **{
        f"named conjuncts of {role.value}": lambda u, role=role: any(
            has(u.body(m), ast.Dict) for m in u.methods(role)
        )
        for role in (*PROPERTIES, Role.ASSUME)
        if role is not Role.LEADS_TO
    },
    "a reason as text": lambda u: "'that is wrong'" in u.text,
    "a claim before the end": lambda u: any(
        has(u.body(m), ast.Assert) for m in u.methods(Role.ACTION)
    ),
    "a claim inside a map": lambda u: any(True for _ in u.called("claimed")),
    "implies in a quantifier": in_quantifier("implies"),
    **{f"{name} in a quantifier": in_quantifier(name) for name in QUANTIFIERS},
    "a quantifier over two domains": over(2),
    "a quantifier over a map": lambda u: any(
        not ast.unparse(node.args[0]).startswith("self.") for node in u.called(*QUANTIFIERS)
    ),
    "a quantifier in @init": lambda u: any(
        calls_below(u.body(m), *QUANTIFIERS) for m in u.methods(Role.INIT)
    ),
    "match on an enum": lambda u: any(isinstance(node, ast.MatchValue) for node in u.nodes),
    "match on several members": lambda u: any(
        isinstance(node, ast.MatchOr) and has(node, ast.Attribute) for node in u.nodes
    ),
    "match on a record": lambda u: any(isinstance(node, ast.MatchClass) for node in u.nodes),
    "match with a guard": lambda u: any(
        isinstance(node, ast.match_case) and node.guard is not None for node in u.nodes
    ),
    "a helper method": lambda u: any(True for _ in u.called("helper_0")),
    "a local name": lambda u: any(
        isinstance(node, ast.Assign) and ast.unparse(node.targets[0]).startswith("x")
        for node in u.nodes
    ),
    "a state that is changed twice": lambda u: any(
        isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "s" for node in u.nodes
    ),
    "a state made anew": lambda u: any(
        "return State(" in ast.unparse(u.body(m)) for m in u.methods(Role.ACTION)
    ),
    "a chained comparison": lambda u: any(
        isinstance(node, ast.Compare) and len(node.ops) > 1 for node in u.nodes
    ),
    "min": lambda u: any(True for _ in u.called("min")),
    "max": lambda u: any(True for _ in u.called("max")),
    "kept in a range": lambda u: any(True for _ in u.called("kept")),
    "multiplied by a constant": lambda u: any(
        isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.Mult)
        and isinstance(node.left, ast.Constant)
        and node.left.value not in (0, 1)
        for node in u.nodes
    ),
    "a product of two variables": lambda u: any(
        isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.Mult)
        and not any(isinstance(side, ast.Constant) for side in (node.left, node.right))
        for node in u.nodes
    ),
    "subtracted from a literal": lambda u: any(
        isinstance(node, ast.BinOp)
        and isinstance(node.op, ast.Sub)
        and isinstance(node.left, ast.Constant)
        for node in u.nodes
    ),
    "truth of a number": lambda u: any(True for _ in u.called("bool")),
    "records compared": lambda u: any(
        isinstance(node, ast.Compare) and "Box(" in ast.unparse(node.comparators[0])
        for node in u.nodes
    ),
    "an empty domain": lambda u: 0 in u.sizes(),
    "a domain of one": lambda u: 1 in u.sizes(),
    "a domain of three": lambda u: 3 in u.sizes(),
    "several domains": lambda u: len(u.sizes()) > 1,
    "an enum of one member": lambda u: "Only" in {str(sort) for sort in u.sorts()},
    "an undeclared range": lambda u: any(
        isinstance(sort, IntSort) and sort.range is None for sort in u.sorts()
    ),
    "a range below 0": lambda u: any(
        isinstance(part.low, int) and part.low < 0 for part in u.ranges()
    ),
    "a range of negative numbers": lambda u: any(
        isinstance(part.high, int) and part.high < 0 for part in u.ranges()
    ),
    "a range of one number": lambda u: any(part.low == part.high for part in u.ranges()),
    "a range that a constant ends": lambda u: any(part.high == "top" for part in u.ranges()),
    "a far range": lambda u: any(is_far(part.high) for part in u.ranges()),
    "a far range below 0": lambda u: any(is_far(part.low) for part in u.ranges()),
    "a constant of truth": lambda u: "self.flag" in u.text,
    "a constant member": lambda u: "self.shade" in u.text,
    "a constant element": lambda u: "self.first" in u.text,
    "a constant map": lambda u: "self.ready[" in u.text,
    "a constant map of numbers or members": lambda u: "self.cost[" in u.text,
    "ruled_out": lambda u: bool(u.model.ruled_out()),
    "an action that is overridden": lambda u: "class M(Base)" in u.text,
}
"""What a model may be like, besides naming something."""
