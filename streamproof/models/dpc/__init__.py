"""DPC nodes: one node before a client, a node that crashes, a chain with clocks, and numbers alone.

`node` and `state` are common to all of them; `chain_state` is of the chain.
"""
