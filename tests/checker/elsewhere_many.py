"""A model whose actions are all ways to see a hash or an address, made by a call."""

from __future__ import annotations

from dataclasses import dataclass

from tests.checker.support.elsewhere_models import WAYS, Started, act

Many = dataclass(frozen=True)(type("Many", (Started,), {n: act(way) for n, way in WAYS.items()}))
