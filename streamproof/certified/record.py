"""Certificates as files: where they lie, which format they have, and reading one with suspicion."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

from streamproof.certified.seal import CertificateRefused, check_seal, load_json

FORMAT = 2
"""The format that is written. Files of 0.1.0 name none; they are of format 1."""

DIRECTORY_VARIABLE = "STREAMPROOF_CERTIFICATES"
"""Environment variable: a directory of certificates to use instead of those of the package."""

KEYS_VARIABLE = "STREAMPROOF_TRUSTED_KEYS"
"""Environment variable: PEM files of public keys, separated as in PATH. If it is set, every
certificate must be signed by one of them."""


@dataclass(frozen=True, slots=True)
class Record:
    """What a certificate says that its readers compare.

    Attributes
    ----------
    digest : hash of the protocol's traced form
    sources : per module, the hash of its source
    content : all that the file says
    """

    protocol: str
    digest: str
    sources: dict[str, str]
    content: dict[str, Any]


def certificates_directory() -> Traversable:
    """Return where certificates are read from."""
    chosen = os.environ.get(DIRECTORY_VARIABLE)
    if chosen:
        return Path(chosen)
    # Through the top package: `files("streamproof.proofs")` would import the prover's room.
    return files("streamproof") / "proofs" / "certificates"


def trusted_keys() -> tuple[Path, ...]:
    """List the keys that the environment names."""
    named = os.environ.get(KEYS_VARIABLE, "")
    return tuple(Path(part) for part in named.split(os.pathsep) if part)


def read_record(protocol: str, trusted: Sequence[Path] = ()) -> Record:
    """Read a protocol's certificate.

    Parameters
    ----------
    trusted : PEM files of public keys; if there are any, one of them must have signed

    Raises
    ------
    CertificateRefused : if there is none, or it is not to be believed; the message says why
    UnusableKey, NotInstalled : if signatures cannot be checked
    """
    file = certificates_directory() / f"{protocol}.json"
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise CertificateRefused(f"it has none (looked for {file})") from None
    except (OSError, ValueError) as error:
        raise CertificateRefused(f"its file cannot be read ({error})") from None
    content = load_json(text)
    _check_format(content)
    check_seal(content, trusted)
    return _record(protocol, content)


def _check_format(content: dict[str, Any]) -> None:
    found = content.get("format", 1)
    if found == 1 and type(found) is int:
        raise CertificateRefused(
            "its file is of format 1, by streamproof 0.1.0, which says nothing of sources"
        )
    if type(found) is not int or found < 1:
        raise CertificateRefused(f"its file is of no known format ({found!r})")
    if found > FORMAT:
        raise CertificateRefused(
            f"its file is of format {found}, and this streamproof reads format {FORMAT}: a newer "
            "one has written it. Install that one"
        )


def _record(protocol: str, content: dict[str, Any]) -> Record:
    """Read what is compared, and that something was shown at all."""
    named, digest, sources = (content.get(name) for name in ("protocol", "digest", "sources"))
    if named != protocol:
        raise CertificateRefused(f"its file is a certificate of {named}")
    is_told = isinstance(sources, dict) and all(
        isinstance(part, str) for pair in sources.items() for part in pair
    )
    if not isinstance(digest, str) or not is_told or not sources:
        raise CertificateRefused("its file does not say which code it is about")
    proof = content.get("proof")
    if not isinstance(proof, dict) or proof.get("status") != "PROVED":
        raise CertificateRefused("its file tells of no proof")
    if not content.get("explored"):
        raise CertificateRefused("its file tells of no exploration")
    return Record(protocol, digest, dict(sources), content)
