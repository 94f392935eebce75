"""Tables of a protocol's page: what its files say, so that a page cannot go stale.

Counts come from `tests/golden`, stories from the mutants, sentences from docstrings.
"""

from __future__ import annotations

import ast
import inspect
import json
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from streamproof.lang.roles import PROMISES, Role, methods_of
from streamproof.models.kit import registry
from streamproof.models.kit.registry import ModelFile
from streamproof.proofs.find import find_invariant
from streamproof.proofs.invariant import Invariant, named

ROOT = Path(__file__).parents[2]
PROTOCOLS = tuple(
    sorted(
        path.stem
        for path in (ROOT / "streamproof/protocols").glob("*.py")
        if path.stem != "__init__"
    )
)
KINDS = {
    Role.ALWAYS: "in every state",
    Role.EVERY_STEP: "in every step",
    Role.SOMETIMES: "in some state",
    Role.LEADS_TO: "promise",
    Role.EVENTUALLY: "promise",
    Role.FINAL: "where a run may end",
}


def table(heads: Iterable[str], rows: Iterable[Iterable[object]]) -> str:
    """Write a table in Markdown."""
    heads = tuple(heads)
    lines = [" | ".join(heads), " | ".join("---" for _ in heads)]
    lines += [" | ".join(str(cell).replace("|", "\\|") for cell in row) for row in rows]
    return "\n".join(f"| {line} |" for line in lines)


def files_of(protocol: str) -> list[ModelFile]:
    """List the model files that are about a protocol, its own first."""
    files = [registry.load(name) for name in registry.names()]
    about = [file for file in files if getattr(file.main, "protocol_name", "") == protocol]
    return sorted(about, key=lambda file: (file.name != protocol, file.name))


def golden(name: str) -> dict[str, Any]:
    """Read the exact counts of a model file."""
    path = ROOT / "tests/golden" / f"{name}.json"
    return dict(json.loads(path.read_text(encoding="utf-8")))


def sizes(protocol: str) -> str:
    """Tabulate the sizes that are searched, with exact counts."""
    rows = []
    for file in files_of(protocol):
        for size, counts in golden(file.name)["sizes"].items():
            found = (f"{counts[key]:,}" for key in ("distinct", "generated", "depth"))
            settings = ", ".join(
                f"{name}={_short(value)}" for name, value in file.main.sizes.get(size, {}).items()
            )
            rows.append((f"`{file.name}`", f"`{size}`", settings, *found))
    return table(("model", "size", "settings", "states", "generated", "depth"), rows)


def mutants(protocol: str) -> str:
    """Tabulate the known mistakes: story, who must catch them, and in how many steps it does."""
    rows = []
    for file in files_of(protocol):
        found = golden(file.name)["mutants"]
        for mutant in file.mutants:
            steps = found[mutant.name]["steps"]
            caught = (f"`{mutant.killed_by}`", steps, f"{found[mutant.name]['distinct']:,}")
            rows.append((f"`{mutant.name}`", mutant.story, *caught))
    return table(("mutant", "mistake", "killed by", "steps", "states"), rows)


def properties(protocol: str) -> str:
    """Tabulate what is asked of the protocol's own model."""
    model = registry.load(protocol).main
    methods = [method for method in methods_of(model) if method.role in KINDS]
    rows = [
        (f"`{method.name}`", KINDS[method.role], sentence(getattr(model, method.name)))
        for method in sorted(methods, key=lambda method: method.role in PROMISES)
    ]
    return table(("property", "holds", "meaning"), rows)


def proof(protocol: str) -> str:
    """Describe how many conjuncts are proven, and tabulate them with their sentences."""
    invariant = find_invariant(protocol)
    conjuncts, lemmas = rows_of(invariant)
    count = f"{len(conjuncts)} conjuncts"
    if lemmas:
        count += f" and {len(lemmas)} lemma{'s' if len(lemmas) > 1 else ''}"
    text = (
        f"`streamproof prove {protocol}` proves {count} about `{invariant.model_class.__name__}` "
        "at any size.\n\n"
    )
    module = inspect.getmodule(invariant.conjuncts[0])
    if idea := paragraphs(inspect.getdoc(module) or "")[1:]:
        text += "\n\n".join(idea) + "\n\n"
    text += table(("conjunct", "meaning"), conjuncts)
    return f"{text}\n\n{table(('lemma', 'meaning'), lemmas)}" if lemmas else text


def rows_of(invariant: Invariant) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Return name and sentence of the conjuncts and of the lemmas of an invariant."""
    conjuncts, lemmas = (
        [(f"`{name}`", sentence(function)) for name, function in named(functions, kind)]
        for functions, kind in ((invariant.conjuncts, "conjunct"), (invariant.lemmas, "lemma"))
    )
    return conjuncts, lemmas


def transitions(protocol: str) -> str:
    """Tabulate the machine's transition functions: public ones that give a step."""
    rows = []
    for node in tree_of(protocol).body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            answer = ast.unparse(node.returns) if node.returns else ""
            kind = "step" if "Step" in answer else "question" if answer == "bool" else "value"
            rows.append((f"`{node.name}`", kind, first_sentence(ast.get_docstring(node) or "")))
    return table(("function", "result", "purpose"), rows)


def section(protocol: str, title: str) -> str:
    """Return a section of the protocol's docstring, such as its assumptions."""
    docstring = ast.get_docstring(tree_of(protocol)) or ""
    pattern = rf"^{title}\n-+\n(.*?)(?=\n\n[A-Z][^\n]*\n-+\n|\Z)"
    found = re.search(pattern, docstring, re.DOTALL | re.MULTILINE)
    if found is None:
        raise LookupError(f"{protocol} has no section {title!r} in its docstring")
    return found[1].strip()


def tree_of(protocol: str) -> ast.Module:
    """Parse the protocol's file."""
    return ast.parse((ROOT / f"streamproof/protocols/{protocol}.py").read_text(encoding="utf-8"))


def sentence(function: Any) -> str:
    """Return the first sentence of a function's docstring."""
    return first_sentence(inspect.getdoc(function) or "")


def first_sentence(docstring: str) -> str:
    """Return a docstring's first paragraph on one line."""
    return " ".join(paragraphs(docstring)[:1]).replace("\n", " ")


def paragraphs(docstring: str) -> list[str]:
    """Split a docstring at its empty lines."""
    return [part.strip() for part in docstring.split("\n\n") if part.strip()]


def _short(value: object) -> str:
    """Write a setting, and a member of an enum by its value."""
    return str(getattr(value, "value", value))
