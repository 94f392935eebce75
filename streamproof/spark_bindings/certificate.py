"""Checking that the protocol which is about to run is the one that was checked and proven.

A certificate is a file that `streamproof certify` writes. It is read as a file: a Spark driver
loads neither the prover nor the checker.
"""

from __future__ import annotations

import json
from enum import Enum
from importlib import import_module
from importlib.resources import files

from streamproof.lang.digest import protocol_digest
from streamproof.spark_bindings.errors import UnverifiedProtocol

_SHOWN = 8  # hexadecimal digits of a digest in a message


class Certificate(Enum):
    """Whether a pipeline starts with a protocol that was changed after it was certified."""

    REQUIRED = "required"
    IGNORED = "ignored"


def check_certificate(
    protocol: str, claim: str = "a pipeline loses nothing", *, waivable: bool = True
) -> None:
    """Compare the traced form of a protocol with the one that its certificate is about.

    Called at the start of a pipeline, on the driver. May be repeated.

    Parameters
    ----------
    protocol : its file's name, ``chandy_lamport``
    claim : what is unproven without it, for the message
    waivable : whether the caller takes `Certificate.IGNORED`, for the message

    Raises
    ------
    UnverifiedProtocol : if it has no certificate, or was changed since
    """
    certified = certified_digest(protocol)
    remedy = f"Run: streamproof certify {protocol}"
    if waivable:
        remedy += ", or pass Certificate.IGNORED"
    if certified is None:
        raise UnverifiedProtocol(
            f"{protocol} has no certificate that could be read. That {claim} is unproven. {remedy}"
        )
    present = protocol_digest(import_module(f"streamproof.protocols.{protocol}"))
    if present != certified:
        raise UnverifiedProtocol(
            f"{protocol} was changed after it was certified (certificate {certified[:_SHOWN]}, "
            f"code {present[:_SHOWN]}). That {claim} is unproven for this code. {remedy}"
        )


def certified_digest(protocol: str) -> str | None:
    """Read the digest that a protocol is certified at.

    None if it has no certificate, or one that is of another protocol or tells of no proof.
    """
    # Through the top package: `files("streamproof.proofs")` would import the prover's room.
    file = files("streamproof") / "proofs" / "certificates" / f"{protocol}.json"
    try:
        stored = json.loads(file.read_text(encoding="utf-8"))
        digest, status = stored["digest"], stored["proof"]["status"]
        is_its_own = stored["protocol"] == protocol
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return digest if isinstance(digest, str) and is_its_own and status == "PROVED" else None
