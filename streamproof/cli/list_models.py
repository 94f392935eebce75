"""`streamproof list`: which models there are."""

from __future__ import annotations

from rich.table import Table
from rich.text import Text

from streamproof.cli.options import AsJson
from streamproof.cli.render import console, print_json
from streamproof.models.kit.registry import load, names
from streamproof.models.kit.verdict import ExitCode, Json


def list_models(*, as_json: AsJson = False) -> ExitCode:
    """List the models of streamproof, with their sizes and mutants."""
    rows: list[Json] = []
    for name in names():
        file = load(name)
        sizes = {model.__name__: list(model.sizes) for model in file.all}
        mutants = [mutant.name for mutant in file.mutants]
        rows.append({"name": name, "models": sizes, "mutants": mutants})
    if as_json:
        print_json({"models": rows})
        return ExitCode.GREEN
    table = Table("model", "classes and sizes", "mutants", box=None, pad_edge=False)
    for row in rows:
        classes = [f"{model}: {', '.join(sizes)}" for model, sizes in row["models"].items()]
        table.add_row(str(row["name"]), Text("\n".join(classes)), Text(", ".join(row["mutants"])))
    console().print(table)
    return ExitCode.GREEN
