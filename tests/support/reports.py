"""A small report of a verification."""

from __future__ import annotations

import functools

import pytest

from streamproof.checker import check
from streamproof.checker.mutation import MutationReport, run_mutants
from streamproof.lang.digest import protocol_digest
from streamproof.models.kit import registry
from streamproof.models.kit.sizes import at_size
from streamproof.proofs.find import find_invariant
from streamproof.proofs.induction import prove
from streamproof.translation import validate_protocol
from streamproof.verification import ProtocolReport
from tests.support.quick import leave_out_validation


@functools.cache
def small_report(protocol: str = "chandy_lamport") -> ProtocolReport:
    """Verify a protocol as `verify_protocol` does, at its smallest size and one mutant."""
    file, module = registry.load(protocol), registry.protocol_module(protocol)
    with pytest.MonkeyPatch.context() as monkeypatch:
        leave_out_validation(monkeypatch)
        report = check(at_size(file.main, file.main.sizes["small"]), liveness=False)
        mutants = tuple(
            run_mutants(
                file.mutants[1:2], original_of=lambda _: file.main, build=at_size, limits=None
            )
        )
        proof = prove(find_invariant(protocol))
    return ProtocolReport(
        protocol,
        protocol_digest(module),
        ((file.main.__name__, "small", report),),
        MutationReport(protocol, mutants),
        proof,
        validate_protocol(module),
        1.0,
    )
