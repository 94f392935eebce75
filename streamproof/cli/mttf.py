"""`streamproof mttf`: how long a dataflow lasts as a pair, and as pairs of partitions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from streamproof.cli.options import AsJson, new_file
from streamproof.cli.render import console, print_json
from streamproof.installed import require
from streamproof.models.kit.verdict import ExitCode, Json

if TYPE_CHECKING:
    from streamproof.mttf import Cluster

MINUTES_A_DAY = 24 * 60
DAYS_A_YEAR = 365.25
PARTITIONS = (1, 2, 5, 10, 20, 50, 100)


def mttf(
    partitions: Annotated[
        list[int] | None,
        typer.Option(
            min=1, metavar="N", help="Partitions of the dataflow; may be given several times."
        ),
    ] = None,
    node_days: Annotated[
        float, typer.Option(metavar="DAYS", help="Mean time until a node fails, in days.")
    ] = 30.0,
    repair_minutes: Annotated[
        float,
        typer.Option(
            metavar="MINUTES", help="Mean time until a copy is replaced and has caught up."
        ),
    ] = 5.0,
    dataflow_repair_minutes: Annotated[
        float | None,
        typer.Option(
            metavar="MINUTES", help="The same of a copy of the whole dataflow; as long if left out."
        ),
    ] = None,
    *,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw it, into a new PNG or SVG file.")
    ] = None,
    as_json: AsJson = False,
) -> ExitCode:
    """Compare the mean time to failure of a pair of dataflows with that of pairs of partitions."""
    require("spark", "streamproof mttf", "numpy")
    if plot is not None:
        require("examples", "streamproof mttf --plot", "matplotlib")
    from streamproof.mttf import Cluster  # numpy loads slowly

    new_file(plot)
    whole = repair_minutes if dataflow_repair_minutes is None else dataflow_repair_minutes
    repairs = repair_minutes / MINUTES_A_DAY, whole / MINUTES_A_DAY
    rows = [row_of(Cluster(count, node_days, *repairs)) for count in partitions or PARTITIONS]
    if plot is not None:
        draw(rows, plot)
    if as_json:
        print_json({"years_to_failure": rows})
        return ExitCode.GREEN
    print_rows(rows)
    console().print(
        f"a node fails every {node_days:g} days, and a copy is replaced in {repair_minutes:g} "
        f"minutes, one of the whole dataflow in {whole:g}; about: m^2/(2 n^2 r) and m^2/(2 n r)"
    )
    if plot is not None:
        console().print(f"drawn: {plot}", soft_wrap=True)
    return ExitCode.GREEN


def row_of(cluster: Cluster) -> Json:
    """Return the years until failure of a cluster, exact and estimated."""
    from streamproof import mttf as chains

    dataflow, pairs = chains.of_dataflow_pair(cluster), chains.of_partition_pairs(cluster)
    return {
        "partitions": cluster.partitions,
        "dataflow_pair": dataflow / DAYS_A_YEAR,
        "about_dataflow_pair": chains.about_dataflow_pair(cluster) / DAYS_A_YEAR,
        "partition_pairs": pairs / DAYS_A_YEAR,
        "about_partition_pairs": chains.about_partition_pairs(cluster) / DAYS_A_YEAR,
        "ratio": pairs / dataflow,
    }


def print_rows(rows: list[Json]) -> None:
    """Print the table, in years."""
    heads = ("partitions", "pair of dataflows", "about", "pairs of partitions", "about", "ratio")
    table = Table(box=None, pad_edge=False)
    for head in heads:
        table.add_column(head, justify="right")
    for row in rows:
        years = [f"{value:,.3g} y" for key, value in list(row.items())[1:-1]]
        table.add_row(f"{row['partitions']:,}", *years, f"{row['ratio']:.1f}")
    console().print(table)


def draw(rows: list[Json], path: Path) -> None:
    """Draw years until failure over partitions, both on logarithmic scales."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 4), layout="constrained")
    axes = figure.add_subplot()
    counts = [row["partitions"] for row in rows]
    for key, name in (
        ("partition_pairs", "pairs of partitions"),
        ("dataflow_pair", "pair of dataflows"),
    ):
        (line,) = axes.plot(counts, [row[key] for row in rows], marker="o", label=name)
        about = [row[f"about_{key}"] for row in rows]
        axes.plot(counts, about, linestyle=":", color=line.get_color())
    axes.set(xscale="log", yscale="log", xlabel="partitions", ylabel="years to failure")
    axes.legend()
    axes.grid(alpha=0.3)
    figure.savefig(path)
