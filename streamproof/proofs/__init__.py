"""Proofs: Z3 shows a model's invariant for any number of processes and messages."""
