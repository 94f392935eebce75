"""Checkpoints: a search may end at any moment, and goes on from the content of a directory.

::

    checkpoint  the directory, and messages about it
    files       arrays that only grow, with a digest of all that was written
    manifest    how much of them counts, and whose search it is
    keeper      when and what is written
    resume      how a search goes on
"""
