"""Subscribers of a replicated stream.

`state` is what the model keeps, `machines` are the replicas and subscribers with what they run.
"""
