"""Snapshots of processes: messages that are counted, and tokens that can be told apart.

`state` is the system that is recorded, `graph` says which processes have channels.
"""
