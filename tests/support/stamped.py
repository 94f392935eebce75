"""Certificates of the code as it is, for tests of what runs it.

While the language or a protocol is being changed, the committed certificates are stale, which
tests/test_verification.py says. All other tests then run on certificates in a directory of their
own that claim what nobody has shown.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from streamproof.certified.record import DIRECTORY_VARIABLE, FORMAT
from streamproof.certified.seal import sealed
from streamproof.certified.sources import digests_of, sources_of
from streamproof.lang.digest import protocol_digest
from streamproof.models.kit.places import protocol_names
from streamproof.models.kit.registry import protocol_module
from streamproof.spark_bindings.certificate import check_certificate
from streamproof.spark_bindings.errors import UnverifiedProtocol


def stamp(protocol: str, directory: Path, **changes: Any) -> Path:
    """Write a certificate of a protocol as it is, though nothing was shown of it."""
    module = protocol_module(protocol)
    content = {
        "format": FORMAT,
        "protocol": protocol,
        "digest": protocol_digest(module),
        "sources": digests_of(sources_of(module.__name__)),
        "explored": [{"model": "None", "size": "none", "distinct": 1}],
        "proof": {"model": "None", "status": "PROVED", "obligations": 1},
        "mutants_killed": [],
    }
    path = directory / f"{protocol}.json"
    path.write_text(json.dumps(sealed({**content, **changes}), indent=2), encoding="utf-8")
    return path


def are_current() -> bool:
    """Return whether each committed certificate is of the code as it is."""
    try:
        for protocol in protocol_names():
            check_certificate(protocol)
    except UnverifiedProtocol:
        return False
    return True


@contextmanager
def present_certificates() -> Iterator[None]:
    """Let what runs protocols, in this process and those that it starts, find certificates."""
    if are_current():
        yield
        return
    with TemporaryDirectory() as name:
        for protocol in protocol_names():
            stamp(protocol, Path(name))
        os.environ[DIRECTORY_VARIABLE] = name
        try:
            yield
        finally:
            del os.environ[DIRECTORY_VARIABLE]
