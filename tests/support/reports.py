"""A small report of a verification."""

from __future__ import annotations

import functools

import pytest

from streamproof.checker import check
from streamproof.checker.mutation import MutationReport, run_mutants
from streamproof.lang.digest import protocol_digest
from streamproof.models.kit import registry
from streamproof.models.kit.sizes import at_size
from streamproof.models.mutants.snapshots.chandy_lamport import MUTANTS
from streamproof.proofs.find import find_invariant
from streamproof.proofs.induction import prove
from streamproof.protocols import chandy_lamport
from streamproof.translation import validate_protocol
from streamproof.verification import ProtocolReport
from tests.quick import leave_out_validation


@functools.cache
def small_report() -> ProtocolReport:
    """Verify Chandy-Lamport as `verify_protocol` does, at its smallest size and one mutant."""
    model_class = registry.find("chandy_lamport")
    with pytest.MonkeyPatch.context() as monkeypatch:
        leave_out_validation(monkeypatch)
        report = check(at_size(model_class, model_class.sizes["small"]), liveness=False)
        mutants = tuple(
            run_mutants(MUTANTS[1:2], original_of=lambda _: model_class, build=at_size, limits=None)
        )
        proof = prove(find_invariant("chandy_lamport"))
    return ProtocolReport(
        "chandy_lamport",
        protocol_digest(chandy_lamport),
        (("ChandyLamport", "small", report),),
        MutationReport("chandy_lamport", mutants),
        proof,
        validate_protocol(chandy_lamport),
        1.0,
    )
