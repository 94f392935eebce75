"""The native engine: a traced model, ground for a size and compiled, over states packed in words.

::

    cells       what a state consists of, and states as numbers
    terms       ground terms, each kept once
    translate   expressions of the traced form -> terms
    grounding   a traced model at a size -> terms
    layout      cells -> bits of words
    block, codegen, machine_code   terms -> LLVM -> functions, kept on disk
    program     all of that, for a model
    table       the visited states, and how they are found again
    partition   one thread's share of them
    search      level by level, through all partitions
    files, manifest, checkpoint   a directory in which a search is kept, and whose it is
    keeper, resume   when and what is written there, and how a search goes on from it
    engine      what the checker calls
"""
