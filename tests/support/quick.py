"""Quick checks: of models that are known to be as they were traced, and pure, for another purpose.

Comparing a traced form with the code takes seconds for each class of models, and is what
tests/translation is about. Asking a model in other processes takes a second for each size, and is
what tests/checker/test_elsewhere.py is about. Asking the methods of a protocol's model twice in 64
states takes half a second, and is what tests/checker is about; an impure method shows almost at
once.
"""

from __future__ import annotations

from functools import partial
from importlib import import_module

import pytest

from streamproof.checker.purity import check_purity

STATES_SAMPLED = 8


def leave_out_validation(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let checks give their verdicts without comparing traced forms with code, or processes."""
    for name in ("check", "simulate"):
        module = import_module(f"streamproof.checker.{name}")  # of the package, its function
        monkeypatch.setattr(module, "translation_of", lambda *_: None)
    checker = import_module("streamproof.checker.check")
    monkeypatch.setattr(checker, "require_same_elsewhere", lambda _: "")
    prover = import_module("streamproof.proofs.induction")
    monkeypatch.setattr(prover, "validate_invariant", lambda _: None)
    monkeypatch.setattr(prover, "require_same_elsewhere", lambda _: "")


def sample_few_states(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let checks look at the purity of a model in few states."""
    quick = partial(check_purity, states=STATES_SAMPLED)
    monkeypatch.setattr(import_module("streamproof.checker.check"), "check_purity", quick)
