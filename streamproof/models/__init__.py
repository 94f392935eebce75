"""Closed systems: a protocol with its channels, failures and workload, and what must hold in it."""
