"""Digests: what a certificate is about."""

from __future__ import annotations

import hashlib
from types import ModuleType

from streamproof.lang.declared import show_declared
from streamproof.lang.show import show_protocol
from streamproof.lang.trace import trace_answers, trace_protocol


def protocol_text(protocol: ModuleType) -> str:
    """Print a protocol: what it declares, its transitions, then its other public functions.

    It is traced anew each time: functions of a module may be replaced while a program runs.
    """
    functions = (*trace_protocol.__wrapped__(protocol), *trace_answers(protocol))
    return f"{show_declared(protocol)}\n\n{show_protocol(functions)}"


def protocol_digest(protocol: ModuleType) -> str:
    """Hash the text of a protocol.

    Comments, names of local variables and the order of equal conditions do not count. What does:
    what a public function does, and members of enums, fields of records, constants and defaults.
    """
    return hashlib.sha256(protocol_text(protocol).encode()).hexdigest()
