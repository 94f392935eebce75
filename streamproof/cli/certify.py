"""`streamproof certify`: verify protocols, and write down that they were."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, TypeAlias

import typer
from rich.text import Text

from streamproof.cli.options import AsJson
from streamproof.cli.render import console, error_console, print_json
from streamproof.cli.stages import stage_line
from streamproof.models.kit.verdict import ExitCode

Protocols: TypeAlias = Annotated[
    list[str] | None, typer.Argument(help="Protocols of streamproof.", metavar="PROTOCOL...")
]
Everything: TypeAlias = Annotated[bool, typer.Option("--all", help="All that there are.")]
Anew: TypeAlias = Annotated[
    bool, typer.Option("--anew", help="Verify again what has not changed, too.")
]
OnlyCheck: TypeAlias = Annotated[
    bool,
    typer.Option("--check", help="Only tell what would be verified again. Exit code 3 if anything"),
]
SigningKey: TypeAlias = Annotated[
    Path | None,
    typer.Option("--sign", metavar="KEY", help="Sign with this Ed25519 private key, a PEM file."),
]


def certify(
    protocols: Protocols = None,
    *,
    everything: Everything = False,
    anew: Anew = False,
    only_check: OnlyCheck = False,
    sign: SigningKey = None,
    as_json: AsJson = False,
) -> ExitCode:
    """Verify protocols and write their certificates, which Spark bindings ask for.

    What has not changed since it was certified is not verified again.
    """
    from streamproof.certification import certify as certify_one

    names = _chosen(protocols, everything=everything)
    if only_check:
        return _check(names, as_json=as_json)
    written = []
    with stage_line() as on_stage:
        for name in names:
            written.append(certify_one(name, anew=anew, key=sign, on_stage=on_stage))
            if not as_json:
                console().print(Text(f"{name} is certified: {written[-1]}"), soft_wrap=True)
    if as_json:
        told = [{"path": str(p), "certificate": json.loads(p.read_text("utf-8"))} for p in written]
        print_json({"certificates": told})
    error_console().print("Jobs that run these protocols accept their present form from now on.")
    return ExitCode.GREEN


def _chosen(protocols: list[str] | None, *, everything: bool) -> list[str]:
    from streamproof.models.kit.places import protocol_names

    if bool(protocols) == everything:
        raise typer.BadParameter(f"name protocols, or --all of them: {', '.join(protocol_names())}")
    return list(protocol_names()) if everything else list(protocols or ())


def _check(names: list[str], *, as_json: bool) -> ExitCode:
    """Report the certificates that are not of the present code."""
    from streamproof.certification import basis_of, stale_parts

    stale = {name: stale_parts(name, basis_of(name)) for name in names}
    if as_json:
        print_json({"stale": {name: list(parts) for name, parts in stale.items()}})
    else:
        for name, parts in stale.items():
            told = f"to be shown again: {', '.join(parts)}" if parts else "certified as it is"
            console().print(Text(f"{name}: {told}"))
    return ExitCode.UNDETERMINED if any(stale.values()) else ExitCode.GREEN
