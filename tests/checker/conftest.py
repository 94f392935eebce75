"""Fast tests of the checker compare engines; that traced forms are the code is tests/translation's.

Comparing takes seconds for each class of models. Slow tests, and those of random models in
tests/fuzz, do it before every verdict, as users' checks do.
"""

from __future__ import annotations

import pytest

from tests.support.quick import leave_out_validation


@pytest.fixture(autouse=True)
def without_validation(request, monkeypatch):
    if request.node.get_closest_marker("slow") is None:
        leave_out_validation(monkeypatch)
