"""Flux pairs: the lanes of one exchange, and nodes that fail with a copy of every partition.

The models are built in layers: `state`, `lanes` while nothing fails, `pairs` that are replaced.
"""
