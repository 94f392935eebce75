"""Every operation of the language reads alike on plain values and on symbolic ones.

The list of operations is taken from the language itself: one that has no test fails here.
"""

from __future__ import annotations

import inspect
from enum import Enum

import pytest

from streamproof import lang
from streamproof.lang import Domain, Element, Map, Untraceable, forall, scalars, symbolic
from streamproof.lang.model import Role
from streamproof.lang.operators import REFUSED, symbols
from streamproof.lang.trace import trace_model
from tests.lang.operations import OPERATIONS
from tests.lang.support.agreement import agree_on_action
from tests.lang.support.refused import Color, model_with

OF_A_CLASS = {
    "bool": (scalars.SymbolicBool,),
    "int": (scalars.SymbolicInt,),
    "Enum": (scalars.SymbolicEnum,),
    "Element": (scalars.SymbolicElement, Element),
    "scalar": (scalars.Symbolic,),
    "Map": (Map, symbolic.SymbolicMap),
    "Domain": (Domain, symbolic.OpenDomain),
}
"""By the name in an operation's: the classes of which the language's values are."""
SHOWN = {"__repr__", "__str__", "__format__"}
"""What makes text, which only reasons and messages may have in them: test_seen.py."""
NO_OPERATION = {
    "__class_getitem__", "__getattribute__", "__init__", "__init_subclass__", "__new__",
    "__reduce__", "__setattr__",
}  # fmt: skip
"""How values are made and kept: nothing that a model does with one."""
TAKES_ITS_SORT = {"scalar.__eq__": "int.__eq__", "scalar.__ne__": "int.__ne__"}
"""What all scalars share, and is tried with each of them."""
REFUSES = {
    "scalar.__hash__": lambda model, s, p: hash(s.n),
    "bool.__hash__": lambda model, s, p: hash(s.flag),
    "int.__hash__": lambda model, s, p: hash(s.n),
    "Enum.__hash__": lambda model, s, p: {Color.RED: s}[s.color],
    "Element.__hash__": lambda model, s, p: {p},
    "Element.index": lambda model, s, p: p.index,
    "Map.__bool__": lambda model, s, p: bool(s.m),
    "Map.__hash__": lambda model, s, p: hash(s.m),
    "Map.__iter__": lambda model, s, p: list(s.m),
    "Map.__len__": lambda model, s, p: len(s.m),
    "Map.__setitem__": lambda model, s, p: s.m.__setitem__(p, 0),
    "Map.items": lambda model, s, p: list(s.m.items()),
    "Domain.__bool__": lambda model, s, p: bool(model.ps),
    "Domain.__contains__": lambda model, s, p: p in model.ps,
    "Domain.__hash__": lambda model, s, p: hash(model.ps),
    "Domain.__iter__": lambda model, s, p: list(model.ps),
    "Domain.__len__": lambda model, s, p: len(model.ps),
    "Domain.elements": lambda model, s, p: model.ps.elements,
    "Domain.is_open": lambda model, s, p: model.ps.is_open,
    "Domain.mixture": lambda model, s, p: model.ps.mixture(()),
    "Domain.name": lambda model, s, p: model.ps.name,
    "Domain.sort": lambda model, s, p: model.ps.sort,
    "Domain.symbolic_map": lambda model, s, p: model.ps.symbolic_map,
    "Domain.symbolic_quantifier": lambda model, s, p: model.ps.symbolic_quantifier,
    "Domain.of": lambda model, s, p: forall(Domain.of("P", (p,)), lambda q: q == p),
    "Map.body": lambda model, s, p: s.m.body,
    "Map.variables": lambda model, s, p: s.m.variables,
    "scalar.expr": lambda model, s, p: s.n.expr,
}
"""What only plain values have: what asks for it is refused."""


def functions_of_the_language():
    public = {name: getattr(lang, name) for name in lang.__all__}
    return {
        f"lang.{name}"
        for name, value in public.items()
        if inspect.isfunction(value) and value.__module__ != "streamproof.lang.model"
    }


def methods_of_values():
    refused = {method for name in REFUSED for method in symbols(name)}
    for kind, classes in OF_A_CLASS.items():
        for name in {name for cls in classes for name in vars(cls)}:
            found = [vars(cls)[name] for cls in classes if name in vars(cls)]
            is_special = name.startswith("__")
            if name in SHOWN | NO_OPERATION or (name.startswith("_") and not is_special):
                continue
            if (kind == "scalar" and name in refused) or (
                is_special and not any(map(callable, found))
            ):
                continue
            yield f"{kind}.{name}"


def test_every_operation_has_a_test():
    known = {*OPERATIONS, *REFUSES, *TAKES_ITS_SORT}
    operations = {*functions_of_the_language(), *methods_of_values()}
    assert operations - known == set()
    assert {name for name in known if not name.startswith("record.")} - operations <= EQUALITIES


EQUALITIES = {
    f"{kind}.__{name}__" for kind in ("bool", "int", "Enum", "Element") for name in ("eq", "ne")
} | {"Domain.__ne__"}
"""What they have from `Symbolic`, or from `object`."""


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_reads_alike_on_plain_and_symbolic_values(name):
    made = model_with(OPERATIONS[name])
    (method,) = made.methods(Role.ACTION)
    agree_on_action(made, method, 60)


@pytest.mark.parametrize("name", REFUSES)
def test_what_only_plain_values_have_is_refused(name):
    with pytest.raises(Untraceable):
        trace_model(model_with(REFUSES[name]))


@pytest.mark.parametrize("name", REFUSED)
def test_an_operation_that_the_language_lacks_is_refused_for_each_sort(name):
    """Whatever has an operation of Python has it in the language, or it refuses it."""
    values = (scalars.SymbolicBool, scalars.SymbolicInt, scalars.SymbolicEnum)
    for cls in (*values, scalars.SymbolicElement):
        assert all(hasattr(cls, method) for method in symbols(name))


def test_whatever_python_can_do_with_a_plain_value_is_known():
    known = {method for name in REFUSED for method in symbols(name)}
    known |= set(vars(scalars.Symbolic)) | set(vars(object)) | NOT_OF_VALUES
    for plain, cls in ((int, scalars.SymbolicInt), (bool, scalars.SymbolicBool), (Enum, None)):
        special = {name for name in dir(plain) if name.startswith("__")}
        assert special - known - set(vars(cls) if cls else ()) == set()


NOT_OF_VALUES = {
    "__getnewargs__", "__annotations__", "__contains__", "__iter__", "__len__", "__getitem__",
    "__members__", "__set_name__", "__dict__", "__weakref__", "__module__", "__name__",
    "__qualname__", "__signature__",
}  # fmt: skip
"""What a class has, or only pickling asks for."""
