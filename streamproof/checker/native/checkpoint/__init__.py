"""Checkpoints: a search that is ended at any moment goes on from what a directory holds.

::

    checkpoint  the directory, and what its user is told of it
    files       arrays that only grow, with a digest of all that was written
    manifest    how much of them counts, and whose search it is
    keeper      when and what is written
    resume      how a search goes on
"""
