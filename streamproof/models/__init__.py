"""Closed systems: a protocol with its channels, failures and workload, and what must hold in it.

A family of models is a folder (`dpc`, `flux`, `snapshots`, `subscription`, `sunion`), a model that
stands alone is a file. `mutants` has the same folders. `kit` is what all models are found, sized
and judged with.
"""
