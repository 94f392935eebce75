"""The modules whose names are public."""

from __future__ import annotations

from tools.docs.api_reference import packages

PUBLIC = (*packages(), "streamproof.spark_bindings.errors")
