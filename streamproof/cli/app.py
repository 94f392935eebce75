"""The application: which commands there are. A new one is a file, and a line here."""

from __future__ import annotations

import typer

from streamproof.cli import (
    certify,
    check,
    forecast,
    graph,
    list_models,
    mttf,
    mutate,
    prove,
    replay,
    run,
    show,
    simulate,
    snapshot,
    status,
    vacuum,
    verify,
)
from streamproof.cli.errors import with_exit_code

app = typer.Typer(
    name="streamproof",
    help="Protocols for streams: checked, proven, and run in PySpark from one text.",
    epilog="Exit codes: 0 PROVED or EXHAUSTED, 1 REFUTED, 2 wrong use, 3 UNDETERMINED or SAMPLED.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command("check")(with_exit_code(check.check))
app.command("forecast")(with_exit_code(forecast.forecast))
app.command("simulate")(with_exit_code(simulate.simulate))
app.command("replay")(with_exit_code(replay.replay))
app.command("show")(with_exit_code(show.show))
app.command("graph")(with_exit_code(graph.graph))
app.command("mutate")(with_exit_code(mutate.mutate))
app.command("prove")(with_exit_code(prove.prove))
app.command("certify")(with_exit_code(certify.certify))
app.command("verify")(with_exit_code(verify.verify))
app.command("mttf")(with_exit_code(mttf.mttf))
app.command("run")(with_exit_code(run.run))
app.command("status")(with_exit_code(status.status))
app.command("vacuum")(with_exit_code(vacuum.vacuum))
app.command("list")(with_exit_code(list_models.list_models))
app.add_typer(snapshot.snapshot_app, name="snapshot")
