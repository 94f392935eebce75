"""`streamproof certify`: verify a protocol, and write down that it was."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.text import Text

from streamproof.cli.options import AsJson
from streamproof.cli.render import console, error_console, print_json
from streamproof.cli.stages import stage_line
from streamproof.models.verdict import ExitCode


def certify(
    protocol: Annotated[str, typer.Argument(help="A protocol of streamproof.")],
    *,
    as_json: AsJson = False,
) -> ExitCode:
    """Verify a protocol and write its certificate, which Spark bindings ask for."""
    from streamproof.verification import certificate_of, verify_protocol, write_certificate

    with stage_line() as on_stage:
        report = verify_protocol(protocol, on_stage=on_stage)
    path = write_certificate(report)
    if as_json:
        print_json({"path": str(path), "certificate": certificate_of(report)})
    else:
        console().print(Text(f"{protocol} is certified at {report.digest[:12]}: {path}"))
    error_console().print("Jobs that run this protocol accept this form of it from now on.")
    return ExitCode.GREEN
