"""Checking that the protocol which is about to run is the one that was checked and proven.

A certificate is a file that `streamproof certify` writes. It is read as a file: a Spark driver
loads neither the prover nor the checker. What a certificate does not cover is listed in
docs/how-to/certificate.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from importlib import import_module
from pathlib import Path
from typing import TypeAlias

from streamproof.certified.loaded import held_elsewhere, replaced
from streamproof.certified.record import Record, read_record, trusted_keys
from streamproof.certified.seal import CertificateRefused
from streamproof.certified.sources import SourceMissing, digests_of, sources_of
from streamproof.lang.digest import protocol_digest
from streamproof.lang.errors import Untraceable, WrongDefinition
from streamproof.spark_bindings.errors import UnverifiedProtocol, WrongArgument

PROTOCOLS = "streamproof.protocols"
_SHOWN = 8  # hexadecimal digits of a digest in a message
_NAMED_MAX = 5  # modules that a message names
_BINDINGS = "streamproof.spark_bindings"


class Certificate(Enum):
    """Whether a pipeline starts with a protocol that was changed after it was certified."""

    REQUIRED = "required"
    IGNORED = "ignored"


@dataclass(frozen=True, slots=True)
class SignedBy:
    """Only a certificate that one of these keys has signed lets a pipeline start.

    Attributes
    ----------
    keys : PEM files with Ed25519 public keys

    Examples
    --------
    >>> SignedBy("acme.pub", "partner.pub").keys
    (PosixPath('acme.pub'), PosixPath('partner.pub'))
    """

    keys: tuple[Path, ...]

    def __init__(self, *keys: Path | str) -> None:
        if not keys:
            raise ValueError(
                "SignedBy() names no key, so no certificate could be trusted. Name the PEM file of "
                'a public key: SignedBy("acme.pub")'
            )
        if not all(isinstance(key, Path | str) for key in keys):
            raise WrongArgument(
                f"SignedBy was given {keys!r}. Keys are the paths of PEM files. Write for example "
                'SignedBy("acme.pub")'
            )
        object.__setattr__(self, "keys", tuple(map(Path, keys)))


Trust: TypeAlias = Certificate | SignedBy
"""What a start asks of a certificate."""


def check_certificate(
    protocol: str,
    claim: str = "a pipeline loses nothing",
    *,
    waivable: bool = True,
    trust: Trust = Certificate.REQUIRED,
) -> None:
    """Compare the protocol that would run with the one that its certificate is about.

    Called at each start of a pipeline, on the driver. It compares the sources on disk with the
    certificate, what is loaded with the sources, and the traced form with the certificate.

    Parameters
    ----------
    protocol : its file's name, ``chandy_lamport``
    claim : what is unproven without it, for the message
    waivable : whether the caller takes `Certificate.IGNORED`, for the message
    trust : IGNORED checks nothing; `SignedBy` asks for a signature by one of its keys. By default
        one of the keys that the environment variable STREAMPROOF_TRUSTED_KEYS names must have
        signed, if it names any

    Raises
    ------
    WrongArgument : if `trust` is nothing of that
    UnverifiedProtocol : if it has no certificate that is to be believed, or was changed since
    UnusableKey, NotInstalled : if signatures cannot be checked
    """
    if not isinstance(trust, Certificate | SignedBy):
        raise WrongArgument(
            f"certificate={trust!r} was given. Whether an uncertified protocol may run has to be "
            "clear. Nothing was started. Write Certificate.REQUIRED, Certificate.IGNORED or "
            'SignedBy("acme.pub")'
        )
    if trust is Certificate.IGNORED:
        return
    keys = trust.keys if isinstance(trust, SignedBy) else trusted_keys()
    remedy = f"Run: streamproof certify {protocol}"
    if waivable:
        remedy += ", or pass Certificate.IGNORED"
    try:
        record = read_record(protocol, keys)
    except CertificateRefused as refused:
        raise UnverifiedProtocol(
            f"the certificate of {protocol} does not count: {refused}. That {claim} is unproven. "
            f"{remedy}"
        ) from None
    changed = _changed(protocol, record)
    if changed is not None:
        what, help_ = changed
        raise UnverifiedProtocol(
            f"{protocol} {what}. That {claim} is unproven for this code. {help_ or remedy}"
        )


def _changed(protocol: str, record: Record) -> tuple[str, str] | None:
    """Return how the protocol differs from what was certified, and what helps if not certifying."""
    module = import_module(f"{PROTOCOLS}.{protocol}")
    try:
        sources = sources_of(module.__name__)
    except SourceMissing as missing:
        return f"cannot be compared with its certificate: {missing}", ""
    present = digests_of(sources)
    if present != record.sources:
        names = sorted(present.keys() | record.sources.keys())
        moved = [name for name in names if present.get(name) != record.sources.get(name)]
        told = ", ".join(
            f"{name}: certificate {_shown(record.sources, name)}, code {_shown(present, name)}"
            for name in moved[:_NAMED_MAX]
        )
        more = f", and {len(moved) - _NAMED_MAX} more" if len(moved) > _NAMED_MAX else ""
        return f"was changed after it was certified ({told}{more})", ""
    differing = replaced(sources) or held_elsewhere(sources, _BINDINGS)
    if differing:
        return (
            f"was replaced in this process after it was loaded: {'; '.join(differing)}",
            "Start a new process without what replaces it, and after any change of a file",
        )
    try:
        digest = protocol_digest(module)
    except (Untraceable, WrongDefinition) as error:
        return f"can no longer be traced ({error})", ""
    if digest != record.digest:
        if not __debug__:
            return "runs without its claims: Python was started with -O", (
                "Start Python without -O, and without PYTHONOPTIMIZE"
            )
        moved_to = f"certificate {record.digest[:_SHOWN]}, code {digest[:_SHOWN]}"
        return (
            f"has another traced form than the certified one ({moved_to}), though its sources are "
            "the same: what traces it was changed"
        ), ""
    return None


def _shown(digests: dict[str, str], name: str) -> str:
    return digests[name][:_SHOWN] if name in digests else "has none"
