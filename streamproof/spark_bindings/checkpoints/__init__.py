"""Spark's checkpoints: what a query has read, and whether it may go on from there."""
