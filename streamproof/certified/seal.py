"""The seal of a certificate: a hash of all that it says, and a signature if somebody gives one.

The hash tells an edited file from the one that was written. It is no secret: whoever edits on
purpose can compute it anew. A signature by Ed25519 cannot be made without the private key.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from streamproof.installed import require
from streamproof.lang.errors import StreamproofError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import (
        Ed25519PrivateKey,
        Ed25519PublicKey,
    )

SEAL = "seal"
"""The part of a certificate that is about all other parts."""


class CertificateRefused(StreamproofError, ValueError):
    """A certificate cannot be read, was edited, or is not signed as it must be."""


class UnusableKey(StreamproofError, ValueError):
    """A file does not hold a key that can sign, or be trusted."""


def sealed(content: dict[str, Any], key: Path | None = None) -> dict[str, Any]:
    """Return a certificate with its seal.

    Parameters
    ----------
    content : all that the certificate says; a former seal is replaced
    key : a PEM file with the Ed25519 private key to sign with, if it is to be signed
    """
    content = {name: part for name, part in content.items() if name != SEAL}
    seal: dict[str, Any] = {"sha256": _digest(content)}
    if key is not None:
        private = _private_key(key)
        seal["ed25519"] = private.sign(_canonical(content)).hex()
        seal["key"] = _key_text(private.public_key())
    return {**content, SEAL: seal}


def check_seal(content: dict[str, Any], trusted: Sequence[Path] = ()) -> None:
    """Check that a certificate is as it was written, and by whom if keys are given.

    Parameters
    ----------
    content : all that the file says
    trusted : PEM files with Ed25519 public keys; one of them must have signed

    Raises
    ------
    CertificateRefused : if it was edited, or none of the keys has signed it
    """
    seal, said = content.get(SEAL), {n: part for n, part in content.items() if n != SEAL}
    noted = seal.get("sha256") if isinstance(seal, dict) else None
    present = _digest(said)
    if not isinstance(seal, dict) or noted != present:
        raise CertificateRefused(
            f"its file was edited after it was written (sealed at {str(noted)[:8]}, and is "
            f"{present[:8]})"
        )
    if trusted:
        _check_signature(said, seal, trusted)


def _check_signature(said: dict[str, Any], seal: dict[str, Any], trusted: Sequence[Path]) -> None:
    signature = seal.get("ed25519")
    if not isinstance(signature, str):
        raise CertificateRefused(
            "it is not signed, and this job trusts signed certificates alone (keys "
            f"{', '.join(map(str, trusted))}). Sign it with: streamproof certify --sign KEY"
        )
    _require_library()
    from cryptography.exceptions import InvalidSignature

    for key in [_public_key(path) for path in trusted]:
        try:
            key.verify(bytes.fromhex(signature), _canonical(said))
        except (InvalidSignature, ValueError):
            continue
        return
    raise CertificateRefused(
        f"its signature is by none of the keys that this job trusts "
        f"({', '.join(map(str, trusted))}); it names the key {str(seal.get('key'))[:16]}"
    )


def load_json(text: str) -> dict[str, Any]:
    """Read a certificate's text.

    Raises
    ------
    CertificateRefused : if it is no JSON object, or says one thing twice
    """

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) != len(pairs):
            raise CertificateRefused("its file was edited: it says one thing twice")
        return found

    try:
        content = json.loads(text, object_pairs_hook=once)
    except (ValueError, RecursionError) as error:
        if isinstance(error, CertificateRefused):
            raise
        raise CertificateRefused(f"its file is cut or damaged ({error})") from None
    if not isinstance(content, dict):
        raise CertificateRefused("its file holds no certificate")
    return content


def _canonical(said: dict[str, Any]) -> bytes:
    return json.dumps(said, sort_keys=True, separators=(",", ":")).encode("ascii")


def _digest(said: dict[str, Any]) -> str:
    return hashlib.sha256(_canonical(said)).hexdigest()


def _private_key(path: Path) -> Ed25519PrivateKey:
    _require_library()
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    key = _loaded(path, lambda pem: load_pem_private_key(pem, password=None), "private")
    if not isinstance(key, Ed25519PrivateKey):
        raise _unusable(path, "private", f"it holds a {type(key).__name__}")
    return key


def _public_key(path: Path) -> Ed25519PublicKey:
    _require_library()
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    from cryptography.hazmat.primitives.serialization import load_pem_public_key

    key = _loaded(path, load_pem_public_key, "public")
    if not isinstance(key, Ed25519PublicKey):
        raise _unusable(path, "public", f"it holds a {type(key).__name__}")
    return key


def _loaded(path: Path, load: Any, kind: str) -> Any:
    try:
        return load(path.read_bytes())
    except (OSError, ValueError, TypeError) as error:  # of the last type: it wants a password
        raise _unusable(path, kind, str(error)) from None


def _unusable(path: Path, kind: str, why: str) -> UnusableKey:
    make = "openssl genpkey -algorithm ed25519 -out KEY.pem"
    if kind == "public":
        make = "openssl pkey -in KEY.pem -pubout -out KEY.pub"
    return UnusableKey(
        f"{path} is no Ed25519 {kind} key in PEM without a password ({why}), so no signature can "
        f"be made or checked with it. Make one with: {make}"
    )


def _key_text(key: Ed25519PublicKey) -> str:
    return key.public_bytes_raw().hex()


def _require_library() -> None:
    require("sign", "what makes and checks signatures", result="No signature can be trusted")
