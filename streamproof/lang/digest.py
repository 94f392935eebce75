"""Digests: what a certificate is about."""

from __future__ import annotations

import hashlib
from types import ModuleType

from streamproof.lang.show import show_protocol
from streamproof.lang.trace import trace_protocol


def protocol_digest(protocol: ModuleType) -> str:
    """Hash the traced form of a protocol's transitions.

    Comments, names of local variables and the order of equal conditions do not count; a change of
    what a transition does, does.
    """
    return hashlib.sha256(show_protocol(trace_protocol(protocol)).encode()).hexdigest()
