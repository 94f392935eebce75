"""Tests of proofs prove; that traced forms are the code, tests/translation sees.

See tests/support/quick.py for what is left out.
"""

from __future__ import annotations

import pytest

from tests.support.quick import leave_out_validation


@pytest.fixture(scope="module", autouse=True)
def without_validation():
    with pytest.MonkeyPatch.context() as monkeypatch:
        leave_out_validation(monkeypatch)
        yield
