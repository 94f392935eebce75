"""Pipelines: plans that Spark runs, from start to stop."""
