"""Whether the user's code around an instruction might catch what is raised there."""

from __future__ import annotations

import dis
from types import CodeType, FrameType
from typing import Any

from streamproof.lang.origin import Origin, is_users, origin_of

RUNS_A_PATH = "_run_once"
"""The function of the tracer around every path; nothing further out is part of what is traced."""


def is_guarded(frame: FrameType | None) -> bool:
    """Return whether what is traced, from a frame outwards, is inside of a `try` or a `with`."""
    found = False
    while frame is not None:
        if is_users(frame):
            found = found or _is_covered(frame.f_code, frame.f_lasti)
        elif found and _runs_a_path(frame):
            return True
        frame = frame.f_back
    return False


def _runs_a_path(frame: FrameType) -> bool:
    code = frame.f_code
    return code.co_name == RUNS_A_PATH and origin_of(code) is Origin.LANGUAGE


def _is_covered(code: CodeType, offset: int) -> bool:
    made: Any = dis.Bytecode(code)
    handlers = {
        entry.target for entry in made.exception_entries if entry.start <= offset < entry.end
    }
    # Generators and comprehensions have entries of their own, which catch nothing.
    return any(part.offset in handlers and part.opname == "PUSH_EXC_INFO" for part in made)
