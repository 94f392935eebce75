"""SUNION: replicas that merge streams.

`source_log` is what sources have written, `output` is the merged stream as far as it has come.
"""
