"""Fast tests of models count states and hunt mutants; slow ones check as users do, in all respects.

See tests/support/quick.py for what is left out.
"""

from __future__ import annotations

import pytest

from tests.support.quick import leave_out_validation, sample_few_states


@pytest.fixture(autouse=True)
def quick_checks(request, monkeypatch):
    if request.node.get_closest_marker("slow") is None:
        leave_out_validation(monkeypatch)
        sample_few_states(monkeypatch)
