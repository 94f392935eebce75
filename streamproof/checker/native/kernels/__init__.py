"""Kernels: loops that are the same for all models, compiled by numba once for a machine.

`kernel` is what the engine calls them by, without numba; the other files are what numba reads.
"""
