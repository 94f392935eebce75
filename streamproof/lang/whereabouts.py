"""Whereabouts: where a function reads which module it stands in, or who has called it.

A file is `__main__` as a program, and another module in a check. Who calls a method is an engine
in a check, and a user's line in a plain run. A method that sees either answers otherwise there.
"""

from __future__ import annotations

import ast
import dis
import functools
from collections.abc import Iterator
from typing import Any

from streamproof.lang.named import trees_of
from streamproof.lang.origin import instructions_of
from streamproof.lang.reached import Reached
from streamproof.lang.reflective import texts_in
from streamproof.lang.text import parsed

_BY_NAME = ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS")
_OF_VALUES = ("LOAD_ATTR", "LOAD_METHOD", "LOAD_SUPER_ATTR")
_IMPORTING = ("IMPORT_NAME", "IMPORT_FROM")
_MAIN = "__main__"
_GUARD = f"__name__ == '{_MAIN}'"
_OF_A_FILE = ("__file__", "__path__", "__cached__")
_OF_A_MODULE = ("__name__", "__spec__", "__package__", "__loader__")
_WITH_MODULE = ("__module__", "__spec__", "__package__", "__loader__")
"""Attributes that name a module; the `__name__` of a class or a function is its own."""
_SPACES = ("__globals__", "__builtins__")
_OF_A_CALLER = (
    "f_back", "tb_frame", "gi_frame", "cr_frame", "ag_frame", "_getframe", "_current_frames",
)  # fmt: skip
_INSIDE = (
    "__traceback__", "tb_next", "tb_lineno", "tb_lasti", "__context__", "f_locals", "f_globals",
    "f_builtins", "f_code", "f_lineno", "f_lasti", "f_trace", "gi_code", "gi_yieldfrom", "cr_code",
    "cr_await", "cr_origin", "ag_code", "ag_await", "__code__", "__closure__", "cell_contents",
)  # fmt: skip
_AS_A_FIELD = "Give the model a field for what should differ, and decide by that"
_AS_AN_ARGUMENT = "Hand on what it should know as an argument"


def find_whereabouts(part: Reached, *, is_maker: bool = False) -> Iterator[tuple[int, str, str]]:
    """List where a function sees its module or its caller: line, what it does, what to write.

    Parameters
    ----------
    part : the function
    is_maker : whether it makes constants, which may depend on a file and on how code is written
    """
    line = part.code.co_firstlineno
    instructions = instructions_of(part.code)
    for place, instruction in enumerate(instructions):
        line = instruction.starts_line or line
        after = instructions[place + 1] if place + 1 < len(instructions) else instruction
        if after.opname == "STORE_NAME" and after.argval == "__module__":
            continue  # as each class statement does
        for what, instead in _seen_by(part, instruction, is_maker=is_maker):
            yield line, what, instead


def _seen_by(
    part: Reached, instruction: dis.Instruction, *, is_maker: bool
) -> Iterator[tuple[str, str]]:
    """List what one instruction sees."""
    name = instruction.argval
    if instruction.opname in _BY_NAME:
        names = _OF_A_MODULE if is_maker else (*_OF_A_MODULE, *_OF_A_FILE, "__builtins__")
        if name in names and not (is_maker and _is_only_handed_on(part, name)):
            yield f"reads {name}, which {_DIFFERS}", _AS_A_FIELD
        elif name in _names_of_a_program(str(part.function.__globals__.get("__file__"))):
            yield f"reads {name}, which is set if the file is run as a program", _AS_A_FIELD
    elif instruction.opname in _OF_VALUES:
        yield from _by_attribute(name, is_maker=is_maker)
    elif instruction.opname in _IMPORTING and name == _MAIN:
        yield f"imports {_MAIN}, which {_DIFFERS}", _AS_A_FIELD
    elif instruction.opcode in dis.hasconst and not is_maker:
        if _holds_main(name):
            yield f"has the text {_MAIN}, the name of a module that {_DIFFERS}", _AS_A_FIELD
        for text in texts_in([name]):
            yield from _by_attribute(text, is_maker=False)


_DIFFERS = "is another one when the file is run as a program"


def _by_attribute(name: str, *, is_maker: bool) -> Iterator[tuple[str, str]]:
    modules = _WITH_MODULE if is_maker else (*_WITH_MODULE, *_OF_A_FILE, *_SPACES)
    if name in modules:
        yield f"reads {name}, which {_DIFFERS}", _AS_A_FIELD
    elif name in _OF_A_CALLER or (name in _INSIDE and not is_maker):
        yield f"reads {name}, by which it may see who calls it", _AS_AN_ARGUMENT


def _holds_main(value: Any) -> bool:
    if isinstance(value, tuple | frozenset):
        return any(map(_holds_main, value))
    return (
        _MAIN in value
        if isinstance(value, str)
        else isinstance(value, bytes) and (_MAIN.encode() in value)
    )


def _is_only_handed_on(part: Reached, name: str) -> bool:
    """Return whether a statement only tells what it makes its module, as by `module=__name__`."""
    nodes = [node for tree in trees_of(part.function.__code__) for node in ast.walk(tree)]
    handed = {
        id(node.value) for node in nodes if isinstance(node, ast.keyword) and node.arg == "module"
    }
    read = [node for node in nodes if isinstance(node, ast.Name) and node.id == name]
    return bool(read) and all(id(node) in handed for node in read)


@functools.cache
def _names_of_a_program(path: str) -> frozenset[str]:
    """Name the globals that a file binds otherwise as a program: by its name, or from the main.

    What stands below `if __name__ == "__main__"` alone is the program's, and none of the model.
    """
    module = parsed(path)
    if not isinstance(module, ast.Module):
        return frozenset()
    found: set[str] = set()
    for node in _outside_of_functions(module):
        match node:
            case ast.If(test, orelse=[]) if ast.unparse(test) == _GUARD:
                pass
            case ast.If(test) | ast.While(test) if _asks_for_name(test):
                for inner in _outside_of_functions(node):
                    found |= _bound_by(inner)
            case ast.Assign(value=ast.IfExp(test)) if _asks_for_name(test):
                found |= set[str]().union(*map(_bound_by, ast.walk(node)))
            case ast.Import(names) if any(alias.name == _MAIN for alias in names):
                found |= {alias.asname or alias.name for alias in names if alias.name == _MAIN}
            case ast.ImportFrom("__main__", names):
                found |= {alias.asname or alias.name for alias in names}
            case _:
                pass
    return frozenset(found)


def _asks_for_name(test: ast.expr) -> bool:
    named = (part.id for part in ast.walk(test) if isinstance(part, ast.Name))
    return not frozenset(named).isdisjoint(_OF_A_MODULE)


def _outside_of_functions(node: ast.AST) -> Iterator[ast.AST]:
    """List what stands in a block, and is no part of a function or class in it."""
    for child in ast.iter_child_nodes(node):
        yield child
        if not isinstance(
            child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda
        ):
            yield from _outside_of_functions(child)


def _is_stored(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store | ast.Del)


def _bound_by(node: ast.AST) -> set[str]:
    match node:
        case ast.Name(name) if _is_stored(node):
            return {name}
        case ast.FunctionDef(name) | ast.AsyncFunctionDef(name) | ast.ClassDef(name):
            return {name}
        case ast.Import(names) | ast.ImportFrom(names=names):
            return {(alias.asname or alias.name).partition(".")[0] for alias in names}
        case _:
            return set()
