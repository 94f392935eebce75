"""Digests: what a certificate is about."""

from __future__ import annotations

import hashlib
from types import ModuleType

from streamproof.lang.show import show_protocol
from streamproof.lang.trace import trace_answers, trace_protocol


def protocol_text(protocol: ModuleType) -> str:
    """Print the traced form of a protocol: its transitions, then its other public functions."""
    return show_protocol((*trace_protocol(protocol), *trace_answers(protocol)))


def protocol_digest(protocol: ModuleType) -> str:
    """Hash the traced form of a protocol.

    Comments, names of local variables and the order of equal conditions do not count; a change of
    what a public function does, does.
    """
    return hashlib.sha256(protocol_text(protocol).encode()).hexdigest()
